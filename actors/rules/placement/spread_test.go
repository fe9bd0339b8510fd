package placement_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// at says where a cluster is: in which region and zones, with which provider and rack.
func at(region, provider, rack string, v *messages.ClusterView, zones ...string) *messages.ClusterView {
	v.Region, v.Provider, v.Zones, v.Labels = region, provider, zones, map[string]string{"rack": rack}
	return v
}

func byLabel(label string, least, most int) api.SpreadConstraint {
	return api.SpreadConstraint{SpreadByLabel: label, MinGroups: least, MaxGroups: most}
}

func exactly(views ...*messages.ClusterView) *placement.Planner {
	return placement.NewPlanner(fleetOf(views...), &messages.Settings{ExactSpread: true}, 0)
}

func TestExactSpread(t *testing.T) {
	grid := []*messages.ClusterView{
		at("eu", "p1", "r1", cluster("a", 9), "z1"), at("eu", "p2", "r1", cluster("b", 8), "z2"),
		at("us", "p1", "r2", cluster("c", 7), "z3"), at("us", "p2", "", cluster("d", 6), "z3", "z4"),
	}
	tests := []struct {
		name    string
		views   []*messages.ClusterView
		request *placement.Request
		want    []api.TargetCluster
		message string
	}{
		{
			name:  "maxGroups left out sets no limit",
			views: grid, request: workload(spreading(duplicated, spread("cluster", 2, 0)), 2),
			want: list(on("a", 2), on("b", 2), on("c", 2), on("d", 2)),
		},
		{
			name:  "a limit on regions does not limit clusters",
			views: grid, request: workload(spreading(duplicated, spread("region", 1, 1)), 2),
			want: list(on("a", 2), on("b", 2)),
		},
		{
			name:  "the choice that Karmada would make stands where it will do",
			views: clusters(9, "a", "b", "c", "d"), request: workload(spreading(duplicated, spread("cluster", 2, 2)), 2, on("d", 2)),
			want: list(on("a", 2), on("d", 2)),
		},
		{
			name:    "two zones are two zones, not two clusters",
			views:   []*messages.ClusterView{at("", "", "", cluster("a", 9), "z1"), at("", "", "", cluster("b", 8), "z1"), at("", "", "", cluster("c", 1), "z2")},
			request: workload(spreading(duplicated, spread("zone", 2, 0), spread("cluster", 2, 2)), 1),
			want:    list(on("a", 1), on("c", 1)),
		},
		{
			name:  "providers may be limited, too",
			views: grid, request: workload(spreading(duplicated, spread("provider", 1, 1), spread("cluster", 1, 0)), 1),
			want: list(on("a", 1), on("c", 1)),
		},
		{
			name:  "a label spreads by its values, and who lacks it does not fit",
			views: grid, request: workload(spreading(duplicated, byLabel("rack", 2, 2), spread("cluster", 2, 2)), 1),
			want: list(on("a", 1), on("c", 1)),
		},
		{
			name:  "a cluster that lies in two zones covers both",
			views: grid, request: workload(spreading(duplicated, spread("zone", 2, 2), spread("region", 1, 1), spread("cluster", 1, 1)), 1),
			want: list(on("d", 1)),
		},
		{
			name:  "all constraints hold at once",
			views: grid, request: workload(spreading(duplicated, spread("region", 2, 2), spread("provider", 2, 2), spread("cluster", 2, 2)), 1),
			want: list(on("a", 1), on("d", 1)),
		},
		{
			name: "regions are chosen that have room",
			views: []*messages.ClusterView{
				in("r1", cluster("a", 6)), in("r1", cluster("b", 1)), in("r2", cluster("c", 5)), in("r2", cluster("d", 5)),
			},
			request: workload(spreading(dynamic, spread("region", 1, 1), spread("cluster", 1, 2)), 10),
			want:    list(on("c", 5), on("d", 5)),
		},
		{
			name:    "more regions than clusters allowed are too many",
			views:   []*messages.ClusterView{in("r1", cluster("a", 9)), in("r2", cluster("b", 9)), in("r3", cluster("c", 9))},
			request: workload(spreading(duplicated, spread("region", 3, 3), spread("cluster", 1, 2)), 1),
			message: "no choice among 3 cluster(s) meets the spread constraints",
		},
		{
			name:    "too few values of a label fit",
			views:   grid,
			request: workload(spreading(duplicated, byLabel("rack", 3, 3), spread("cluster", 1, 0)), 1),
			message: "spread constraint rack asks for 3 groups, 2 fit",
		},
		{
			name:    "too few clusters fit for regions and clusters together",
			views:   grid[:1],
			request: workload(spreading(duplicated, spread("region", 1, 2), spread("cluster", 2, 2)), 1),
			message: "spread constraint cluster asks for 2 clusters, 1 fit",
		},
		{
			name:    "every group asked for gets a replica, though all would fit on one cluster",
			views:   []*messages.ClusterView{in("r1", cluster("a", 90)), in("r2", cluster("b", 9))},
			request: workload(spreading(aggregated, spread("region", 2, 0), spread("cluster", 1, 0)), 20),
			want:    list(on("a", 19), on("b", 1)),
		},
		{
			name:    "a cluster without room covers nothing",
			views:   []*messages.ClusterView{in("r1", cluster("a", 9)), in("r2", cluster("b", 0)), in("r2", cluster("c", 3))},
			request: workload(spreading(dynamic, spread("region", 2, 0), spread("cluster", 2, 2)), 4, on("b", 0)),
			want:    list(on("a", 3), on("c", 1)),
		},
		{
			name:    "fewer replicas than groups go to as many groups",
			views:   []*messages.ClusterView{in("r1", cluster("a", 9)), in("r2", cluster("b", 9)), in("r3", cluster("c", 9))},
			request: workload(spreading(aggregated, spread("region", 3, 0), spread("cluster", 1, 0)), 2),
			want:    list(on("a", 1), on("b", 1)),
		},
		{
			name:    "what runs in two regions moves one replica when three are asked for",
			views:   []*messages.ClusterView{in("r1", cluster("a", 9)), in("r2", cluster("b", 9)), in("r3", cluster("c", 9))},
			request: workload(spreading(dynamic, spread("region", 3, 0), spread("cluster", 1, 0)), 6, on("a", 4), on("b", 2)),
			want:    list(on("a", 3), on("b", 2), on("c", 1)),
		},
		{
			name:  "no choice has room enough",
			views: grid, request: workload(spreading(dynamic, spread("zone", 1, 1), spread("cluster", 1, 0)), 10),
			message: "no choice among 4 cluster(s) meets the spread constraints with capacity for 10 replicas",
		},
		{
			name:    "no cluster has room",
			views:   []*messages.ClusterView{cluster("a", 0), cluster("b", 0)},
			request: workload(spreading(aggregated, spread("cluster", 1, 1)), 1),
			message: "no cluster that fits has capacity for a replica",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := exactly(test.views...).Plan(noon, test.request)
			require.Equal(t, test.message, d.Message)
			require.Equal(t, test.want, d.Targets)
		})
	}
}

