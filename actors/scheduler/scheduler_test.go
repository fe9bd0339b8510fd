package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/scheduler"
	"leeward/messages"
	"leeward/messages/api"
)

func TestABindingIsPlacedAtTheEndOfItsInstant(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	n := d.Tell(ask("web", 2, everywhere()), cluster("m2", "9")).Recorded()
	require.Equal(t, &messages.PlacementDecided{
		Request: 1, Outcome: messages.PlacementChosen, Targets: targets("m1:2", "m2:2"), Trigger: "first placement", Reason: api.ReasonSuccess,
	}, decided(t, n, "web"))
	n.Sleeps()
}

func TestTheLastWordOfAnInstantCounts(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	second := ask("web", 3, everywhere())
	second.Request = 2
	n := d.Tell(ask("web", 2, everywhere()), second)
	require.Equal(t, uint64(2), decided(t, n, "web").Request)
	require.Equal(t, targets("m1:3"), decided(t, n, "web").Targets)
}

func TestScarceCapacityGoesByPriorityThenWaitThenNameInAnyOrder(t *testing.T) {
	urgent, patient := ask("urgent", 2, aggregated()), ask("patient", 2, aggregated())
	urgent.Priority, patient.Since = 9, patient.Since.Add(-time.Hour)
	var first *actorstest.Outcome
	ways := 0
	actorstest.EveryWay(func(choose actorstest.Choose) {
		d := drive(t, settings())
		arrivals := actorstest.Interleave(choose, actorstest.Alone[messages.ToScheduler](
			cluster("m1", "5"), urgent, patient, ask("a", 2, aggregated()), ask("b", 2, aggregated()))...)
		n := d.Tell(arrivals...)
		for name, want := range map[messages.BindingName]messages.PlacementOutcome{
			"urgent": messages.PlacementChosen, "patient": messages.PlacementChosen, "a": messages.PlacementFailed, "b": messages.PlacementFailed,
		} {
			require.Equal(t, want, decided(t, n, name).Outcome, name)
		}
		got := n.Outcome()
		if first == nil {
			first = &got
		}
		require.Equal(t, *first, got)
		ways++
	})
	require.Equal(t, 120, ways)
}

func TestWithoutReservationWorkloadsPileUp(t *testing.T) {
	for reserved, s := range map[bool]messages.Settings{true: settings(), false: settings(noReservation)} {
		d := drive(t, s, cluster("m1", "3"), cluster("m2", "2"))
		n := d.Tell(ask("a", 2, anyOne()), ask("b", 2, anyOne()))
		require.Equal(t, targets("m1:2"), decided(t, n, "a").Targets)
		if reserved {
			require.Equal(t, targets("m2:2"), decided(t, n, "b").Targets)
		} else {
			require.Equal(t, targets("m1:2"), decided(t, n, "b").Targets)
		}
	}
}

func TestReservationCanBeSwitchedOnAndOff(t *testing.T) {
	d := drive(t, settings(noReservation), cluster("m1", "4"))
	first := ask("a", 3, aggregated())
	d.Tell(first)
	d.Tell(again(first, "m1:3"))
	d.Tell(&messages.SettingsChanged{Settings: settings()})
	n := d.Tell(ask("b", 3, aggregated()))
	require.Equal(t, messages.PlacementFailed, decided(t, n, "b").Outcome)
	n = d.Tell(&messages.SettingsChanged{Settings: settings(noReservation)})
	require.Equal(t, targets("m1:3"), decided(t, n, "b").Targets, "who waits tries again")
}

func TestWhatNeedsNothingIsConfirmedOnce(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	first := ask("web", 2, aggregated())
	d.Tell(first)
	require.Equal(t, &messages.PlacementDecided{Request: 2, Outcome: messages.PlacementKept, Reason: api.ReasonSuccess},
		decided(t, d.Tell(again(first, "m1:2")), "web"))
	d.Tell(cluster("m2", "9")).Quiet()
	d.Tell(status("m1", "8")).Quiet()
}

