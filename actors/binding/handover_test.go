package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// leaving returns a binding that left m1 and was placed on clusters instead, of which m2 was there before.
func leaving(t *testing.T, s messages.Settings, policy *api.PropagationSpec, clusters ...string) *subject {
	t.Helper()
	b := placed(t, s, policy, "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.place(clusters...))
	return b
}

func TestTheOldCopyStaysUntilTheNewOneIsHealthy(t *testing.T) {
	b := leaving(t, settings(), duplicated(), "m2:2", "m3:2")
	b.tell(report("m3", api.Unhealthy, 0, 0)).Told(memberAt("m1"))
	b.advance(9 * time.Minute).Quiet()
	b.tell(report("m3", api.Unknown, 0, 3)).Told(memberAt("m1"))
	b.tell(report("m3", api.Healthy, 2, 3)).Told(memberAt("m1"), removal)
}

func TestAHandoverThatTakesTooLongEnds(t *testing.T) {
	b := leaving(t, settings(), duplicated(), "m2:2", "m3:2")
	b.tell(report("m3", api.Unhealthy, 0, 0))
	b.advance(10*time.Minute - 1).Quiet()
	b.advance(1).Recorded(ended("m1", messages.EndedTimeout, 10*time.Minute)).Told(memberAt("m1"), removal).Told(clusterAt("m1"), left)
}

func TestAReportAtTheTimeoutComesFirst(t *testing.T) {
	b := leaving(t, settings(), duplicated(), "m2:2", "m3:2")
	b.approach(10 * time.Minute)
	facts := actorstest.FactsOf[*messages.EvictionEnded](b.tell(report("m3", api.Healthy, 2, 3)).Facts())
	require.Len(t, facts, 1, "once")
}

func TestAnotherTimeoutHoldsImmediately(t *testing.T) {
	b := leaving(t, settings(), duplicated(), "m2:2", "m3:2")
	b.advance(time.Minute)
	b.tell(&messages.SettingsChanged{Settings: settings(func(s *messages.Settings) { s.GracefulEvictionTimeout = 2 * time.Minute })}).WakesIn(time.Minute)
	b.tell(&messages.SettingsChanged{Settings: settings(func(s *messages.Settings) { s.GracefulEvictionTimeout = 0 })}).
		Recorded(ended("m1", messages.EndedTimeout, time.Minute))
}

func TestADividedShareIsHealthyWhenItServesInFull(t *testing.T) {
	b := leaving(t, settings(), divided(), "m2:4")
	b.tell(report("m2", api.Healthy, 2, 2)).Told(memberAt("m1"))
	b.tell(report("m2", api.Healthy, 3, 3)).Told(memberAt("m1"))
	b.tell(report("m2", api.Healthy, 4, 3)).Told(memberAt("m1"), removal)
}

func TestKarmadaTakesTheOldReportForTheNewShare(t *testing.T) {
	b := leaving(t, settings(reportedHealth), divided(), "m2:4")
	require.Contains(t, kinds(b.Network), "EvictionEnded")
}

// edited is the workload with another version of its pod template.
func edited(replicas, revision int32) *messages.WorkloadApplied {
	m := workload(replicas)
	m.Workload.Revision = revision
	return m
}

func ofRevision(m *messages.CopyReported, revision int32) *messages.CopyReported {
	m.Revision = revision
	return m
}

func runRevision(replicas, revision int32, placement int64) *messages.RunCopy {
	m := run(replicas, placement)
	m.Revision = revision
	return m
}

func TestAnEditedTemplateGoesToTheTargetsAndNotToTheOldCopy(t *testing.T) {
	b := leaving(t, settings(), duplicated(), "m2:2", "m3:2")
	n := b.tell(edited(2, 2)).
		Told(memberAt("m1")).Told(memberAt("m2"), runRevision(2, 2, 4)).Told(memberAt("m3"), runRevision(2, 2, 5))
	require.Equal(t, []string{"template"}, actorstest.FactsOf[*messages.BindingUpdated](n.Facts())[0].Changed)
	b.tell(b.keep())
	b.tell(edited(2, 2)).Quiet()
}

func TestHealthOfTheOldTemplateEndsNoHandover(t *testing.T) {
	b := leaving(t, settings(), duplicated(), "m2:2", "m3:2")
	b.tell(edited(2, 2))
	b.tell(b.keep())
	b.tell(report("m3", api.Healthy, 2, 3)).Told(memberAt("m1"))
	b.tell(ofRevision(report("m3", api.Healthy, 2, 5), 2)).Told(memberAt("m1"))
	b.tell(ofRevision(report("m2", api.Healthy, 2, 4), 2)).Told(memberAt("m1"), removal)
}

func TestKarmadaTakesTheHealthOfTheOldTemplate(t *testing.T) {
	b := leaving(t, settings(reportedHealth), duplicated(), "m2:2", "m3:2")
	b.tell(edited(2, 2))
	b.tell(b.keep())
	b.tell(report("m3", api.Healthy, 2, 3)).Told(memberAt("m1"), removal)
}

func TestOneVerdictOnHealthIsForAllTasks(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2", "m3:2")
	b.tell(tainted("m1", b.Now(), "down"), tainted("m2", b.Now(), "down"))
	b.tell(permit("m1"), permit("m2"))
	b.tell(b.place("m3:2", "m4:2", "m5:2"))
	b.tell(report("m4", api.Healthy, 2, 4)).Told(memberAt("m1"))
	n := b.tell(report("m5", api.Healthy, 2, 5)).Told(memberAt("m1"), removal).Told(memberAt("m2"), removal)
	require.Len(t, actorstest.MailTo(n.Mail(), scheduler), 1, "asked once for both")
}

func TestNoTaskEndsBeforeTheSchedulerHasLooked(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1")).Told(memberAt("m1"))
	b.tell(report("m2", api.Healthy, 2, 2)).Quiet()
	b.tell(b.keep()).Recorded(&messages.PlacementConfirmed{Binding: name}, ended("m1", messages.EndedHealthy, 0))
}

func TestTheLastCopyIsKept(t *testing.T) {
	b := placed(t, settings(keepLastCopy), duplicated(), "m1:2", "m2:2")
	b.tell(report("m2", api.Unhealthy, 0, 2))
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.place("m2:2"))
	b.advance(10 * time.Minute).
		Recorded(&messages.HandoverBlocked{Binding: name, Cluster: "m1", Message: "m2 reports Unhealthy"}).Told(memberAt("m1")).Sleeps()
	b.tell(report("m2", api.Unknown, 0, 2)).Recorded(health("m2", api.Unknown, 0))
	b.tell(report("m2", api.Healthy, 2, 2)).
		Recorded(health("m2", api.Healthy, 2), ended("m1", messages.EndedHealthy, 10*time.Minute)).Told(memberAt("m1"), removal)
}

