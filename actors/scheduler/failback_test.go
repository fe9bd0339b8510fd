package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

func oneAtATime(s *messages.Settings) { s.ConcurrentReturns = 1 }

// homeFirst prefers m1 to m2.
func homeFirst() *api.Placement {
	p := aggregated()
	p.ClusterAffinities = []api.ClusterAffinityTerm{
		{AffinityName: "home", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"m1"}}},
		{AffinityName: "abroad", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"m2"}}},
	}
	return p
}

// abroad is the word of a binding that runs on m2 and is to return to m1.
func abroad(name messages.BindingName, p *api.Placement, changes ...func(*messages.PlaceBinding)) *messages.PlaceBinding {
	m := again(ask(name, 2, p), "m2:2")
	m.Affinity, m.Home = "abroad", &messages.FailbackState{ToGroup: true}
	for _, change := range changes {
		change(m)
	}
	return m
}

func mayReturn(m *messages.PlaceBinding) { m.Home.MayReturn = true }
func returnDue(m *messages.PlaceBinding) { m.Home.MayReturn, m.Home.ReturnDue = true, true }

func home() *messages.ReturnJudged { return &messages.ReturnJudged{Possible: true, Affinity: "home"} }

func kept(m *messages.PlaceBinding) *messages.PlacementDecided {
	return &messages.PlacementDecided{Request: m.Request, Outcome: messages.PlacementKept, Reason: api.ReasonSuccess}
}

func TestWhoIsAwayHearsWhenHomeCanTakeIt(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"), cluster("m2", "9"))
	word := abroad("web", homeFirst())
	d.Tell(word).Told(bindingAt("web"), kept(word))
	d.Tell(cluster("m1", "1")).Quiet()
	d.Tell(status("m1", "9")).Told(bindingAt("web"), home())
	d.Tell(status("m1", "8")).Quiet()
	d.Tell(cluster("m1", "9", "down")).Told(bindingAt("web"), &messages.ReturnJudged{})
}

func TestCapacityThatAnotherGivesUpOnAPreferredClusterIsHeardOf(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "3"), cluster("m2", "9"))
	local := &api.Placement{ClusterAffinity: &api.ClusterAffinity{ClusterNames: []string{"m1"}}, ReplicaScheduling: aggregated().ReplicaScheduling}
	d.Tell(ask("other", 2, local))
	word := abroad("web", homeFirst())
	d.Tell(word).Told(bindingAt("web"), kept(word))
	d.Tell(&messages.BindingGone{Binding: "other"}).Told(bindingAt("web"), home())
}

// TestABindingThatReturnedIsOnItsPreferredClusters: what was decided counts without another word of the binding.
func TestABindingThatReturnedIsOnItsPreferredClusters(t *testing.T) {
	d := drive(t, settings(enforcing, keeping), cluster("m1", "9"), cluster("m2", "9"))
	d.Tell(abroad("team/web", homeFirst(), returnDue))
	d.Tell(cluster("m1", "9", "down")).Quiet()
	d.Tell(cluster("m1", "9")).Quiet()
	d.Tell(cluster("m2", "9")).Quiet()
	require.Equal(t, targets("m2:9"), decided(t, d.Tell(ask("a", 9, aggregated())), "a").Targets, "all of m2 is free")
	require.Equal(t, messages.PlacementFailed, decided(t, d.Tell(ask("b", 8, aggregated())), "b").Outcome)
	require.Equal(t, targets("m1:7"), decided(t, d.Tell(ask("c", 7, aggregated())), "c").Targets, "two of nine are taken")
}

func TestWhatRunsNowhereIsNotAway(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"), cluster("m2", "1"))
	word := abroad("web", homeFirst())
	word.Targets = nil
	require.Equal(t, messages.PlacementFailed, decided(t, d.Tell(word), "web").Outcome)
	d.Tell(cluster("m1", "9")).Quiet()
}

