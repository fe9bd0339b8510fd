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

// stored is a binding as the store has it: placed on m2 and m3, evicting from m1 since an instant.
func stored(policy *api.PropagationSpec, since time.Time) *messages.BindingApplied {
	return &messages.BindingApplied{
		Managed: true, Owner: "default/p", Applied: &policy.Placement,
		Spec: &api.BindingSpec{
			Resource: api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web", UID: "u"},
			Replicas: 2, Placement: &policy.Placement, Failover: policy.Failover,
			Clusters: targets("m2:2", "m3:2"),
			GracefulEvictionTasks: []api.GracefulEvictionTask{{
				FromCluster: "m1", PurgeMode: api.PurgeGracefully, Replicas: new(int32(2)), Reason: api.EvictionReasonTaintUntolerated,
				Producer: api.ProducerTaintManager, CreationTimestamp: &metav1.Time{Time: since},
			}},
		},
		Status: &api.BindingStatus{
			LastScheduledTime: &metav1.Time{Time: since}, SchedulerObservedAffinityName: "near",
			AggregatedStatus: []api.AggregatedStatusItem{
				{ClusterName: "m1", Health: api.Healthy, ReadyReplicas: 2}, {ClusterName: "m2", Health: api.Healthy, ReadyReplicas: 2},
			},
		},
	}
}

func adopted(replicas int32, placement int64) *messages.RunCopy {
	m := run(replicas, placement)
	m.Adopt = true
	return m
}

func TestARestartTakesOverWhatIsStored(t *testing.T) {
	b := drive(t, settings())
	minuteAgo := b.Now().Add(-time.Minute)
	m := stored(duplicated(), minuteAgo)
	n := b.tell(m, workload(2), claim("default/p", duplicated())).Recorded().
		Told(memberAt("m1"), adopted(2, 1)).Told(memberAt("m2"), adopted(2, 2)).Told(memberAt("m3"), run(2, 3)).
		Told(clusterAt("m1"), &messages.BindingPlaced{Binding: name, Leaving: true}).Told(clusterAt("m2"), here).Told(clusterAt("m3"), here)
	n.WakesIn(9 * time.Minute)
	b.asked.Placement, b.asked.Applied = nil, nil
	require.Equal(t, &messages.PlaceBinding{
		Binding: name, Request: 1, APIVersion: "apps/v1", Kind: "Deployment", UID: "u", HasReplicas: true, Replicas: 2,
		Targets: targets("m2:2", "m3:2"), Evicting: []messages.ClusterName{"m1"}, Affinity: "near",
		LastScheduled: minuteAgo, Since: b.Now(),
	}, b.asked)

	b.tell(report("m1", api.Healthy, 2, 1), report("m2", api.Healthy, 2, 2)).Quiet()
	b.tell(b.keep())
	b.tell(report("m3", api.Healthy, 2, 3)).Recorded(health("m3", api.Healthy, 2), ended("m1", messages.EndedHealthy, time.Minute))
}

func TestARestartKnowsOldCopiesThatWereNeverHeardOf(t *testing.T) {
	b := drive(t, settings())
	m := stored(duplicated(), b.Now())
	m.Status.AggregatedStatus = m.Status.AggregatedStatus[1:]
	b.tell(m, workload(2), claim("default/p", duplicated())).Told(memberAt("m1"), run(2, 2))
	b.tell(b.keep(), report("m2", api.Healthy, 2, 1))
	b.tell(report("m3", api.Healthy, 2, 3)).Told(memberAt("m1"), removal)
}

func TestARestartRollsOutNothingAgain(t *testing.T) {
	b := drive(t, settings())
	m := stored(duplicated(), b.Now())
	m.Spec.Clusters = targets("m2:2", "m3:2", "m4:2")
	m.Status.AggregatedStatus = append(m.Status.AggregatedStatus,
		api.AggregatedStatusItem{ClusterName: "m3", Health: api.Healthy, ReadyReplicas: 2, Revision: 2})
	roll := adopted(2, 3)
	roll.Revision = 2
	b.tell(m, edited(2, 2)).
		Told(memberAt("m1"), adopted(2, 1)).
		Told(memberAt("m2"), adopted(2, 2), runRevision(2, 2, 5)).
		Told(memberAt("m3"), roll).
		Told(memberAt("m4"), run(2, 4), runRevision(2, 2, 6))
	require.NotContains(t, kinds(b.Network), "BindingUpdated")
	b.tell(b.keep())
	b.tell(ofRevision(report("m3", api.Healthy, 2, 3), 2), report("m2", api.Healthy, 2, 2), ofRevision(report("m4", api.Healthy, 2, 6), 2)).Told(memberAt("m1"))
	b.tell(ofRevision(report("m2", api.Healthy, 2, 5), 2)).Told(memberAt("m1"), removal)
}

