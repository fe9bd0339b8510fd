package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
)

const silence = "the cluster's agent stopped renewing its lease"

func unknown(reason string) *messages.ConditionChanged {
	return &messages.ConditionChanged{Cluster: name, Type: "Ready", Status: "Unknown", Reason: reason, Message: silence, By: "monitor"}
}

func unreachable(at time.Time, reason string) *messages.TaintAdded {
	return tainted("cluster.karmada.io/unreachable:NoSchedule", at, bySystem("Ready=Unknown ("+reason+": "+silence+")"))
}

func stopped(renewed, deadline time.Duration) *messages.HeartbeatStopped {
	at := func(d time.Duration) time.Time { return actorstest.Start.Add(d) }
	return &messages.HeartbeatStopped{Cluster: name, RenewedAt: at(renewed), Deadline: at(deadline)}
}

func stale(renewed time.Duration) *messages.ContactLost {
	return &messages.ContactLost{RenewedAt: actorstest.Start.Add(renewed)}
}

func monitorEvery5s(s *messages.Settings) { s.ClusterMonitorPeriod = 5 * time.Second }

func TestSilenceMakesAClusterUnknownAfterTheGracePeriod(t *testing.T) {
	d := drive(t, nil)
	d.Advance(73 * time.Second)
	d.Tell(stale(70 * time.Second)).Recorded(stopped(70*time.Second, 110*time.Second))
	d.QuietFor(37*time.Second - 1)
	d.Advance(1).Recorded(unknown("ClusterStatusUnknown"), unreachable(d.Now(), "ClusterStatusUnknown"))
	d.Sleeps()
}

func TestTheMonitorLooksEveryFiveSecondsAndFindsTheGracePeriodStrictlyPast(t *testing.T) {
	d := drive(t, monitorEvery5s)
	d.Advance(73 * time.Second)
	d.Tell(stale(70 * time.Second)).Recorded(stopped(70*time.Second, 115*time.Second))
	d.QuietFor(42*time.Second - 1)
	d.Advance(1).Recorded(unknown("ClusterStatusUnknown"), unreachable(d.Now(), "ClusterStatusUnknown"))
}

func TestAClusterThatNeverReportedHasTheStartupGracePeriod(t *testing.T) {
	d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
	d.Tell(joined(object())).Recorded(
		tainted("cluster.karmada.io/not-ready:NoSchedule", d.Now(), bySystem("Ready is not reported")))
	d.Tell(stale(0)).Recorded(stopped(0, time.Minute))
	d.Advance(time.Minute).Recorded(
		unknown("ClusterStatusNeverUpdated"),
		untainted("cluster.karmada.io/not-ready:NoSchedule", actorstest.Start, bySystem("Ready=Unknown (ClusterStatusNeverUpdated: "+silence+")")),
		unreachable(d.Now(), "ClusterStatusNeverUpdated"))
}

func TestAnAgentThatIsBackInTimeChangesNothing(t *testing.T) {
	d := drive(t, nil)
	d.Tell(stale(0))
	d.Approach(40 * time.Second)
	d.Tell(&messages.ContactRestored{}).Recorded(&messages.HeartbeatReturned{Cluster: name}).Sleeps()
	d.QuietFor(time.Hour)
}

func TestAnAgentThatIsBackSaysAgainWhatItSaid(t *testing.T) {
	d := drive(t, nil)
	d.Tell(&messages.ConditionReported{Type: "Ready", Status: "False", Reason: "NetworkDown", Message: "link lost"})
	d.Tell(stale(0))
	d.Advance(40 * time.Second)
	d.Tell(&messages.ContactRestored{}).Recorded(
		&messages.HeartbeatReturned{Cluster: name},
		&messages.ConditionChanged{Cluster: name, Type: "Ready", Status: "False", Reason: "NetworkDown", Message: "link lost"},
		untainted("cluster.karmada.io/unreachable:NoSchedule", d.Now(), bySystem("Ready=False (NetworkDown: link lost)")),
		tainted("cluster.karmada.io/not-ready:NoSchedule", d.Now(), bySystem("Ready=False (NetworkDown: link lost)")))
}