func TestKeepingTheLastCopyTakesOneHealthyCopyForEnough(t *testing.T) {
	b := leaving(t, settings(keepLastCopy), duplicated(), "m2:2", "m3:2")
	b.advance(10 * time.Minute).Recorded(ended("m1", messages.EndedTimeout, 10*time.Minute))
}

func TestTheLastCopyStaysWhereThereIsNowhereToGo(t *testing.T) {
	b := placed(t, settings(keepLastCopy), duplicated(), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.fail(true))
	b.advance(10 * time.Minute)
	require.Equal(t, []string{"HandoverBlocked"}, kinds(b.Network))
	b.advance(24 * time.Hour).Quiet()
	b.tell(b.place("m2:2")).Told(memberAt("m2"), run(2, 2)).Told(memberAt("m1"))
	b.tell(report("m2", api.Healthy, 2, 2)).Told(memberAt("m1"), removal)
}

func TestACopyThatIsKeptSaysWhichTemplateIsMissing(t *testing.T) {
	b := placed(t, settings(keepLastCopy), duplicated(), "m1:2", "m2:2")
	b.tell(edited(2, 2))
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.place("m2:2"))
	b.advance(10 * time.Minute).Recorded(&messages.HandoverBlocked{Binding: name, Cluster: "m1", Message: "m2 runs revision 1, not 2"})
}

