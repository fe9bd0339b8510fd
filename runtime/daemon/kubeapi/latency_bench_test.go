package kubeapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
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
	"k8s.io/client-go/tools/clientcmd"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/hugepages"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/daemon/live"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
)

const onOneCluster = 1000

// BenchmarkConditionToTask is how long it takes from a condition that an agent writes until a client, which is a process of
// its own, sees on its watch that a binding leaves the cluster, which has a thousand; all of it durable. Beside it a
// thousand bindings are written to the store in one commit, and seen.
func BenchmarkConditionToTask(b *testing.B) {
	b.Run("decided", func(b *testing.B) {
		var latencies []time.Duration
		for b.Loop() {
			latencies = append(latencies, leaveOnce(b)...)
		}
		report(b, latencies)
	})
	b.Run("written alone", func(b *testing.B) {
		var latencies []time.Duration
		for b.Loop() {
			latencies = append(latencies, writeOnce(b)...)
		}
		report(b, latencies)
	})
}

// round is a part of a benchmark that cleans up when it ends, and not when the benchmark does: a daemon is alone in its
// process, with the garbage of no other.
type round struct {
	testing.TB
	ends []func()
}

// Cleanup has something done when the round ends.
func (r *round) Cleanup(end func()) { r.ends = append(r.ends, end) }

func (r *round) end() {
	for _, end := range slices.Backward(r.ends) {
		end()
	}
}

func leaveOnce(b *testing.B) []time.Duration {
	b.Helper()
	r := &round{TB: b}
	defer r.end()
	d := withFleet(r)
	seen := d.watchBindings(`"gracefulEvictionTasks"`)
	agent := d.in(clusters, kubeapi.Admin())
	_, err := agent.Get(b.Context(), "m1", metav1.GetOptions{}) // it is connected
	require.NoError(b, err)
	began := time.Now()
	_, err = agent.Patch(b.Context(), "m1", types.MergePatchType, []byte(
		`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Gone","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`,
	), metav1.PatchOptions{}, "status")
	require.NoError(b, err)
	return seen(began)
}

func writeOnce(b *testing.B) []time.Duration {
	b.Helper()
	r := &round{TB: b}
	defer r.end()
	d := start(r, durableEngine(r), b.TempDir(), "127.0.0.1:0")
	seen := d.watchBindings("")
	began := time.Now()
	fill(b, d.engine, onOneCluster)
	return seen(began)
}

func report(b *testing.B, latencies []time.Duration) {
	b.Helper()
	slices.Sort(latencies)
	b.ReportMetric(0, "ns/op")
	for _, percent := range []int{50, 99} {
		b.ReportMetric(float64(latencies[len(latencies)*percent/100].Microseconds())/1000, fmt.Sprintf("ms-p%d", percent))
	}
}

// watching has a process of this test watch bindings, by a kubeconfig, for the words that they are to have.
const watching = "LEEWARD_WATCHING"

func TestMain(m *testing.M) {
	if kubeconfig := os.Getenv(watching); kubeconfig != "" {
		if err := watchAlone(os.Stdout, kubeconfig, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	hugepages.Wanted(true).Reserve(64 << 20) // as the daemon does
	os.Exit(m.Run())
}

// watchAlone prints a line when it watches, and then when it first saw each binding that has some words. It does not
// decode what it reads: that is a client's own time.
func watchAlone(out io.Writer, kubeconfig, version, words string) error {
	c, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		return err
	}
	answer, err := client.Get(c.Host + "/apis/work.karmada.io/v1alpha2/resourcebindings?watch=true&resourceVersion=" + version)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := fmt.Fprintln(out, "watching"); err != nil {
		return err
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	seen := map[string]int64{}
	for len(seen) < onOneCluster && lines.Scan() {
		at := time.Now().UnixNano()
		if name := nameIn(lines.Text()); strings.Contains(lines.Text(), words) && seen[name] == 0 {
			seen[name] = at
		}
	}
	for _, at := range seen { // order-free: they are sorted by who hears them
		if _, err := fmt.Fprintln(out, at); err != nil {
			return err
		}
	}
	return lines.Err()
}

// nameIn is the first name in the JSON of an object, which is its own.
func nameIn(line string) string {
	_, rest, _ := strings.Cut(line, `"name":"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// watchBindings has another process watch until each binding was seen with some words; the answer is called with when
// to count from. What starting left is collected before.
func (d *daemon) watchBindings(words string) func(began time.Time) []time.Duration {
	d.t.Helper()
	c := exec.CommandContext(d.t.Context(), os.Args[0], fmt.Sprint(d.engine.Version()), words)
	c.Env = append(os.Environ(), watching+"="+d.KubeconfigFile())
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(d.t, err)
	require.NoError(d.t, c.Start())
	lines := bufio.NewScanner(out)
	require.True(d.t, lines.Scan(), "the other process watches")
	runtime.GC()
	return func(began time.Time) (latencies []time.Duration) {
		for lines.Scan() {
			at, err := strconv.ParseInt(lines.Text(), 10, 64)
			require.NoError(d.t, err)
			latencies = append(latencies, time.Unix(0, at).Sub(began))
		}
		require.NoError(d.t, c.Wait())
		require.Len(d.t, latencies, onOneCluster)
		return latencies
	}
}

func durableEngine(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New(), Dir: t.TempDir()})
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
	fleet, err := live.Open(t.Context(), live.Config{Engine: e, Settings: settings, Lanes: runtime.GOMAXPROCS(0), Clock: clock.New(), Log: zerolog.Nop()})
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
