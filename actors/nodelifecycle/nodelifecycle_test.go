package nodelifecycle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/nodelifecycle"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

var (
	limits     = nodelife.Limits{Rate: 2, SecondaryRate: 0.5, LargeCluster: 5, Threshold: 0.55}
	kubernetes = nodelifecycle.Rules{Period: 5 * time.Second, Epoch: actorstest.Start, Limits: limits}
	leeward    = nodelifecycle.Rules{Limits: limits}

	pass = &messages.HealthPass{Period: 5 * time.Second}
)

func drive(t *testing.T, r nodelifecycle.Rules) *actorstest.Driver[messages.ToNodeLifecycle] {
	return actorstest.Drive[messages.ToNodeLifecycle](t, nodelifecycle.New(r))
}

func nodeAt(name string) messages.Address {
	return messages.Address{Kind: messages.KindNode, Name: name}
}
func zoneAt(name string) messages.Address {
	return messages.Address{Kind: messages.KindZone, Name: name}
}

func observed(name messages.NodeName, zone messages.ZoneName, ready corev1.ConditionStatus) *messages.NodeObserved {
	return &messages.NodeObserved{Node: name, Zone: zone, Ready: ready, Counted: true}
}

func waits(o *messages.NodeObserved) *messages.NodeObserved {
	o.Waits = true
	return o
}

func gone(name messages.NodeName) *messages.NodeObserved {
	return &messages.NodeObserved{Node: name, Gone: true}
}

// fleet are nodes of a zone, of which the first so many are Ready.
func fleet(zone messages.ZoneName, ready, all int) (ms []messages.ToNodeLifecycle) {
	for i := range all {
		status := corev1.ConditionTrue
		if i >= ready {
			status = corev1.ConditionUnknown
		}
		ms = append(ms, observed(messages.NodeName(string(zone)+string(rune('1'+i))), zone, status))
	}
	return ms
}

func rate(r float64) *messages.ZoneRateSet { return &messages.ZoneRateSet{Rate: r} }

func state(zone messages.ZoneName, s nodelife.State, ready, notReady int, rate float64) *messages.ZoneStateChanged {
	return &messages.ZoneStateChanged{Zone: zone, State: s.String(), Ready: ready, NotReady: notReady, Rate: rate}
}

// TestPassesGoToNodesThatWait, by name, at whole periods, and there is none where no node waits.
func TestPassesGoToNodesThatWait(t *testing.T) {
	d := drive(t, kubernetes)
	d.Advance(time.Second)
	d.Tell(waits(observed("b", "z", "True")), observed("c", "z", "True"), waits(observed("a", "z", "True"))).Quiet().WakesIn(4 * time.Second)
	n := d.Advance(4 * time.Second)
	require.Equal(t, nodeAt("a"), n.Mail()[0].To)
	require.Equal(t, nodeAt("b"), n.Mail()[1].To)
	n.Told(nodeAt("a"), pass).Told(nodeAt("b"), pass).Told(nodeAt("c")).Told(zoneAt("z"), rate(2)).WakesIn(5 * time.Second)
	d.Tell(observed("a", "z", "True"))
	d.Advance(5*time.Second).Told(nodeAt("b"), pass).Told(nodeAt("a")).Told(zoneAt("z"))
	d.Tell(observed("b", "z", "True")).Sleeps()

	d = drive(t, kubernetes)
	for _, name := range []messages.NodeName{"f", "c", "a", "e", "b", "d", "g"} {
		d.Tell(waits(observed(name, "z", "True")))
	}
	var told string
	for _, m := range d.Advance(5 * time.Second).Mail() {
		if m.To.Kind == messages.KindNode {
			told += m.To.Name
		}
	}
	require.Equal(t, "abcdefg", told)
}

// TestWhatChangesAtAPassWaitsForTheNext, whatever else the pass looks at.
func TestWhatChangesAtAPassWaitsForTheNext(t *testing.T) {
	d := drive(t, kubernetes)
	d.Tell(waits(observed("a", "z", "True"))).WakesIn(5 * time.Second)
	d.Approach(5 * time.Second)
	d.Tell(waits(observed("b", "z", "True"))).Told(nodeAt("a"), pass).Told(nodeAt("b"))
	d.Tell(waits(observed("c", "z", "True"))).Quiet().WakesIn(5 * time.Second)

	d = drive(t, kubernetes)
	d.Tell(waits(observed("a", "z", "True")))
	d.Approach(5 * time.Second)
	d.Tell(observed("a", "z", "True"), waits(observed("b", "z", "True")))
	d.Told(nodeAt("b")).WakesIn(5 * time.Second)

	d = drive(t, kubernetes)
	d.Tell(waits(observed("a", "z", "True")))
	d.Advance(5 * time.Second)
	d.Approach(5 * time.Second)
	d.Tell(observed("b", "z", "False"), observed("c", "y", "True"), observed("a", "z", "True")).Quiet().WakesIn(5 * time.Second)
}