func TestADuplicatedBindingFollowsTheFleet(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	d.Tell(ask("web", 2, everywhere()))
	told := decided(t, d.Tell(cluster("m3", "9"), cluster("m2", "9")), "web")
	require.Equal(t, targets("m1:2", "m2:2", "m3:2"), told.Targets)
	require.Equal(t, "cluster m2 changed", told.Trigger, "the first by name")
	require.Equal(t, uint64(1), told.Request, "no new word was needed")
	d.Tell(cluster("m2", "8")).Quiet()
}

func TestAFailureIsToldOnceAndTriedAgainWhenTheFleetChanges(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "1"))
	failed := decided(t, d.Tell(ask("web", 2, aggregated())), "web")
	require.Equal(t, messages.PlacementFailed, failed.Outcome)
	require.Equal(t, api.ReasonUnschedulable, failed.Reason)
	require.Equal(t, "first placement", failed.Trigger)
	d.Tell(status("m1", "1")).Quiet()
	told := decided(t, d.Tell(status("m1", "2")), "web")
	require.Equal(t, targets("m1:2"), told.Targets)
	d.Tell(status("m1", "9")).Quiet()
}

func TestCapacityThatABindingGivesUpIsOffered(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "3"))
	first := ask("a", 3, aggregated())
	d.Tell(first)
	d.Tell(ask("b", 2, aggregated()))
	less := again(first, "m1:3")
	less.Replicas = 1
	n := d.Tell(less)
	require.Equal(t, targets("m1:1"), decided(t, n, "a").Targets)
	require.Equal(t, targets("m1:2"), decided(t, n, "b").Targets)

	d.Tell(ask("c", 1, aggregated()))
	require.Equal(t, targets("m1:1"), decided(t, d.Tell(&messages.BindingGone{Binding: "b"}), "c").Targets)
	d.Tell(&messages.BindingGone{Binding: "b"}).Quiet()
}

func TestWhatABindingRequestsNowIsReserved(t *testing.T) {
	for name, change := range map[string]func(*messages.PlaceBinding){
		"less": func(m *messages.PlaceBinding) {
			m.Requirements = &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("500m")}}
		},
		"nothing": func(m *messages.PlaceBinding) { m.HasReplicas = false },
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, settings(), cluster("m1", "4"))
			first := ask("a", 2, aggregated())
			d.Tell(first)
			d.Tell(ask("b", 2, aggregated()))
			d.Tell(ask("c", 1, aggregated()))
			lighter := again(first, "m1:2")
			change(lighter)
			d.Tell(lighter)
			require.Equal(t, targets("m1:1"), decided(t, d.Network, "c").Targets, "one of four is free")
		})
	}
}

func TestOtherSettingsHoldForTheNextDecision(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "1"))
	require.Equal(t, messages.PlacementFailed, decided(t, d.Tell(ask("web", 2, aggregated())), "web").Outcome)
	told := decided(t, d.Tell(&messages.SettingsChanged{Settings: settings(inPart)}), "web")
	require.Equal(t, targets("m1:1"), told.Targets)
	require.Equal(t, int32(1), told.Missing)
}

func TestAFailureThatComesBackIsToldAgain(t *testing.T) {
	for name, more := range map[string]int32{"after it was placed": 2, "after it asked for less": 1} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, settings(), cluster("m1", "1"))
			word := again(ask("web", 2, aggregated()), "m1:1")
			require.Equal(t, messages.PlacementFailed, decided(t, d.Tell(word), "web").Outcome)
			if more == 2 {
				d.Tell(status("m1", "2"))
			}
			fits := again(word, "m1:1")
			if more == 2 {
				fits.Targets = targets("m1:2")
			}
			fits.Replicas = more
			require.Equal(t, messages.PlacementKept, decided(t, d.Tell(fits), "web").Outcome)
			d.Tell(&messages.TasksEnded{Binding: "web", Request: 9, Targets: fits.Targets})
			failsAgain := again(fits, "m1:1")
			failsAgain.Targets, failsAgain.Replicas = fits.Targets, more+1
			require.Equal(t, messages.PlacementFailed, decided(t, d.Tell(failsAgain), "web").Outcome)
		})
	}
}

