package world_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
)

// fleet is what the benchmarks run: clusters in regions of ten or thirty, bindings of three replicas
// spread over two clusters each.
type fleet struct{ clusters, bindings, dark int }

// dayInTheDark replays 24 hours in which one region is dark for one: not Ready, and tainted NoExecute by
// a policy that every binding tolerates for five minutes.
func (f fleet) dayInTheDark(tb testing.TB, order kernel.Order) *world.World {
	settings, problems := config.Resolve("leeward", []config.Override{
		{Field: "allowNoExecuteTaintPolicy", Value: true},
	})
	require.Empty(tb, problems)
	w := world.New(world.Config{Settings: settings, Seed: 1, Order: order})
	for i := range f.clusters {
		require.NoError(tb, w.Apply(f.cluster(i)))
	}
	require.NoError(tb, w.Apply(darkPolicy()))
	require.NoError(tb, w.Apply(spreadPolicy()))
	for i := range f.bindings {
		require.NoError(tb, w.Apply(deployment(i)))
	}
	require.NoError(tb, w.Settle(world.Start))

	f.report(tb, w, time.Hour, metav1.ConditionFalse)
	f.report(tb, w, 2*time.Hour, metav1.ConditionTrue)
	runUntil(tb, w, world.Start.Add(24*time.Hour))
	return w
}

// report has the dark region say how it is, at an offset.
func (f fleet) report(tb testing.TB, w *world.World, at time.Duration, ready metav1.ConditionStatus) {
	runUntil(tb, w, world.Start.Add(at))
	for i := range f.dark {
		w.TellCluster(messages.ClusterName(name(i)), &messages.ConditionReported{Type: api.ConditionReady, Status: ready})
	}
	require.NoError(tb, w.Settle(world.Start.Add(at)))
}

func runUntil(tb testing.TB, w *world.World, end time.Time) {
	for next, more := w.Next(); more && !next.After(end); next, more = w.Next() {
		require.NoError(tb, w.Settle(next))
	}
	require.NoError(tb, w.Settle(end))
}

func name(i int) string { return fmt.Sprintf("member%03d", i) }

func (f fleet) cluster(i int) *api.Cluster {
	region := "dark"
	if i >= f.dark {
		region = fmt.Sprintf("region%d", i/10)
	}
	return &api.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Name: name(i)},
		Spec:       api.ClusterSpec{SyncMode: api.Pull, Region: region},
		Status: api.ClusterStatus{
			Conditions: []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue, LastTransitionTime: metav1.Time{Time: world.Start}}},
			ResourceSummary: &api.ResourceSummary{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourcePods: resource.MustParse("10000"),
			}},
		},
	}
}

func darkPolicy() *api.ClusterTaintPolicy {
	ready := func(op api.MatchOperator) []api.MatchCondition {
		return []api.MatchCondition{{ConditionType: api.ConditionReady, Operator: op, StatusValues: []metav1.ConditionStatus{metav1.ConditionTrue}}}
	}
	return &api.ClusterTaintPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.PolicyGroupVersion, Kind: "ClusterTaintPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: "dark"},
		Spec: api.ClusterTaintPolicySpec{
			AddOnConditions: ready(api.MatchNotIn), RemoveOnConditions: ready(api.MatchIn),
			Taints: []api.PolicyTaint{{Key: "dark", Effect: corev1.TaintEffectNoExecute}},
		},
	}
}

func spreadPolicy() *api.ClusterPropagationPolicy {
	return &api.ClusterPropagationPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.PolicyGroupVersion, Kind: "ClusterPropagationPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: "spread"},
		Spec: api.PropagationSpec{
			ResourceSelectors: []api.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment"}},
			Placement: api.Placement{
				ClusterTolerations: []corev1.Toleration{{
					Key: "dark", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
				}},
				SpreadConstraints: []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: 2, MaxGroups: 2}},
				ReplicaScheduling: &api.ReplicaSchedulingStrategy{
					ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted,
					WeightPreference: &api.WeightPreference{DynamicWeight: api.DynamicByAvailableReplicas},
				},
			},
		},
	}
}

func deployment(i int) *appsv1.Deployment {
	app := fmt.Sprintf("app%05d", i)
	labels := map[string]string{"app": app}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "c", Image: "nginx",
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
				}}},
			},
		},
	}
}

// BenchmarkDay is the figure of docs/performance.md: 24 simulated hours of 100 clusters and 10 000
// bindings, a region of 30 clusters dark for one of them. x-realtime is how much faster than the fleet
// itself it ran.
func BenchmarkDay(b *testing.B) {
	f := fleet{clusters: 100, bindings: 10_000, dark: 30}
	if testing.Short() {
		f.bindings /= 10
	}
	b.ReportAllocs()
	for b.Loop() {
		before := time.Now()
		w := f.dayInTheDark(b, kernel.FIFO)
		took := time.Since(before)
		b.ReportMetric(24*time.Hour.Seconds()/took.Seconds(), "x-realtime")
		b.ReportMetric(float64(w.Journal().Len()), "facts")
		b.ReportMetric(float64(w.Counters().Handled), "messages")
		b.ReportMetric(liveMiB(), "MiB-live")
		w.Close()
	}
}

func liveMiB() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

func TestADarkRegionIsEvictedFromAndNothingIsLost(t *testing.T) {
	w := fleet{clusters: 20, bindings: 200, dark: 6}.dayInTheDark(t, kernel.Seeded)
	defer w.Close()
	left, ended := 0, 0
	for _, e := range w.Journal().Entries() {
		switch f := e.Fact.(type) {
		case *messages.EvictionStarted:
			left++
			require.Equal(t, world.Start.Add(time.Hour+5*time.Minute), f.Grounds.Deadline)
		case *messages.EvictionEnded:
			require.Equal(t, "healthy", f.Reason)
			ended++
		}
	}
	require.Positive(t, left)
	require.Equal(t, left, ended)
	for i := range 200 {
		b := w.Store().Binding(messages.BindingName(fmt.Sprintf("default/app%05d-deployment", i)))
		require.Empty(t, b.Spec.GracefulEvictionTasks)
		replicas := int32(0)
		for _, c := range b.Spec.Clusters {
			require.GreaterOrEqual(t, c.Name, "member006", "nothing comes back by itself")
			replicas += c.Replicas
		}
		require.Equal(t, int32(3), replicas)
	}
}