// TestZonesAreAssessedAtTheEndOfAPass, when the nodes have done their part.
func TestZonesAreAssessedAtTheEndOfAPass(t *testing.T) {
	n := actorstest.NewNetwork(t, nil)
	at := messages.Address{Kind: messages.KindNodeLifecycle}
	actorstest.Join[messages.ToNodeLifecycle](n, at, nodelifecycle.New(kubernetes))
	for _, name := range []messages.NodeName{"a", "b", "c"} {
		actorstest.Join(n, nodeAt(string(name)), &silent{name: name})
		n.Post(at, waits(observed(name, "z", "True")))
	}
	n.Post(at, observed("d", "z", "True"))
	n.Advance(0).Quiet()
	n.Advance(5*time.Second).Recorded(state("z", nodelife.PartialDisruption, 1, 3, 0)).Told(zoneAt("z"), rate(0)).Sleeps()
}

// silent is a node that a pass finds to be Unknown.
type silent struct{ name messages.NodeName }

func TestTheStatesOfZones(t *testing.T) {
	for _, r := range []nodelifecycle.Rules{kubernetes, leeward} {
		d := drive(t, r)
		d.Tell(append(fleet("r/a", 6, 6), fleet("r/b", 3, 3)...)...)
		step := func(ms ...messages.ToNodeLifecycle) *actorstest.Network {
			d.Tell(ms...)
			if r.Period > 0 {
				d.Quiet()
				d.Advance(r.Period)
			}
			return d.Network
		}
		step()
		require.Empty(t, d.Facts(), "that zones are Normal is no news")
		step(fleet("r/a", 2, 6)...).Recorded(state("r/a", nodelife.PartialDisruption, 2, 4, 0.5)).
			Told(zoneAt("r/a"), rate(0.5)).Told(zoneAt("r/b"))
		step(fleet("r/b", 1, 3)...).Quiet()
		step(fleet("r/b", 0, 3)...).Recorded(state("r/b", nodelife.FullDisruption, 0, 3, 2)).Told(zoneAt("r/b"), rate(2))
		step(fleet("r/a", 0, 6)...).Recorded(state("r/a", nodelife.FullDisruption, 0, 6, 0), &messages.DisruptionChanged{Full: true}).
			Told(zoneAt("r/a"), rate(0)).Told(zoneAt("r/b"), rate(0)).Told(nodeAt("r/a6"), &messages.NodesDisrupted{})
		require.Len(t, d.Mail(), 2+9)
		step(observed("r/b1", "r/b", "True")).
			Recorded(state("r/b", nodelife.Normal, 1, 2, 2), &messages.DisruptionChanged{}).
			Told(zoneAt("r/a"), rate(2)).Told(zoneAt("r/b"), rate(2)).Told(nodeAt("r/a6"), &messages.NodesDisrupted{Over: true})
		require.Len(t, d.Mail(), 2+9)
		step(gone("r/b2"), gone("r/b3"), gone("r/b1"), gone("unheard of"))
		if r.Period > 0 {
			d.Quiet()
		} else {
			d.Recorded(&messages.DisruptionChanged{Full: true}).Told(zoneAt("r/a"), rate(0)).Told(zoneAt("r/b"))
		}
		d.Sleeps()
	}
}

// TestANodeThatIsNotCounted changes no state; a small zone that is partially disrupted stops.
func TestANodeThatIsNotCounted(t *testing.T) {
	d := drive(t, leeward)
	d.Tell(fleet("z", 1, 4)...).Recorded(state("z", nodelife.PartialDisruption, 1, 3, 0)).Told(zoneAt("z"), rate(0))
	excluded := observed("z4", "z", "Unknown")
	excluded.Counted = false
	d.Tell(excluded).Recorded(state("z", nodelife.Normal, 1, 2, 2))
	excluded = observed("z4", "z", "True")
	excluded.Counted = false
	d.Tell(excluded).Quiet()
}

