package kubeapi_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/catalog"
	"leeward/runtime/config"
	"leeward/runtime/engine"
	"leeward/runtime/kubeapi"
	"leeward/runtime/live"
)

const onOneCluster = 1000

// BenchmarkConditionToTask is how long it takes from a condition that an agent writes until a client sees on its watch
// that a binding leaves the cluster, which has a thousand; all of it durable. Beside it a thousand bindings are
// written to the store at once, and seen.
func BenchmarkConditionToTask(b *testing.B) {
	b.Run("decided", func(b *testing.B) {
		var latencies []time.Duration
		for b.Loop() {
			d := withFleet(b)
			seen := d.watchBindings(func(line []byte) bool { return bytes.Contains(line, []byte(`"gracefulEvictionTasks"`)) })
			began := time.Now()
			_, err := d.in(clusters, kubeapi.Admin()).Patch(b.Context(), "m1", types.MergePatchType, []byte(
				`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Gone","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`,
			), metav1.PatchOptions{}, "status")
			require.NoError(b, err)
			latencies = append(latencies, seen(began)...)
		}
		report(b, latencies)
	})
	b.Run("written alone", func(b *testing.B) {
		var latencies []time.Duration
		for b.Loop() {
			d := start(b, durableEngine(b), b.TempDir(), "127.0.0.1:0")
			seen := d.watchBindings(func([]byte) bool { return true })
			began := time.Now()
			fill(b, d.engine, onOneCluster)
			latencies = append(latencies, seen(began)...)
		}
		report(b, latencies)
	})
}

func report(b *testing.B, latencies []time.Duration) {
	b.Helper()
	slices.Sort(latencies)
	b.ReportMetric(0, "ns/op")
	for _, percent := range []int{50, 99} {
		b.ReportMetric(float64(latencies[len(latencies)*percent/100].Microseconds())/1000, fmt.Sprintf("ms-p%d", percent))
	}
}

// watchBindings watches until each binding was seen as it is wanted; the answer is called with when to count from. It
// reads lines and does not decode them, which is the client's own time.
func (d *daemon) watchBindings(wanted func(line []byte) bool) func(began time.Time) []time.Duration {
	d.t.Helper()
	client, err := rest.HTTPClientFor(d.as(kubeapi.Admin()))
	require.NoError(d.t, err)
	answer, err := client.Get(fmt.Sprintf("https://%s/apis/work.karmada.io/v1alpha2/resourcebindings?watch=true&resourceVersion=%d", d.Addr(), d.engine.Version()))
	require.NoError(d.t, err)
	return func(began time.Time) (latencies []time.Duration) {
		defer func() { require.NoError(d.t, answer.Body.Close()) }()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		seen := map[string]bool{}
		for len(latencies) < onOneCluster && lines.Scan() {
			if name := nameIn(lines.Bytes()); wanted(lines.Bytes()) && !seen[name] {
				seen[name] = true
				latencies = append(latencies, time.Since(began))
			}
		}
		require.Len(d.t, latencies, onOneCluster)
		return latencies
	}
}

// nameIn is the first name in the JSON of an object, which is its own.
func nameIn(line []byte) string {
	_, rest, _ := bytes.Cut(line, []byte(`"name":"`))
	name, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(name)
}

func durableEngine(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Config{Resources: catalog.Tables(), Clock: clock.New(), Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// withFleet serves a fleet whose bindings are all on m1 and m2, with a third cluster to go to and no limits.
func withFleet(t testing.TB) *daemon {
	t.Helper()
	e := durableEngine(t)
	put(t, e, readyCluster("m1"), readyCluster("m2"), leaving(), everywhere())
	for i := range onOneCluster {
		put(t, e, web(fmt.Sprintf("web-%04d", i)))
	}
	var own []config.Override
	for _, field := range []string{"allowNoExecuteTaintPolicy", "enableNoExecuteTaintEviction"} {
		own = append(own, config.Override{Field: field, Value: true, Source: "benchmark"})
	}
	for _, field := range []string{
		"evictionWorkers", "fleetEvictionRate", "regionEvictionRate", "clusterEvictionRate", "unhealthyClusterThreshold",
		"unhealthyRegionThreshold", "blackoutThreshold", "fleetBreakerShare", "regionBreakerShare", "priorityBreakerShare",
	} {
		own = append(own, config.Override{Field: field, Value: 0, Source: "benchmark"})
	}
	settings, problems := config.Resolve("leeward", own)
	require.Empty(t, problems)
	fleet, err := live.Open(live.Config{Engine: e, Settings: settings, Clock: clock.New(), Log: zerolog.Nop()})
	require.NoError(t, err)
	put(t, e, readyCluster("m3"))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- fleet.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return start(t, e, t.TempDir(), "127.0.0.1:0", func(c *kubeapi.Config) { c.Settings = func() *messages.Settings { return &settings } })
}

func put(t testing.TB, e *engine.Engine, objects ...api.Object) {
	t.Helper()
	writes := make([]engine.Write, len(objects))
	for i, o := range objects {
		r := catalog.Of(api.KeyOf(o))
		o.SetUID(types.UID(o.GetName()))
		o.SetGeneration(1)
		writes[i] = engine.Create(engine.Key(r.Name(), o.GetNamespace(), o.GetName()), o)
	}
	require.NoError(t, e.Commit(writes...))
}

func readyCluster(name string) *api.Cluster {
	return &api.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       api.ClusterSpec{SyncMode: api.Pull},
		Status:     api.ClusterStatus{Conditions: []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: "Ready"}}},
	}
}

// leaving taints a cluster that is not Ready.
func leaving() *api.ClusterTaintPolicy {
	return &api.ClusterTaintPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.PolicyGroupVersion, Kind: "ClusterTaintPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: "leaving"},
		Spec: api.ClusterTaintPolicySpec{
			AddOnConditions: []api.MatchCondition{{
				ConditionType: api.ConditionReady, Operator: api.MatchNotIn, StatusValues: []metav1.ConditionStatus{metav1.ConditionTrue},
			}},
			Taints: []api.PolicyTaint{{Key: "down", Effect: corev1.TaintEffectNoExecute}},
		},
	}
}

// everywhere sends every Deployment to two clusters.
func everywhere() *api.ClusterPropagationPolicy {
	return &api.ClusterPropagationPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.PolicyGroupVersion, Kind: "ClusterPropagationPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: "everywhere"},
		Spec: api.PropagationSpec{
			ResourceSelectors: []api.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment"}},
			Placement:         api.Placement{SpreadConstraints: []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: 2, MaxGroups: 2}}},
		},
	}
}

func web(name string) *appsv1.Deployment {
	replicas := int32(3)
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas},
	}
}
