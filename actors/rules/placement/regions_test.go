package placement_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

func TestAWorkloadStaysInRegionsThatDo(t *testing.T) {
	fleet := []*messages.ClusterView{
		in("eu", cluster("e1", 9)), in("eu", cluster("e2", 9)), in("eu", cluster("e3", 9)), in("us", cluster("u1", 6)), in("us", cluster("u2", 6)),
	}
	oneRegion := []api.SpreadConstraint{spread("region", 1, 2), spread("cluster", 1, 0)}
	three := []api.SpreadConstraint{spread("region", 1, 2), spread("cluster", 3, 3)}
	both := []api.SpreadConstraint{spread("region", 2, 2), spread("cluster", 2, 0)}
	for _, c := range []struct {
		name    string
		request *placement.Request
		best    []api.TargetCluster // where the best regions are taken at each decision
		stays   []api.TargetCluster
	}{
		{"what is new goes to the best region", workload(spreading(duplicated, oneRegion...), 2),
			list(on("e1", 2), on("e2", 2), on("e3", 2)), list(on("e1", 2), on("e2", 2), on("e3", 2))},
		{"a region with fewer clusters is not left for one with more", workload(spreading(duplicated, oneRegion...), 2, on("u1", 2)),
			list(on("e1", 2), on("e2", 2), on("e3", 2)), list(on("u1", 2), on("u2", 2))},
		{"two regions are not given up for one", workload(spreading(duplicated, three...), 2, on("e1", 2), on("u1", 2), on("u2", 2)),
			list(on("e1", 2), on("e2", 2), on("e3", 2)), list(on("e1", 2), on("u1", 2), on("u2", 2))},
		{"a fresh placement goes where it is best", fresh(workload(spreading(duplicated, oneRegion...), 2, on("u1", 2))),
			list(on("e1", 2), on("e2", 2), on("e3", 2)), list(on("e1", 2), on("e2", 2), on("e3", 2))},
		{"a region with too few clusters is left", workload(spreading(duplicated, three...), 2, on("u1", 2)),
			list(on("e1", 2), on("e2", 2), on("e3", 2)), list(on("e1", 2), on("e2", 2), on("e3", 2))},
		{"one region of two asked for is joined by another", workload(spreading(duplicated, both...), 1, on("u2", 1)),
			list(on("e1", 1), on("e2", 1), on("e3", 1), on("u1", 1), on("u2", 1)), list(on("e1", 1), on("e2", 1), on("e3", 1), on("u1", 1), on("u2", 1))},
		{"a region with just the clusters is not", workload(spreading(duplicated, spread("region", 1, 1), spread("cluster", 2, 3)), 1, on("u1", 1)),
			list(on("e1", 1), on("e2", 1), on("e3", 1)), list(on("u1", 1), on("u2", 1))},
		{"two regions that divide it keep it", workload(spreading(dynamic, oneRegion...), 20, on("e1", 3), on("u1", 3)),
			list(on("e1", 9), on("e2", 6), on("e3", 5)), list(on("e1", 7), on("e2", 3), on("e3", 3), on("u1", 5), on("u2", 2))},
		{"nor are as many regions as clusters are asked for", workload(spreading(duplicated, spread("region", 1, 2), spread("cluster", 1, 2)), 1, on("e1", 1), on("u1", 1)),
			list(on("e1", 1), on("e2", 1)), list(on("e1", 1), on("u1", 1))},
		{"a region without the room is left", workload(spreading(dynamic, oneRegion...), 20, on("u1", 3)),
			list(on("e1", 7), on("e2", 7), on("e3", 6)), list(on("e1", 7), on("e2", 7), on("e3", 6))},
	} {
		t.Run(c.name, func(t *testing.T) {
			for stable, want := range map[bool][]api.TargetCluster{false: c.best, true: c.stays} {
				p := placement.NewPlanner(fleetOf(fleet...), &messages.Settings{ExactSpread: true, StableRegions: stable}, 0)
				d := p.Plan(noon, c.request)
				require.Empty(t, d.Message)
				require.Equal(t, want, d.Targets, "stable: %t", stable)
			}
		})
	}
}