func TestAHoldThatWasSaidIsNotSaidAgain(t *testing.T) {
	b := drive(t, settings(destinationFirst))
	m := stored(duplicated(), b.Now())
	m.Spec.GracefulEvictionTasks = nil
	m.Status.Evictions = []api.Eviction{
		{State: api.EvictionBlocked, Cluster: "m2", Reason: api.ReasonNoClusterFit, Message: "nowhere to go", Taint: "down:NoExecute"},
		{State: api.EvictionBlocked, Cluster: "m9", Reason: api.ReasonNoClusterFit, Message: "it was a target once"},
	}
	added := b.Now().Add(-time.Minute)
	m.Status.Evictions[0].Deadline = metav1.MicroTime{Time: added}
	b.tell(m, recalled("m2", added, b.Now(), "down")).Recorded()
	b.tell(permit("m2"))
	b.tell(b.holdBack("m2")).Recorded(&messages.PlacementConfirmed{Binding: name})
	again := b.holdBack("m2")
	again.Obstacle = &messages.Obstacle{Reason: api.ReasonNoClusterFit, Message: "still nowhere"}
	b.tell(again).Recorded(heldBack("m2", "still nowhere", untolerated("down", added)), &messages.PlacementConfirmed{Binding: name})
	b.tell(healed("m2")).Recorded(uncounted("m2", noTaintLeft))
}

// A user edited taints, policies or tolerations while no engine ran.
func TestAHoldForANewReasonIsSaidAgainAtARestart(t *testing.T) {
	start := drive(t, settings()).Now()
	for _, shown := range []api.Eviction{
		{Taint: "failed:NoExecute", Deadline: metav1.MicroTime{Time: start}},
		{Taint: "down:NoExecute", Policy: "p", Deadline: metav1.MicroTime{Time: start}},
		{Taint: "down:NoExecute", Deadline: metav1.MicroTime{Time: start.Add(-time.Minute)}},
	} {
		b := drive(t, settings(destinationFirst))
		m := stored(duplicated(), b.Now())
		m.Spec.GracefulEvictionTasks = nil
		shown.State, shown.Cluster, shown.Reason, shown.Message = api.EvictionBlocked, "m2", api.ReasonNoClusterFit, "nowhere to go"
		m.Status.Evictions = []api.Eviction{shown}
		said := heldBack("m2", "nowhere to go", untolerated("down", start))
		b.tell(m, recalled("m2", start, start, "down")).Recorded(said)
		b.tell(permit("m2"))
		b.tell(b.holdBack("m2")).Recorded(&messages.PlacementConfirmed{Binding: name})
	}
}

// What holds it answers first: that is said, for the new reason, and not what held it before.
func TestAHoldForANewReasonIsSaidOnceAtARestart(t *testing.T) {
	b := drive(t, settings(destinationFirst))
	m := stored(duplicated(), b.Now())
	m.Spec.GracefulEvictionTasks = nil
	m.Status.Evictions = []api.Eviction{{State: api.EvictionBlocked, Cluster: "m2", Reason: "Blackout", Message: "no evictions"}}
	delayed := &messages.EvictionDelayed{Cluster: "m2", Reason: "EvictionRate", Message: "wait"}
	n := b.tell(m, recalled("m2", b.Now(), b.Now(), "down"), delayed)
	require.Len(t, holds(n), 1)
	require.Equal(t, "EvictionRate", holds(n)[0].Reason)
}

