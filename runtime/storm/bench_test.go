package storm

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/eviction"
	"leeward/actors/rules/placement"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/config"
)

// BenchmarkFailover is the figure of docs/performance.md: three in ten clusters fail at once, with permits for all. "x-floor"
// says how many times the CPU it took of a bare loop that applies the same rules to the same data, run in the same breath.
func BenchmarkFailover(b *testing.B) {
	for _, size := range []struct{ bindings, clusters int }{{10_000, 200}, {100_000, 200}, {10_000, 5_000}, {1_000_000, 5_000}} {
		for _, lanes := range []int{1, 2} {
			b.Run(fmt.Sprintf("%d/%d/lanes=%d", size.bindings, size.clusters, lanes), func(b *testing.B) {
				if testing.Short() && size.bindings > 100_000 {
					b.Skip("takes minutes")
				}
				benchmarkFailover(b, size.bindings, size.clusters, lanes)
			})
		}
	}
}

func benchmarkFailover(b *testing.B, bindings, clusters, lanes int) {
	start := time.Now()
	var r *Report
	for b.Loop() {
		s, err := New(Config{
			Fleet: Fleet{
				Clusters: clusters, Bindings: bindings, Regions: 10, Seed: 1,
				Placements: Mix{{Kind: "dynamic", Weight: 1}}, Tolerations: Mix{{Kind: "none", Weight: 1}},
			},
			Kill: percentage(b, 30), Pattern: Burst, Seed: 1, Lanes: lanes,
			Clock: func() time.Duration { return time.Since(start) },
		})
		require.NoError(b, err)
		r, err = s.Run(b.Context())
		require.NoError(b, err)
		s.Close()
		require.True(b, r.Passed(), "%+v", r.Checks)
	}
	runtime.GC()
	floor := newBareFleet(b, bindings, clusters, clusters*3/10).storm(b)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(r.Costs.CPUPerFailover), "cpu-ns/failover")
	b.ReportMetric(float64(floor), "floor-ns/failover")
	b.ReportMetric(float64(r.Costs.CPUPerFailover)/float64(floor), "x-floor")
	b.ReportMetric(r.Rates.Released.PerSecond, "failovers/s")
	b.ReportMetric(time.Duration(r.Latencies[0].P99).Seconds(), "s-p99-evicted")
	b.ReportMetric(r.Costs.MessagesPerFailover, "messages/failover")
	b.ReportMetric(r.Costs.BytesPerFailover, "B/failover")
	b.ReportMetric(r.Costs.BytesPerBinding, "B/binding")
}

func percentage(b *testing.B, n int) Kill {
	b.Helper()
	k, err := ParseKill(fmt.Sprintf("%d%%", n))
	require.NoError(b, err)
	return k
}

// bareFleet is the floor: the rules and the data, without actors, messages, facts or anybody who waits.
type bareFleet struct {
	fleet    *placement.Fleet
	planner  *placement.Planner
	views    []*messages.ClusterView
	settings messages.Settings
	placed   *api.Placement
	each     *api.ReplicaRequirements
	bindings []bareBinding
	taints   map[string][]corev1.Taint
}

type bareBinding struct {
	targets []api.TargetCluster
	tasks   []api.GracefulEvictionTask
}

