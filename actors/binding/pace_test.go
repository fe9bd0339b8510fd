package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func atMostOneAnHour(s *messages.Settings) {
	s.ApplicationFailoverLimit, s.ApplicationFailoverWindow = 1, time.Hour
}

func coolingFor10Minutes(s *messages.Settings) { s.ApplicationCooldown = 10 * time.Minute }

// unhealthyOn is the report of an unhealthy copy.
func unhealthyOn(cluster string) *messages.CopyReported { return report(cluster, api.Unhealthy, 0, 1) }

func holds(n *actorstest.Network) []*messages.EvictionBlocked {
	return actorstest.FactsOf[*messages.EvictionBlocked](n.Facts())
}

func starts(n *actorstest.Network) []*messages.EvictionStarted {
	return actorstest.FactsOf[*messages.EvictionStarted](n.Facts())
}

func TestOneFailoverTooManyWaitsForItsTimeExactly(t *testing.T) {
	b := placed(t, settings(atMostOneAnHour), toleratingUnhealthy(30, api.PurgeNever), "m1:2", "m2:2")
	b.tell(unhealthyOn("m1"))
	b.advance(30 * time.Second)
	first := b.Now()
	b.tell(b.place("m2:2", "m3:2"))

	b.advance(time.Minute)
	b.tell(unhealthyOn("m2")).WakesIn(30 * time.Second)
	due := b.Now().Add(30 * time.Second)
	n := b.advance(30 * time.Second)
	require.Equal(t, []*messages.EvictionBlocked{{
		Binding: name, Cluster: "m2", Reason: "HopLimit", Message: "no more than 1 application failovers within 1h0m0s",
		Grounds: messages.Grounds{Reason: api.EvictionReasonApplicationFailure, Deadline: due}, Until: first.Add(time.Hour),
	}}, holds(n))
	b.tell(report("m2", api.Unhealthy, 1, 1))
	require.Equal(t, []string{"HealthChanged"}, kinds(b.Network), "said once")

	b.approach(first.Add(time.Hour).Sub(b.Now()))
	n = b.advance(1)
	require.Len(t, starts(n), 1)
	require.Equal(t, due, starts(n)[0].Grounds.Deadline, "it is still told since when")
}

func TestATooFrequentFailoverIsCalledOffByRecovery(t *testing.T) {
	b := placed(t, settings(atMostOneAnHour), toleratingUnhealthy(0, api.PurgeNever), "m1:2", "m2:2")
	b.tell(unhealthyOn("m1"))
	require.Len(t, holds(b.tell(unhealthyOn("m2"))), 1)
	n := b.tell(report("m2", api.Healthy, 2, 2))
	require.Contains(t, n.Facts(), messages.Fact(uncounted("m2", notUnhealthy)))
	b.Sleeps()
}

func TestTheHopLimitHoldsBackNoTaint(t *testing.T) {
	b := placed(t, settings(atMostOneAnHour), toleratingUnhealthy(0, api.PurgeNever), "m1:2", "m2:2")
	b.tell(unhealthyOn("m1"))
	b.tell(unhealthyOn("m2"))
	b.tell(tainted("m2", b.Now(), "down")).Told(governor, wish("m2", b.Now()))
	require.Len(t, starts(b.tell(permit("m2"))), 1)
}

func TestFailoversThatWaitForADestinationCount(t *testing.T) {
	b := placed(t, settings(atMostOneAnHour, destinationFirst), toleratingUnhealthy(0, api.PurgeNever), "m1:2", "m2:2")
	b.tell(unhealthyOn("m1"))
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving)
	require.Len(t, holds(b.tell(unhealthyOn("m2"))), 1)
	b.tell(well)
	require.Equal(t, []messages.ClusterName{"m2"}, b.asked.Leaving, "the first stays, so the second may go")
}

func TestAPolicySetsThePace(t *testing.T) {
	policy := toleratingUnhealthy(0, api.PurgeNever)
	policy.Failover.Application.Pace = &api.FailoverPace{MaxFailovers: new(int32(2)), WindowSeconds: new(int32(60)), CooldownSeconds: new(int32(5))}
	b := placed(t, settings(atMostOneAnHour), policy, "m1:2", "m2:2", "m3:2")
	b.tell(unhealthyOn("m1"))
	b.tell(unhealthyOn("m2"))
	require.Equal(t, b.Now().Add(time.Minute), holds(b.tell(unhealthyOn("m3")))[0].Until)
}

func TestARestartKeepsThePace(t *testing.T) {
	b := drive(t, settings(atMostOneAnHour, coolingFor10Minutes))
	m := failingSince(stored(toleratingUnhealthy(30, api.PurgeNever), b.Now()), b.Now().Add(-time.Minute))
	m.Spec.GracefulEvictionTasks = nil
	m.Status.FailoverHistory = []api.FailoverRecord{
		{FromCluster: "m4", Reason: api.EvictionReasonTaintUntolerated, StartTime: metav1.MicroTime{Time: b.Now()}},
		{FromCluster: "m1", Reason: api.EvictionReasonApplicationFailure, StartTime: metav1.MicroTime{Time: b.Now().Add(-5 * time.Minute)}},
	}
	b.tell(m).Recorded().WakesIn(5 * time.Minute)
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Cooling)
	b.advance(5 * time.Minute).WakesIn(50 * time.Minute)
	require.Empty(t, b.asked.Cooling, "cool at the very instant")
	require.Len(t, starts(b.advance(50*time.Minute)), 1)
}

