package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func oneStartEach(s *messages.Settings) { s.MaxStartingPerCluster = 1 }

// leaves is the word of a binding that is to leave m1.
func leaves(name messages.BindingName) *messages.PlaceBinding {
	m := again(ask(name, 1, oneCluster()), "m1:1")
	m.Leaving = []messages.ClusterName{"m1"}
	return m
}

func oneCluster() *api.Placement {
	return &api.Placement{SpreadConstraints: []api.SpreadConstraint{{MinGroups: 1, MaxGroups: 1}}}
}

// goes returns where a binding was told to go in a step; empty: it was not.
func goes(n *actorstest.Network, name messages.BindingName) string {
	for _, m := range actorstest.MailTo(n.Mail(), bindingAt(name)) {
		if d := m.(*messages.PlacementDecided); d.Outcome == messages.PlacementChosen {
			return d.Targets[0].Name
		}
	}
	return ""
}

func TestAClusterStartsOnlySoManyAtOnce(t *testing.T) {
	d := drive(t, settings(oneStartEach), cluster("m1", "9", "down"), cluster("m2", "9"), cluster("m3", "9"))
	n := d.Tell(leaves("a"), leaves("b"), leaves("c"))
	require.ElementsMatch(t, []string{"m2", "m3"}, []string{goes(n, "a"), goes(n, "b")})
	held := actorstest.MailTo(n.Mail(), bindingAt("c"))[0].(*messages.PlacementDecided)
	require.Contains(t, held.Obstacle.Message, "2 cluster(s) was starting as many workloads that had to move as it may (1)")

	first := goes(n, "a")
	started := again(ask("a", 1, oneCluster()), first+":1")
	started.Request, started.Evicting = 2, []messages.ClusterName{"m1"}
	require.Equal(t, first, goes(d.Tell(started), "c"), "the start of a is over")
}

func TestAStartThatEndsWithItsBindingMakesRoom(t *testing.T) {
	d := drive(t, settings(oneStartEach), cluster("m1", "9", "down"), cluster("m2", "9"))
	n := d.Tell(leaves("a"), leaves("b"))
	require.Equal(t, []string{"m2", ""}, []string{goes(n, "a"), goes(n, "b")})
	require.Equal(t, "m2", goes(d.Tell(&messages.BindingGone{Binding: "a"}), "b"))
}

func TestWhoDoesNotMoveWaitsForNoStart(t *testing.T) {
	d := drive(t, settings(oneStartEach), cluster("m1", "9", "down"), cluster("m2", "9"))
	d.Tell(leaves("a"))
	require.Equal(t, "m2", goes(d.Tell(ask("new", 1, oneCluster())), "new"))
}

func TestStartsUnderWayAreKnownAfterARestart(t *testing.T) {
	d := drive(t, settings(oneStartEach), cluster("m1", "9", "down"), cluster("m2", "9"))
	under := again(ask("a", 1, oneCluster()), "m2:1")
	under.Evicting, under.Starting = []messages.ClusterName{"m1"}, []messages.ClusterName{"m2"}
	require.Empty(t, goes(d.Tell(under, leaves("b")), "b"))
}
