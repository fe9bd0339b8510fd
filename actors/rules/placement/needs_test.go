package placement_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/placement"
	"leeward/messages/api"
)

func terms(names ...string) *api.Placement {
	p := &api.Placement{ReplicaScheduling: dynamic}
	for i := 0; i < len(names); i += 2 {
		p.ClusterAffinities = append(p.ClusterAffinities, api.ClusterAffinityTerm{
			AffinityName: names[i], ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{names[i+1]}},
		})
	}
	return p
}

func TestNeedsPlacing(t *testing.T) {
	deleting := cluster("deleting", 9)
	deleting.Deleting = true
	tolerating := &api.Placement{ReplicaScheduling: dynamic, ClusterTolerations: []corev1.Toleration{{Key: "x"}}}
	apart := func(p *api.Placement) *api.Placement {
		p.WorkloadAffinity = &api.WorkloadAffinity{AntiAffinity: &api.WorkloadAffinityTerm{GroupByLabelKey: "app"}}
		return p
	}
	settled := func(p *api.Placement, targets ...api.TargetCluster) placement.Current {
		return placement.Current{Applied: p, Placement: p, Workload: true, Replicas: 4, Targets: targets}
	}
	changed := func(from, to *api.Placement, affinity string) placement.Current {
		s := settled(to, on("a", 4))
		s.Applied, s.Affinity = from, affinity
		return s
	}
	fresh := func(s placement.Current) placement.Current { s.Fresh = true; return s }
	tests := []struct {
		name     string
		standing placement.Current
		want     placement.Cause
	}{
		{"all as it should be", settled(spreading(dynamic), on("a", 1), on("b", 3)), ""},
		{"never placed", changed(nil, spreading(dynamic), ""), placement.CausePlacement},
		{"an equal placement at another address", changed(spreading(dynamic), spreading(dynamic), ""), ""},
		{"tolerations edited", changed(spreading(dynamic), tolerating, ""), placement.CausePlacement},
		{"a spread constraint added", changed(spreading(dynamic), spreading(dynamic, spread("cluster", 1, 2)), ""), placement.CausePlacement},
		{"another strategy", changed(spreading(dynamic), spreading(aggregated), ""), placement.CausePlacement},
		{"the affinity edited", changed(spreading(dynamic), &api.Placement{ReplicaScheduling: dynamic, ClusterAffinity: &api.ClusterAffinity{}}, ""), placement.CausePlacement},
		{"the term in use edited", changed(terms("t1", "a", "t2", "b"), terms("t1", "c", "t2", "b"), "t1"), placement.CausePlacement},
		{"the term in use removed", changed(terms("t1", "a", "t2", "b"), terms("t2", "b"), "t1"), placement.CausePlacement},
		{"another term edited", changed(terms("t1", "a", "t2", "b"), terms("t1", "a", "t2", "c"), "t1"), ""},
		{"terms edited while none is in use", changed(terms("t1", "a"), terms("t1", "b"), ""), placement.CausePlacement},
		{"workload affinity edited while a term is in use", changed(terms("t1", "a"), apart(terms("t1", "a")), "t1"), ""},
		{"workload affinity edited otherwise", changed(spreading(dynamic), apart(spreading(dynamic)), ""), placement.CausePlacement},

		{"replicas lost", settled(spreading(dynamic), on("a", 3)), placement.CauseReplicas},
		{"too many replicas", settled(spreading(aggregated), on("a", 3), on("b", 2)), placement.CauseReplicas},
		{"one copy of another size", settled(spreading(duplicated), on("a", 4), on("b", 3)), placement.CauseReplicas},
		{"without a strategy sizes do not matter, but the fleet does", settled(spreading(nil), on("a", 1)), placement.CauseAlways},

		{"asked for", fresh(settled(spreading(dynamic), on("a", 4))), placement.CauseRequest},
		{"duplicated follows the fleet", settled(spreading(duplicated), on("a", 4)), placement.CauseAlways},
		{"so does what has no replicas", placement.Current{Applied: spreading(dynamic), Placement: spreading(dynamic), Targets: list(on("a", 0))}, placement.CauseAlways},
		{"and what no policy restricts", placement.Current{Applied: &api.Placement{}, Workload: true}, placement.CauseAlways},

		{"a target is being deleted", settled(spreading(dynamic), on("a", 2), on("deleting", 2)), placement.CauseDeletion},
		{"a target is gone", settled(spreading(dynamic), on("a", 2), on("gone", 2)), placement.CauseDeletion},
	}
	planner := plannerOver(cluster("a", 9), cluster("b", 9), deleting)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, planner.NeedsPlacing(&test.standing))
		})
	}
}

func TestCouldUse(t *testing.T) {
	overflowing := terms("t1", "a", "t2", "b")
	overflowing.ClusterAffinities[0].OverflowAffinities = []api.OverflowAffinity{{ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"c"}}}}
	tests := []struct {
		name     string
		affinity string
		want     []bool // a, b, c
	}{
		{"the first term if none is in use", "", []bool{true, false, false}},
		{"the term in use, without what it overflows into", "t1", []bool{true, false, false}},
		{"another term", "t2", []bool{false, true, false}},
		{"the first if the one in use is gone", "t9", []bool{true, false, false}},
	}
	planner := plannerOver(taintedBy("x:NoExecute"), cluster("b", 0), cluster("c", 0), cluster("d", 0))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := workload(overflowing, 1)
			r.Affinity = test.affinity
			require.Equal(t, test.want, []bool{planner.CouldUse(r.Placement, r.Affinity, "a"), planner.CouldUse(r.Placement, r.Affinity, "b"), planner.CouldUse(r.Placement, r.Affinity, "c")})
		})
	}
	require.True(t, planner.CouldUse(nil, "", "c"), "no affinity is any cluster's business")
	require.False(t, planner.CouldUse(nil, "", "unheard-of"))
	require.True(t, planner.CouldEverUse(overflowing, "b"), "a term that is not in use")
	require.True(t, planner.CouldEverUse(overflowing, "c"), "what a term overflows into")
	require.False(t, planner.CouldEverUse(overflowing, "d"))
	require.False(t, planner.CouldEverUse(nil, "unheard-of"))
}
