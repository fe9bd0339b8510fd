package placement_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// avoided adds PreferNoSchedule taints to a cluster.
func avoided(v *messages.ClusterView, keys ...string) *messages.ClusterView {
	for _, key := range keys {
		v.Taints = append(v.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectPreferNoSchedule})
	}
	return v
}

func TestPreferNoSchedule(t *testing.T) {
	tests := []struct {
		name    string
		views   []*messages.ClusterView
		request *placement.Request
		want    []api.TargetCluster
	}{
		{
			name:  "of clusters to choose from, one without such a taint is better than one with more room",
			views: []*messages.ClusterView{avoided(cluster("a", 90), "spot"), cluster("b", 9)}, request: workload(spreading(duplicated, spread("cluster", 1, 1)), 2),
			want: list(on("b", 2)),
		},
		{
			name:    "fewer such taints are better than more",
			views:   []*messages.ClusterView{avoided(cluster("a", 9), "spot", "old"), avoided(cluster("b", 9), "spot")},
			request: workload(spreading(duplicated, spread("cluster", 1, 1)), 2),
			want:    list(on("b", 2)),
		},
		{
			name:    "who tolerates the taint does not mind",
			views:   []*messages.ClusterView{avoided(cluster("a", 90), "spot"), cluster("b", 9)},
			request: workload(tolerating(spreading(duplicated, spread("cluster", 1, 1)), "spot"), 2),
			want:    list(on("a", 2)),
		},
		{
			name:  "what runs there stays",
			views: []*messages.ClusterView{avoided(cluster("a", 9), "spot"), cluster("b", 9)}, request: workload(spreading(duplicated, spread("cluster", 1, 1)), 2, on("a", 2)),
			want: list(on("a", 2)),
		},
		{
			name:  "where every cluster is wanted, it is no exception",
			views: []*messages.ClusterView{avoided(cluster("a", 9), "spot"), cluster("b", 9)}, request: workload(spreading(duplicated), 2),
			want: list(on("a", 2), on("b", 2)),
		},
		{
			name:  "replicas go there only when the others are full",
			views: []*messages.ClusterView{avoided(cluster("a", 90), "spot"), cluster("b", 4), cluster("c", 4)}, request: workload(spreading(dynamic), 10),
			want: list(on("a", 2), on("b", 4), on("c", 4)),
		},
		{
			name:  "and not at all as long as they are not",
			views: []*messages.ClusterView{avoided(cluster("a", 90), "spot"), cluster("b", 4), cluster("c", 4)}, request: workload(spreading(aggregated), 6),
			want: list(on("b", 3), on("c", 3)),
		},
		{
			name:  "where all have such taints, those with fewer are filled first",
			views: []*messages.ClusterView{avoided(cluster("a", 90), "spot", "old"), avoided(cluster("b", 4), "spot")}, request: workload(spreading(dynamic), 6),
			want: list(on("a", 2), on("b", 4)),
		},
		{
			name:  "growth keeps what runs there and adds elsewhere",
			views: []*messages.ClusterView{avoided(cluster("a", 90), "spot"), cluster("b", 4)}, request: workload(spreading(dynamic), 6, on("a", 3)),
			want: list(on("a", 3), on("b", 3)),
		},
		{
			name:  "shrinking is in proportion, as ever",
			views: []*messages.ClusterView{avoided(cluster("a", 90), "spot"), cluster("b", 4)}, request: workload(spreading(dynamic), 4, on("a", 4), on("b", 4)),
			want: list(on("a", 2), on("b", 2)),
		},
		{
			name:  "a fresh placement leaves it",
			views: []*messages.ClusterView{avoided(cluster("a", 90), "spot"), cluster("b", 4)}, request: fresh(workload(spreading(dynamic), 4, on("a", 4))),
			want: list(on("b", 4)),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := placement.NewPlanner(fleetOf(test.views...), &messages.Settings{PreferNoSchedule: true}, 0).Plan(noon, test.request)
			require.Empty(t, d.Message)
			require.Equal(t, test.want, d.Targets)
		})
	}
	d := plannerOver(tests[0].views...).Plan(noon, tests[0].request)
	require.Equal(t, list(on("a", 2)), d.Targets, "in Karmada")
}
