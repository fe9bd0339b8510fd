package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func TestABindingMayLeaveOnceItHasSomewhereToGo(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"), cluster("m2", "9"))
	word := leaving(again(ask("web", 2, anyOne()), "m1:2"), "m1")
	told := decided(t, d.Tell(word), "web")
	require.Equal(t, &messages.PlacementDecided{
		Request: 2, Outcome: messages.PlacementChosen, Targets: targets("m2:2"), Leaving: []messages.ClusterName{"m1"},
		Held: []messages.ClusterName{}, Trigger: "eviction", Reason: api.ReasonSuccess,
	}, told)
}

func TestWithoutSomewhereToGoItIsHeldAndToldSoOnce(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"))
	told := decided(t, d.Tell(leaving(again(ask("web", 2, anyOne()), "m1:2"), "m1")), "web")
	require.Equal(t, messages.PlacementKept, told.Outcome)
	require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
	require.Equal(t, api.ReasonSuccess, told.Reason, "it is placed")
	require.Equal(t, api.ReasonNoClusterFit, told.Obstacle.Reason)
	require.Equal(t, "0/1 clusters are available: 1 cluster(s) was being drained or evicted from.", told.Obstacle.Message)
	d.Tell(status("m1", "8")).Quiet()
	told = decided(t, d.Tell(cluster("m2", "9")), "web")
	require.Equal(t, []messages.ClusterName{"m1"}, told.Leaving, "when the fleet has room")
	require.Equal(t, targets("m2:2"), told.Targets)
}

func TestWhyItIsHeldFollowsAClusterThatIsGone(t *testing.T) {
	own := settings(func(s *messages.Settings) { s.RetryForAnyGroup = true })
	d := drive(t, own, cluster("m1", "9", "down"), cluster("m2", "9", "down"))
	told := decided(t, d.Tell(leaving(again(ask("web", 2, anyOne()), "m1:2"), "m1")), "web")
	require.Contains(t, told.Obstacle.Message, "0/2 clusters are available")
	told = decided(t, d.Tell(&messages.ClusterGone{Name: "m2"}), "web")
	require.Equal(t, messages.PlacementKept, told.Outcome)
	require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
	require.Equal(t, "0/1 clusters are available: 1 cluster(s) was being drained or evicted from.", told.Obstacle.Message)
}

// Where it is held, a placement that is edited, or asked for again, is applied once, though it leads nowhere else.
func TestAPlacementThatIsEditedIsAppliedWhereABindingIsHeld(t *testing.T) {
	for name, asks := range map[string]func(*messages.PlaceBinding){
		"edited":          func(m *messages.PlaceBinding) { m.Applied = aggregated() },
		"asked for again": func(m *messages.PlaceBinding) { m.LastScheduled, m.RescheduleAt = m.Since.Add(-1), m.Since },
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, settings(), cluster("m1", "9", "down"))
			word := leaving(again(ask("web", 2, anyOne()), "m1:2"), "m1")
			word.Since = d.Now()
			asks(word)
			told := decided(t, d.Tell(word), "web")
			require.Equal(t, messages.PlacementChosen, told.Outcome)
			require.Equal(t, targets("m1:2"), told.Targets)
			require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
			require.NotEmpty(t, told.Obstacle.Message)
			d.Tell(status("m1", "8")).Quiet()
		})
	}
}

// A placement that is chosen meanwhile does not leave what holds it unsaid.
func TestWhyItIsHeldIsToldBesideAnEditedPlacementWhereItHasNoPermit(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"))
	word := again(ask("web", 2, anyOne()), "m1:2")
	word.Seeking, word.Applied = []messages.ClusterName{"m1"}, aggregated()
	told := decided(t, d.Tell(word), "web")
	require.Equal(t, messages.PlacementChosen, told.Outcome)
	require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
	require.Equal(t, "0/1 clusters are available: 1 cluster(s) was being drained or evicted from.", told.Obstacle.Message)
}

