package placement_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// component is so many pods of so many cores.
func component(name string, replicas int32, cores string) api.Component {
	return api.Component{Name: name, Replicas: replicas, ReplicaRequirements: &api.ReplicaRequirements{
		ResourceRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cores)},
	}}
}

// job has a head of one core and three workers of two: four pods and seven cores.
func job() *messages.ComponentSet {
	return messages.NewComponentSet([]api.Component{component("head", 1, "1"), component("workers", 3, "2")})
}

func whole(set *messages.ComponentSet, p *api.Placement, previous ...api.TargetCluster) *placement.Request {
	return &placement.Request{Placement: p, Workload: true, Set: set, Previous: previous}
}

// sized is a cluster with capacity for so many pods and so many cores.
func sized(name string, pods int64, cores string) *messages.ClusterView {
	v := cluster(name, pods)
	v.Resources.Allocatable[corev1.ResourceCPU] = resource.MustParse(cores)
	return v
}

// justEnough has just what a job needs, on nodes that are too small.
func justEnough(name string) *messages.ClusterView {
	v := counting(name, 0, 7, 0, 0)
	v.Resources.Allocatable[corev1.ResourceCPU], v.Resources.Allocatable[corev1.ResourcePods] = resource.MustParse("7"), resource.MustParse("4")
	return v
}

func clustersOf(targets []api.TargetCluster) (names []string) {
	for _, t := range targets {
		names = append(names, t.Name)
	}
	return names
}

func exact(views ...*messages.ClusterView) *placement.Planner {
	return placement.NewPlanner(fleetOf(views...), &messages.Settings{ExactComponentSets: true, ExactSpread: true, PartialPlacement: true}, 0)
}

func TestASetGoesWholeToEveryClusterChosen(t *testing.T) {
	for name, p := range map[string]*api.Placement{
		"Duplicated": nil, "dynamic weight": spreading(dynamic), "Aggregated": spreading(aggregated), "static weights": strategies()["static weights by label"],
	} {
		t.Run(name, func(t *testing.T) {
			d := exact(sized("a", 9, "9"), sized("b", 99, "99")).Plan(noon, whole(job(), p))
			require.Equal(t, []string{"a", "b"}, clustersOf(d.Targets))
			for _, target := range d.Targets {
				require.Zero(t, target.Replicas)
				require.Equal(t, &api.TargetComponents{{Name: "head", Replicas: 1}, {Name: "workers", Replicas: 3}}, target.Components)
			}
		})
	}
}

func TestTheClusterWithMostCapacityForSetsIsChosen(t *testing.T) {
	one := spreading(nil, spread(api.SpreadByCluster, 1, 1))
	views := []*messages.ClusterView{sized("a", 99, "7"), sized("b", 12, "99"), sized("c", 99, "20"), sized("d", 1000, "1")}
	for _, test := range []struct {
		name    string
		planner *placement.Planner
		p       *api.Placement
		want    []string
	}{
		{"Karmada counts sets where one cluster is asked for", plannerOver(views...), one, []string{"b"}},
		{"and pods where more are", plannerOver(views...), spreading(nil, spread(api.SpreadByCluster, 1, 2)), []string{"a", "d"}},
		{"exact counts sets", exact(views...), spreading(nil, spread(api.SpreadByCluster, 1, 2)), []string{"b", "c"}},
		{"Karmada takes a cluster without room for want of others", plannerOver(views[3]), one, []string{"d"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, clustersOf(test.planner.Plan(noon, whole(job(), test.p)).Targets))
		})
	}
}

func TestAClusterWithoutCapacityForAllComponentsIsRejected(t *testing.T) {
	views := []*messages.ClusterView{
		sized("a", 99, "6"), sized("b", 3, "99"), sized("c", 3, "6"), cluster("d", 99), counting("e", 0, 9, 0, 0), sized("f", 0, "0"), justEnough("g"),
	}
	p := exact(views...)
	d := p.Plan(noon, whole(job(), nil))
	require.Equal(t, api.ReasonNoClusterFit, d.Reason)
	require.Empty(t, d.Targets)
	require.Equal(t, []messages.Rejection{
		{Reason: "cluster(s) did not have enough cpu for all components", Clusters: []messages.ClusterName{"a", "d"}},
		{Reason: "cluster(s) did not have enough cpu, pods for all components", Clusters: []messages.ClusterName{"c", "f"}},
		{Reason: "cluster(s) did not have enough nodes for all components", Clusters: []messages.ClusterName{"e", "g"}},
		{Reason: "cluster(s) did not have enough pods for all components", Clusters: []messages.ClusterName{"b"}},
	}, d.Rejections)
	require.Equal(t, "cluster(s) did not have enough pods for all components", refusals(p, whole(job(), nil))[1].reason)

	d = p.Plan(noon, whole(job(), nil, on("a", 0)))
	require.Equal(t, []string{"a"}, clustersOf(d.Targets), "what runs somewhere stays there")
}

func TestASetOfNothingNeedsAPod(t *testing.T) {
	set := messages.NewComponentSet([]api.Component{{Name: "idle"}})
	require.Equal(t, []string{"a"}, clustersOf(exact(cluster("a", 1), cluster("b", 0)).Plan(noon, whole(set, nil)).Targets))
}

