package placement_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/rules/division"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// An explanation is of the decision that is made: the same targets among clusters that fit, and the same refusals.
func TestExplanationAndDecisionAgree(t *testing.T) {
	for seed := range actorstest.Cases(3000) {
		explainedAgrees(t, seed)
	}
}

func FuzzExplain(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(1_000_000 + seed)
	}
	f.Fuzz(explainedAgrees)
}

func explainedAgrees(t *testing.T, seed uint64) {
	t.Helper()
	w := newTwins(seed)
	placements := []*api.Placement{nil, w.placement(w.clusters), w.placement(w.clusters)}
	for range 5 {
		r := w.request(pick(w.dice, placements...), w.clusters)
		decided := w.planner.Plan(noon, r)
		x := w.planner.Explain(noon, r)
		require.Equal(t, decided, x.Decision, "seed %d", seed)
		require.Equal(t, decided, w.planner.Plan(noon, r), "seed %d: it changes nothing", seed)
		requireAgreement(t, seed, &x)
		w.disturb()
	}
}

// requireAgreement demands that an explanation says of each cluster what the decision does.
func requireAgreement(t *testing.T, seed uint64, x *placement.Explanation) {
	t.Helper()
	for i := range x.Terms {
		term := &x.Terms[i]
		if term.Reason == "" {
			require.Len(t, x.Terms, i+1, "seed %d: a term that does is the last", seed)
		}
		require.Equal(t, term.Reason == "", term.Message == "", "seed %d", seed)
		for _, c := range term.Clusters {
			if c.Refused != "" {
				require.False(t, c.Target || c.Chosen, "seed %d: %s does not fit", seed, c.Cluster)
			}
			if c.Target {
				require.True(t, c.Chosen, "seed %d: %s is a target", seed, c.Cluster)
			}
		}
	}
	if x.Decision.Reason == "" || x.Decision.Partial() {
		require.Equal(t, x.Decision.Targets, targetsOf(x), "seed %d", seed)
	}
	if x.Decision.Reason != "" {
		require.Contains(t, rejectionsOf(x), countOf(x.Decision.Rejections), "seed %d", seed)
	}
}

// targetsOf are those of the term that the decision comes from.
func targetsOf(x *placement.Explanation) (targets []api.TargetCluster) {
	for i := range x.Terms {
		for _, c := range x.Terms[i].Clusters {
			if c.Target && x.Terms[i].Name == x.Decision.Affinity {
				targets = append(targets, api.TargetCluster{Name: string(c.Cluster), Replicas: c.Replicas})
			}
		}
	}
	return targets
}

// rejectionsOf are the clusters that each term refuses.
func rejectionsOf(x *placement.Explanation) (all [][]messages.ClusterName) {
	for i := range x.Terms {
		names := []messages.ClusterName{}
		for _, c := range x.Terms[i].Clusters {
			if c.Refused != "" {
				names = append(names, c.Cluster)
			}
		}
		all = append(all, names)
	}
	return all
}

func countOf(rejected []messages.Rejection) []messages.ClusterName {
	names := []messages.ClusterName{}
	for _, r := range rejected {
		names = append(names, r.Clusters...)
	}
	slices.Sort(names)
	return names
}

func TestAnExplanationHasScoresWeightsAndTheDivision(t *testing.T) {
	divided := &api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{
		ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted, WeightPreference: &api.WeightPreference{DynamicWeight: "AvailableReplicas"},
	}}
	p := placement.NewPlanner(fleetOf(cluster("a", 9), cluster("b", 3), taintedNamed("c")), &messages.Settings{}, 0)
	x := p.Explain(noon, workload(divided, 6, on("a", 2)))
	require.Empty(t, x.Decision.Reason)
	require.Len(t, x.Terms, 1)
	term := x.Terms[0]
	require.Equal(t, division.Outline{Method: messages.DivideWebster, Asked: 6, Kept: 2, Divided: 4, By: division.ByFreeCapacity}, term.Division)
	require.True(t, term.ByCapacity)
	a, b, c := term.Clusters[0], term.Clusters[1], term.Clusters[2]
	require.Equal(t, placement.ClusterExplained{Cluster: "a", Score: 100, Capacity: 11, Chosen: true, Weight: 9, Previous: 2, Replicas: 5, Target: true}, a)
	require.Equal(t, placement.ClusterExplained{Cluster: "b", Capacity: 3, Chosen: true, Weight: 3, Replicas: 1, Target: true}, b)
	require.Equal(t, placement.ClusterExplained{Cluster: "c", Capacity: placement.Unlimited, Refused: "cluster(s) had untolerated taint {x:NoExecute}"}, c)
}

func taintedNamed(name messages.ClusterName) *messages.ClusterView {
	v := taintedBy("x:NoExecute")
	v.Name = name
	return v
}
