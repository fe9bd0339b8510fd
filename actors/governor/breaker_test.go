package governor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/governor"
	"leeward/messages"
	"leeward/messages/api"
)

// breaks are settings with a breaker on half of the fleet.
func breaks() messages.Settings {
	return messages.Settings{
		FleetBreakerShare: 0.5, BreakerMinimum: 2, BreakerWindow: 10 * time.Minute, BreakerCooldown: 5 * time.Minute, BreakerTrials: 2,
	}
}

// survey says that each cluster of drive has two copies, all of priority 0.
var survey = &messages.CopiesCounted{
	Clusters: []messages.ClusterCopies{
		{Cluster: "alone", Copies: 2}, {Cluster: "e1", Copies: 2}, {Cluster: "e2", Copies: 2}, {Cluster: "u1", Copies: 2}, {Cluster: "u2", Copies: 2},
	},
	Priorities: []messages.PriorityCopies{{Priority: 0, Copies: 10}},
}

type governorDriver = actorstest.Driver[messages.ToGovernor]

// surveyed is the fleet of drive with its copies.
func surveyed(t *testing.T, s messages.Settings) *governorDriver {
	t.Helper()
	d := drive(t, s)
	d.Tell(survey).Quiet()
	return d
}

// opened is one whose breaker a to e have opened; f to h wait.
func opened(t *testing.T, s messages.Settings) *governorDriver {
	t.Helper()
	d := surveyed(t, s)
	n := d.Tell(from("e1", "a", "b", "c", "d", "e", "f", "g", "h")...)
	require.Equal(t, []string{"a/e1", "b/e1", "c/e1", "d/e1", "e/e1"}, gone(n))
	return d
}

func concluded(b messages.BindingName, serves bool) *messages.TrialConcluded {
	return &messages.TrialConcluded{Binding: b, Cluster: "e1", Serves: serves}
}

func breakers(n *actorstest.Network) []*messages.BreakerChanged {
	return actorstest.FactsOf[*messages.BreakerChanged](n.Facts())
}

// states are what breakers changed to.
func breakerStates(n *actorstest.Network) (list []string) {
	for _, f := range breakers(n) {
		list = append(list, f.State+": "+f.Message)
	}
	return list
}

func TestABreakerStopsTheFleetAtItsShare(t *testing.T) {
	d := surveyed(t, breaks())
	ends := d.Now().Add(5 * time.Minute)
	n := d.Tell(from("e1", "a", "b", "c", "d", "e", "f")...)
	require.Equal(t, []*messages.BreakerChanged{{
		State: "Open", Message: "5 of 10 copies evicted within 10m: no more evictions", Moved: 5, Copies: 10, Until: ends,
	}}, breakers(n))
	require.Equal(t, []messages.Message{&messages.EvictionDelayed{
		Cluster: "e1", Reason: "BreakerOpen", Message: "the fleet: 5 of 10 copies evicted within 10m: no more evictions",
	}}, waits("f", n))
	n.Told(bindingAt("a"), &messages.EvictionPermitted{Cluster: "e1"})
	require.Empty(t, gone(d.Tell(from("u1", "z")...)))
	d.WakesIn(5 * time.Minute)
}

func TestTheTrialsOfABreakerDecide(t *testing.T) {
	for name, c := range map[string]struct {
		ends []messages.ToGovernor
		// states and gone are what comes of it.
		states, gone []string
	}{
		"all serve": {
			[]messages.ToGovernor{concluded("f", true), concluded("g", true)},
			[]string{"Closed: 2 of 2 trial evictions are available again"}, []string{"h/e1"},
		},
		"one does not": {
			[]messages.ToGovernor{concluded("f", true), concluded("g", false)},
			[]string{"Open: 1 of 2 trial evictions are available again: no more evictions"}, []string{},
		},
		"one is not known yet": {[]messages.ToGovernor{concluded("f", true)}, nil, []string{}},
		"one need not go":      {[]messages.ToGovernor{&messages.WithdrawRequest{Binding: "f", Cluster: "e1"}}, nil, []string{"h/e1"}},
	} {
		t.Run(name, func(t *testing.T) {
			actorstest.EveryWay(func(choose actorstest.Choose) {
				d := opened(t, breaks())
				n := d.Advance(5 * time.Minute)
				require.Equal(t, []string{"HalfOpen: 2 evictions may be tried"}, breakerStates(n))
				n.Told(bindingAt("f"), &messages.EvictionPermitted{Cluster: "e1", Trial: true})
				require.Equal(t, []string{"f/e1", "g/e1"}, gone(n))
				require.Equal(t, "BreakerHalfOpen", waits("h", n)[0].(*messages.EvictionDelayed).Reason)
				n = d.Tell(actorstest.Interleave(choose, actorstest.Alone(c.ends...)...)...)
				require.Equal(t, c.states, breakerStates(n))
				require.Equal(t, c.gone, gone(n))
			})
		})
	}
}

