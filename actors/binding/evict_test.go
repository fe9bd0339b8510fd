package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func TestKarmadaEvictsAndThenLooksForAPlace(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	n := b.tell(permit("m1")).
		Recorded(evicted("m1", 2, b.Now(), api.PurgeGracefully, untolerated("down", b.Now()))).
		Told(memberAt("m1")).Told(clusterAt("m1")).WakesIn(10 * time.Minute)
	require.Len(t, actorstest.MailTo(n.Mail(), scheduler), 1)
	require.Equal(t, targets("m2:2"), b.asked.Targets)
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Evicting)
	require.Empty(t, b.asked.Leaving)

	n = b.tell(b.place("m2:2", "m3:2")).Told(memberAt("m3"), run(2, 3)).Told(clusterAt("m3"), here).Told(memberAt("m2"))
	require.Equal(t, targets("m2:2", "m3:2"), scheduled(t, n))
	b.tell(report("m3", api.Healthy, 2, 3)).
		Recorded(health("m3", api.Healthy, 2), ended("m1", messages.EndedHealthy, 0)).
		Told(memberAt("m1"), removal).Told(clusterAt("m1"), left)
	b.tell(&messages.CopyRemoved{Cluster: "m1"}).Recorded(&messages.HealthForgotten{Binding: name, Cluster: "m1"}).Sleeps()
}

func TestAnEvictionThatNeedsADestinationWaitsForIt(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	n := b.tell(permit("m1")).Recorded()
	require.Len(t, actorstest.MailTo(n.Mail(), scheduler), 1)
	require.Equal(t, targets("m1:2", "m2:2"), b.asked.Targets)
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving)
	require.Empty(t, b.asked.Evicting)

	n = b.tell(b.replace("m1", "m2:2", "m3:2"))
	require.Equal(t, []string{"EvictionStarted", "Scheduled"}, kinds(n), "in one step")
	n.Told(memberAt("m3"), run(2, 3)).Told(memberAt("m1"))
	started := actorstest.FactsOf[*messages.EvictionStarted](n.Facts())[0]
	require.Equal(t, evicted("m1", 2, b.Now(), api.PurgeGracefully, untolerated("down", b.Now())), started)
	require.Equal(t, targets("m1:2", "m2:2"), actorstest.FactsOf[*messages.Scheduled](n.Facts())[0].Before)
}

func TestNoPermitIsAskedForWhereNothingCanHoldItBack(t *testing.T) {
	for name, c := range map[string]struct {
		settings messages.Settings
		asks     bool
	}{
		"with a pace":                {settings(destinationFirst), true},
		"without a limit":            {settings(destinationFirst, unlimited), false},
		"where tasks come first":     {settings(unlimited), true},
		"with a brake for bad times": {settings(destinationFirst, unlimited, func(s *messages.Settings) { s.BlackoutThreshold = 1 }), true},
	} {
		t.Run(name, func(t *testing.T) {
			b := placed(t, c.settings, duplicated(), "m1:2", "m2:2")
			before := b.asked
			n := b.tell(tainted("m1", b.Now(), "down"))
			require.Equal(t, c.asks, len(actorstest.MailTo(n.Mail(), governor)) == 1)
			require.Equal(t, c.asks, b.asked == before)
			require.Equal(t, c.asks, len(b.asked.Leaving) == 0)
		})
	}
}

func TestClustersThatNeedNoPermitsAreEvictedFromTogether(t *testing.T) {
	for _, order := range [][]messages.ClusterName{{"m1", "m2"}, {"m2", "m1"}} {
		b := placed(t, settings(destinationFirst, unlimited), duplicated(), "m1:2", "m2:2")
		b.tell(tainted(order[0], b.Now(), "down"), tainted(order[1], b.Now(), "down"))
		require.Equal(t, []messages.ClusterName{"m1", "m2"}, b.asked.Leaving)
	}
}

func TestALimitThatComesLaterHoldsWhatWaitsForADestination(t *testing.T) {
	b := placed(t, settings(destinationFirst, unlimited), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	require.False(t, b.asked.Lapses, "nothing limits it")
	b.tell(&messages.SettingsChanged{Settings: settings(destinationFirst)}).Told(governor, returned("m1"))
	require.Empty(t, b.asked.Leaving)
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Seeking)
	n := b.tell(tainted("m2", b.Now(), "down"))
	require.Len(t, actorstest.MailTo(n.Mail(), governor), 1)
}

