package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

func grouping(s *messages.Settings) { s.WorkloadAffinity = true }

func inGroups(m *messages.PlaceBinding, together, apart string) *messages.PlaceBinding {
	m.Groups = &api.WorkloadAffinityGroups{AffinityGroup: together, AntiAffinityGroup: apart}
	return m
}

func TestWorkloadsOfAGroupFollowTheFirst(t *testing.T) {
	d := drive(t, settings(grouping), cluster("m1", "2"), cluster("m2", "9"))
	require.Equal(t, targets("m2:1"), decided(t, d.Tell(inGroups(ask("a/web", 1, anyOne()), "shop", "")), "a/web").Targets, "the first is free")
	d.Tell(cluster("m3", "99"))
	require.Equal(t, targets("m2:1"), decided(t, d.Tell(inGroups(ask("a/db", 1, anyOne()), "shop", "")), "a/db").Targets)
	require.Equal(t, targets("m3:1"), decided(t, d.Tell(inGroups(ask("b/web", 1, anyOne()), "shop", "")), "b/web").Targets, "another namespace")
	require.Equal(t, targets("m3:1"), decided(t, d.Tell(ask("a/cron", 1, anyOne())), "a/cron").Targets, "no group")
}

func TestWorkloadsThatMustBeApartWaitForAClusterOfTheirOwn(t *testing.T) {
	d := drive(t, settings(grouping), cluster("m1", "9"))
	first := inGroups(ask("a/web", 1, anyOne()), "", "rival")
	require.Equal(t, targets("m1:1"), decided(t, d.Tell(first), "a/web").Targets)
	told := decided(t, d.Tell(inGroups(ask("a/api", 1, anyOne()), "", "rival")), "a/api")
	require.Equal(t, "0/1 clusters are available: 1 cluster(s) ran a workload of the same anti-affinity group.", told.Message)
	told = decided(t, d.Tell(&messages.BindingGone{Binding: "a/web"}), "a/api")
	require.Equal(t, targets("m1:1"), told.Targets)
}

// TestNoWorkloadIsAnotherOfItsOwnGroup: a workload neither keeps itself company nor excludes itself.
func TestNoWorkloadIsAnotherOfItsOwnGroup(t *testing.T) {
	d := drive(t, settings(grouping), cluster("m1", "2"), cluster("m2", "9"))
	for group, m := range map[string]*messages.PlaceBinding{
		"together": inGroups(ask("a/web", 2, only("m1")), "shop", ""), "apart": inGroups(ask("a/db", 2, only("m1")), "", "rival"),
	} {
		t.Run(group, func(t *testing.T) {
			d.Tell(m)
			moves := again(m, "m1:2")
			moves.Placement = only("m2")
			require.Equal(t, targets("m2:2"), decided(t, d.Tell(moves), m.Binding).Targets, "it is free to go")
			grows := again(moves, "m2:2")
			grows.Replicas = 4
			require.Equal(t, targets("m2:4"), decided(t, d.Tell(grows), m.Binding).Targets, "and to stay")
			d.Tell(&messages.BindingGone{Binding: m.Binding})
		})
	}
}

func TestABindingThatMustBeApartTriesAgainThoughNoCapacityIsCounted(t *testing.T) {
	d := drive(t, settings(grouping, noReservation), cluster("m1", "9"))
	d.Tell(inGroups(ask("a/web", 1, anyOne()), "", "rival"))
	require.Equal(t, messages.PlacementFailed, decided(t, d.Tell(inGroups(ask("a/api", 1, anyOne()), "", "rival")), "a/api").Outcome)
	require.Equal(t, targets("m1:1"), decided(t, d.Tell(&messages.BindingGone{Binding: "a/web"}), "a/api").Targets)
}

func TestAGroupLeavesAFailedClusterTogether(t *testing.T) {
	d := drive(t, settings(grouping), cluster("m1", "9", "down"), cluster("m2", "9"), cluster("m3", "9"))
	web := leaving(again(inGroups(ask("a/web", 1, anyOne()), "shop", ""), "m1:1"), "m1")
	db := leaving(again(inGroups(ask("a/db", 1, anyOne()), "shop", ""), "m1:1"), "m1")
	n := d.Tell(web, db)
	require.Equal(t, targets("m2:1"), decided(t, n, "a/web").Targets)
	require.Equal(t, targets("m2:1"), decided(t, n, "a/db").Targets)
}

func TestGroupsDoNotMatterWithTheirGateOff(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	d.Tell(inGroups(ask("a/web", 1, anyOne()), "", "rival"))
	require.Equal(t, targets("m1:1"), decided(t, d.Tell(inGroups(ask("a/api", 1, anyOne()), "", "rival")), "a/api").Targets)
}

// TestAGroupWaitsForWhoIsAboutToLeave: a new one comes with the first, not ahead of it, once that has somewhere to go.
func TestAGroupWaitsForWhoIsAboutToLeave(t *testing.T) {
	d := drive(t, settings(grouping), cluster("m1", "9", "down"), cluster("m2", "5"))
	web := again(inGroups(ask("a/web", 1, anyOne()), "shop", ""), "m1:1")
	web.Seeking = []messages.ClusterName{"m1"}
	d.Tell(web).Told(bindingAt("a/web"), found("m1"))
	db := inGroups(ask("a/db", 1, anyOne()), "shop", "")
	require.Equal(t, messages.PlacementFailed, decided(t, d.Tell(db, cluster("m3", "9")), "a/db").Outcome)
	goes := leaving(again(web, "m1:1"), "m1")
	goes.Placement, goes.Seeking, goes.Priority = only("m2"), nil, 9
	n := d.Tell(goes)
	require.Equal(t, targets("m2:1"), decided(t, n, "a/web").Targets)
	require.Equal(t, targets("m2:1"), decided(t, n, "a/db").Targets)
}
