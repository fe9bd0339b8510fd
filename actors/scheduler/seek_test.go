package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/scheduler"
	"leeward/messages"
	"leeward/messages/api"
)

// lapsing is a word of a binding that is to leave m1, whose leave to go ends with the instant.
func lapsing(priority int32) *messages.PlaceBinding {
	m := leaving(again(ask("web", 2, aggregated()), "m1:2"), "m1")
	m.Lapses, m.Priority = true, priority
	return m
}

func found(clusters ...messages.ClusterName) *messages.DestinationFound {
	return &messages.DestinationFound{Request: 2, Clusters: clusters}
}

// seeking returns a scheduler of a binding that is held on m1 and has no leave to go any more.
func seeking(t *testing.T) *driver {
	t.Helper()
	d := drive(t, settings(), cluster("m1", "9", "down"))
	require.Equal(t, []messages.ClusterName{"m1"}, decided(t, d.Tell(lapsing(0)), "web").Held)
	return d
}

func TestLeaveToGoLapsesAndADestinationIsToldOnce(t *testing.T) {
	d := seeking(t)
	d.Tell(status("m1", "8")).Quiet()
	d.Tell(cluster("m2", "2")).Told(bindingAt("web"), found("m1"))
	d.Tell(status("m2", "3")).Quiet()
	d.Tell(cluster("m2", "3")).Quiet()
	require.Equal(t, targets("m2:2"), decided(t, d.Tell(lapsing(0)), "web").Targets)
}

// TestADestinationThatIsLostAndFoundAgainIsToldAgain: so is what is in the way in between.
func TestADestinationThatIsLostAndFoundAgainIsToldAgain(t *testing.T) {
	d := seeking(t)
	d.Tell(cluster("m2", "2")).Told(bindingAt("web"), found("m1"))
	for range 2 {
		d.Tell(cluster("m2", "2", "down"))
		word := again(ask("web", 2, aggregated()), "m1:2")
		word.Seeking = []messages.ClusterName{"m1"}
		require.Equal(t, []messages.ClusterName{"m1"}, decided(t, d.Tell(word), "web").Held)
		d.Tell(cluster("m2", "2")).Told(bindingAt("web"), found("m1"))
	}
}

func TestWhatIsSoughtIsScaledMeanwhile(t *testing.T) {
	d := seeking(t)
	word := again(ask("web", 3, aggregated()), "m1:2")
	word.Seeking = []messages.ClusterName{"m1"}
	told := decided(t, d.Tell(word), "web")
	require.Equal(t, targets("m1:3"), told.Targets)
	require.Empty(t, told.Leaving)
	d.Tell(cluster("m2", "3")).Told(bindingAt("web"), found("m1"))
}

func TestSomeAreSoughtWhileOthersAreEvictedFrom(t *testing.T) {
	two := &api.Placement{SpreadConstraints: []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: 2, MaxGroups: 2}}}
	for name, s := range map[string]messages.Settings{"of capacity that is reserved": settings(), "of any capacity": settings(noReservation)} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, s, cluster("m1", "9", "down"), cluster("m2", "9", "down"), cluster("m3", "9"))
			word := leaving(again(ask("web", 2, two), "m1:2", "m2:2"), "m2")
			word.Lapses, word.Seeking = true, []messages.ClusterName{"m1"}
			told := actorstest.MailTo(d.Tell(word).Mail(), bindingAt("web"))
			require.Equal(t, targets("m1:2", "m3:2"), told[0].(*messages.PlacementDecided).Targets)
			require.Equal(t, []messages.ClusterName{"m1"}, told[1].(*messages.PlacementDecided).Held)
			d.Tell(cluster("m4", "9")).Told(bindingAt("web"), found("m1"))
		})
	}
}