func TestADestinationMustHaveCapacity(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"), cluster("m2", "3"))
	d.Tell(ask("other", 2, &api.Placement{
		ClusterAffinity: &api.ClusterAffinity{ClusterNames: []string{"m2"}}, ReplicaScheduling: aggregated().ReplicaScheduling,
	}))
	held := decided(t, d.Tell(leaving(again(ask("web", 2, aggregated()), "m1:2"), "m1")), "web")
	require.Equal(t, []messages.ClusterName{"m1"}, held.Held)
	told := decided(t, d.Tell(&messages.BindingGone{Binding: "other"}), "web")
	require.Equal(t, targets("m2:2"), told.Targets)
}

func TestOfSeveralClustersAsManyAreEvictedFromAsCanBe(t *testing.T) {
	spread := &api.Placement{SpreadConstraints: []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: 2, MaxGroups: 2}}}
	d := drive(t, settings(), cluster("m1", "9", "down"), cluster("m2", "9", "down"), cluster("m3", "9"))
	told := decided(t, d.Tell(leaving(again(ask("web", 2, spread), "m1:2", "m2:2"), "m2", "m1")), "web")
	require.Equal(t, targets("m1:2", "m3:2"), told.Targets)
	require.Equal(t, []messages.ClusterName{"m2"}, told.Leaving, "the earliest deadline")
	require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
	require.NotEmpty(t, told.Obstacle.Message, "why the other one is held")

	told = decided(t, d.Tell(cluster("m4", "9")), "web")
	require.Equal(t, targets("m3:2", "m4:2"), told.Targets)
	require.Equal(t, []messages.ClusterName{"m1"}, told.Leaving)
}

func TestAClusterThatIsEvictedFromGainsNothing(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"), cluster("m2", "9", "down"))
	word := leaving(again(ask("web", 4, aggregated()), "m1:2", "m2:2"), "m1", "m2")
	told := decided(t, d.Tell(word), "web")
	require.Equal(t, messages.PlacementKept, told.Outcome)
	require.Equal(t, []messages.ClusterName{"m1", "m2"}, told.Held)
}

func TestABindingThatIsHeldCanStillBeScaled(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"))
	word := leaving(again(ask("web", 3, aggregated()), "m1:2"), "m1")
	told := decided(t, d.Tell(word), "web")
	require.Equal(t, messages.PlacementChosen, told.Outcome)
	require.Equal(t, targets("m1:3"), told.Targets)
	require.Equal(t, "replicas changed", told.Trigger)
	require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
	require.Empty(t, told.Leaving)
	told = decided(t, d.Tell(cluster("m2", "9")), "web")
	require.Equal(t, []messages.ClusterName{"m1"}, told.Leaving)
}

func TestWhatIsScaledToZeroNeedsNoCluster(t *testing.T) {
	zero := func(s *messages.Settings) { s.ZeroReplicasNeedNoCluster = true }
	for name, c := range map[string]struct {
		settings messages.Settings
		word     *messages.PlaceBinding
		held     bool
	}{
		"what must leave":              {settings(zero), leaving(again(ask("web", 0, anyOne()), "m1:2"), "m1"), false},
		"not where clusters must fit":  {settings(), leaving(again(ask("web", 0, anyOne()), "m1:2"), "m1"), true},
		"not what has no replicas":     {settings(zero), leaving(again(config(), "m1"), "m1"), true},
		"not what still runs some":     {settings(zero), leaving(again(ask("web", 1, anyOne()), "m1:2"), "m1"), true},
		"not a set, which has no such": {settings(zero, exactSets), leaving(askSet("web", 3, "m1"), "m1"), true},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, c.settings, cluster("m1", "9", "down"))
			mail := actorstest.MailTo(d.Tell(c.word).Mail(), bindingAt("web"))
			told := mail[len(mail)-1].(*messages.PlacementDecided)
			if c.held {
				require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
				return
			}
			require.Equal(t, messages.PlacementChosen, told.Outcome)
			require.Empty(t, told.Targets)
			require.Empty(t, told.Held)
			require.Equal(t, "replicas changed", told.Trigger)
			d.Tell(cluster("m2", "9")).Quiet()
		})
	}
}

