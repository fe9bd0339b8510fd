package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

func withdrawn(cluster messages.ClusterName, clusters ...string) *messages.EvictionWithdrawn {
	return &messages.EvictionWithdrawn{
		Binding: name, Cluster: cluster, Reason: "the cluster recovered before the handover ended", Clusters: targets(clusters...),
	}
}

func TestARecoveryTakesADuplicatedCopyBack(t *testing.T) {
	b := leaving(t, settings(withdrawing), duplicated(), "m2:2", "m3:2")
	b.advance(time.Minute)
	b.tell(healed("m1")).Recorded(withdrawn("m1", "m2:2", "m1:2")).
		Told(memberAt("m1")).Told(memberAt("m3"), removal).Told(clusterAt("m3"), left).Told(clusterAt("m1"), here).Sleeps()
	require.Equal(t, targets("m2:2", "m1:2"), b.asked.Targets)
	require.Empty(t, b.asked.Evicting)
}

func TestARecoveryTakesADividedShareBack(t *testing.T) {
	b := leaving(t, settings(withdrawing), divided(), "m2:4")
	b.tell(healed("m1")).Recorded(withdrawn("m1", "m2:2", "m1:2")).Told(memberAt("m2"), run(2, 4)).Told(memberAt("m1"))
}

func TestADividedShareIsTakenBackFromAllThatGained(t *testing.T) {
	b := leaving(t, settings(withdrawing), divided(), "m2:3", "m3:1")
	b.tell(healed("m1")).Recorded(withdrawn("m1", "m2:2", "m1:2")).Told(memberAt("m3"), removal)
}

func TestEachTaskGivesBackWhatWasGainedForIt(t *testing.T) {
	b := placed(t, settings(withdrawing), divided(), "m1:2", "m2:2", "m3:1")
	b.tell(tainted("m1", b.Now(), "down"), tainted("m2", b.Now(), "down"))
	b.tell(permit("m1"), permit("m2"))
	b.tell(b.place("m3:2", "m4:3"))
	b.tell(healed("m2")).Recorded(withdrawn("m2", "m3:2", "m4:1", "m2:2"))
	b.tell(healed("m1")).Recorded(withdrawn("m1", "m3:1", "m2:2", "m1:2"))
}

func TestEachDuplicatedTaskGivesBackOneCluster(t *testing.T) {
	b := placed(t, settings(withdrawing), duplicated(), "m1:2", "m2:2", "m3:2")
	b.tell(tainted("m1", b.Now(), "down"), tainted("m2", b.Now(), "down"))
	b.tell(permit("m1"), permit("m2"))
	b.tell(b.place("m3:2", "m4:2", "m5:2"))
	b.tell(healed("m2")).Recorded(withdrawn("m2", "m3:2", "m4:2", "m2:2"))
}

func TestARecoveryBeforeTheSchedulerAnswersTakesNothingFromOthers(t *testing.T) {
	b := placed(t, settings(withdrawing), divided(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	late := b.place("m2:4")
	b.tell(healed("m1")).Recorded(withdrawn("m1", "m2:2", "m1:2"))
	b.tell(late).Quiet()
}

func TestWhatIsGainedLaterIsPutDownToTheTask(t *testing.T) {
	b := placed(t, settings(withdrawing), divided(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.fail(false))
	b.tell(b.place("m2:2", "m3:2"))
	b.tell(healed("m1")).Recorded(withdrawn("m1", "m2:2", "m1:2"))
}

func TestNothingIsTakenBackWhere(t *testing.T) {
	application := divided()
	application.Failover = &api.FailoverBehavior{Application: &api.ApplicationFailover{
		PurgeMode: api.PurgeNever, DecisionConditions: api.DecisionConditions{TolerationSeconds: new(int32(0))},
	}}
	for where, c := range map[string]struct {
		settings messages.Settings
		policy   *api.PropagationSpec
		news     *messages.TaintsChanged
	}{
		"the setting is off":          {settings(), duplicated(), healed("m1")},
		"the copy is purged directly": {settings(withdrawing, purgeDirectly), duplicated(), healed("m1")},
		"a taint remains":             {settings(withdrawing), duplicated(), tainted("m1", time.Time{}, "other")},
		"the toleration has run out":  {settings(withdrawing), duplicated(tolerates("other", 1)), tainted("m1", time.Time{}, "other")},
		"another cluster recovers":    {settings(withdrawing), duplicated(), healed("m9")},
		"the application had failed":  {settings(withdrawing), application, healed("m2")},
	} {
		t.Run(where, func(t *testing.T) {
			b := leaving(t, c.settings, c.policy, "m2:2", "m3:2")
			b.tell(report("m2", api.Unhealthy, 0, 2))
			require.NotContains(t, kinds(b.tell(c.news)), "EvictionWithdrawn")
		})
	}
}

func TestAToleratedTaintLetsTheCopyBackForAsLong(t *testing.T) {
	minute := tolerates("mild", 60)
	b := leaving(t, settings(withdrawing), duplicated(minute), "m2:2", "m3:2")
	b.tell(tainted("m1", b.Now(), "mild")).Recorded(withdrawn("m1", "m2:2", "m1:2")).Told(clusterAt("m1"), here)
	again := tainted("m1", b.Now(), "mild")
	again.News = false
	b.tell(again).Recorded(counting("m1", bearing(minute, "mild", b.Now()))).WakesIn(time.Minute)
}

func TestACopyThatCameBackCanLeaveAgain(t *testing.T) {
	b := leaving(t, settings(withdrawing), duplicated(), "m2:2", "m3:2")
	b.tell(healed("m1"))
	b.tell(b.keep())
	b.tell(tainted("m1", b.Now(), "down")).Told(governor, wish("m1", b.Now()))
	require.Contains(t, kinds(b.tell(permit("m1"))), "EvictionStarted")
}

func TestAHandoverThatHasEndedIsNotUndone(t *testing.T) {
	b := leaving(t, settings(withdrawing), duplicated(), "m2:2", "m3:2")
	b.tell(report("m3", api.Healthy, 2, 3)).Told(clusterAt("m1"), left)
	b.tell(healed("m1")).Quiet()
}

func TestAnEvictionThatUsersHeldBeforeItBeganIsTakenBack(t *testing.T) {
	b := leaving(t, settings(), divided(), "m2:4")
	back := withdrawn("m1", "m2:2", "m1:2")
	back.Reason = "an admin holds it, and it had not begun"
	b.tell(&messages.TakeEvictionBack{Cluster: "m1"}).Recorded(back).Told(memberAt("m2"), run(2, 4)).Told(clusterAt("m1"), here)
	require.Equal(t, targets("m2:2", "m1:2"), b.asked.Targets)
	b.tell(&messages.TakeEvictionBack{Cluster: "m1"}).Recorded()
}