func TestAFailureThatTheFleetBringsBackIsToldAgain(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"))
	word := again(ask("web", 2, twoOfThree()), "m1:2", "m2:2")
	d.Tell(word)
	for _, cpus := range []string{"8", "7"} {
		n := d.Tell(&messages.ClusterGone{Name: "m2"}, cluster("m1", cpus))
		require.Equal(t, messages.PlacementFailed, decided(t, n, "web").Outcome)
		d.Tell(cluster("m2", "9")).Quiet()
	}
}

func TestAPlacementThatIsEditedIsAppliedWhereverItLeads(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	told := decided(t, d.Tell(edited(only("m1"), only("m1", "m9"), 2, "m1:2")), "web")
	require.Equal(t, messages.PlacementChosen, told.Outcome)
	require.Equal(t, "placement changed", told.Trigger)
	require.Equal(t, messages.PlacementKept, decided(t, d.Tell(edited(only("m1"), only("m1"), 2, "m1:2")), "web").Outcome, "an equal one")
}

func TestAClusterMustServeTheKind(t *testing.T) {
	serving := func(v *messages.ClusterViewed, version, kind string) *messages.ClusterViewed {
		v.View.APIs = []api.APIEnablement{{GroupVersion: version, Resources: []api.APIResource{{Kind: kind}}}}
		return v
	}
	d := drive(t, settings(), serving(cluster("m1", "9"), "apps/v1", "Deployment"), serving(cluster("m2", "9"), "batch/v1", "Job"))
	require.Equal(t, targets("m1:2"), decided(t, d.Tell(ask("web", 2, everywhere())), "web").Targets)
}

func TestWhoEndedIsForgotten(t *testing.T) {
	d := drive(t, settings(func(s *messages.Settings) { s.RetryForAnyGroup = true }), cluster("m1", "1"))
	d.Tell(ask("placed", 1, aggregated()), ask("waits", 9, aggregated()))
	d.Tell(&messages.BindingGone{Binding: "placed"}, &messages.BindingGone{Binding: "waits"}).Quiet()
	d.Tell(cluster("m1", "9")).Quiet()
	d.Tell(status("m1", "10")).Quiet()
}

func TestABindingThatEndsInItsInstantIsNotPlaced(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "3"))
	d.Tell(ask("a", 1, aggregated()), ask("b", 1, aggregated()), &messages.BindingGone{Binding: "a"}).Told(bindingAt("a"))
}

func TestWhereNoClusterFitsTheResultIsVoidUnlessTheLastCopyIsKept(t *testing.T) {
	for cleared, s := range map[bool]messages.Settings{true: settings(clearing), false: settings()} {
		d := drive(t, s, cluster("m1", "9"))
		first := ask("web", 2, aggregated())
		d.Tell(first)
		d.Tell(cluster("m1", "9", "down"))
		evicted := again(first)
		evicted.Evicting = []messages.ClusterName{"m1"}
		told := decided(t, d.Tell(evicted), "web")
		require.Equal(t, api.ReasonNoClusterFit, told.Reason)
		require.Equal(t, cleared, told.Cleared)
	}
}

func TestAClearedResultGivesItsCapacityBack(t *testing.T) {
	d := drive(t, settings(clearing), cluster("m1", "3"))
	first := ask("a", 3, aggregated())
	d.Tell(first)
	d.Tell(ask("b", 2, aggregated()))
	elsewhere := again(first, "m1:3")
	elsewhere.Placement = &api.Placement{ClusterAffinity: &api.ClusterAffinity{ClusterNames: []string{"m9"}}, ReplicaScheduling: aggregated().ReplicaScheduling}
	n := d.Tell(elsewhere)
	require.True(t, decided(t, n, "a").Cleared)
	require.Equal(t, targets("m1:2"), decided(t, n, "b").Targets)
	d.Tell(&messages.BindingGone{Binding: "a"})
	require.Equal(t, messages.PlacementFailed, decided(t, d.Tell(ask("c", 2, aggregated())), "c").Outcome, "given back once")
}

func TestWhatWasNeverPlacedIsPlacedForTheFirstTimeHoweverOftenItFailed(t *testing.T) {
	d := drive(t, settings(clearing), cluster("m1", "9", "down"))
	require.True(t, decided(t, d.Tell(ask("web", 2, aggregated())), "web").Cleared)
	n := d.Tell(&messages.TasksEnded{Binding: "web", Request: 2}, cluster("m1", "9"))
	require.Equal(t, "first placement", decided(t, n, "web").Trigger)
}

