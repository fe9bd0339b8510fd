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
	"leeward/runtime/fleet/config"
)

// reportFloors says how many times the CPU of two loops without actors a failover took.
func reportFloors(b *testing.B, bindings, clusters int, took time.Duration) {
	runtime.GC()
	least := newLeastWork(b, bindings, clusters).storm(b)
	before := liveBytes()
	same := newSameData(b, bindings, clusters)
	b.ReportMetric(float64(liveBytes()-before)/float64(bindings), "same-data-B/binding")
	floor := same.storm(b)
	b.ReportMetric(float64(floor), "same-data-ns/failover")
	b.ReportMetric(float64(took)/float64(floor), "x-same-data")
	b.ReportMetric(float64(least), "least-work-ns/failover")
	b.ReportMetric(float64(took)/float64(least), "x-least-work")
}

// bareFleet is what both floors place on: clusters with their capacity, the first three in ten of which fail.
type bareFleet struct {
	fleet    *placement.Fleet
	planner  *placement.Planner
	views    []*messages.ClusterView
	settings messages.Settings
	asked    *api.Placement
	each     *api.ReplicaRequirements
}

var bareNow = time.Date(2026, time.January, 1, 1, 0, 0, 0, time.UTC)

func newBareFleet(b *testing.B, bindings, clusters int) *bareFleet {
	settings, problems := config.Resolve(config.Default, nil)
	require.Empty(b, problems)
	f := &bareFleet{
		fleet: placement.NewFleet(), settings: settings,
		each: &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		asked: &api.Placement{
			SpreadConstraints: []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: spread, MaxGroups: spread}},
			ReplicaScheduling: placements["dynamic"](),
		},
	}
	perWorkload := int64(max(1000, 24*bindings/clusters))
	for i := range clusters {
		f.views = append(f.views, &messages.ClusterView{
			Name:       messages.ClusterName(fmt.Sprintf("member%04d", i)),
			Conditions: []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue}},
			Resources: &api.ResourceSummary{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU:  *resource.NewMilliQuantity(perWorkload*100, resource.DecimalSI),
				corev1.ResourcePods: *resource.NewQuantity(perWorkload, resource.DecimalSI),
			}},
		})
		f.fleet.Put(f.views[i])
	}
	f.planner = placement.NewPlanner(f.fleet, &f.settings, 1)
	return f
}

// fail taints the clusters that fail and returns them.
func (f *bareFleet) fail() []*messages.ClusterView {
	dark := f.views[:len(f.views)*3/10]
	for i := range dark {
		v := *dark[i]
		v.Taints = []corev1.Taint{{Key: TaintKey, Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: bareNow}}}
		dark[i] = &v
		f.fleet.Put(&v)
	}
	return dark
}

func (f *bareFleet) rule() taint.Rule {
	return taint.Rule{Match: f.settings.TolerationMatch, Numeric: f.settings.NumericTolerations}
}

// place makes a plan without the clusters that are evicted from, and reserves its capacity.
func (f *bareFleet) place(b *testing.B, now []api.TargetCluster, leaving []messages.ClusterName) []api.TargetCluster {
	kept := slices.DeleteFunc(slices.Clone(now), func(t api.TargetCluster) bool {
		return slices.Contains(leaving, messages.ClusterName(t.Name))
	})
	d := f.planner.Plan(bareNow, &placement.Request{
		Placement: f.asked, APIVersion: "apps/v1", Kind: "Deployment", Workload: true, Replicas: replicas, Requirements: f.each,
		Previous: kept, Leaving: leaving,
	})
	if d.Reason != "" {
		b.Fatalf("no place: %s %s", d.Reason, d.Message)
	}
	for _, t := range now {
		f.fleet.Reserve(messages.ClusterName(t.Name), -t.Replicas, f.each)
	}
	for _, t := range d.Targets {
		f.fleet.Reserve(messages.ClusterName(t.Name), t.Replicas, f.each)
	}
	return d.Targets
}

// leastWork is the lower floor: the least that leads to the same placements and tasks. It takes one workload after
// the other from its taint to the end of its task while all of it is in the cache, keeps of each where it runs and
// which tasks it has, and takes it that every copy becomes healthy.
type leastWork struct {
	*bareFleet
	bindings []leastBinding
}

type leastBinding struct {
	targets []api.TargetCluster
	tasks   []api.GracefulEvictionTask
}

func newLeastWork(b *testing.B, bindings, clusters int) *leastWork {
	f := &leastWork{newBareFleet(b, bindings, clusters), make([]leastBinding, bindings)}
	for i := range f.bindings {
		f.bindings[i].targets = f.place(b, nil, nil)
	}
	return f
}

// storm has every binding leave what it must, and returns the CPU time of one failover.
func (f *leastWork) storm(b *testing.B) time.Duration {
	taints := map[string][]corev1.Taint{}
	for _, v := range f.fail() {
		taints[string(v.Name)] = v.Taints
	}
	before, failovers := cpuTime(), 0
	for i := range f.bindings {
		w := &f.bindings[i]
		var leaving []messages.ClusterName
		for _, t := range w.targets {
			if taint.Deadline(taints[t.Name], nil, f.rule()).Outcome == taint.Untolerated {
				leaving = append(leaving, messages.ClusterName(t.Name))
			}
		}
		if len(leaving) == 0 {
			continue
		}
		for _, t := range w.targets {
			if slices.Contains(leaving, messages.ClusterName(t.Name)) {
				task := eviction.ForTaint(eviction.Origin{Cluster: t.Name, Replicas: t.Replicas}, nil, f.settings.NoExecuteTaintEvictionPurgeMode)
				task.CreationTimestamp = &metav1.Time{Time: bareNow}
				w.tasks = append(w.tasks, task)
			}
		}
		w.targets = f.place(b, w.targets, leaving)
		failovers += f.assess(w)
	}
	require.Positive(b, failovers)
	return (cpuTime() - before) / time.Duration(failovers)
}

// assess looks at every task twice, as it starts and when all is healthy, and returns how many are done.
func (f *leastWork) assess(w *leastBinding) (done int) {
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