func heldBack(cluster messages.ClusterName, message string, g messages.Grounds) *messages.EvictionBlocked {
	return &messages.EvictionBlocked{Binding: name, Cluster: cluster, Reason: api.ReasonNoClusterFit, Message: message, Grounds: g}
}

func TestWithoutADestinationTheWorkloadStays(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m1:2")
	grounds := untolerated("down", b.Now())
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.holdBack("m1")).
		Recorded(heldBack("m1", "nowhere to go", grounds), &messages.PlacementConfirmed{Binding: name}).Sleeps()

	again := b.holdBack("m1")
	b.tell(again).Recorded(&messages.PlacementConfirmed{Binding: name})
	again.Obstacle = &messages.Obstacle{Reason: api.ReasonNoClusterFit, Message: "still nowhere"}
	b.tell(again).Recorded(heldBack("m1", "still nowhere", grounds), &messages.PlacementConfirmed{Binding: name})
	b.tell(found(b, "m1"), permit("m1"))
	require.Contains(t, kinds(b.tell(b.replace("m1", "m2:2"))), "EvictionStarted", "when the fleet has room again")
}

// A blocked eviction is for the taint that asks for it now: the status of the binding shows that, with its deadline.
func TestABlockedEvictionNamesTheTaintThatAsksForItNow(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.holdBack("m1"))
	b.advance(time.Minute)
	b.tell(tainted("m1", b.Now(), "other")).Recorded(heldBack("m1", "nowhere to go", untolerated("other", b.Now())))
	b.tell(tainted("m1", b.Now(), "other")).Quiet()
	b.tell(tainted("m1", b.Now().Add(-time.Second), "other")).Recorded(heldBack("m1", "nowhere to go", untolerated("other", b.Now().Add(-time.Second))))
}

// found says that there is a placement without clusters.
func found(b *subject, clusters ...messages.ClusterName) *messages.DestinationFound {
	return &messages.DestinationFound{Request: b.asked.Request, Clusters: clusters}
}

func returned(c messages.ClusterName) *messages.PermitReturned {
	return &messages.PermitReturned{Binding: name, Cluster: c}
}

func TestAPermitThatCannotBeUsedGoesBack(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	require.True(t, b.asked.Lapses)
	stale := found(b, "m1")
	b.tell(b.holdBack("m1")).Told(governor, returned("m1"))
	b.tell(permit("m1")).Quiet()
	b.tell(workload(3))
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Seeking, "the scheduler goes on looking")
	require.Empty(t, b.asked.Leaving)
	b.tell(stale).Told(governor)
	n := b.tell(found(b, "m1"))
	require.Equal(t, "m1", string(actorstest.MailTo(n.Mail(), governor)[0].(*messages.RequestEviction).Cluster), "there is somewhere to go")
	b.tell(permit("m1"))
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving)
}

func TestWhatNeedsNoPermitKeepsItsLeaveToGo(t *testing.T) {
	b := placed(t, settings(destinationFirst, unlimited), duplicated(), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(b.holdBack("m1")).Told(governor)
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving)
	b.tell(&messages.HoldsAnnounced{Held: true}).Told(governor, returned("m1"))
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Seeking, "people may hold it")
	b.tell(&messages.HoldsAnnounced{})
	b.tell(found(b, "m1")).Told(governor)
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving, "nobody may any more")
}

func TestADepartureThatIsOffIsToldToTheScheduler(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	late := b.replace("m1", "m2:2")
	b.tell(healed("m1")).Recorded(uncounted("m1", noTaintLeft)).Told(governor, returned("m1"))
	require.Empty(t, b.asked.Leaving)
	b.tell(late).Quiet()
}

func TestAShortageIsToldBesideAHold(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(workload(4))
	short := b.fail(false)
	short.Held, short.Obstacle, short.Reason = []messages.ClusterName{"m1"}, nowhereToGo, api.ReasonUnschedulable
	short.Message, short.Missing = "no room for two", 2
	b.tell(short).Recorded(heldBack("m1", "nowhere to go", untolerated("down", b.Now())), &messages.ScheduleFailed{
		Binding: name, Reason: api.ReasonUnschedulable, Message: "no room for two", Missing: 2, Before: targets("m1:2"),
	})
}