// TestTheOnlyReadyNodeOfAZone: it does not save the zone where it is not counted, or has a Ready condition no longer.
func TestTheOnlyReadyNodeOfAZone(t *testing.T) {
	full := []messages.Fact{state("z", nodelife.FullDisruption, 0, 1, 0), &messages.DisruptionChanged{Full: true}}
	excluded := observed("z2", "z", "True")
	excluded.Counted = false
	d := drive(t, leeward)
	d.Tell(observed("z1", "z", "Unknown"), excluded).Recorded(full...)

	d = drive(t, leeward)
	require.Empty(t, d.Tell(observed("z1", "z", "True")).Facts())
	d.Tell(observed("z1", "z", "")).Recorded(full...)
}

// TestAZoneWithoutNodesIsForgotten: one of that name is a new zone.
func TestAZoneWithoutNodesIsForgotten(t *testing.T) {
	d := drive(t, leeward)
	full := state("a", nodelife.FullDisruption, 0, 1, 2)
	d.Tell(observed("b1", "b", "True"), observed("a1", "a", "Unknown")).Recorded(full)
	d.Tell(gone("a1")).Quiet()
	d.Tell(observed("a2", "a", "Unknown")).Recorded(full).Told(zoneAt("a"), rate(2))
}

// TestANewNodeIsToldOfTheDisruption. One in a new zone does not end it, unless it is Ready; in Kubernetes the other zones stay at rate zero then.
func TestANewNodeIsToldOfTheDisruption(t *testing.T) {
	d := drive(t, leeward)
	d.Tell(fleet("a", 0, 2)...).Recorded(state("a", nodelife.FullDisruption, 0, 2, 0), &messages.DisruptionChanged{Full: true})
	d.Tell(observed("n", "a", "Unknown")).Told(nodeAt("n"), &messages.NodesDisrupted{})
	d.Tell(observed("m", "b", "")).Recorded(state("b", nodelife.FullDisruption, 0, 1, 0)).Told(zoneAt("b"), rate(0))
	d.Tell(observed("o", "c", "True")).Recorded(&messages.DisruptionChanged{}).
		Told(nodeAt("o"), &messages.NodesDisrupted{}, &messages.NodesDisrupted{Over: true}).Told(zoneAt("a"), rate(2))

	d = drive(t, kubernetes)
	d.Tell(fleet("a", 0, 2)...)
	d.Advance(5 * time.Second)
	d.Tell(observed("o", "c", "True"))
	d.Advance(5*time.Second).Recorded(&messages.DisruptionChanged{}).Told(zoneAt("a")).Told(zoneAt("c"), rate(2))
}

// TestARestartBeginsWithAPassOverAllNodes, and forgets the states of zones.
func TestARestartBeginsWithAPassOverAllNodes(t *testing.T) {
	d := drive(t, kubernetes)
	d.Tell(append(fleet("a", 0, 2), waits(observed("b1", "b", "True")))...)
	d.Advance(5 * time.Second)
	d.Advance(2 * time.Second)
	d.Tell(&messages.ControllersRestarted{}).Told(nodeAt("a1"), pass).Told(nodeAt("a2"), pass).Told(nodeAt("b1"), pass).
		Recorded(state("a", nodelife.FullDisruption, 0, 2, 2)).
		Told(zoneAt("a"), &messages.ControllersRestarted{}, rate(2)).Told(zoneAt("b"), &messages.ControllersRestarted{}, rate(2)).
		WakesIn(5 * time.Second)

	d = drive(t, leeward)
	d.Tell(fleet("a", 0, 2)...)
	d.Tell(&messages.ControllersRestarted{}).Recorded(state("a", nodelife.FullDisruption, 0, 2, 0)).
		Told(nodeAt("a1"), &messages.NodesDisrupted{})
	d.Tell(&messages.ControllersRestarted{}, observed("a1", "a", "True")).Recorded(&messages.DisruptionChanged{}).
		Told(nodeAt("a1"), &messages.NodesDisrupted{Over: true})
}

// TestWithoutPassesNoNodeWaits: one that says so all the same keeps nothing awake.
func TestWithoutPassesNoNodeWaits(t *testing.T) {
	d := drive(t, leeward)
	d.Tell(waits(observed("a", "z", "True"))).Told(nodeAt("a")).Sleeps()
}

// TestAnEpochToCome: the first pass is then.
func TestAnEpochToCome(t *testing.T) {
	r := kubernetes
	r.Epoch = actorstest.Start.Add(time.Minute)
	d := drive(t, r)
	d.Tell(waits(observed("a", "z", "True"))).WakesIn(time.Minute)
}

