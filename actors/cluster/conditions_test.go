package cluster_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
)

// seenBy are the statuses that a policy was asked about in this step, question by question.
func seenBy(n *actorstest.Network, policy string) []map[string]metav1.ConditionStatus {
	var questions []map[string]metav1.ConditionStatus
	for _, m := range actorstest.MailTo(n.Mail(), policyAt(policy)) {
		seen := map[string]metav1.ConditionStatus{}
		for _, c := range m.(*messages.JudgeCluster).View.Conditions {
			seen[c.Type] = c.Status
		}
		questions = append(questions, seen)
	}
	return questions
}

type statuses = []map[string]metav1.ConditionStatus

func TestReportsOfAnInstantMakeOneQuestion(t *testing.T) {
	d := drive(t, nil, listed("p")...)
	n := d.Tell(report("Ready", "False"), report("Disk", "True"), report("Ready", "Unknown"))
	require.Equal(t, statuses{{"Ready": "Unknown", "Disk": "True"}}, seenBy(n, "p"))
	n.Recorded(changed("Ready", "False"), changed("Disk", "True"), changed("Ready", "Unknown"))
}

func TestAReportThatSaysNothingNewIsQuiet(t *testing.T) {
	d := drive(t, nil, listed("p")...)
	d.Tell(report("Ready", "True")).Quiet()
	d.Tell(report("Disk", "")).Quiet()
}

func TestANewMessageAloneMakesPoliciesJudgeAgain(t *testing.T) {
	d := drive(t, nil, listed("p")...)
	n := d.Tell(&messages.ConditionReported{Type: "Ready", Status: "True", Reason: "R", Message: "m"})
	n.Recorded(&messages.ConditionChanged{Cluster: name, Type: "Ready", Status: "True", Reason: "R", Message: "m"})
	require.Equal(t, statuses{{"Ready": "True"}}, seenBy(n, "p"))
}

func TestAnEmptyStatusRemovesACondition(t *testing.T) {
	d := drive(t, nil, listed("p")...)
	n := d.Tell(report("Ready", ""))
	require.Equal(t, statuses{{}}, seenBy(n, "p"))
	n.Recorded(&messages.ConditionRemoved{Cluster: name, Type: "Ready"})
}

func TestTheTransitionTimeMovesOnlyWithTheStatus(t *testing.T) {
	d := drive(t, nil)
	since := func(n *actorstest.Network) time.Duration {
		views := actorstest.MailTo(n.Mail(), scheduler)
		view := views[0].(*messages.ClusterViewed).View
		return view.Condition("Ready").LastTransitionTime.Sub(actorstest.Start)
	}
	d.Advance(time.Second)
	require.Equal(t, time.Second, since(d.Tell(report("Ready", "False"))))
	d.Advance(time.Second)
	require.Equal(t, time.Second, since(d.Tell(&messages.ConditionReported{Type: "Ready", Status: "False", Reason: "R"})))
	require.Equal(t, 2*time.Second, since(d.Tell(report("Ready", "True"))))
}

func TestAConditionIsShownToTheSchedulerAsNoChangeOfTheSpec(t *testing.T) {
	d := drive(t, nil)
	shown := actorstest.MailTo(d.Tell(report("Disk", "True")).Mail(), scheduler)
	require.Len(t, shown, 1)
	require.False(t, shown[0].(*messages.ClusterViewed).SpecChanged)
}

func holding(s *messages.Settings) { s.ConditionHold = 30 * time.Second }

func TestPoliciesSeeAChangeOnceItHasHeld(t *testing.T) {
	d := drive(t, holding, listed("p")...)
	n := d.Tell(report("Ready", "False"))
	require.Equal(t, statuses{{"Ready": "True"}}, seenBy(n, "p"), "not yet")
	n.Recorded(changed("Ready", "False")).WakesIn(30 * time.Second)
	d.QuietFor(30*time.Second - 1)
	require.Equal(t, statuses{{"Ready": "False"}}, seenBy(d.Advance(1), "p"), "at the very instant")
	d.Sleeps()
}