func TestTrialsThatTakeTooLongOpenTheBreakerAgain(t *testing.T) {
	d := opened(t, breaks())
	d.Advance(5 * time.Minute)
	d.Tell(concluded("f", true)).Quiet()
	d.Approach(5 * time.Minute)
	require.Equal(t, []string{"Open: 1 of 2 trial evictions are available again: no more evictions"}, breakerStates(d.Advance(0)))
	d.Tell(concluded("g", true)).Quiet()
	require.Equal(t, []string{"h/e1"}, gone(d.Advance(5*time.Minute)))
}

func TestEachPlaceHasItsBreaker(t *testing.T) {
	region, priority := breaks(), breaks()
	region.FleetBreakerShare, region.RegionBreakerShare = 0, 0.5
	priority.FleetBreakerShare, priority.PriorityBreakerShare = 0, 0.2
	nine := int32(9)
	for name, c := range map[string]struct {
		settings messages.Settings
		gone     []string
		broke    messages.BreakerChanged
	}{
		"a region; who has none is free": {region,
			[]string{"a/alone", "a/e1", "a/e2", "a/u1", "a/u2", "b/alone", "c/alone"},
			messages.BreakerChanged{Region: "eu", Moved: 2, Copies: 4, Message: "2 of 4 copies evicted within 10m: no more evictions"}},
		"a priority, and no other": {priority,
			[]string{"x/e1", "y/e1", "a/alone", "a/e1"},
			messages.BreakerChanged{Priority: &nine, Moved: 2, Copies: 4, Message: "2 of 4 copies evicted within 10m: no more evictions"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := surveyed(t, c.settings)
			d.Tell(&messages.CopiesCounted{Priorities: []messages.PriorityCopies{{Priority: 9, Copies: 4}}}).Quiet()
			asks := each()
			if c.broke.Priority != nil {
				for _, name := range []messages.BindingName{"x", "y", "z"} {
					r := urgent(name, 9, 0)
					r.Cluster = "e1"
					asks = append(asks, r)
				}
			}
			n := d.Tell(asks...)
			require.Equal(t, c.gone, gone(n))
			c.broke.State, c.broke.Until = "Open", d.Now().Add(5*time.Minute)
			require.Equal(t, &c.broke, breakers(n)[0])
		})
	}
}

func TestAPriorityCountsAlsoWhereRequestsGoByArrival(t *testing.T) {
	s := breaks()
	s.FleetBreakerShare, s.PriorityBreakerShare, s.EvictionOrder = 0, 0.5, messages.EvictByArrival
	d := surveyed(t, s)
	d.Tell(&messages.CopiesCounted{Priorities: []messages.PriorityCopies{{Priority: 9, Copies: 4}}}).Quiet()
	n := d.Tell(urgent("x", 9, 0), urgent("y", 9, 0), urgent("z", 9, 0), urgent("a", 0, time.Second))
	require.Equal(t, []string{"x/m1", "y/m1", "a/m1"}, gone(n))
}

func TestNoEvictionStartsBeforeItIsKnownHowMuchThereIs(t *testing.T) {
	d := drive(t, breaks())
	d.Tell(from("e1", "a", "b", "c")...).Quiet()
	require.Equal(t, []string{"a/e1", "b/e1", "c/e1"}, gone(d.Tell(survey)))
}

func TestCopiesFollowTheirCluster(t *testing.T) {
	s := breaks()
	s.FleetBreakerShare, s.RegionBreakerShare = 0, 0.5
	d := surveyed(t, s)
	d.Tell(located("u1", "eu")).Quiet()
	require.Equal(t, 6, breakers(d.Tell(from("e1", "a", "b", "c", "d")...))[0].Copies)
}