func TestTheOrderOfMessagesAtOneInstantDoesNotMatter(t *testing.T) {
	for _, r := range []nodelifecycle.Rules{kubernetes, leeward} {
		var first []actorstest.Outcome
		ways := 0
		actorstest.EveryWay(func(choose actorstest.Choose) {
			d := drive(t, r)
			d.Tell(append(fleet("a", 0, 2), waits(observed("b1", "b", "Unknown")))...)
			d.Approach(10 * time.Second)
			var all []actorstest.Outcome
			d.Tell(actorstest.Interleave(choose,
				[]messages.ToNodeLifecycle{&messages.ControllersRestarted{}},
				[]messages.ToNodeLifecycle{observed("a1", "b", "True"), waits(observed("a1", "c", "True"))},
				[]messages.ToNodeLifecycle{gone("a2"), observed("a2", "a", "False")},
				[]messages.ToNodeLifecycle{gone("b1")},
			)...)
			for range 4 {
				all = append(all, d.Outcome())
				d.Advance(5 * time.Second)
			}
			if ways++; first == nil {
				first = all
			}
			require.Equal(t, first, all)
		})
		require.Equal(t, 180, ways)
	}
}

func (s *silent) Receive(now time.Time, m messages.ToNode, out *actors.Outbox) {
	switch m.(type) {
	case *messages.HealthPass:
		out.WakeAt(now)
	case *messages.Woken:
		out.TellNodeLifecycle(observed(s.name, "z", "Unknown"))
	}
}

// TestAPassThatLasts has zones assessed at its end: they may taint a node meanwhile.
func TestAPassThatLasts(t *testing.T) {
	lasting := kubernetes
	lasting.Lasts = 60 * time.Millisecond
	d := drive(t, lasting)
	d.Advance(time.Second)
	d.Tell(waits(observed("a", "z", "True")))
	d.Advance(4*time.Second).Told(nodeAt("a"), pass).Told(zoneAt("z")).WakesIn(60 * time.Millisecond)
	d.Tell(observed("a", "z", "Unknown")).Told(zoneAt("z")).WakesIn(60 * time.Millisecond)
	n := d.Advance(60 * time.Millisecond)
	n.Told(nodeAt("a"), &messages.NodesDisrupted{Pass: actorstest.Start.Add(5 * time.Second)})
	require.NotEmpty(t, n.Facts())
}

// TestTheFirstPassAfterARestartMayLastLonger than all that follow.
func TestTheFirstPassAfterARestartMayLastLonger(t *testing.T) {
	starting := kubernetes
	starting.Lasts, starting.Starts = 20*time.Millisecond, 60*time.Millisecond
	d := drive(t, starting)
	d.Tell(waits(observed("a", "z", "Unknown")))
	d.Advance(time.Second)
	d.Tell(&messages.ControllersRestarted{}).Told(zoneAt("z"), &messages.ControllersRestarted{}).WakesIn(60 * time.Millisecond)
	require.NotEmpty(t, d.Advance(60*time.Millisecond).Facts())
	d.Tell(waits(observed("b", "z", "True"))).WakesIn(starting.Period - 60*time.Millisecond)
	d.Advance(starting.Period - 60*time.Millisecond).WakesIn(20 * time.Millisecond)
}

// TestAPassOverManySilentNodesWaitsForTheClient: what is over the burst is written at its rate, and zones go on until it is.
func TestAPassOverManySilentNodesWaitsForTheClient(t *testing.T) {
	for burst, want := range map[int]time.Duration{30: 5 * time.Second, 130: 0, 129: 50 * time.Millisecond} {
		limited := kubernetes
		limited.Period, limited.QPS, limited.Burst = time.Minute, 20, burst
		n := actorstest.NewNetwork(t, nil)
		at := messages.Address{Kind: messages.KindNodeLifecycle}
		actorstest.Join[messages.ToNodeLifecycle](n, at, nodelifecycle.New(limited))
		for i := range 40 {
			name := messages.NodeName(rune('A' + i))
			if o := observed(name, "z", "True"); i < 26 {
				actorstest.Join(n, nodeAt(string(name)), &silent{name: name})
				n.Post(at, waits(o))
			} else {
				n.Post(at, o)
			}
		}
		n.Advance(0).Quiet()
		n.Advance(time.Minute)
		if want > 0 {
			n.Told(zoneAt("z"), &messages.ZoneSlowed{})
			require.Empty(t, n.Facts(), want)
			n.Advance(want).Told(zoneAt("z"), &messages.ZoneSlowed{Over: true}, rate(limited.Limits.RateOf(nodelife.PartialDisruption, 40)))
		}
		n.Recorded(state("z", nodelife.PartialDisruption, 14, 26, 0.5))
	}
}