func TestAChangeBackInTimeNeverShows(t *testing.T) {
	d := drive(t, holding, listed("p")...)
	d.Tell(report("Ready", "False"))
	d.Approach(30 * time.Second)
	n := d.Tell(report("Ready", "True"))
	require.Equal(t, statuses{{"Ready": "True"}}, seenBy(n, "p"))
	n.Sleeps()
	d.QuietFor(time.Hour)
}

func TestAnotherStatusStartsTheHoldAgain(t *testing.T) {
	d := drive(t, holding, listed("p")...)
	d.Tell(report("Ready", "False"))
	d.Advance(20 * time.Second)
	n := d.Tell(report("Ready", "Unknown"))
	require.Equal(t, statuses{{"Ready": "True"}}, seenBy(n, "p"))
	n.WakesIn(30 * time.Second)
	require.Equal(t, statuses{{"Ready": "Unknown"}}, seenBy(d.Advance(30*time.Second), "p"))
}

func TestAMessageDoesNotStartTheHoldAgain(t *testing.T) {
	d := drive(t, holding, listed("p")...)
	d.Tell(report("Ready", "False"))
	d.Advance(20 * time.Second)
	d.Tell(&messages.ConditionReported{Type: "Ready", Status: "False", Message: "still"}).WakesIn(10 * time.Second)
}

func TestConditionsThatComeAndGoAreHeldToo(t *testing.T) {
	d := drive(t, holding, listed("p")...)
	require.Equal(t, statuses{{"Ready": "True"}}, seenBy(d.Tell(report("Disk", "True")), "p"))
	require.Equal(t, statuses{{"Ready": "True", "Disk": "True"}}, seenBy(d.Advance(30*time.Second), "p"))
	require.Equal(t, statuses{{"Ready": "True", "Disk": "True"}}, seenBy(d.Tell(report("Disk", "")), "p"))
	require.Equal(t, statuses{{"Ready": "True"}}, seenBy(d.Advance(30*time.Second), "p"))
}

func TestAShorterHoldCountsImmediately(t *testing.T) {
	d := drive(t, holding, listed("p")...)
	d.Tell(report("Ready", "False"))
	d.Advance(20 * time.Second)
	n := d.Tell(&messages.SettingsChanged{Settings: settings(func(s *messages.Settings) { s.ConditionHold = 25 * time.Second })})
	require.Equal(t, statuses{{"Ready": "True"}}, seenBy(n, "p"))
	n.WakesIn(5 * time.Second)
	n = d.Tell(&messages.SettingsChanged{Settings: settings(nil)})
	require.Equal(t, statuses{{"Ready": "False"}}, seenBy(n, "p"))
	n.Sleeps()
}

func TestTheSystemDoesNotWaitForTheHold(t *testing.T) {
	d := drive(t, holding)
	d.Tell(report("Ready", "False")).Recorded(
		changed("Ready", "False"),
		tainted("cluster.karmada.io/not-ready:NoSchedule", d.Now(), bySystem("Ready=False")))
}

func TestTheSystemDoesNotWaitForAHoldThatARestartBegan(t *testing.T) {
	d := actorstest.Drive(t, cluster.New(name, settings(holding), 0))
	young := metav1.Condition{Type: "Ready", Status: "True", LastTransitionTime: metav1.Time{Time: d.Now().Add(-10 * time.Second)}}
	d.Tell(joined(object(young), listed("p")...))
	d.Tell(report("Ready", "False")).Recorded(
		changed("Ready", "False"),
		tainted("cluster.karmada.io/not-ready:NoSchedule", d.Now(), bySystem("Ready=False"))).Told(policyAt("p"))
}

