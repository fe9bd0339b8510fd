package placement_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/messages/api"
)

// counting is a cluster with so many nodes of less than 1, of 1 to 2, of 2 to 4 and of 4 and more cores,
// and capacity for 1000 pods and 1000 cores in total.
func counting(name string, nodes ...int) *messages.ClusterView {
	v := cluster(name, 1000)
	v.Resources.Allocatable[corev1.ResourceCPU] = resource.MustParse("1000")
	for grade, cores := range []int64{0, 1, 2, 4} {
		v.Models = append(v.Models, api.ResourceModel{Grade: uint(grade), Ranges: []api.ResourceModelRange{
			{Name: corev1.ResourceCPU, Min: *resource.NewQuantity(cores, resource.DecimalSI)},
		}})
	}
	for grade, n := range nodes {
		v.Resources.AllocatableModelings = append(v.Resources.AllocatableModelings, api.AllocatableModeling{Grade: uint(grade), Count: n})
	}
	return v
}

func TestCapacityByGradesOfNodes(t *testing.T) {
	asking := func(list corev1.ResourceList) *api.ReplicaRequirements {
		return &api.ReplicaRequirements{ResourceRequest: list}
	}
	cores := func(q string) *api.ReplicaRequirements {
		return asking(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(q)})
	}
	few := counting("a", 0, 9)
	few.Resources.Allocatable[corev1.ResourcePods] = resource.MustParse("3")
	all := counting("a", 9)
	all.Models[0].Ranges[0].Min = resource.MustParse("1")
	tests := []struct {
		name  string
		view  *messages.ClusterView
		needs *api.ReplicaRequirements
		want  int32
	}{
		{"each node is as small as its grade allows", counting("a", 5, 1, 1, 1), cores("1"), 1 + 2 + 4},
		{"the lowest grade may be large enough", all, cores("1"), 9},
		{"what no node has in one piece is not there", counting("a", 9, 9, 9, 0), cores("3"), 0},
		{"a node must be large enough for sure", counting("a", 0, 9, 1, 0), cores("1500m"), 1},
		{"larger than any grade", counting("a", 9, 9, 9, 9), cores("5"), 0},
		{"no more than the pods of the cluster", few, cores("1"), 3},
		{"no more than the pods of a node", counting("a", 0, 0, 0, 1), cores("1m"), 110},
		{"a resource that no grade knows is counted in total", counting("a", 0, 0, 0, 1), asking(corev1.ResourceList{"cpu": resource.MustParse("1"), "example.com/gpu": resource.MustParse("1")}), 0},
		{"no request, no grade", counting("a", 0, 0, 0, 0), nil, 1000},
		{"grades that are not counted do not count", counting("a"), cores("1"), 1000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := workload(spreading(dynamic), max(1, test.want))
			r.Requirements = test.needs
			require.Equal(t, test.want > 0, plannerOver(test.view).Plan(noon, r).Reason == "")
			r.Replicas = test.want + 1
			require.Equal(t, api.ReasonUnschedulable, plannerOver(test.view).Plan(noon, r).Reason)
		})
	}
}

func TestGradesFollowTheFleet(t *testing.T) {
	needs := &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}}
	f := fleetOf(counting("b", 0, 0, 0, 3))
	f.Put(counting("a", 0, 0, 0, 1))
	f.Put(cluster("c", 0))
	f.Reserve("b", 1, needs)
	fits := func(replicas int32) bool {
		r := workload(spreading(dynamic), replicas)
		r.Requirements = needs
		return plannerOf(f).Plan(noon, r).Reason == ""
	}
	require.True(t, fits(3), "one of a, and two of b that are not reserved")
	require.False(t, fits(4))
	f.Drop("a")
	require.True(t, fits(2))
	require.False(t, fits(3))
	f.Put(counting("b"))
	require.True(t, fits(200), "b counts its nodes no longer")
}