func TestPurgingDirectlyStartsNothingNewBeforeTheOldCopyIsGone(t *testing.T) {
	b := placed(t, settings(purgeDirectly), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1")).Told(memberAt("m1"), removal)
	b.tell(b.place("m2:4", "m3:4")).Told(memberAt("m3")).Told(memberAt("m2"))
	b.tell(&messages.CopyRemoved{Cluster: "m1"}).
		Recorded(&messages.HealthForgotten{Binding: name, Cluster: "m1"}).
		Told(memberAt("m2"), run(4, 3)).Told(memberAt("m3"), run(4, 4))
	b.tell(report("m2", api.Healthy, 4, 3))
	require.Contains(t, kinds(b.tell(report("m3", api.Healthy, 4, 4))), "EvictionEnded", "the task stays listed until then")
}

func TestPurgingDirectlyBlocksUntilTheTaskTimesOut(t *testing.T) {
	b := placed(t, settings(purgeDirectly), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.place("m2:2", "m3:2")).Told(memberAt("m3"))
	b.advance(10*time.Minute).Recorded(ended("m1", messages.EndedTimeout, 10*time.Minute)).Told(memberAt("m3"), run(2, 3))
}

func TestReportsOfCopiesThatAreGoingAreNotHeard(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(workload(2), claim("default/p", divided()))
	b.tell(b.place("m2:2")).Told(memberAt("m1"), removal).Told(clusterAt("m1"), left)
	b.tell(report("m1", api.Unhealthy, 0, 1), report("m9", api.Healthy, 1, 1)).Quiet()
	b.tell(&messages.CopyRemoved{Cluster: "m2"}, &messages.CopyRemoved{Cluster: "m9"}).Quiet()
}

func TestACopyThatIsWantedBackIsStartedOnceItIsGone(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(claim("default/p", divided()))
	b.tell(b.place("m2:2"))
	b.tell(claim("default/p", duplicated()))
	b.tell(b.place("m2:2", "m1:3")).Told(memberAt("m1")).Told(clusterAt("m1"), here)
	b.tell(&messages.CopyRemoved{Cluster: "m1"}).Told(memberAt("m1"), run(3, 3))
}

func TestCopiesOfADeletedResourceStayWhereThePolicyPreservesThem(t *testing.T) {
	preserving := duplicated()
	preserving.PreserveResourcesOnDeletion = new(true)
	preserved := &messages.RemoveCopy{Binding: name, Preserve: true}
	onlyDeleted := func(s *messages.Settings) { s.PreserveOnlyDeleted = true }
	for _, c := range []struct {
		name          string
		policy        *api.PropagationSpec
		settings      messages.Settings
		left, deleted *messages.RemoveCopy
	}{
		{"Karmada keeps them wherever they ran", preserving, settings(), preserved, preserved},
		{"Leeward empties the cluster that is left", preserving, settings(onlyDeleted), removal, preserved},
		{"without a word of the policy they go", duplicated(), settings(), removal, removal},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := leaving(t, c.settings, c.policy, "m2:2", "m3:2")
			b.tell(report("m3", api.Healthy, 2, 3)).Told(memberAt("m1"), c.left)
			b.tell(&messages.CopyRemoved{Cluster: "m1"})
			b.tell(&messages.WorkloadDeleted{}).Told(memberAt("m2"), c.deleted).Told(memberAt("m3"), c.deleted)
		})
	}
}

func TestOnlyNewHealthIsNews(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2")
	b.tell(report("m1", api.Healthy, 2, 1)).Quiet()
	b.tell(report("m1", api.Healthy, 1, 1)).Recorded(health("m1", api.Healthy, 1))
	unhealthy := health("m1", api.Unhealthy, 0)
	unhealthy.Since = b.Now()
	b.tell(report("m1", api.Unhealthy, 0, 1)).Recorded(unhealthy)
	b.advance(time.Minute)
	b.tell(report("m1", api.Unhealthy, 1, 1))
	require.Equal(t, actorstest.Start, b.Facts()[0].(*messages.HealthChanged).Since, "without a break")
}

func TestTheSchedulerNeedNotAnswerWhereTheLastTaskEnds(t *testing.T) {
	b := leaving(t, settings(), duplicated(), "m2:2", "m3:2")
	before := b.asked
	require.False(t, b.settled)
	b.tell(report("m3", api.Healthy, 2, 3))
	require.True(t, b.settled)
	require.Empty(t, b.asked.Evicting)
	require.Greater(t, b.asked.Request, before.Request, "what was decided on older words is void")
	require.Equal(t, targets("m2:2", "m3:2"), b.asked.Targets)

	b.tell(b.place("m2:2", "m1:2")).Told(memberAt("m3"), removal)
}

func TestTheSchedulerAnswersWhileTasksRemain(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2", "m3:2")
	b.tell(tainted("m1", b.Now(), "down"), permit("m1"))
	b.advance(time.Minute)
	b.tell(tainted("m2", b.Now(), "down"), permit("m2"))
	b.tell(b.place("m3:2", "m4:2"))
	b.advance(9*time.Minute).Told(memberAt("m1"), removal)
	require.Equal(t, []messages.ClusterName{"m2"}, b.asked.Evicting)
	require.False(t, b.settled)
}

// The last word of an old copy says nothing of the one that comes after it.
func TestAnOldCopyThatIsEvictedVouchesForNothing(t *testing.T) {
	for name, last := range map[string]*messages.CopyReported{"sick": unhealthy, "well": well} {
		t.Run(name, func(t *testing.T) {
			b := placed(t, settings(reportedHealth), toleratingUnhealthy(30, api.PurgeGracefully), "m1:2", "m2:2")
			b.tell(last)
			b.tell(claim("default/p", divided()))
			b.tell(b.place("m2:2"))
			b.tell(claim("default/p", toleratingUnhealthy(30, api.PurgeGracefully)))
			b.tell(b.place("m2:2", "m1:2"))
			b.advance(time.Minute).Quiet()
			b.tell(tainted("m2", b.Now(), "down"))
			b.tell(permit("m2"))
			require.NotContains(t, kinds(b.tell(b.place("m1:2"))), "EvictionEnded")
			b.tell(&messages.CopyRemoved{Cluster: "m1"})
			require.Contains(t, kinds(b.tell(report("m1", api.Healthy, 2, 3))), "EvictionEnded")
		})
	}
}