func TestARestartDoesNotCutTheHoldShort(t *testing.T) {
	d := actorstest.Drive(t, cluster.New(name, settings(holding), 0))
	young := metav1.Condition{Type: "Ready", Status: "True", LastTransitionTime: metav1.Time{Time: d.Now().Add(-10 * time.Second)}}
	d.Tell(joined(object(young), listed("p")...)).Told(policyAt("p")).WakesIn(20 * time.Second)
	d.Tell(report("Disk", "True")).Told(policyAt("p"))
	n := d.Advance(20 * time.Second)
	require.Equal(t, statuses{{"Ready": "True"}}, seenBy(n, "p"), "how Ready was before nobody knows, so nobody judged")
	n.WakesIn(10 * time.Second)
}

// manyReports are reports of so many conditions, with a status.
func manyReports(n int, status metav1.ConditionStatus) *messages.ConditionsReported {
	m := &messages.ConditionsReported{}
	for i := range n {
		m.Reports = append(m.Reports, report(fmt.Sprintf("Condition%d", i), status))
	}
	return m
}

func TestReportsThatComeTogetherAreAsGoodAsOneByOne(t *testing.T) {
	together, apart := drive(t, nil, listed("p")...), drive(t, nil, listed("p")...)
	reports := []*messages.ConditionReported{report("Disk", "True"), report("Ready", "False"), report("Old", ""), report("Net", "False")}
	one := together.Tell(&messages.ConditionsReported{Reports: reports})
	other := apart.Tell(reports[0], reports[1], reports[2], reports[3])
	require.Equal(t, other.Facts(), one.Facts())
	require.Equal(t, seenBy(other, "p"), seenBy(one, "p"))
	require.Equal(t, statuses{{"Disk": "True", "Net": "False"}}, seenBy(together.Tell(&messages.ConditionsReported{Reports: []*messages.ConditionReported{report("Ready", "")}}), "p"))
}

// TestTheLastOfSeveralReportsOfOneConditionCounts: a condition may come, change, go and come back within one report.
func TestTheLastOfSeveralReportsOfOneConditionCounts(t *testing.T) {
	for title, c := range map[string]struct {
		reports []*messages.ConditionReported
		want    statuses
	}{
		"it comes and changes":    {[]*messages.ConditionReported{report("Disk", "True"), report("Disk", "False")}, statuses{{"Ready": "True", "Disk": "False"}}},
		"it comes and goes":       {[]*messages.ConditionReported{report("Disk", "True"), report("Disk", "")}, statuses{{"Ready": "True"}}},
		"it goes and comes back":  {[]*messages.ConditionReported{report("Ready", ""), report("Ready", "True")}, statuses{{"Ready": "True"}}},
		"it goes, and goes again": {[]*messages.ConditionReported{report("Ready", ""), report("Ready", "")}, statuses{{}}},
	} {
		t.Run(title, func(t *testing.T) {
			together, apart := drive(t, nil, listed("p")...), drive(t, nil, listed("p")...)
			one := together.Tell(&messages.ConditionsReported{Reports: c.reports})
			require.Equal(t, c.want, seenBy(one, "p"))
			require.Equal(t, apart.Tell(c.reports[0], c.reports[1]).Facts(), one.Facts())
		})
	}
}

func TestAReportOfManyConditionsShowsTheClusterOnce(t *testing.T) {
	for _, n := range []int{1, 10, 100} {
		mail := drive(t, nil).Tell(manyReports(n, "True")).Mail()
		require.Len(t, actorstest.MailTo(mail, scheduler), 1, "%d conditions", n)
	}
}

// TestTheWorkOfAReportGrowsAsItDoes holds a report of twice as many conditions to at most thrice the memory: work that is
// quadratic takes four times as much.
func TestTheWorkOfAReportGrowsAsItDoes(t *testing.T) {
	taken := func(n int) float64 {
		c := cluster.New(name, settings(nil), 0)
		reports := []*messages.ConditionsReported{manyReports(n, "True"), manyReports(n, "False")}
		c.Receive(actorstest.Start, joined(ready("True")), &actors.Outbox{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, m := range reports {
			c.Receive(actorstest.Start, m, &actors.Outbox{})
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	small, large := taken(1000), taken(2000)
	t.Logf("%.0f and %.0f bytes: %.1f times as much", small, large, large/small)
	require.Less(t, large/small, 3.0)
}
