package placement_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/messages/api"
)

func TestWhatIsReservedOnAnAbsentClusterIsKept(t *testing.T) {
	fleet := fleetOf(reporting(&api.ResourceSummary{Allocatable: resources("example.com/gpu", "9")}))
	fleet.Drop("a")
	fleet.Reserve("a", 3, requests("cpu", "2"))
	fleet.Put(reporting(&api.ResourceSummary{Allocatable: resources("cpu", "10", "pods", "50")}))
	require.Equal(t, 2, heldBy(fleet, requests("cpu", "2")), "10 less 6")
	require.Equal(t, 47, heldBy(fleet, nil), "a pod each")
}

const gpu = corev1.ResourceName("example.com/gpu")

func TestComponentsOfASetTakeOnlyWhatTheyRequest(t *testing.T) {
	trainer, idle := component("trainer", 1, "1"), component("idle", 0, "1")
	trainer.ReplicaRequirements.ResourceRequest[gpu] = resource.MustParse("1")
	idle.ReplicaRequirements.ResourceRequest[gpu] = resource.MustParse("64")
	web := component("web", 2, "2")
	one := counting("one", 0, 0, 0, 2) // two nodes of four cores
	one.Resources.Allocatable[gpu] = resource.MustParse("1")
	for _, test := range []struct {
		name       string
		components []api.Component
		reason     string
	}{
		{"one component asks for a GPU, the other for none", []api.Component{trainer, web}, ""},
		{"in whatever order", []api.Component{web, trainer}, ""},
		{"one that is scaled to zero asks for nothing", []api.Component{web, idle}, ""},
		{"two GPUs are one too many", []api.Component{trainer, trainer}, api.ReasonNoClusterFit},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := exact(one).Plan(noon, whole(messages.NewComponentSet(test.components), nil))
			require.Equal(t, test.reason, d.Reason)
		})
	}
}

// TestTheSearchSeesThatNoChoiceWillDo asks for what no choice offers. Of thirty clusters there are a thousand million choices; the
// search is to see early what they have in common or all lack, and to say for sure that none will do, in place of giving up.
func TestTheSearchSeesThatNoChoiceWillDo(t *testing.T) {
	var alike, apart []*messages.ClusterView
	var before []api.TargetCluster
	for i := range 30 {
		name := fmt.Sprintf("m%02d", i)
		before = append(before, on(name, 1))
		alike = append(alike, at("", "", "", cluster(name, 1), "near"))
		apart = append(apart, at("", "", name, cluster(name, 1), "near"))
	}
	alike = append(alike, at("", "", "", cluster("large", 100), "far"))
	for _, test := range []struct {
		name        string
		views       []*messages.ClusterView
		replicas    int32
		constraints []api.SpreadConstraint
		message     string
	}{
		{
			"one small cluster does not lead to more than another", alike, 101, []api.SpreadConstraint{spread("zone", 1, 1), spread("cluster", 2, 0)},
			"no choice among 31 cluster(s) meets the spread constraints with capacity for 101 replicas",
		},
		{
			"all together have too little room", apart, 61, []api.SpreadConstraint{byLabel("rack", 2, 0)},
			"no choice among 30 cluster(s) meets the spread constraints with capacity for 61 replicas",
		},
		{
			"all are in one zone", apart, 30, []api.SpreadConstraint{byLabel("rack", 2, 0), spread("zone", 2, 0)},
			"spread constraint zone asks for 2 zones, 1 fit",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := exactly(test.views...).Plan(noon, workload(spreading(dynamic, test.constraints...), test.replicas, before...))
			require.Equal(t, test.message, d.Message)
		})
	}
}