func TestABreakerThatIsSwitchedOffLetsGo(t *testing.T) {
	d := opened(t, breaks())
	n := d.Tell(&messages.SettingsChanged{})
	require.Equal(t, []string{"Closed: the breaker no longer exists"}, breakerStates(n))
	require.Equal(t, []string{"f/e1", "g/e1", "h/e1"}, gone(n))
	d.Tell(&messages.SettingsChanged{Settings: breaks()}).Quiet()
	d.Tell(from("e1", "x", "y", "z")...).Quiet()
	require.Len(t, gone(d.Tell(survey)), 3, "it counts anew, and what there is is counted anew")
}

// A governor that goes on from what another one recorded does what that would have done.
func TestARestartForgetsNoBreaker(t *testing.T) {
	until := metav1.MicroTime{Time: actorstest.Start.Add(time.Minute)}
	broken := func(state string, until *metav1.MicroTime, trials ...api.Trial) *messages.GovernorRestored {
		return &messages.GovernorRestored{Status: &api.GovernorStatus{
			Governance: api.Governance{Breaker: &api.BreakerStatus{State: state, Message: "5 of 10 copies leave", Until: until}},
			Permits:    []api.PermitCount{{Trials: trials}},
		}}
	}
	tried := api.Trial{Binding: "f", Cluster: "e1", At: metav1.MicroTime{Time: actorstest.Start}}
	t.Run("one that was open opens again when it was to", func(t *testing.T) {
		d := actorstest.Drive(t, governor.New(breaks()))
		n := d.Tell(append(from("e1", "a"), broken("Open", &until), survey)...)
		require.Equal(t, "the fleet: 5 of 10 copies leave", waits("a", n)[0].(*messages.EvictionDelayed).Message)
		require.Equal(t, []string{"a/e1"}, gone(d.Advance(time.Minute)))
	})
	t.Run("those on trial are asked how it went", func(t *testing.T) {
		d := actorstest.Drive(t, governor.New(breaks()))
		d.Tell(broken("HalfOpen", nil, tried), survey).Told(bindingAt("f"), &messages.ReportTrial{Cluster: "e1"})
		d.Tell(&messages.WithdrawRequest{Binding: "z", Cluster: "e1"}).Quiet() // they are asked once
		require.Equal(t, []string{"Closed: 1 of 1 trial evictions are available again"}, breakerStates(d.Tell(concluded("f", true))))
	})
	t.Run("of a priority, too, and none is asked twice", func(t *testing.T) {
		s := breaks()
		s.PriorityBreakerShare = 0.5
		d := actorstest.Drive(t, governor.New(s))
		status := broken("HalfOpen", nil, tried).Status
		status.Priorities = []api.PriorityGovernance{{Governance: status.Governance}}
		status.Permits = append(status.Permits, api.PermitCount{Priority: new(int32), Trials: status.Permits[0].Trials})
		d.Tell(&messages.GovernorRestored{Status: status}, survey).Told(bindingAt("f"), &messages.ReportTrial{Cluster: "e1"})
		require.Equal(t, []string{"Closed: 1 of 1 trial evictions are available again", "Closed: 1 of 1 trial evictions are available again"}, breakerStates(d.Tell(concluded("f", true))))
	})
	t.Run("who asks again is not on trial", func(t *testing.T) {
		d := actorstest.Drive(t, governor.New(breaks()))
		n := d.Tell(append(from("e1", "f", "g", "h"), broken("HalfOpen", nil, tried), survey)...)
		require.Equal(t, []string{"f/e1", "g/e1"}, gone(n))
		n.Told(bindingAt("f"), &messages.EvictionPermitted{Cluster: "e1", Trial: true})
	})
	t.Run("what has gone counts, once", func(t *testing.T) {
		d := actorstest.Drive(t, governor.New(breaks()))
		went := []api.MovedCount{{From: metav1.MicroTime{Time: actorstest.Start}, Count: 4}}
		before := &messages.GovernorRestored{Status: &api.GovernorStatus{Permits: []api.PermitCount{{Moved: went}}}}
		n := d.Tell(append(from("e1", "a", "b"), before, before, survey)...)
		require.Equal(t, []string{"a/e1"}, gone(n))
		require.Equal(t, 5, breakers(n)[0].Moved)
	})
}