// config is the word of a resource without replicas.
func config() *messages.PlaceBinding {
	m := ask("web", 0, anyOne())
	m.HasReplicas = false
	return m
}

func TestReplicasWithoutAPlaceAreToldOfBesideAHold(t *testing.T) {
	d := drive(t, settings(inPart), cluster("m1", "4", "down"))
	word := leaving(again(ask("web", 6, aggregated()), "m1:4"), "m1")
	told := decided(t, d.Tell(word), "web")
	require.Equal(t, messages.PlacementFailed, told.Outcome)
	require.Equal(t, int32(2), told.Missing)
	require.Equal(t, "2 of 6 replicas exceed the capacity of the 1 chosen cluster(s)", told.Message)
	require.Equal(t, "replicas changed", told.Trigger)
	require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
	require.Equal(t, "0/1 clusters are available: 1 cluster(s) was being drained or evicted from.", told.Obstacle.Message)
	d.Tell(cluster("m1", "4", "down")).Quiet()

	told = decided(t, d.Tell(cluster("m1", "5", "down")), "web")
	require.Equal(t, targets("m1:5"), told.Targets)
	require.Equal(t, int32(1), told.Missing)
	require.Equal(t, "1 of 6 replicas exceed the capacity of the 1 chosen cluster(s)", told.Message)
	require.NotNil(t, told.Obstacle)

	told = decided(t, d.Tell(leaving(again(ask("web", 5, aggregated()), "m1:5"), "m1")), "web")
	require.Equal(t, messages.PlacementKept, told.Outcome, "scaled down to what it has")
	require.Equal(t, api.ReasonSuccess, told.Reason)
}

func TestADecisionNamesWhatCalledForItDuringAnEviction(t *testing.T) {
	open := func(replicas int32, clusters ...string) *messages.PlaceBinding {
		word := again(ask("web", replicas, aggregated()), clusters...)
		word.Evicting = []messages.ClusterName{"m2"}
		return word
	}
	for called, words := range map[string][]messages.ToScheduler{
		"eviction":         {again(ask("web", 4, aggregated()), "m1:2", "m2:2"), open(4, "m1:2")},
		"replicas changed": {open(4, "m1:4"), open(6, "m1:4"), open(6, "m1:4")},
	} {
		d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9", "down"))
		d.Tell(words[0])
		require.Equal(t, called, decided(t, d.Tell(words[1:]...), "web").Trigger)
	}
}

func TestADepartureThatIsOffIsConfirmed(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"))
	held := leaving(again(ask("web", 2, aggregated()), "m1:2"), "m1")
	d.Tell(held)
	stays := again(held, "m1:2")
	stays.Leaving = nil
	require.Equal(t, messages.PlacementKept, decided(t, d.Tell(stays), "web").Outcome)
	d.Tell(cluster("m2", "9")).Quiet()
}

func TestWhoWaitsMayHearOfEveryGroup(t *testing.T) {
	anyGroup := func(s *messages.Settings) { s.RetryForAnyGroup = true }
	for heard, s := range map[bool]messages.Settings{true: settings(anyGroup), false: settings()} {
		d := drive(t, s, cluster("m1", "9", "down"), cluster("m2", "9", "down"))
		word := leaving(again(ask("web", 2, homeFirst()), "m1:2"), "m1")
		word.Affinity = "home"
		require.NotEmpty(t, decided(t, d.Tell(word), "web").Held)
		n := d.Tell(cluster("m2", "9"))
		if !heard {
			n.Quiet()
			continue
		}
		told := decided(t, n, "web")
		require.Equal(t, targets("m2:2"), told.Targets)
		require.Equal(t, "eviction", told.Trigger)
	}
}