func TestAFailureIsToldAgainOnceTasksEnded(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	word := again(ask("web", 10, aggregated()), "m1:9")
	word.Evicting = []messages.ClusterName{"m2"}
	require.Equal(t, messages.PlacementFailed, decided(t, d.Tell(word), "web").Outcome)
	told := decided(t, d.Tell(&messages.TasksEnded{Binding: "web", Request: 3, Targets: word.Targets}), "web")
	require.Equal(t, messages.PlacementFailed, told.Outcome)
	require.Equal(t, uint64(3), told.Request)
}

func TestAClusterThatIsGoneIsUsedNoMore(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"))
	d.Tell(&messages.ClusterGone{Name: "m2"})
	require.Equal(t, targets("m1:2"), decided(t, d.Tell(ask("web", 2, everywhere())), "web").Targets)
}

func TestAFreshPlacementIsDecidedOnceForEachRequest(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	first := ask("web", 2, aggregated())
	d.Tell(first)
	d.Advance(time.Minute)
	fresh := again(first, "m1:2")
	fresh.RescheduleAt = d.Now()
	told := decided(t, d.Tell(fresh), "web")
	require.Equal(t, "reschedule requested", told.Trigger)
	require.Equal(t, messages.PlacementChosen, told.Outcome)
	done := again(fresh, "m1:2")
	done.LastScheduled = d.Now()
	require.Equal(t, messages.PlacementKept, decided(t, d.Tell(done), "web").Outcome)
}

func TestTriggersSayWhyABindingIsPlaced(t *testing.T) {
	for want, change := range map[string]func(*messages.PlaceBinding){
		"placement changed": func(m *messages.PlaceBinding) { m.Placement = everywhere() },
		"replicas changed":  func(m *messages.PlaceBinding) { m.Replicas = 4 },
		"cluster deleted":   func(m *messages.PlaceBinding) { m.Targets = targets("m1:1", "m9:1") },
		"binding changed": func(m *messages.PlaceBinding) {
			m.Placement = everywhere()
			m.Applied, m.Targets = m.Placement, targets("m1:2")
		},
		messages.TriggerEviction: func(m *messages.PlaceBinding) {
			m.Placement = everywhere()
			m.Applied, m.Targets, m.Evicting = m.Placement, targets("m1:2"), []messages.ClusterName{"m3"}
		},
		"reschedule requested": func(m *messages.PlaceBinding) { m.RescheduleAt = actorstest.Start.Add(1) },
	} {
		t.Run(want, func(t *testing.T) {
			d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"))
			first := ask("web", 2, aggregated())
			d.Tell(first)
			next := again(first, "m1:2")
			change(next)
			require.Equal(t, want, decided(t, d.Tell(next), "web").Trigger)
		})
	}
}

func TestAnEvictionIsATriggerToo(t *testing.T) {
	for want, change := range map[string]func(*messages.PlaceBinding){
		"eviction": func(m *messages.PlaceBinding) {
			m.Targets, m.Evicting = targets("m2:1"), []messages.ClusterName{"m1"}
		},
	} {
		t.Run(want, func(t *testing.T) {
			d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"))
			first := ask("web", 2, aggregated())
			d.Tell(first)
			next := again(first, "m1:2")
			change(next)
			require.Equal(t, want, decided(t, d.Tell(next), "web").Trigger)
		})
	}
}

func TestATriggerIsForOneDecision(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	word := ask("web", 2, everywhere())
	d.Tell(word)
	require.Equal(t, "cluster m2 changed", decided(t, d.Tell(cluster("m2", "9")), "web").Trigger)
	grows := again(word, "m1:2", "m2:2")
	grows.Replicas = 3
	require.Equal(t, "replicas changed", decided(t, d.Tell(grows), "web").Trigger)
}

func TestAWholeCopyInAnotherSizeIsScaled(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	d.Tell(ask("web", 2, everywhere()))
	next := again(ask("web", 3, everywhere()), "m1:2")
	require.Equal(t, "replicas changed", decided(t, d.Tell(next), "web").Trigger)
}