func TestWhatIsHeldOfADepartureIsSoughtOnceTheLeaveLapsed(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"), cluster("m2", "9", "down"), cluster("m3", "9"))
	word := leaving(again(ask("web", 2, twoOfThree()), "m1:2", "m2:2"), "m2", "m1")
	word.Lapses = true
	told := decided(t, d.Tell(word), "web")
	require.Equal(t, targets("m1:2", "m3:2"), told.Targets)
	require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
	d.Tell(cluster("m4", "9")).Told(bindingAt("web"), found("m1"))
}

func TestWhatIsStillSoughtIsLookedForAgain(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "2", "down"), cluster("m2", "2", "down"))
	word := again(ask("web", 4, aggregated()), "m1:2", "m2:2")
	word.Seeking = []messages.ClusterName{"m1", "m2"}
	require.Equal(t, word.Seeking, decided(t, d.Tell(word), "web").Held)
	d.Tell(cluster("m3", "2")).Told(bindingAt("web"), found("m1"), found("m2"))
	d.Tell(status("m3", "5")).Quiet()
}

func TestAStartIsKeptForWhoAsksForLeave(t *testing.T) {
	d := drive(t, settings(oneStartEach), cluster("m1", "9", "down"))
	lapses := func(name messages.BindingName) *messages.PlaceBinding {
		m := leaves(name)
		m.Lapses = true
		return m
	}
	d.Tell(lapses("a"), lapses("b"))
	n := d.Tell(cluster("m2", "9"))
	n.Told(bindingAt("a"), found("m1"))
	told := actorstest.MailTo(n.Mail(), bindingAt("b"))
	require.Len(t, told, 2)
	require.Contains(t, told[0].(*messages.PlacementDecided).Obstacle.Message, "was starting as many evicted workloads as its limit allows (1)")
	require.Equal(t, found("m1"), told[1], "once the other has asked, or not")
}

// applicant is a binding that hears of a destination, and has a permit immediately or never.
type applicant struct{ leave bool }

func (a applicant) Receive(_ time.Time, m messages.ToBinding, out *actors.Outbox) {
	if _, is := m.(*messages.DestinationFound); is && a.leave {
		out.TellScheduler(lapsing(9))
	}
}

func TestCapacityIsKeptForWhoAsksForLeave(t *testing.T) {
	for name, c := range map[string]struct {
		leave bool
		want  []api.TargetCluster // where the less urgent one runs in the end
	}{
		"and goes":            {true, nil},
		"and does not get it": {false, targets("m2:2")},
	} {
		t.Run(name, func(t *testing.T) {
			at := messages.Address{Kind: messages.KindScheduler}
			n := actorstest.NewNetwork(t, nil)
			actorstest.Join(n, at, scheduler.New(settings(), 1))
			actorstest.Join(n, bindingAt("web"), applicant{c.leave})
			n.Post(at, cluster("m1", "9", "down"), lapsing(9), ask("other", 2, aggregated()))
			n.Advance(0)
			n.Post(at, cluster("m2", "2"))
			n.Advance(time.Second)
			var last *messages.PlacementDecided
			for _, m := range actorstest.MailTo(n.Mail(), bindingAt("other")) {
				last = m.(*messages.PlacementDecided)
			}
			require.Equal(t, c.want, last.Targets)
		})
	}
}

func TestWhatIsFoundImmediatelyIsAnAnswer(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"), cluster("m2", "2"))
	word := again(ask("web", 2, aggregated()), "m1:2")
	word.Seeking = []messages.ClusterName{"m1"}
	d.Tell(word).Told(bindingAt("web"), found("m1"))
	d.Tell(cluster("m2", "3")).Quiet()
}

func TestWhatIsFoundForPartImmediatelyIsSoughtForTheRest(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "2", "down"), cluster("m2", "2", "down"), cluster("m3", "2"))
	word := again(ask("web", 4, aggregated()), "m1:2", "m2:2")
	word.Seeking = []messages.ClusterName{"m1", "m2"}
	d.Tell(word).Told(bindingAt("web"), found("m1"), found("m2"))
}
