package placement_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// tenthTainted is a fleet like the one that Karmada's scheduler was measured on: every tenth cluster
// has a taint that no workload tolerates.
func tenthTainted(clusters int) []*messages.ClusterView {
	r := rand.New(rand.NewPCG(1, uint64(clusters)))
	views := make([]*messages.ClusterView, clusters)
	for i := range views {
		views[i] = &messages.ClusterView{
			Name:   messages.ClusterName(fmt.Sprintf("member%04d", i)),
			Region: fmt.Sprintf("region%d", r.IntN(5)),
			Labels: map[string]string{"tier": []string{"gold", "silver", "bronze"}[r.IntN(3)]},
			APIs: []api.APIEnablement{
				{GroupVersion: "v1", Resources: []api.APIResource{{Kind: "ConfigMap"}, {Kind: "Secret"}}},
				{GroupVersion: "apps/v1", Resources: []api.APIResource{{Kind: "Deployment"}}},
			},
			Resources: &api.ResourceSummary{
				Allocatable: corev1.ResourceList{
					corev1.ResourceCPU:    *resource.NewQuantity(20+r.Int64N(200), resource.DecimalSI),
					corev1.ResourceMemory: *resource.NewQuantity(r.Int64N(400)<<30, resource.BinarySI),
					corev1.ResourcePods:   resource.MustParse("1000"),
				},
				Allocated: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(r.Int64N(20_000), resource.DecimalSI)},
			},
		}
		if i%10 == 9 {
			views[i].Taints = []corev1.Taint{{Key: "failed", Effect: corev1.TaintEffectNoExecute}}
		}
	}
	return views
}

// strategies are those of the measurement.
func strategies() map[string]*api.Placement {
	spread := func(field api.SpreadField, least, most int) api.SpreadConstraint {
		return api.SpreadConstraint{SpreadByField: field, MinGroups: least, MaxGroups: most}
	}
	tier := func(value string) api.ClusterAffinity {
		return api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": value}}}
	}
	divided := func(preference api.ReplicaDivisionPreference, w *api.WeightPreference) *api.ReplicaSchedulingStrategy {
		return &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: preference, WeightPreference: w}
	}
	return map[string]*api.Placement{
		"Duplicated spread 2": {
			ReplicaScheduling: &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Duplicated},
			SpreadConstraints: []api.SpreadConstraint{spread(api.SpreadByCluster, 2, 2)},
		},
		"static weights by label": {ReplicaScheduling: divided(api.Weighted, &api.WeightPreference{StaticWeightList: []api.StaticClusterWeight{
			{TargetCluster: tier("gold"), Weight: 2}, {TargetCluster: tier("silver"), Weight: 1},
		}})},
		"dynamic weight spread 3": {
			ReplicaScheduling: divided(api.Weighted, &api.WeightPreference{DynamicWeight: api.DynamicByAvailableReplicas}),
			SpreadConstraints: []api.SpreadConstraint{spread(api.SpreadByCluster, 3, 3)},
		},
		"Aggregated over 2 regions": {
			ReplicaScheduling: divided(api.Aggregated, nil),
			SpreadConstraints: []api.SpreadConstraint{spread(api.SpreadByRegion, 2, 2), spread(api.SpreadByCluster, 2, 4)},
		},
		"dynamic weight everywhere": {ReplicaScheduling: divided(api.Weighted, &api.WeightPreference{DynamicWeight: api.DynamicByAvailableReplicas})},
		"Aggregated everywhere":     {ReplicaScheduling: divided(api.Aggregated, nil)},
		"nothing fits":              {ClusterAffinity: &api.ClusterAffinity{ClusterNames: []string{"elsewhere"}}},
	}
}

// peer is what one scheduling pass of Karmada takes on this machine, in nanoseconds, by the number of
// clusters: best of four runs, with every tenth cluster tainted.
var peer = map[string][3]float64{
	"Duplicated spread 2":       {51_000, 489_000, 6_200_000},
	"static weights by label":   {93_000, 760_000, 7_600_000},
	"dynamic weight spread 3":   {56_000, 510_000, 5_400_000},
	"Aggregated over 2 regions": {62_000, 537_000, 5_600_000},
}

func benchmarked(strategy string) *placement.Request {
	return &placement.Request{
		Placement: strategies()[strategy], APIVersion: "apps/v1", Kind: "Deployment", Workload: true, Replicas: 20,
		UID: "64667e59-f313-426a-8760-e7ea9e4bf01f",
		Requirements: &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi"),
		}},
	}
}

// BenchmarkPlan measures one decision. "x-peer" says how many times faster it is than the peer's
// recorded figure, "x-reference" than the reference here, run in the same breath.
func BenchmarkPlan(b *testing.B) {
	names := []string{
		"Duplicated spread 2", "static weights by label", "dynamic weight spread 3", "Aggregated over 2 regions",
		"dynamic weight everywhere", "Aggregated everywhere", "nothing fits",
	}
	for _, name := range names {
		for i, clusters := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", name, clusters), func(b *testing.B) {
				views, request := tenthTainted(clusters), benchmarked(name)
				naive := reference{clusters: views}
				fleet := placement.NewFleet()
				for _, v := range views {
					fleet.Put(v)
				}
				planner := placement.NewPlanner(fleet, &messages.Settings{}, 0)
				want, got := naive.plan(noon, request), planner.Plan(noon, request)
				require.Equal(b, want.Targets, got.Targets)
				b.ReportAllocs()
				for b.Loop() {
					planner.Plan(noon, request)
				}
				per := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				if figure, known := peer[name]; known {
					b.ReportMetric(figure[i]/per, "x-peer")
				}
				b.ReportMetric(naive.takes(request)/per, "x-reference")
			})
		}
	}
}

// takes returns the nanoseconds of one plain decision: the best of a few.
func (n *reference) takes(r *placement.Request) float64 {
	best := time.Hour
	for range 10 {
		start := time.Now()
		n.plan(noon, r)
		best = min(best, time.Since(start))
	}
	return float64(best.Nanoseconds())
}