func TestSomeClustersAreEvictedFromAndOthersHeld(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m1:2", "m2:2")
	b.advance(time.Minute)
	b.tell(tainted("m2", b.Now().Add(-time.Second), "down"), tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"), permit("m2"))
	require.Equal(t, []messages.ClusterName{"m2", "m1"}, b.asked.Leaving, "the earliest deadline first")

	part := b.replace("m2", "m1:2", "m3:2")
	part.Held, part.Obstacle = []messages.ClusterName{"m1"}, nowhereToGo
	n := b.tell(part)
	require.Equal(t, []string{"EvictionBlocked", "EvictionStarted", "Scheduled"}, kinds(n))
	require.Equal(t, targets("m1:2", "m3:2"), scheduled(t, n))
}

func TestDeparturesOfOneDeadlineGoByName(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m3:2", "m1:2", "m2:2")
	b.tell(tainted("m2", b.Now(), "down"), tainted("m3", b.Now(), "down"), tainted("m1", b.Now(), "down"))
	b.tell(permit("m3"), permit("m1"), permit("m2"))
	require.Equal(t, []messages.ClusterName{"m1", "m2", "m3"}, b.asked.Leaving)
}

func TestAPermitThatComesTooLateCountsForNothing(t *testing.T) {
	b := placed(t, settings(), duplicated(tolerates("down", 0)), "m1:2", "m2:2")
	b.tell(permit("m1")).Quiet()
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(permit("m1")).Quiet()
}

func TestDecisionsOnAnOlderWordAreVoid(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	stale := b.place("m1:2", "m9:2")
	b.tell(workload(3))
	b.tell(stale).Quiet()
	require.Equal(t, targets("m1:3", "m2:3"), scheduled(t, b.tell(b.place("m1:3", "m2:3"))))
}

func TestTasksOfTaintsPurgeAsThePolicyOrElseTheFleetSays(t *testing.T) {
	directly := duplicated()
	directly.Failover = &api.FailoverBehavior{Cluster: &api.ClusterFailover{PurgeMode: api.PurgeDirectly}}
	gracefully := duplicated()
	gracefully.Failover = &api.FailoverBehavior{Cluster: &api.ClusterFailover{PurgeMode: api.PurgeGracefully}}
	for c, p := range map[string]struct {
		fleet  func(*messages.Settings)
		policy *api.PropagationSpec
		want   api.PurgeMode
	}{
		"no user says so":                     {func(*messages.Settings) {}, duplicated(), api.PurgeGracefully},
		"the fleet says directly":             {purgeDirectly, duplicated(), api.PurgeDirectly},
		"the policy says directly":            {func(*messages.Settings) {}, directly, api.PurgeDirectly},
		"the policy overrules the fleet's":    {purgeDirectly, gracefully, api.PurgeGracefully},
		"the policy's failover says no mode":  {purgeDirectly, &api.PropagationSpec{Failover: &api.FailoverBehavior{Cluster: &api.ClusterFailover{}}}, api.PurgeGracefully},
		"a failover of applications says no ": {purgeDirectly, &api.PropagationSpec{Failover: &api.FailoverBehavior{}}, api.PurgeDirectly},
	} {
		t.Run(c, func(t *testing.T) {
			b := placed(t, settings(p.fleet), p.policy, "m1:2", "m2:2")
			b.tell(tainted("m1", b.Now(), "down"))
			facts := actorstest.FactsOf[*messages.EvictionStarted](b.tell(permit("m1")).Facts())
			require.Equal(t, p.want, facts[0].Task.PurgeMode)
		})
	}
}

func TestTasksAreDatedInWholeSecondsAsInKarmada(t *testing.T) {
	b := placed(t, settings(wholeSeconds), duplicated(), "m1:2", "m2:2")
	b.advance(1700 * time.Millisecond)
	b.tell(tainted("m1", actorstest.Start, "down"))
	facts := actorstest.FactsOf[*messages.EvictionStarted](b.tell(permit("m1")).Facts())
	require.Equal(t, actorstest.Start.Add(time.Second), facts[0].Task.CreationTimestamp.Time)
	b.WakesIn(10*time.Minute - 700*time.Millisecond)
}

func TestWhatHasNoReplicasLeavesWithoutANumber(t *testing.T) {
	b := drive(t, settings())
	w := workload(0)
	w.Workload.HasReplicas = false
	b.tell(w, claim("default/p", duplicated()))
	b.tell(b.place("m1", "m2"))
	b.tell(tainted("m1", b.Now(), "down"))
	facts := actorstest.FactsOf[*messages.EvictionStarted](b.tell(permit("m1")).Facts())
	require.Nil(t, facts[0].Task.Replicas)
	require.Equal(t, targets("m2"), b.asked.Targets)
}

func TestWhereNoClusterFitsTheResultIsVoid(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"), tainted("m2", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.fail(true)).
		Recorded(&messages.ScheduleFailed{
			Binding: name, Reason: api.ReasonNoClusterFit, Message: "nowhere to go", Cleared: true, Before: targets("m2:2"),
		}).
		Told(governor, unwish("m2")).Told(memberAt("m2"), removal).Told(memberAt("m1")).Told(clusterAt("m2"), left)
	b.advance(10 * time.Minute).Recorded(ended("m1", messages.EndedTimeout, 10*time.Minute))
}

func TestAFailureThatClearsNothingKeepsTheResult(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(workload(3))
	b.tell(b.fail(false)).Recorded(&messages.ScheduleFailed{
		Binding: name, Reason: api.ReasonNoClusterFit, Message: "nowhere to go", Before: targets("m1:2", "m2:2"),
	})
	b.tell(workload(4))
	require.Equal(t, targets("m1:2", "m2:2"), b.asked.Targets)
}

func suspendedScheduling() *api.PropagationSpec {
	spec := duplicated()
	spec.Suspension = &api.Suspension{Scheduling: new(true)}
	return spec
}

func TestABindingThatIsNotScheduledIsHeldWhereItNeedsADestination(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m1:2")
	stale := b.place("m2:2")
	b.tell(claim("default/p", suspendedScheduling()))
	require.True(t, b.asked.Suspended)
	b.tell(stale).Quiet()
	b.tell(tainted("m1", b.Now(), "down"))
	n := b.tell(permit("m1"))
	require.Equal(t, "NotScheduled", n.Facts()[0].(*messages.EvictionBlocked).Reason)
	b.tell(claim("default/p", duplicated()))
	require.False(t, b.asked.Suspended)
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Seeking, "once it is scheduled again")
}