func TestABindingOfADeletedClusterIsPlacedElsewhere(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "8"))
	first := ask("web", 2, aggregated())
	d.Tell(first)
	d.Tell(again(first, "m1:2"))
	going := cluster("m1", "9")
	going.View.Deleting = true
	require.Equal(t, targets("m2:2"), decided(t, d.Tell(going), "web").Targets)
}

func TestAStrangeMessageIsABrokenInvariant(t *testing.T) {
	require.PanicsWithValue(t, "scheduler: unknown message <nil>", func() {
		scheduler.New(settings(), 1).Receive(actorstest.Start, nil, &actors.Outbox{})
	})
}

func TestWhoseTasksEndHearsOnlyOfAChange(t *testing.T) {
	first := ask("web", 2, aggregated())
	d := drive(t, settings(), cluster("m1", "9"))
	d.Tell(first)
	ended := &messages.TasksEnded{Binding: "web", Request: first.Request + 1, Targets: targets("m1:2")}
	d.Tell(ended).Quiet()
	d.Tell(&messages.TasksEnded{Binding: "gone", Request: 1}).Quiet()
	ended.Request++
	d.Tell(ended).Quiet()
	ended.Targets = targets("m1:1")
	require.Equal(t, targets("m1:2"), decided(t, d.Tell(ended), "web").Targets, "the scheduler knows better")

	outgrown := again(first, "m1:2")
	outgrown.Replicas = 3
	require.Equal(t, targets("m1:3"), decided(t, d.Tell(outgrown), "web").Targets)
	nowhere := again(outgrown, "m1:3")
	nowhere.Replicas = 10
	n := d.Tell(nowhere)
	require.Equal(t, messages.PlacementFailed, decided(t, n, "web").Outcome)
}

func TestWhoseTasksEndMayReturnToAClusterThatItLeft(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"))
	word := again(ask("web", 2, everywhere()), "m2:2")
	word.Evicting = []messages.ClusterName{"m1"}
	d.Tell(word).Told(bindingAt("web"), kept(word))
	told := decided(t, d.Tell(&messages.TasksEnded{Binding: "web", Request: 3, Targets: targets("m2:2")}), "web")
	require.Equal(t, targets("m1:2", "m2:2"), told.Targets)
}

// quitter is a binding that ends another one when it hears where it is to run.
type quitter struct{ name messages.BindingName }

func (q quitter) Receive(_ time.Time, _ messages.ToBinding, out *actors.Outbox) {
	out.TellScheduler(&messages.BindingGone{Binding: q.name})
}

func TestManyDecisionsOfAnInstantRestOnTheSameFleet(t *testing.T) {
	at := messages.Address{Kind: messages.KindScheduler}
	n := actorstest.NewNetwork(t, nil)
	actorstest.Join(n, at, scheduler.New(settings(), 1))
	actorstest.Join(n, bindingAt("web000"), quitter{"web001"})
	n.Post(at, cluster("m1", "599"))
	for i := range 600 {
		n.Post(at, ask(messages.BindingName(fmt.Sprintf("web%03d", i)), 1, aggregated()))
	}
	n.Advance(0)

	outcomes := map[messages.PlacementOutcome]int{}
	for _, m := range n.Mail() {
		outcomes[m.Message.(*messages.PlacementDecided).Outcome]++
	}
	require.Equal(t, map[messages.PlacementOutcome]int{messages.PlacementChosen: 599, messages.PlacementFailed: 1}, outcomes)
	last := actorstest.MailTo(n.Mail(), bindingAt("web599"))
	require.Len(t, last, 2, "what became free meanwhile is for those who found no room")
	require.Equal(t, messages.PlacementFailed, last[0].(*messages.PlacementDecided).Outcome)
	require.Equal(t, targets("m1:1"), last[1].(*messages.PlacementDecided).Targets)

	n.Post(at, &messages.BindingGone{Binding: "web599"}, ask("web001", 1, aggregated()))
	require.Equal(t, targets("m1:1"), decided(t, n.Advance(0), "web001").Targets)
	n.Post(at, ask("late", 1, aggregated()))
	require.Equal(t, messages.PlacementFailed, decided(t, n.Advance(0), "late").Outcome, "what came meanwhile is heard once")
}