func TestReservedSetsLeaveLessCapacity(t *testing.T) {
	f := fleetOf(sized("a", 99, "20"))
	planner := placement.NewPlanner(f, &messages.Settings{ExactComponentSets: true}, 0)
	fits := func() bool { return planner.Plan(noon, whole(job(), nil)).Reason == "" }
	f.ReserveSet("a", 1, job())
	require.True(t, fits(), "13 cores are left")
	f.ReserveSet("a", 1, job())
	require.False(t, fits())
	f.ReserveSet("a", -1, job())
	require.True(t, fits())
}

func TestWhatCallsForPlacingASetAgain(t *testing.T) {
	set := job()
	divided, duplicated := spreading(dynamic), spreading(nil)
	here := api.TargetCluster{Name: "a", Components: set.Targets}
	other := api.TargetCluster{Name: "a", Components: &api.TargetComponents{{Name: "head", Replicas: 1}}}
	for _, test := range []struct {
		name           string
		p              *api.Placement
		targets        []api.TargetCluster
		karmada, exact placement.Cause
	}{
		{"divided, and it runs", divided, list(here), "", placement.CauseAlways},
		{"divided, and it runs nowhere", divided, nil, placement.CauseReplicas, placement.CauseReplicas},
		{"divided, and it is wanted otherwise", divided, list(other), "", placement.CauseReplicas},
		{"duplicated, and it runs", duplicated, list(here), placement.CauseAlways, placement.CauseAlways},
		{"duplicated, and it is wanted otherwise", duplicated, list(other), placement.CauseAlways, placement.CauseReplicas},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &placement.Current{Applied: test.p, Placement: test.p, Workload: true, Set: set, Targets: test.targets}
			require.Equal(t, test.karmada, plannerOver(cluster("a", 9)).NeedsPlacing(s))
			require.Equal(t, test.exact, exact(cluster("a", 9)).NeedsPlacing(s))
		})
	}
}

// packed puts sets on single nodes, one pod after the other, and counts those that are whole.
func packed(cores []int64, set *messages.ComponentSet) (sets int32) {
	pods := make([]int64, len(cores))
	for ; ; sets++ {
		for _, c := range set.Components {
			each := c.ReplicaRequirements.ResourceRequest.Cpu().Value()
			for range c.Replicas {
				at := 0
				for at < len(cores) && (cores[at] < each || pods[at] == 110) {
					at++
				}
				if at == len(cores) {
					return sets
				}
				cores[at] -= each
				pods[at]++
			}
		}
	}
}

// TestSetsArePackedOntoNodes compares with a naive packer, by how many sets may be reserved before none fits.
func TestSetsArePackedOntoNodes(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		counts := []int{r.IntN(3), r.IntN(3), r.IntN(3), r.IntN(3)}
		set := messages.NewComponentSet([]api.Component{
			component("a", r.Int32N(3), fmt.Sprint(1+r.IntN(4))), component("b", 1+r.Int32N(4), fmt.Sprint(1+r.IntN(4))),
		})
		var cores []int64
		for grade, floor := range []int64{0, 1, 2, 4} {
			for range counts[grade] {
				cores = append(cores, floor)
			}
		}
		f := fleetOf(counting("m", counts...))
		planner := placement.NewPlanner(f, &messages.Settings{ExactComponentSets: true}, 0)
		want := packed(cores, set)
		if want > 0 {
			f.ReserveSet("m", want-1, set)
			require.Empty(t, planner.Plan(noon, whole(set, nil)).Reason, "seed %d: %d sets", seed, want)
			f.ReserveSet("m", 1-want, set)
		}
		f.ReserveSet("m", want, set)
		require.Equal(t, api.ReasonNoClusterFit, planner.Plan(noon, whole(set, nil)).Reason, "seed %d: %d sets", seed, want)
	}
}

// TestAResourceThatGradesDoNotList shows GPUs on a cluster whose grades are of processors only.
func TestAResourceThatGradesDoNotList(t *testing.T) {
	const gpu = corev1.ResourceName("example.com/gpu")
	graded, plain := counting("graded", 0, 0, 0, 9), sized("plain", 99, "99")
	graded.Resources.Allocatable[gpu], plain.Resources.Allocatable[gpu] = resource.MustParse("8"), resource.MustParse("2")
	trains := component("train", 1, "1")
	trains.ReplicaRequirements.ResourceRequest[gpu] = resource.MustParse("1")
	set, one := messages.NewComponentSet([]api.Component{trains}), spreading(nil, spread(api.SpreadByCluster, 1, 1))
	require.Equal(t, []string{"plain"}, clustersOf(plannerOver(graded, plain).Plan(noon, whole(set, one)).Targets), "Karmada takes its nodes to have none")
	require.Equal(t, []string{"graded"}, clustersOf(exact(graded, plain).Plan(noon, whole(set, one)).Targets))
}

func TestANodeHoldsAHundredAndTenPodsOfASet(t *testing.T) {
	set := func(pods int32) *messages.ComponentSet {
		return messages.NewComponentSet([]api.Component{component("a", 1, "1m"), component("b", pods-1, "1m")})
	}
	require.Empty(t, exact(counting("m", 0, 0, 0, 1)).Plan(noon, whole(set(110), nil)).Reason)
	require.Equal(t, api.ReasonNoClusterFit, exact(counting("m", 0, 0, 0, 1)).Plan(noon, whole(set(111), nil)).Reason)
}