// newBareFleet places the bindings of a fleet of which the first clusters then fail.
func newBareFleet(b *testing.B, bindings, clusters, dark int) *bareFleet {
	settings, problems := config.Resolve(config.Default, nil)
	require.Empty(b, problems)
	f := &bareFleet{
		fleet: placement.NewFleet(), settings: settings, bindings: make([]bareBinding, bindings), taints: map[string][]corev1.Taint{},
		each: &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		placed: &api.Placement{
			SpreadConstraints: []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: 2, MaxGroups: 2}},
			ReplicaScheduling: &api.ReplicaSchedulingStrategy{
				ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted,
				WeightPreference: &api.WeightPreference{DynamicWeight: api.DynamicByAvailableReplicas},
			},
		},
	}
	room := int64(max(1000, 24*bindings/clusters))
	for i := range clusters {
		v := &messages.ClusterView{
			Name:       messages.ClusterName(fmt.Sprintf("member%04d", i)),
			Conditions: []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue}},
			Resources: &api.ResourceSummary{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU:  *resource.NewMilliQuantity(room*100, resource.DecimalSI),
				corev1.ResourcePods: *resource.NewQuantity(room, resource.DecimalSI),
			}},
		}
		f.views = append(f.views, v)
		f.fleet.Put(v)
	}
	f.planner = placement.NewPlanner(f.fleet, &f.settings, 1)
	for i := range f.bindings {
		f.place(b, &f.bindings[i], nil)
	}
	for i := range dark {
		dark := *f.views[i]
		dark.Taints = []corev1.Taint{{Key: TaintKey, Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: bareNow}}}
		f.taints[string(dark.Name)] = dark.Taints
		f.fleet.Put(&dark)
	}
	return f
}

var bareNow = time.Date(2026, time.January, 1, 1, 0, 0, 0, time.UTC)

// place makes a plan without the clusters that are left, and reserves its room.
func (f *bareFleet) place(b *testing.B, w *bareBinding, leaving []messages.ClusterName) {
	kept := slices.DeleteFunc(slices.Clone(w.targets), func(t api.TargetCluster) bool {
		return slices.Contains(leaving, messages.ClusterName(t.Name))
	})
	d := f.planner.Plan(bareNow, &placement.Request{
		Placement: f.placed, APIVersion: "apps/v1", Kind: "Deployment", Workload: true, Replicas: 3, Requirements: f.each,
		Previous: kept, Leaving: leaving,
	})
	if d.Reason != "" {
		b.Fatalf("no place: %s %s", d.Reason, d.Message)
	}
	for _, t := range w.targets {
		f.fleet.Reserve(messages.ClusterName(t.Name), -t.Replicas, f.each)
	}
	for _, t := range d.Targets {
		f.fleet.Reserve(messages.ClusterName(t.Name), t.Replicas, f.each)
	}
	w.targets = d.Targets
}

// storm has every binding leave what it must, and returns the CPU time of one failover.
func (f *bareFleet) storm(b *testing.B) time.Duration {
	before, failovers := cpuTime(), 0
	for i := range f.bindings {
		w := &f.bindings[i]
		var leaving []messages.ClusterName
		for _, t := range w.targets {
			if taint.Deadline(f.taints[t.Name], nil, taint.Rule{Match: f.settings.TolerationMatch}).Outcome == taint.Untolerated {
				leaving = append(leaving, messages.ClusterName(t.Name))
			}
		}
		if len(leaving) == 0 {
			continue
		}
		for _, t := range w.targets {
			if slices.Contains(leaving, messages.ClusterName(t.Name)) {
				task := eviction.ForTaint(eviction.Departure{Cluster: t.Name, Replicas: t.Replicas}, nil, f.settings.NoExecuteTaintEvictionPurgeMode)
				task.CreationTimestamp = &metav1.Time{Time: bareNow}
				w.tasks = append(w.tasks, task)
			}
		}
		f.place(b, w, leaving)
		failovers += f.assess(w)
	}
	require.Positive(b, failovers)
	return (cpuTime() - before) / time.Duration(failovers)
}

// assess looks at every task twice, as it starts and when all is healthy, and returns how many are done.
func (f *bareFleet) assess(w *bareBinding) (done int) {
	for _, healthy := range []bool{false, true} {
		w.tasks = slices.DeleteFunc(w.tasks, func(t api.GracefulEvictionTask) bool {
			drop := eviction.Assess(&t, bareNow, eviction.Handover{
				Timeout: f.settings.GracefulEvictionTimeout, Scheduled: true, Healthy: healthy, KeepLastCopy: true, HealthyElsewhere: healthy,
			}).Drop()
			if drop {
				done++
			}
			return drop
		})
	}
	return done
}