func TestAClusterThatWasEvictedFromCoolsDown(t *testing.T) {
	b := placed(t, settings(coolingFor10Minutes), toleratingUnhealthy(0, api.PurgeDirectly), "m1:2", "m2:2")
	b.tell(unhealthyOn("m1"))
	start := b.Now()
	require.Empty(t, b.asked.Cooling, "its task is enough")
	b.tell(&messages.CopyRemoved{Cluster: "m1"})
	b.tell(b.place("m2:2"))
	b.advance(time.Minute)
	b.tell(report("m2", api.Healthy, 2, 2))
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Cooling)
	b.approach(start.Add(10 * time.Minute).Sub(b.Now()))
	request := b.asked.Request
	b.advance(1)
	require.Equal(t, request+1, b.asked.Request)
	require.Empty(t, b.asked.Cooling)
	b.Sleeps()
}

func TestADepartureThatOnlyCoolingClustersCouldTakeSaysUntilWhen(t *testing.T) {
	b := placed(t, settings(coolingFor10Minutes, destinationFirst), toleratingUnhealthy(0, api.PurgeDirectly), "m1:2", "m2:2")
	start := b.Now()
	b.tell(unhealthyOn("m1"))
	b.tell(b.replace("m1", "m2:2"))
	b.tell(&messages.CopyRemoved{Cluster: "m1"})
	b.tell(report("m2", api.Healthy, 2, 2))
	b.tell(b.keep())
	b.advance(time.Minute)
	b.tell(unhealthyOn("m2"))
	held := holds(b.tell(b.holdBack("m2")))[0]
	require.Equal(t, []any{"CoolingDown", "nowhere to go", start.Add(10 * time.Minute)}, []any{held.Reason, held.Message, held.Until})
}

// Karmada's scheduler may bring a workload back immediately. Where that is noticed immediately, it would go round and round.
func TestNoClusterIsEvictedFromTwiceInOneInstant(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*messages.Settings)
		rests  bool
	}{
		"what is noticed immediately rests a second":        {func(*messages.Settings) {}, true},
		"what the scheduler would not do needs no rest":     {func(s *messages.Settings) { s.PlacementHonoursDeadlines = true }, false},
		"what is noticed at a re-list has its rest in that": {relisting, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := placed(t, settings(c.change), duplicated(), "m1:2", "m2:2")
			b.tell(report("m1", api.Healthy, 2, 1), report("m2", api.Healthy, 2, 2))
			b.tell(tainted("m2", b.Now(), "down"), permit("m2"))
			b.tell(b.place("m1:2"))
			b.tell(&messages.CopyRemoved{Cluster: "m2"}, b.place("m1:2", "m2:2"))
			again := tainted("m2", b.Now(), "down")
			again.News = false
			n := b.tell(again)
			if !c.rests {
				n.Told(governor, wish("m2", b.Now()))
				return
			}
			n.Told(governor)
			rest := max(time.Second, settings(c.change).TaintRelistPeriod)
			b.approach(rest)
			require.Len(t, actorstest.MailTo(b.advance(1).Mail(), governor), 1)
		})
	}
}

// Karmada's taint manager has a timer of its own.
func TestAnUnhealthyCopyHidesNoTaint(t *testing.T) {
	for name, tells := range map[string]func(*subject, *messages.TaintsChanged){
		"the taint first":         func(b *subject, m *messages.TaintsChanged) { b.tell(m, unhealthy) },
		"the unhealthy one first": func(b *subject, m *messages.TaintsChanged) { b.tell(unhealthy, m) },
	} {
		t.Run(name, func(t *testing.T) {
			b := placed(t, settings(relisting), toleratingUnhealthy(3, api.PurgeGracefully), "m1:2")
			m := tainted("m1", b.Now(), "down")
			m.News, m.Since = false, b.Now()
			tells(b, m)
			b.WakesIn(3 * time.Second)
			b.tell(well).WakesIn(10 * time.Second)
		})
	}
}

func TestUnhealthyCopiesAreEvictedInOrderWhenTaintsEndTogether(t *testing.T) {
	actorstest.EveryWay(func(choose actorstest.Choose) {
		b := placed(t, settings(atMostOneAnHour, destinationFirst), toleratingUnhealthy(0, api.PurgeNever), "m1:2", "m2:2", "m3:2")
		at := b.Now()
		b.tell(tainted("m1", at, "down"), tainted("m2", at, "down"), tainted("m3", at, "down"))
		b.advance(time.Second)
		b.tell(unhealthyOn("m1"), unhealthyOn("m2"), unhealthyOn("m3"))
		b.tell(actorstest.Interleave(choose, actorstest.Alone[messages.ToBinding](healed("m1"), healed("m2"), healed("m3"))...)...)
		require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving)
		require.Equal(t, []messages.ClusterName{"m2", "m3"}, []messages.ClusterName{holds(b.Network)[0].Cluster, holds(b.Network)[1].Cluster})
	})
}

func TestWhoLeavesForATaintAfterAllMakesWayForTheNext(t *testing.T) {
	b := placed(t, settings(atMostOneAnHour, destinationFirst), toleratingUnhealthy(0, api.PurgeNever), "m1:2", "m2:2")
	before := b.Now()
	b.advance(time.Second)
	b.tell(unhealthyOn("m1"), unhealthyOn("m2"))
	b.tell(b.holdBack("m1"))
	b.tell(tainted("m1", before, "down"))
	require.Equal(t, []messages.ClusterName{"m2"}, b.asked.Leaving)
}