func TestWhatIsPermittedIsRecordedWhereItCounts(t *testing.T) {
	permits := func(n *actorstest.Network) []*messages.EvictionsPermitted {
		return actorstest.FactsOf[*messages.EvictionsPermitted](n.Facts())
	}
	t.Run("by rates and breakers", func(t *testing.T) {
		s := breaks()
		s.ClusterEvictionRate = 1
		d := surveyed(t, s)
		at := metav1.MicroTime{Time: d.Now()}
		paid := metav1.MicroTime{Time: d.Now().Add(time.Second)}
		require.Equal(t, []*messages.EvictionsPermitted{{
			Permits: []messages.Permit{{Binding: "a", Cluster: "e1"}},
			Counts:  []api.PermitCount{{Moved: []api.MovedCount{{From: at, Count: 1, Copies: 10}}}, {Cluster: "e1", PaidUntil: &paid}},
		}}, permits(d.Tell(from("e1", "a", "b")...)))
	})
	t.Run("and by nothing else", func(t *testing.T) {
		require.Empty(t, permits(drive(t, workers(3, 1)).Tell(from("e1", "a", "b")...)))
	})
}

// counted are what a restart must know, as last recorded.
func counted(n *actorstest.Network) []api.PermitCount {
	facts := actorstest.FactsOf[*messages.EvictionsPermitted](n.Facts())
	if len(facts) == 0 {
		return nil
	}
	return facts[len(facts)-1].Counts
}

func TestWhatIsRecordedIsInOrderAndNamed(t *testing.T) {
	at := metav1.MicroTime{Time: actorstest.Start}
	paid := metav1.MicroTime{Time: actorstest.Start.Add(time.Second)}
	one := func(copies int) []api.MovedCount { return []api.MovedCount{{From: at, Count: 1, Copies: copies}} }
	two := func(copies int) []api.MovedCount { return []api.MovedCount{{From: at, Count: 2, Copies: copies}} }
	s := breaks()
	s.FleetBreakerShare, s.RegionBreakerShare, s.PriorityBreakerShare, s.ClusterEvictionRate = 1, 1, 1, 1
	d := surveyed(t, s)
	n := d.Tell(append(from("u1", "a"), from("e1", "b")...)...)
	require.Equal(t, []api.PermitCount{
		{Moved: two(10)}, {Region: "eu", Moved: one(4)}, {Region: "us", Moved: one(4)},
		{Cluster: "e1", PaidUntil: &paid}, {Cluster: "u1", PaidUntil: &paid}, {Priority: new(int32), Moved: two(10)},
	}, counted(n))

	d = opened(t, breaks())
	tried := metav1.MicroTime{Time: d.Now().Add(5 * time.Minute)}
	n = d.Advance(5 * time.Minute)
	require.Equal(t, []api.Trial{{Binding: "f", Cluster: "e1", At: tried}, {Binding: "g", Cluster: "e1", At: tried}}, counted(n)[0].Trials)
}

// TestOnlyTrialsAreCalledSo has an eviction pass a closed breaker, one that tries, and both.
func TestOnlyTrialsAreCalledSo(t *testing.T) {
	s := breaks()
	s.PriorityBreakerShare = 1
	d := surveyed(t, s)
	n := d.Tell(from("e1", "a", "b", "c", "d", "e", "f", "g", "h")...)
	n.Told(bindingAt("a"), &messages.EvictionPermitted{Cluster: "e1"})
	n = d.Advance(5 * time.Minute)
	n.Told(bindingAt("f"), &messages.EvictionPermitted{Cluster: "e1", Trial: true})
	require.Equal(t, "the fleet: 2 evictions are on trial", waits("h", n)[0].(*messages.EvictionDelayed).Message)
}

// TestAnotherSettingSurveysNothing: what there is stays known while breakers work.
func TestAnotherSettingSurveysNothing(t *testing.T) {
	d := surveyed(t, breaks())
	s := breaks()
	s.BreakerTrials = 7
	d.Tell(&messages.SettingsChanged{Settings: s})
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(from("e1", "a")...)))
}