func TestWhatWaitsForADestinationGoesWhenNoneIsAskedFor(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving)
	require.Contains(t, kinds(b.tell(&messages.SettingsChanged{Settings: settings()})), "EvictionStarted")
	require.Equal(t, targets("m2:2"), b.asked.Targets)
}

func TestABindingOfAnotherSchedulerIsNotScheduled(t *testing.T) {
	foreign := duplicated()
	foreign.SchedulerName = "astrologer"
	b := placed(t, settings(), duplicated(), "m1:2")
	b.tell(claim("default/p", foreign))
	require.True(t, b.asked.Suspended)
	foreign = duplicated()
	foreign.SchedulerName = api.DefaultScheduler
	b.tell(claim("default/p", foreign))
	require.False(t, b.asked.Suspended)
}

func TestABindingThatIsNotScheduledStillEndsItsTasks(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(claim("default/p", suspendedScheduling()))
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1")).WakesIn(10 * time.Minute)
	require.Equal(t, targets("m2:2"), b.asked.Targets, "what the scheduler knows of it")
	b.tell(report("m2", api.Healthy, 1, 2)).Told(memberAt("m1"))
	b.advance(10 * time.Minute).Recorded(ended("m1", messages.EndedTimeout, 10*time.Minute))
}

func TestANeedIsAsOldAsItsFirstWord(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2")
	b.advance(time.Minute)
	b.tell(workload(3))
	since := b.Now()
	b.advance(time.Minute)
	b.tell(b.fail(false))
	b.tell(workload(4))
	require.Equal(t, since, b.asked.Since)
	b.tell(b.place("m1:4"))
	b.tell(workload(5))
	require.Equal(t, b.Now(), b.asked.Since)
}
