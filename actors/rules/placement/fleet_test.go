package placement_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// resources makes a list of names and amounts by turns.
func resources(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func reporting(r *api.ResourceSummary) *messages.ClusterView {
	return &messages.ClusterView{Name: "a", Resources: r}
}

func requests(pairs ...string) *api.ReplicaRequirements {
	return &api.ReplicaRequirements{ResourceRequest: resources(pairs...)}
}

// heldBy is how many replicas a planner finds capacity for on cluster a.
func heldBy(f *placement.Fleet, r *api.ReplicaRequirements) int {
	planner := placement.NewPlanner(f, &messages.Settings{}, 0)
	request := workload(spreading(dynamic), 1)
	request.Requirements = r
	holds := 0
	for planner.Plan(noon, request).Reason == "" {
		holds = int(request.Replicas)
		request.Replicas++
	}
	return holds
}

func TestCapacity(t *testing.T) {
	plenty := resources("cpu", "10", "memory", "10Gi", "pods", "100")
	tests := []struct {
		name         string
		resources    *api.ResourceSummary
		requirements *api.ReplicaRequirements
		want         int
	}{
		{"nothing is reported", nil, nil, 0},
		{"no pods are reported", &api.ResourceSummary{Allocatable: resources("cpu", "10")}, requests("cpu", "1"), 0},
		{"without requirements pods are the limit", &api.ResourceSummary{Allocatable: plenty}, nil, 100},
		{"the scarcest resource is the limit", &api.ResourceSummary{Allocatable: plenty}, requests("cpu", "1", "memory", "2Gi"), 5},
		{"cpu counts in thousandths", &api.ResourceSummary{Allocatable: plenty}, requests("cpu", "300m"), 33},
		{"what runs and what is about to run counts", &api.ResourceSummary{
			Allocatable: plenty, Allocated: resources("cpu", "2500m", "pods", "3"), Allocating: resources("cpu", "500m"),
		}, requests("cpu", "1"), 7},
		{"pods run out", &api.ResourceSummary{Allocatable: plenty, Allocated: resources("pods", "96")}, requests("cpu", "1"), 4},
		{"more runs than there is", &api.ResourceSummary{Allocatable: plenty, Allocated: resources("cpu", "20")}, requests("cpu", "1"), 0},
		{"a request for none asks for nothing", &api.ResourceSummary{Allocatable: plenty}, requests("cpu", "0", "example.com/gpu", "0"), 100},
		{"a resource that the cluster does not have", &api.ResourceSummary{Allocatable: plenty}, requests("example.com/gpu", "1"), 0},
		{"a quantity too long for 64 bits, but not too large", &api.ResourceSummary{Allocatable: resources("pods", "9", "memory", "12345678901234567890m")}, requests("memory", "2000000000000000"), 6},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, heldBy(fleetOf(reporting(test.resources)), test.requirements))
		})
	}
}

func TestUnlimitedCapacityIsTheWorkloadsOwnSize(t *testing.T) {
	endless := resources("pods", "9999999999")
	planner := plannerOver(reporting(&api.ResourceSummary{Allocatable: endless}), cluster("b", 40))
	d := planner.Plan(noon, workload(spreading(dynamic), 20))
	require.Equal(t, list(on("a", 7), on("b", 13)), d.Targets, "20 to 40, as in Karmada")
}

func TestReserve(t *testing.T) {
	summary := &api.ResourceSummary{Allocatable: resources("cpu", "10", "pods", "50")}
	half := requests("cpu", "500m")
	fleet := fleetOf(reporting(summary))
	require.Equal(t, 20, heldBy(fleet, half))
	fleet.Reserve("a", 6, half)
	require.Equal(t, 14, heldBy(fleet, half))
	require.Equal(t, 44, heldBy(fleet, nil))
	fleet.Reserve("a", -2, half)
	require.Equal(t, 16, heldBy(fleet, half))

	busier := &api.ResourceSummary{Allocatable: summary.Allocatable, Allocated: resources("cpu", "1", "pods", "10")}
	fleet.Put(reporting(busier))
	require.Equal(t, 14, heldBy(fleet, half), "reservations outlast a report")
	require.Equal(t, 36, heldBy(fleet, nil))
	fleet.Reserve("a", 30, half)
	require.Zero(t, heldBy(fleet, half), "more reserved than there is")

	fleet.Drop("a")
	fleet.Reserve("a", -30, half)
	fleet.Put(reporting(summary))
	require.Equal(t, 16, heldBy(fleet, half), "reservations outlast the cluster, and can be released meanwhile")
	fleet.Reserve("a", -4, half)
	require.Equal(t, 20, heldBy(fleet, half))
	fleet.Drop("a")
	fleet.Put(reporting(summary))
	require.Equal(t, 20, heldBy(fleet, half), "nothing is left behind")
}

func TestReserveBeforeTheClusterComes(t *testing.T) {
	gpu := requests("example.com/gpu", "2")
	fleet := placement.NewFleet()
	fleet.Reserve("a", 3, gpu)
	fleet.Put(reporting(&api.ResourceSummary{Allocatable: resources("example.com/gpu", "9", "pods", "50")}))
	require.Equal(t, 1, heldBy(fleet, gpu), "9 less 6")
	fleet.Reserve("a", -3, gpu)
	require.Equal(t, 4, heldBy(fleet, gpu))
}

func TestReportsDoNotChangeTheView(t *testing.T) {
	const long = "12345678901234567890m" // kept as a pointer to its digits
	v := reporting(&api.ResourceSummary{
		Allocatable: resources("memory", long, "pods", "5"),
		Allocated:   resources("memory", "10000000000000000"),
	})
	fleet := fleetOf(v)
	require.Equal(t, 2, heldBy(fleet, requests("memory", "1000000000000000")))
	memory := v.Resources.Allocatable[corev1.ResourceMemory]
	require.Equal(t, long, memory.String())
}

func TestFleetKeepsTheOrderOfNames(t *testing.T) {
	fleet := placement.NewFleet()
	for i := range 50 {
		fleet.Put(cluster(fmt.Sprintf("m%02d", (i*37)%50), int64(i)))
	}
	planner := placement.NewPlanner(fleet, &messages.Settings{}, 0)
	all := refusals(planner, &placement.Request{})
	require.Len(t, all, 50)
	for i, r := range all {
		require.Equal(t, messages.ClusterName(fmt.Sprintf("m%02d", i)), r.cluster)
		require.Empty(t, r.reason)
	}
}

func BenchmarkPut(b *testing.B) {
	views := tenthTainted(1000)
	fleet := fleetOf(views...)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		v := *views[i%1000]
		fleet.Put(&v)
		i++
	}
}

func BenchmarkReserve(b *testing.B) {
	fleet, r := fleetOf(tenthTainted(1000)...), requests("cpu", "500m", "memory", "1Gi")
	b.ReportAllocs()
	for b.Loop() {
		fleet.Reserve("member0500", 2, r)
		fleet.Reserve("member0500", -2, r)
	}
}