func TestARestartLooksForADestinationBeforeAPermit(t *testing.T) {
	for reason, c := range map[string]struct {
		settings messages.Settings
		seeks    bool
	}{
		api.ReasonNoClusterFit:  {settings(destinationFirst), true},
		api.ReasonUnschedulable: {settings(destinationFirst), true},
		api.ReasonQuotaExceeded: {settings(destinationFirst), true},
		"CoolingDown":           {settings(destinationFirst), true},
		"Blackout":              {settings(destinationFirst), false},
		api.ReasonBudgetSpent:   {settings(destinationFirst), false},
		"EvictionRate":          {settings(), false},
	} {
		t.Run(reason, func(t *testing.T) {
			b := drive(t, c.settings)
			m := stored(duplicated(), b.Now())
			m.Spec.GracefulEvictionTasks = nil
			m.Status.Evictions = []api.Eviction{{State: api.EvictionBlocked, Cluster: "m2", Reason: reason, Message: "as it was"}}
			n := b.tell(m, recalled("m2", b.Now(), b.Now(), "down"))
			if !c.seeks {
				require.Len(t, actorstest.MailTo(n.Mail(), governor), 1)
				return
			}
			n.Told(governor)
			require.Equal(t, []messages.ClusterName{"m2"}, b.asked.Seeking)
			require.Len(t, actorstest.MailTo(b.tell(found(b, "m2")).Mail(), governor), 1)
		})
	}
}

func TestAHoldWithoutADeadlineIsSaidOnceAndSoIsItsEnd(t *testing.T) {
	b := drive(t, settings(fromAnnotation))
	m := stored(duplicated(), b.Now())
	m.Spec.GracefulEvictionTasks, m.Applied = nil, nil
	m.Status.Evictions = []api.Eviction{{
		State: api.EvictionBlocked, Cluster: "m2", Reason: "NoAppliedPlacement", Message: "the applied placement is not recorded, so its tolerations are not known",
	}}
	b.tell(m, recalled("m2", b.Now(), b.Now(), "down")).Recorded()
	b.tell(healed("m2")).Recorded(uncounted("m2", noTaintLeft))
}

func TestAHoldThatEndsInARestartIsSaidAgain(t *testing.T) {
	b := drive(t, settings(destinationFirst, unlimited, patient))
	m := stored(toleratingUnhealthy(0, api.PurgeGracefully), b.Now())
	m.Spec.GracefulEvictionTasks = nil
	since := &metav1.MicroTime{Time: b.Now().Add(-time.Hour)}
	m.Status.AggregatedStatus = []api.AggregatedStatusItem{{ClusterName: "m2", Health: api.Unhealthy, UnhealthySince: since}}
	m.Status.Evictions = []api.Eviction{{State: api.EvictionBlocked, Cluster: "m2", Reason: api.ReasonNoClusterFit, Message: "nowhere to go"}}
	n := b.tell(m, report("m2", api.Healthy, 2, 1), tainted("m2", b.Now(), "down"))
	require.Contains(t, kinds(n), "EvictionCancelled", "it is well")
	require.Contains(t, kinds(b.tell(b.holdBack("m2"))), "EvictionBlocked", "for the taint")
}

func TestARestartMovesNoTimeout(t *testing.T) {
	b := drive(t, settings())
	b.tell(stored(duplicated(), b.Now().Add(-9*time.Minute)))
	b.advance(time.Minute).Recorded(ended("m1", messages.EndedTimeout, 10*time.Minute))
}

func TestATaskWithoutATimeBeginsNow(t *testing.T) {
	b := drive(t, settings())
	m := stored(duplicated(), b.Now())
	m.Spec.GracefulEvictionTasks[0].CreationTimestamp = nil
	b.tell(m).WakesIn(10 * time.Minute)
}

// recalled is what a cluster tells a binding that subscribes to it.
func recalled(cluster messages.ClusterName, added, since time.Time, key string) *messages.TaintsChanged {
	m := tainted(cluster, added, key)
	m.Since, m.News = since, false
	return m
}

func TestARestartMovesNoDeadlineAndTellsNoCountdownTwice(t *testing.T) {
	for profile, change := range map[string]func(*messages.Settings){"exact": func(*messages.Settings) {}, "with re-lists": relisting} {
		t.Run(profile, func(t *testing.T) {
			b := drive(t, settings(change))
			added := b.Now().Add(-299 * time.Second)
			m := stored(duplicated(fiveMinutes), added)
			m.Status.Evictions = countingOn("m2", b.Now().Add(time.Second))
			b.tell(m, recalled("m2", added, b.Now(), "down")).Recorded().WakesIn(time.Second)
			b.advance(time.Second).Told(governor, wish("m2", b.Now()))
			b.tell(healed("m2")).Recorded(uncounted("m2", noTaintLeft))
		})
	}
}

// countingOn are the evictions of a status in which the eviction from one cluster counts down.
func countingOn(cluster string, deadline time.Time) []api.Eviction {
	return []api.Eviction{{Cluster: cluster, State: api.EvictionScheduled, Reason: api.EvictionReasonTaintUntolerated, Deadline: metav1.MicroTime{Time: deadline}}}
}