func TestWhoIsNotToReturnHearsNothing(t *testing.T) {
	for name, change := range map[string]func(*messages.PlaceBinding){
		"the policy does not say so":      func(m *messages.PlaceBinding) { m.Home = nil },
		"it is where it was placed first": func(m *messages.PlaceBinding) { m.Affinity, m.Targets = "home", targets("m1:2") },
		"it is leaving a cluster":         func(m *messages.PlaceBinding) { m.Evicting = []messages.ClusterName{"m3"} },
		"it knows":                        mayReturn,
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"))
			word := abroad("web", homeFirst(), change)
			d.Tell(word).Told(bindingAt("web"), kept(word))
		})
	}
}

func TestAWorkloadReturnsWhenItsTimeHasCome(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"))
	word := abroad("web", homeFirst(), returnDue)
	d.Tell(word).Told(bindingAt("web"), kept(word), &messages.PlacementDecided{
		Request: word.Request, Outcome: messages.PlacementChosen, Targets: targets("m1:2"), Affinity: "home",
		Leaving: []messages.ClusterName{"m2"}, Move: api.EvictionReasonFailback, Trigger: "failback", Reason: api.ReasonSuccess,
	})
	d.Tell(status("m2", "9")).Quiet()
}

func TestOnlySoManyReturnTogether(t *testing.T) {
	p := homeFirst()
	d := drive(t, settings(oneAtATime), cluster("m1", "9"), cluster("m2", "9"))
	first, second := abroad("a", p, returnDue), abroad("b", p, returnDue)
	d.Tell(second, first)
	require.Len(t, d.Mail(), 3, "both are answered, one returns")
	d.Tell(status("m1", "9")).Quiet()

	under := again(first, "m1:2")
	under.Affinity, under.Home = "home", &messages.FailbackState{ToGroup: true, Returning: true}
	under.Evicting = []messages.ClusterName{"m2"}
	d.Tell(under).Told(bindingAt("b"))
	done := again(under, "m1:2")
	done.Evicting, done.Home = nil, &messages.FailbackState{ToGroup: true}
	require.Equal(t, api.EvictionReasonFailback, decided(t, d.Tell(done), "b").Move, "the next one's turn")
}

func TestThoseThatWaitedReturnInTheirOrder(t *testing.T) {
	p := homeFirst()
	d := drive(t, settings(oneAtATime), cluster("m1", "9", "down"), cluster("m2", "99"))
	for _, name := range []messages.BindingName{"h", "b", "f", "d", "a", "g", "c", "e"} {
		d.Tell(abroad(name, p))
	}
	d.Tell(cluster("m1", "9"))
	for _, name := range []messages.BindingName{"h", "b", "f", "d", "a", "g", "c", "e"} {
		waits := abroad(name, p, returnDue)
		waits.Evicting = []messages.ClusterName{"m9"}
		d.Tell(waits)
	}
	var names []messages.ToScheduler
	for _, name := range []messages.BindingName{"h", "b", "f", "d", "a", "g", "c", "e"} {
		names = append(names, &messages.ReturnsHeld{HoldScope: messages.HoldScope{Binding: name}, Held: true})
	}
	d.Tell(names...)
	for _, name := range []messages.BindingName{"h", "b", "f", "d", "a", "g", "c", "e"} {
		d.Tell(abroad(name, p, returnDue))
	}
	for i := range names {
		names[i] = &messages.ReturnsHeld{HoldScope: names[i].(*messages.ReturnsHeld).HoldScope}
	}
	require.Equal(t, api.EvictionReasonFailback, decided(t, d.Tell(names...), "a").Move, "the first by name")
}

func TestABindingThatEndsWhileItReturnsFreesCapacity(t *testing.T) {
	p := homeFirst()
	d := drive(t, settings(oneAtATime), cluster("m1", "9"), cluster("m2", "9"))
	d.Tell(abroad("a", p, returnDue), abroad("b", p, returnDue))
	require.Equal(t, api.EvictionReasonFailback, decided(t, d.Tell(&messages.BindingGone{Binding: "a"}), "b").Move)
}
