package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
	"leeward/messages/api"
)

// thresholds are Karmada's, told apart.
func thresholds(s *messages.Settings) {
	s.ClusterFailureThreshold, s.ClusterSuccessThreshold = 30*time.Second, 20*time.Second
	s.PersistentClusterTimers = true
}

func probe(status metav1.ConditionStatus) *messages.ConditionReported {
	return &messages.ConditionReported{Type: "Ready", Status: status, Observed: true}
}

func observed(status metav1.ConditionStatus, deadline time.Time) *messages.ReadyObserved {
	return &messages.ReadyObserved{Cluster: name, Status: status, Deadline: deadline}
}

// starting returns a cluster with a status of Ready.
func starting(t *testing.T, status metav1.ConditionStatus, change func(*messages.Settings)) *driver {
	t.Helper()
	d := actorstest.Drive(t, cluster.New(name, settings(change), 0))
	o := object()
	if status != "" {
		o = ready(status)
	}
	d.Tell(joined(o))
	return d
}

func TestThresholds(t *testing.T) {
	for name, c := range map[string]struct {
		is, found metav1.ConditionStatus
		takes     time.Duration
	}{
		"from Ready to not":           {"True", "False", 30 * time.Second},
		"from Ready to not known":     {"True", "Unknown", 30 * time.Second},
		"to Ready":                    {"False", "True", 20 * time.Second},
		"to Ready from not known":     {"Unknown", "True", 20 * time.Second},
		"from one way not to another": {"Unknown", "False", 0},
		"the first report":            {"", "False", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := starting(t, c.is, thresholds)
			if c.takes > 0 {
				d.Tell(probe(c.found)).Recorded(observed(c.found, d.Now().Add(c.takes)))
				d.QuietFor(c.takes - 1)
				d.Tell(probe(c.found)).Quiet()
				requireReady(t, d.Advance(1), c.found)
			} else {
				requireReady(t, d.Tell(probe(c.found)), c.found)
			}
		})
	}
}

// requireReady requires that Ready changed to a status in a step, whatever followed.
func requireReady(t *testing.T, n *actorstest.Network, status metav1.ConditionStatus) {
	t.Helper()
	changes := actorstest.FactsOf[*messages.ConditionChanged](n.Facts())
	require.Len(t, changes, 1)
	require.Equal(t, status, changes[0].Status)
}

func TestAProbeThatFindsAnotherStatusStartsTheTimeAgain(t *testing.T) {
	d := starting(t, "True", thresholds)
	d.Tell(probe("False"))
	d.QuietFor(20 * time.Second)
	d.Tell(probe("Unknown")).Recorded(observed("Unknown", d.Now().Add(30*time.Second)))
	d.QuietFor(29 * time.Second)
	d.Tell(probe("True")).Recorded(observed("True", time.Time{}))
	d.Tell().Sleeps()
}

func TestAReportThatIsNoProbeCountsImmediately(t *testing.T) {
	d := starting(t, "True", thresholds)
	d.Tell(probe("False"))
	d.QuietFor(10 * time.Second)
	d.Tell(report("Ready", "True")).Quiet()
	d.Tell().Sleeps()
}

func TestWhatAThresholdHoldsBackAcrossARestart(t *testing.T) {
	for title, c := range map[string]struct {
		change func(*messages.Settings)
		takes  time.Duration
	}{
		"goes on counting":        {thresholds, 20 * time.Second},
		"counts immediately: K16": {func(s *messages.Settings) { thresholds(s); s.PersistentClusterTimers = false }, 0},
	} {
		t.Run(title, func(t *testing.T) {
			o := ready("True")
			o.Status.ReadyObservation = &api.ReadyObservation{
				Status: "False", Reason: "NoNodes", Message: "none is left", Since: metav1.Time{Time: actorstest.Start.Add(-10 * time.Second)},
			}
			d := actorstest.Drive(t, cluster.New("member1", settings(c.change), 0))
			n := d.Tell(joined(o))
			if c.takes > 0 {
				n.Recorded()
				d.QuietFor(c.takes - 1)
				n = d.Advance(1)
			}
			requireReady(t, n, "False")
			require.Equal(t, &messages.ConditionChanged{
				Cluster: name, Type: "Ready", Status: "False", Reason: "NoNodes", Message: "none is left", By: "probe",
			}, n.Facts()[0])
		})
	}
}

// K16: where timers do not last, an engine that restarts during silence watches from the beginning.
func TestGracePeriodsAcrossARestart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*messages.Settings)
		takes  time.Duration
	}{
		"goes on":           {thresholds, 10 * time.Second},
		"starts again: K16": {nil, 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			d := actorstest.Drive(t, cluster.New("member1", settings(c.change), 0))
			d.Tell(joined(ready("True")))
			stale := actorstest.Start.Add(-30 * time.Second)
			d.Tell(&messages.ContactLost{RenewedAt: stale}).
				Recorded(&messages.HeartbeatStopped{Cluster: "member1", RenewedAt: stale, Deadline: d.Now().Add(c.takes)})
			d.QuietFor(c.takes - 1)
			requireReady(t, d.Advance(1), "Unknown")
		})
	}
}

func TestADeletedClusterIsTaintedWhereThatIsAsked(t *testing.T) {
	leaving := &messages.ClusterLeaving{Cluster: name}
	d := drive(t, nil)
	d.Tell(&messages.BindingPlaced{Binding: "web"})
	d.Tell(&messages.ClusterDeleted{}).Recorded(leaving)

	d = drive(t, func(s *messages.Settings) { s.TaintTerminatingClusters = true })
	d.Tell(&messages.BindingPlaced{Binding: "web"})
	taint := tainted("cluster.karmada.io/terminating:NoExecute", d.Now(), bySystem("the cluster is being deleted"))
	d.Tell(&messages.ClusterDeleted{}).Recorded(leaving, taint)
	d.Tell(edit("cluster.karmada.io/terminating-")).Quiet()
}
