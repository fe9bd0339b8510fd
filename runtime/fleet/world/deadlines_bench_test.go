package world_test

import (
	"container/heap"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
)

// BenchmarkDeadlines is the figure of docs/performance.md: a million workloads whose tolerations of one taint end at a
// million different instants, a second apart, on the virtual clock. Their scheduling is suspended, so that all that happens
// at an instant is its deadline: the workload says that it must leave and may not, and the scheduler hears of it. "x-heap" is
// how many times as long it takes as a loop over container/heap that keeps the same deadlines and notes that they are over.
func BenchmarkDeadlines(b *testing.B) {
	const million = 1_000_000
	if testing.Short() {
		b.Skip("takes a minute to set up, and 8 GiB")
	}
	w, held := patientFleet(b, 100, million)
	defer w.Close()
	for b.Loop() { // once: a deadline passes only once
		start := time.Now()
		runUntil(b, w, world.Start.Add((million+1)*time.Second))
		took := time.Since(start)
		require.Equal(b, million, *held)
		b.ReportMetric(took.Seconds(), "s")
		b.ReportMetric(float64(took.Nanoseconds())/million, "ns/deadline")
		b.ReportMetric(float64(took)/float64(bareDeadlines(b, million)), "x-heap")
	}
	b.ReportMetric(0, "ns/op")
}

// patientFleet returns a world of tainted clusters and of workloads that tolerate that for 1, 2, 3 ... seconds. It counts
// those that must leave.
func patientFleet(b *testing.B, clusters, bindings int) (*world.World, *int) {
	var unlimited []config.Override
	for _, field := range []string{
		"evictionWorkers", "fleetEvictionRate", "regionEvictionRate", "clusterEvictionRate", "unhealthyClusterThreshold",
		"unhealthyRegionThreshold", "blackoutThreshold", "stormCooldown", "fleetBreakerShare", "regionBreakerShare", "priorityBreakerShare",
	} {
		unlimited = append(unlimited, config.Override{Field: field, Value: 0})
	}
	settings, problems := config.Resolve(config.Default, unlimited)
	require.Empty(b, problems)
	require.False(b, settings.LimitsEvictions())
	held := 0
	w := world.New(world.Config{Settings: settings, Seed: 1, Observe: func(_ kernel.Seat, _ time.Time, f messages.Fact) {
		if _, is := f.(*messages.EvictionBlocked); is {
			held++
		}
	}})
	f := fleet{clusters: clusters}
	for i := range clusters {
		c := f.cluster(i)
		c.Spec.Taints = []corev1.Taint{{Key: "old", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: world.Start}}}
		require.NoError(b, w.Apply(c))
	}
	for i := range bindings {
		require.NoError(b, w.Apply(patient(i, name(i%clusters))))
	}
	require.NoError(b, w.Settle(world.Start))
	return w, &held
}

// patient is a workload on one cluster whose taint it tolerates for so many seconds, counted from 1.
func patient(i int, cluster string) *api.ResourceBinding {
	app := fmt.Sprintf("app%07d", i)
	return &api.ResourceBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app},
		Spec: api.BindingSpec{
			Resource:   api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: app},
			Replicas:   1,
			Suspension: &api.Suspension{Scheduling: new(true)},
			Clusters:   []api.TargetCluster{{Name: cluster, Replicas: 1}},
			Placement: &api.Placement{ClusterTolerations: []corev1.Toleration{{
				Key: "old", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(i + 1)),
			}}},
		},
	}
}

// bareDeadlines keeps the same deadlines in container/heap, and returns how long it takes until all are over.
func bareDeadlines(b *testing.B, n int) time.Duration {
	all := make(deadlines, 0, n)
	for i := range n {
		heap.Push(&all, &deadline{at: world.Start.Add(time.Duration(n-i) * time.Second)})
	}
	over := 0
	start := time.Now()
	for len(all) > 0 {
		heap.Pop(&all).(*deadline).over = true
		over++
	}
	took := time.Since(start)
	require.Equal(b, n, over)
	return took
}

type deadline struct {
	at   time.Time
	over bool
}

type deadlines []*deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)        { *d = append(*d, x.(*deadline)) }

func (d *deadlines) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}