func TestACountdownThatEndedWhileNoEngineRanIsSaidToHave(t *testing.T) {
	b := drive(t, settings())
	m := stored(duplicated(fiveMinutes), b.Now())
	m.Status.Evictions = countingOn("m2", b.Now().Add(time.Minute))
	b.tell(m, healed("m2")).Recorded(uncounted("m2", noTaintLeft))
}

func TestACountdownThatBeganOrMovedWhileNoEngineRanIsSaid(t *testing.T) {
	for _, shown := range [][]api.Eviction{nil, countingOn("m2", time.Unix(1, 0))} {
		b := drive(t, settings())
		m := stored(duplicated(fiveMinutes), b.Now())
		m.Status.Evictions = shown
		b.tell(m, recalled("m2", b.Now(), b.Now(), "down")).Recorded(counting("m2", bearing(fiveMinutes, "down", b.Now())))
	}
}

func TestAfterARestartCountdownsAreToldAgain(t *testing.T) {
	b := drive(t, settings())
	b.tell(stored(duplicated(fiveMinutes), b.Now()))
	b.tell(tainted("m2", b.Now(), "down")).Recorded(counting("m2", bearing(fiveMinutes, "down", b.Now())))
}

func TestAManifestOfANewBindingIsNoRestart(t *testing.T) {
	b := drive(t, settings())
	m := stored(duplicated(fiveMinutes), b.Now())
	m.Status, m.Applied = nil, nil
	b.tell(m, recalled("m2", b.Now(), b.Now(), "down")).Recorded(counting("m2", bearing(fiveMinutes, "down", b.Now())))
}

func failingSince(m *messages.BindingApplied, at time.Time) *messages.BindingApplied {
	m.Status.AggregatedStatus[1] = api.AggregatedStatusItem{
		ClusterName: "m2", Health: api.Unhealthy, UnhealthySince: &metav1.MicroTime{Time: at},
	}
	return m
}

func TestARestartDoesNotResetApplicationFailover(t *testing.T) {
	b := drive(t, settings())
	m := failingSince(stored(toleratingUnhealthy(30, api.PurgeNever), b.Now()), b.Now().Add(-20*time.Second))
	m.Status.Evictions = countingOn("m2", b.Now().Add(10*time.Second))
	b.tell(m).Recorded().WakesIn(10 * time.Second)
	b.tell(report("m2", api.Unhealthy, 0, 2)).Quiet()
	b.advance(10 * time.Second)
	require.Equal(t, []string{"EvictionStarted"}, kinds(b.Network))
}

func TestARestartResetsKarmadasApplicationFailover(t *testing.T) {
	b := drive(t, settings(karmadasTimers))
	b.tell(failingSince(stored(toleratingUnhealthy(30, api.PurgeNever), b.Now()), b.Now().Add(-20*time.Second))).WakesIn(30 * time.Second)
	b.advance(10 * time.Second)
	b.tell(report("m2", api.Unhealthy, 0, 2)).Quiet().WakesIn(20 * time.Second)
}

func TestALastCopyThatWasHeldIsNotSaidTwice(t *testing.T) {
	b := drive(t, settings(keepLastCopy))
	m := stored(duplicated(), b.Now().Add(-time.Hour))
	m.Status.AggregatedStatus = m.Status.AggregatedStatus[:1]
	b.tell(m).Recorded()
	b.tell(b.keep()).Recorded(&messages.PlacementConfirmed{Binding: name})
	b.tell(report("m2", api.Unhealthy, 0, 2))
	require.Equal(t, []string{"HealthChanged"}, kinds(b.Network))
	b.tell(report("m2", api.Healthy, 2, 2))
	require.Equal(t, []string{"HealthChanged", "EvictionEnded"}, kinds(b.Network), "then it may go")
}

func TestACopyThatNoBindingWantsIsRemovedAfterARestart(t *testing.T) {
	m := stored(duplicated(), actorstest.Start)
	m.Spec.GracefulEvictionTasks[0].PurgeMode = api.PurgeDirectly
	b := drive(t, settings())
	b.tell(m).Told(memberAt("m1"), removal).Told(memberAt("m3"))
	b.tell(&messages.CopyRemoved{Cluster: "m1"}).Told(memberAt("m3"), run(2, 2))
}