func TestAnAgentThatHadSaidNothingReportsReadyWhenItIsBack(t *testing.T) {
	d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
	d.Tell(joined(object()), stale(0))
	d.Advance(time.Minute)
	d.Tell(&messages.ContactRestored{}).Recorded(
		&messages.HeartbeatReturned{Cluster: name},
		&messages.ConditionChanged{
			Cluster: name, Type: "Ready", Status: "True", Reason: "ClusterReady", Message: "cluster is healthy and ready to accept workloads",
		},
		untainted("cluster.karmada.io/unreachable:NoSchedule", d.Now(), bySystem("Ready=True (ClusterReady: cluster is healthy and ready to accept workloads)")))
}

func TestARestartKnowsThatTheAgentWasLost(t *testing.T) {
	lost := object(metav1.Condition{Type: "Ready", Status: "Unknown", Reason: "ClusterStatusUnknown", Message: silence})
	lost.Spec.Taints = append(lost.Spec.Taints, parsed("cluster.karmada.io/unreachable:NoSchedule", actorstest.Start))
	d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
	d.Tell(joined(lost), stale(-time.Hour)).Recorded().Sleeps()
	n := d.Tell(&messages.ContactRestored{})
	facts := actorstest.FactsOf[*messages.ConditionChanged](n.Facts())
	if len(facts) != 1 || facts[0].Status != metav1.ConditionTrue {
		t.Fatalf("the agent is back: %v", facts)
	}
}

func TestAnAgentMayFallSilentAgain(t *testing.T) {
	d := drive(t, nil)
	d.Tell(stale(0))
	d.Advance(40 * time.Second)
	d.Tell(&messages.ContactRestored{})
	d.Advance(10 * time.Second)
	d.Tell(stale(45 * time.Second)).Recorded(stopped(45*time.Second, 85*time.Second))
	d.Advance(35*time.Second).Recorded(unknown("ClusterStatusUnknown"), unreachable(d.Now(), "ClusterStatusUnknown"))
}

// TestARestartKnowsWhatTheClusterSaid: when its agent is back, a cluster says again what it said of itself, and no more
// than that.
func TestARestartKnowsWhatTheClusterSaid(t *testing.T) {
	for title, c := range map[string]struct {
		stored metav1.Condition
		says   metav1.Condition
	}{
		"its own word": {
			metav1.Condition{Status: "False", Reason: "NetworkDown", Message: "link lost"},
			metav1.Condition{Status: "False", Reason: "NetworkDown", Message: "link lost"},
		},
		"an Unknown of its own": {
			metav1.Condition{Status: "Unknown", Reason: "Starting"},
			metav1.Condition{Status: "Unknown", Reason: "Starting"},
		},
		"it was lost": {
			metav1.Condition{Status: "Unknown", Reason: "ClusterStatusUnknown", Message: silence},
			metav1.Condition{Status: "True", Reason: "ClusterReady", Message: healthy},
		},
		"it was never heard of": {
			metav1.Condition{Status: "Unknown", Reason: "ClusterStatusNeverUpdated", Message: silence},
			metav1.Condition{Status: "True", Reason: "ClusterReady", Message: healthy},
		},
		"it did not answer, which it did not say": {
			metav1.Condition{Status: "False", Reason: "ClusterNotReachable", Message: "cluster is not reachable"},
			metav1.Condition{Status: "True", Reason: "ClusterReady", Message: healthy},
		},
	} {
		t.Run(title, func(t *testing.T) {
			c.stored.Type = "Ready"
			d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
			d.Tell(joined(object(c.stored)), stale(0))
			d.Advance(time.Minute)
			d.Tell(&messages.ContactRestored{})
			shown := actorstest.MailTo(d.Mail(), scheduler)
			ready := shown[len(shown)-1].(*messages.ClusterViewed).View.Condition("Ready")
			said := metav1.Condition{Status: ready.Status, Reason: ready.Reason, Message: ready.Message}
			require.Equal(t, c.says, said)
		})
	}
}

func TestAnotherGracePeriodHoldsForASilenceUnderWay(t *testing.T) {
	d := drive(t, nil)
	d.Tell(stale(0)).WakesIn(40 * time.Second)
	d.Tell(&messages.SettingsChanged{Settings: settings(func(s *messages.Settings) { s.ClusterMonitorGracePeriod = time.Hour })}).WakesIn(time.Hour)
	d.Tell(&messages.SettingsChanged{Settings: settings(monitorEvery5s)}).WakesIn(45 * time.Second)
}
