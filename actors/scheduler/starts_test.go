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

func TestAClusterStartsOnlySoManyTogether(t *testing.T) {
	t.Run("of capacity that is reserved", func(t *testing.T) { requireOneStartEach(t, settings(oneStartEach)) })
	t.Run("of any capacity", func(t *testing.T) { requireOneStartEach(t, settings(oneStartEach, noReservation)) })
}

func requireOneStartEach(t *testing.T, s messages.Settings) {
	t.Helper()
	d := drive(t, s, cluster("m1", "9", "down"), cluster("m2", "9"), cluster("m3", "9"))
	n := d.Tell(leaves("a"), leaves("b"), leaves("c"))
	require.ElementsMatch(t, []string{"m2", "m3"}, []string{goes(n, "a"), goes(n, "b")})
	held := actorstest.MailTo(n.Mail(), bindingAt("c"))[0].(*messages.PlacementDecided)
	require.Contains(t, held.Obstacle.Message, "2 cluster(s) was starting as many evicted workloads as its limit allows (1)")

	first := goes(n, "a")
	started := again(ask("a", 1, oneCluster()), first+":1")
	started.Request, started.Evicting = 2, []messages.ClusterName{"m1"}
	require.Equal(t, first, goes(d.Tell(started), "c"), "the start of a is over")
}

func TestAStartGoesOnWhileItsBindingIsDecidedOnAgain(t *testing.T) {
	d := drive(t, settings(oneStartEach), cluster("m1", "9", "down"), cluster("m2", "9"))
	larger := starting("a", "m2")
	larger.Replicas = 2
	require.Equal(t, "m2", goes(d.Tell(larger), "a"))
	require.Empty(t, goes(d.Tell(leaves("b")), "b"), "a starts")
	d.Tell(starting("a", "m2")).Told(bindingAt("b"))
}

func TestAnotherClusterThanTheOneThatBacksOffStartsAsManyAsCome(t *testing.T) {
	d := drive(t, settings(backingOff), cluster("m1", "9", "down"), cluster("m2", "9"), cluster("m3", "5"))
	d.Tell(starting("a", "m2"), limited(1))
	n := d.Tell(leaves("b"), leaves("c"))
	require.Equal(t, []string{"m3", "m3"}, []string{goes(n, "b"), goes(n, "c")})
}

func TestAStartThatEndsWithItsBindingFreesCapacity(t *testing.T) {
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

func backingOff(s *messages.Settings) { s.StartFailureLimit = 2 }

// starting is the word of a binding that left m1 and starts on m2, or started there.
func starting(name messages.BindingName, on ...messages.ClusterName) *messages.PlaceBinding {
	m := again(ask(name, 1, oneCluster()), "m2:1")
	m.Request, m.Evicting, m.Starting = 2, []messages.ClusterName{"m1"}, on
	return m
}

func limited(most int) *messages.StartsLimited {
	return &messages.StartsLimited{Cluster: "m2", Most: most, Why: "5 starts failed"}
}

func TestOfTwoLimitsTheLowerCounts(t *testing.T) {
	for name, c := range map[string]struct {
		setting, limit int
		want           string
	}{
		"of the setting":   {1, 2, "limit allows (1)."},
		"of the back-off":  {2, 1, "limit allows (1: 5 starts failed)."},
		"both: its reason": {1, 1, "limit allows (1: 5 starts failed)."},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, settings(backingOff, func(s *messages.Settings) { s.MaxStartingPerCluster = c.setting }), cluster("m1", "9", "down"), cluster("m2", "9"))
			d.Tell(starting("a", "m2"), limited(c.limit))
			held := actorstest.MailTo(d.Tell(leaves("b")).Mail(), bindingAt("b"))[0].(*messages.PlacementDecided)
			require.Contains(t, held.Obstacle.Message, c.want)
		})
	}
}

func TestAClusterThatBacksOffStartsOneAtATime(t *testing.T) {
	d := drive(t, settings(backingOff), cluster("m1", "9", "down"), cluster("m2", "9"))
	d.Tell(starting("a", "m2"), starting("b", "m2"), limited(1)) // b and a began before
	n := d.Tell(leaves("c"))
	held := actorstest.MailTo(n.Mail(), bindingAt("c"))[0].(*messages.PlacementDecided)
	require.Contains(t, held.Obstacle.Message, "was starting as many evicted workloads as its limit allows (1: 5 starts failed)")
	late := starting("a", "m2")
	late.Late = true
	d.Tell(late).Told(governor)
	require.Empty(t, goes(d.Network, "c"), "b starts")
	n = d.Tell(starting("b"))
	require.Equal(t, "m2", goes(n, "c"))
	n.Told(governor, &messages.StartsSucceeded{Clusters: []messages.ClusterName{"m2"}})
	d.Tell(&messages.TasksEnded{Binding: "a", Request: 3, Targets: targets("m2:1")}).Told(governor, &messages.StartsSucceeded{Clusters: []messages.ClusterName{"m2"}})
}

func TestWhenABackoffEndsAllGo(t *testing.T) {
	d := drive(t, settings(backingOff), cluster("m1", "9", "down"), cluster("m2", "9"))
	d.Tell(starting("a", "m2"), limited(1))
	n := d.Tell(leaves("b"), leaves("c"))
	require.Equal(t, []string{"", ""}, []string{goes(n, "b"), goes(n, "c")})
	n = d.Tell(limited(0))
	require.Equal(t, []string{"m2", "m2"}, []string{goes(n, "b"), goes(n, "c")})
	d.Tell(starting("a")).Told(governor)
}

func TestWhoLeavesAClusterDidNotStartThere(t *testing.T) {
	d := drive(t, settings(backingOff), cluster("m1", "9", "down"), cluster("m2", "9"), cluster("m3", "9"))
	d.Tell(starting("a", "m2"), limited(1))
	gone := again(ask("a", 1, oneCluster()), "m3:1")
	gone.Request, gone.Evicting = 3, []messages.ClusterName{"m1", "m2"}
	d.Tell(gone).Told(governor)
}

func TestAStartThatEndsFreesCapacityThoughAnotherGoesOn(t *testing.T) {
	d := drive(t, settings(oneStartEach, noReservation), cluster("m1", "9", "down"), cluster("m2", "9"), cluster("m3", "9"))
	under := func(starting ...messages.ClusterName) *messages.PlaceBinding {
		m := again(ask("a", 1, twoOfThree()), "m2:1", "m3:1")
		m.Evicting, m.Starting = []messages.ClusterName{"m1"}, starting
		return m
	}
	require.Empty(t, goes(d.Tell(under("m2", "m3"), leaves("b")), "b"))
	require.Equal(t, "m2", goes(d.Tell(under("m3")), "b"))
}

func TestWhatReturnsStartsOnItsPreferredCluster(t *testing.T) {
	d := drive(t, settings(oneStartEach), cluster("m1", "9"), cluster("m2", "9", "down"))
	d.Tell(abroad("web", homeFirst(), returnDue))
	other := again(ask("other", 1, oneCluster()), "m2:1")
	held := decided(t, d.Tell(leaving(other, "m2")), "other")
	require.Contains(t, held.Obstacle.Message, "was starting as many evicted workloads as its limit allows (1)")
}