func TestCopiesAreCountedOnce(t *testing.T) {
	region := breaks()
	region.FleetBreakerShare, region.RegionBreakerShare = 0, 0.5
	for name, c := range map[string]struct {
		settings messages.Settings
		again    []messages.ToGovernor
		from     messages.ClusterName
		copies   int
	}{
		"of a cluster that is counted again": {breaks(), []messages.ToGovernor{survey, survey}, "e1", 10},
		"of one that goes elsewhere":         {region, []messages.ToGovernor{located("u2", "eu")}, "u1", 2},
		"after a time without breakers":      {region, []messages.ToGovernor{&messages.SettingsChanged{}, &messages.SettingsChanged{Settings: region}, survey}, "e1", 4},
	} {
		t.Run(name, func(t *testing.T) {
			d := surveyed(t, c.settings)
			for _, m := range c.again {
				d.Tell(m)
			}
			require.Equal(t, c.copies, breakers(d.Tell(from(c.from, "a", "b", "c", "d", "e", "f")...))[0].Copies)
		})
	}
}

func TestWhoWaitsForTheCountIsToldWhatItWaitsForThen(t *testing.T) {
	s := breaks()
	s.FleetEvictionRate = 1
	d := drive(t, s)
	d.Tell(from("e1", "a", "b")...).Quiet()
	n := d.Tell(survey)
	require.Equal(t, []string{"a/e1"}, gone(n))
	n.Told(bindingAt("b"), slowed("e1", "the fleet is limited to 1 evictions a second"))
	told := request("c")
	told.Told = true
	drive(t, s).Tell(told).Quiet()
}

func TestBreakersOfOneInstantAreToldTheWidestFirst(t *testing.T) {
	s := breaks()
	s.FleetBreakerShare, s.RegionBreakerShare = 1, 0.5
	d := surveyed(t, s)
	var want []string
	regions := func(n *actorstest.Network) (list []string) {
		for _, f := range breakers(n) {
			list = append(list, f.Region+" "+f.State)
		}
		return list
	}
	d.Tell(from("u1", "a", "b")...)
	d.Tell(from("e1", "a", "b")...)
	want = []string{"eu HalfOpen", "us HalfOpen"}
	require.Equal(t, want, regions(d.Advance(5*time.Minute)))
}

func TestARestartForgetsNoRate(t *testing.T) {
	paid := metav1.MicroTime{Time: actorstest.Start.Add(time.Minute)}
	for name, c := range map[string]struct {
		settings messages.Settings
		count    api.PermitCount
	}{
		"of the fleet": {messages.Settings{FleetEvictionRate: 0.01}, api.PermitCount{PaidUntil: &paid}},
		"of a region":  {messages.Settings{RegionEvictionRate: 0.01}, api.PermitCount{Region: "eu", PaidUntil: &paid}},
		"of a cluster": {messages.Settings{ClusterEvictionRate: 0.01}, api.PermitCount{Cluster: "e1", PaidUntil: &paid}},
	} {
		t.Run(name, func(t *testing.T) {
			d := actorstest.Drive(t, governor.New(c.settings))
			status := &api.GovernorStatus{Permits: []api.PermitCount{c.count}}
			d.Tell(append(from("e1", "a"), located("e1", "eu"), &messages.GovernorRestored{Status: status})...)
			require.Empty(t, gone(d.Advance(time.Minute-1)))
			require.Equal(t, []string{"a/e1"}, gone(d.Advance(1)))
		})
	}
}

// A workload that waits for a worker is not asked further; what its breaker says it hears nevertheless.
func TestWhoWaitsForAWorkerHearsOfTheBreaker(t *testing.T) {
	s := breaks()
	s.FleetBreakerShare, s.PriorityBreakerShare = 0, 0.1
	s.EvictionWorkers, s.ResourceEvictionRate = 1, 0.5
	d := surveyed(t, s)
	d.Tell(from("e1", "a")...)
	d.Advance(2 * time.Second)
	n := d.Tell(from("e1", "b", "c")...)
	require.Equal(t, []string{"b/e1"}, gone(n))
	require.Len(t, waits("c", n), 1)
	require.Equal(t, "BreakerOpen", waits("c", n)[0].(*messages.EvictionDelayed).Reason)
}