func TestABindingThatRunsTakesAnEditWithoutForgetting(t *testing.T) {
	b := leaving(t, settings(withdrawing), divided(), "m2:4")
	task := actorstest.FactsOf[*messages.EvictionStarted](b.Facts())
	require.Empty(t, task)
	edit := stored(divided(), b.Now())
	edit.Spec.Clusters = targets("m2:4")
	edit.Status = nil
	b.tell(edit)
	b.tell(healed("m1")).Recorded(withdrawn("m1", "m2:2", "m1:2"))
}

func TestATaskThatUsersTakeOffTheListEnds(t *testing.T) {
	b := leaving(t, settings(), duplicated(), "m2:2", "m3:2")
	edit := stored(duplicated(), b.Now())
	edit.Spec.GracefulEvictionTasks, edit.Status = nil, nil
	began := b.Now()
	b.advance(time.Minute)
	b.tell(edit).Told(clusterAt("m1"), left).Sleeps()
	require.Equal(t, []*messages.EvictionEnded{ended("m1", messages.EndedDeleted, b.Now().Sub(began))},
		actorstest.FactsOf[*messages.EvictionEnded](b.Facts()))
	require.Contains(t, actorstest.MailTo(b.Mail(), memberAt("m1")), messages.Message(removal))
}

func TestACopyThatIsGoingIsNotAdopted(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(claim("default/p", divided()))
	b.tell(b.place("m2:2"))
	edit := stored(duplicated(), b.Now())
	edit.Spec.Clusters, edit.Spec.GracefulEvictionTasks, edit.Status = targets("m1:2", "m2:2"), nil, nil
	b.tell(edit).Told(memberAt("m1"))
	b.tell(&messages.CopyRemoved{Cluster: "m1"}).Told(memberAt("m1"), run(2, 4))
}

func TestATargetThatIsBeingEvictedFromKeepsItsFirstTask(t *testing.T) {
	m := stored(duplicated(), actorstest.Start)
	m.Spec.Clusters = targets("m1:2", "m2:2")
	b := drive(t, settings())
	b.tell(m)
	b.advance(time.Minute)
	b.tell(tainted("m1", b.Now(), "down"))
	n := b.tell(permit("m1"))
	fact := actorstest.FactsOf[*messages.EvictionStarted](n.Facts())[0]
	require.Equal(t, m.Spec.GracefulEvictionTasks[0], fact.Task)
	require.Equal(t, targets("m2:2"), b.asked.Targets)
}

func TestAWorkloadOfNoReplicasIsStillAWorkloadAfterARestart(t *testing.T) {
	for name, order := range map[string][]int{"the binding comes first": {0, 1}, "the resource comes first": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			b := drive(t, settings())
			m := stored(duplicated(), b.Now())
			m.Spec.Replicas, m.Spec.Clusters, m.Spec.GracefulEvictionTasks = 0, nil, nil
			news := []messages.ToBinding{m, workload(0)}
			b.tell(news[order[0]], news[order[1]])
			require.True(t, b.asked.HasReplicas)
			require.Zero(t, b.asked.Replicas)
		})
	}
}

func TestMembersThatOutlivedTheEngineKnowWhatTheyRun(t *testing.T) {
	b := drive(t, settings())
	m := stored(duplicated(), b.Now())
	m.Recovered = true
	b.tell(m).Told(memberAt("m1"), run(2, 1)).Told(memberAt("m2"), run(2, 2)).Told(memberAt("m3"), run(2, 3))
}

func TestAnOldCopyThatAsksIsAnsweredAfterARestart(t *testing.T) {
	b := drive(t, settings())
	m := stored(duplicated(), b.Now())
	m.Spec.GracefulEvictionTasks, m.Status.AggregatedStatus = nil, m.Status.AggregatedStatus[1:]
	b.tell(m, workload(2), claim("default/p", duplicated()))
	asks := report("m1", api.Healthy, 2, 1)
	asks.Kept = true
	b.tell(asks).Told(memberAt("m1"), removal)
}

func TestABindingThatIsEditedKeepsTheReplicasOfItsWorkload(t *testing.T) {
	b := drive(t, settings())
	before := stored(duplicated(), b.Now().Add(-time.Minute))
	b.tell(before, workload(2), claim("default/p", duplicated()))
	b.tell(workload(3))
	edited := stored(duplicated(), b.Now().Add(-time.Minute)) // as it was before it was scaled
	require.Contains(t, kinds(b.tell(edited)), "BindingUpdated")
	require.EqualValues(t, 3, b.asked.Replicas)
}