// The roomiest twenty clusters, each in a zone of its own, have capacity for 790 replicas. To be sure of that,
// the search would have to walk through all combinations of twenty zones.
func TestExactSpreadGivesUp(t *testing.T) {
	var views []*messages.ClusterView
	for i := range 40 {
		views = append(views, at("", "", fmt.Sprintf("r%d", i), cluster(fmt.Sprintf("m%02d", i), int64(10+i)), fmt.Sprintf("z%d", i)))
	}
	p := spreading(dynamic, spread("zone", 1, 20), spread("cluster", 1, 0))
	d := exactly(views...).Plan(noon, workload(p, 791))
	require.Empty(t, d.Targets)
	require.Equal(t, "no choice among 40 cluster(s) was found that meets the spread constraints, in 32768 steps", d.Message)
}

// BenchmarkExactSpread measures one decision over a thousand clusters: "as Karmada" where Karmada's choice
// will do, "searched" where it is all in one zone, and "given up" where no choice will do.
func BenchmarkExactSpread(b *testing.B) {
	views := tenthTainted(1000)
	for i, v := range views {
		v.Zones, v.Provider = []string{fmt.Sprintf("z%d", min(i/300, 2))}, fmt.Sprintf("p%d", i%4)
	}
	tests := []struct {
		name        string
		constraints []api.SpreadConstraint
		replicas    int32
	}{
		{"as Karmada", []api.SpreadConstraint{spread("cluster", 3, 3)}, 20},
		{"searched", []api.SpreadConstraint{spread("zone", 3, 3), spread("provider", 3, 3), spread("cluster", 3, 3)}, 20},
		{"given up", []api.SpreadConstraint{spread("zone", 3, 3), spread("provider", 4, 4), spread("cluster", 4, 6)}, 30_000},
	}
	for _, test := range tests {
		b.Run(test.name, func(b *testing.B) {
			r := benchmarked("dynamic weight spread 3")
			r.Placement, r.Replicas = spreading(dynamic, test.constraints...), test.replicas
			planner := exactly(views...)
			b.ReportAllocs()
			for b.Loop() {
				planner.Plan(noon, r)
			}
		})
	}
}
