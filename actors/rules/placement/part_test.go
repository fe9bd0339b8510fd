package placement_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

func TestPartialPlacement(t *testing.T) {
	terms := func(s *api.ReplicaSchedulingStrategy, names ...string) *api.Placement {
		p := &api.Placement{ReplicaScheduling: s}
		for _, name := range names {
			p.ClusterAffinities = append(p.ClusterAffinities, api.ClusterAffinityTerm{
				AffinityName: "on-" + name, ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{name}},
			})
		}
		return p
	}
	overflowing := terms(dynamic, "a")
	overflowing.ClusterAffinities[0].OverflowAffinities = []api.OverflowAffinity{{AffinityName: "b", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"b"}}}}
	deleted := cluster("b", 9)
	deleted.Deleting = true
	tests := []struct {
		name     string
		views    []*messages.ClusterView
		request  *placement.Request
		want     []api.TargetCluster
		missing  int32
		reason   string
		rejected []messages.Rejection
	}{
		{
			name:  "where some find no room, it is told which clusters do not fit",
			views: []*messages.ClusterView{cluster("a", 3), deleted}, request: workload(spreading(dynamic), 10),
			want: list(on("a", 3)), missing: 7, reason: api.ReasonUnschedulable,
			rejected: []messages.Rejection{{Reason: "cluster(s) is being deleted", Clusters: []messages.ClusterName{"b"}}},
		},
		{
			name:  "what fits is placed",
			views: clusters(3, "a", "b"), request: workload(spreading(dynamic), 10),
			want: list(on("a", 3), on("b", 3)), missing: 4, reason: api.ReasonUnschedulable,
		},
		{
			name:  "all of it, if all of it fits",
			views: clusters(5, "a", "b"), request: workload(spreading(dynamic), 10),
			want: list(on("a", 5), on("b", 5)),
		},
		{
			name:  "what runs stays, and grows as far as it can",
			views: clusters(1, "a", "b"), request: workload(spreading(aggregated), 10, on("a", 4)),
			want: list(on("a", 5), on("b", 1)), missing: 4, reason: api.ReasonUnschedulable,
		},
		{
			name:  "nothing is placed where nothing fits",
			views: clusters(0, "a", "b"), request: workload(spreading(dynamic), 10),
			reason: api.ReasonUnschedulable,
		},
		{
			name:  "a later group with room for all is better than the first with room for some",
			views: []*messages.ClusterView{cluster("a", 5), cluster("b", 10)}, request: workload(terms(dynamic, "a", "b"), 10),
			want: list(on("b", 10)),
		},
		{
			name:  "of groups with room for some, the first is taken",
			views: []*messages.ClusterView{cluster("a", 0), cluster("b", 5), cluster("c", 9)}, request: workload(terms(dynamic, "a", "b", "c"), 10),
			want: list(on("b", 5)), missing: 5, reason: api.ReasonUnschedulable,
			rejected: []messages.Rejection{{Reason: "cluster(s) did not match the placement cluster affinity constraint", Clusters: []messages.ClusterName{"b", "c"}}},
		},
		{
			name:  "overflow takes its part, too",
			views: clusters(4, "a", "b"), request: workload(overflowing, 10),
			want: list(on("a", 4), on("b", 4)), missing: 2, reason: api.ReasonUnschedulable,
		},
		{
			name:    "as many clusters as allowed, those with most room, take what they can",
			views:   []*messages.ClusterView{cluster("a", 2), cluster("b", 3), cluster("c", 4)},
			request: workload(spreading(dynamic, spread("cluster", 1, 2)), 10),
			want:    list(on("b", 3), on("c", 4)), missing: 3, reason: api.ReasonUnschedulable,
		},
		{
			name:    "what runs does not move to where more of it, but not all, finds room",
			views:   []*messages.ClusterView{cluster("a", 0), cluster("b", 8)},
			request: workload(spreading(dynamic, spread("cluster", 1, 1)), 10, on("a", 4)),
			want:    list(on("a", 4)), missing: 6, reason: api.ReasonUnschedulable,
		},
		{
			name:    "of clusters with as much room those come first that are preferred, whatever else has to stay",
			views:   []*messages.ClusterView{cluster("a", 2), cluster("b", 10), cluster("c", 10)},
			request: workload(spreading(dynamic, spread("cluster", 1, 2)), 30, on("a", 1)),
			want:    list(on("a", 3), on("b", 10)), missing: 17, reason: api.ReasonUnschedulable,
		},
		{
			name:  "static weights do not ask for room",
			views: clusters(0, "a", "b"), request: workload(spreading(byWeight), 4),
			want: list(on("a", 2), on("b", 2)),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := placement.NewPlanner(fleetOf(test.views...), &messages.Settings{PartialPlacement: true}, 0).Plan(noon, test.request)
			require.Equal(t, test.want, d.Targets)
			require.Equal(t, test.missing, d.Missing)
			require.Equal(t, test.missing > 0, d.Partial())
			require.Equal(t, test.reason, d.Reason)
			require.Equal(t, test.rejected, d.Rejections)
		})
	}
}
