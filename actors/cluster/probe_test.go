package cluster_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
	"leeward/messages/api"
)

const (
	dead    = "Ready=False (ClusterNotReachable: cluster is not reachable)"
	healthy = "cluster is healthy and ready to accept workloads"
	alive   = "Ready=True (ClusterReady: " + healthy + ")"
)

var restored = &messages.ContactRestored{}

// probing has clusters without an agent probed every ten seconds.
func probing(s *messages.Settings) {
	thresholds(s)
	s.ClusterStatusUpdateFrequency = 10 * time.Second
}

// push is a Cluster without an agent.
func push(status metav1.ConditionStatus, reason, message string) *api.Cluster {
	o := object(metav1.Condition{Type: "Ready", Status: status, Reason: reason, Message: message})
	o.Spec.SyncMode = api.Push
	return o
}

// probed returns a cluster without an agent that is Ready.
func probed(t *testing.T, change func(*messages.Settings)) *driver {
	t.Helper()
	d := actorstest.Drive(t, cluster.New(name, settings(change), 0))
	d.Tell(joined(push("True", "ClusterReady", healthy))).Recorded()
	return d
}

// after is an instant of these tests.
func after(d time.Duration) time.Time { return actorstest.Start.Add(d) }

func lost(at time.Duration) *messages.ContactLost { return &messages.ContactLost{At: after(at)} }

func silent(renewed, deadline time.Duration) *messages.HeartbeatStopped {
	return &messages.HeartbeatStopped{Cluster: name, RenewedAt: after(renewed), Deadline: after(deadline), Probed: true}
}

func fails(deadline time.Duration) *messages.ReadyObserved {
	return &messages.ReadyObserved{
		Cluster: name, Status: "False", Reason: "ClusterNotReachable", Message: "cluster is not reachable", Deadline: after(deadline),
	}
}

func succeeds(deadline time.Duration) *messages.ReadyObserved {
	return &messages.ReadyObserved{
		Cluster: name, Status: "True", Reason: "ClusterReady", Message: healthy, Deadline: after(deadline),
	}
}

// seen is what probes made of Ready.
func seen(o *messages.ReadyObserved) *messages.ConditionChanged {
	return &messages.ConditionChanged{Cluster: name, Type: "Ready", Status: o.Status, Reason: o.Reason, Message: o.Message, By: "probe"}
}

func TestAClusterThatDoesNotAnswerIsNotReadyOnceProbesAgree(t *testing.T) {
	d := probed(t, probing)
	d.QuietFor(13 * time.Second)
	d.Tell(lost(13 * time.Second)).Recorded(silent(10*time.Second, 50*time.Second))
	d.QuietFor(7*time.Second - 1)
	d.Advance(1).Recorded(fails(50 * time.Second))
	d.QuietFor(30*time.Second - 1)
	d.Advance(1).Recorded(seen(fails(0)), tainted(notReadyNoSchedule, d.Now(), bySystem(dead)))
	d.QuietFor(13 * time.Second)

	d.Tell(restored).Recorded(&messages.HeartbeatReturned{Cluster: name, Probed: true})
	d.QuietFor(7*time.Second - 1)
	d.Advance(1).Recorded(succeeds(90 * time.Second))
	d.Advance(20*time.Second).Recorded(seen(succeeds(0)), untainted(notReadyNoSchedule, after(50*time.Second), bySystem(alive))).Sleeps()
}

func TestASilenceBetweenTwoProbesLeavesNoTrace(t *testing.T) {
	d := probed(t, probing)
	d.Advance(13 * time.Second)
	d.Tell(lost(13 * time.Second))
	d.Advance(6 * time.Second)
	d.Tell(restored).Recorded(&messages.HeartbeatReturned{Cluster: name, Probed: true}).Sleeps()
}

func TestAProbeThatSucceedsEndsWhatFailedOnesBegan(t *testing.T) {
	d := probed(t, probing)
	d.Tell(lost(0))
	d.Advance(35 * time.Second)
	d.Tell(restored)
	d.QuietFor(5*time.Second - 1)
	d.Advance(1).Recorded(&messages.ReadyObserved{
		Cluster: name, Status: "True", Reason: "ClusterReady", Message: healthy,
	}).Sleeps()
}

func TestAThresholdEndsWithAProbe(t *testing.T) {
	for _, c := range []struct {
		name                          string
		frequency, threshold, expires time.Duration
	}{
		{"of so many probes", 10 * time.Second, 30 * time.Second, 50 * time.Second},
		{"between two", 10 * time.Second, 25 * time.Second, 50 * time.Second},
		{"none: the first counts", 10 * time.Second, 0, 20 * time.Second},
		{"all the time", 0, 25 * time.Second, 38 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := probed(t, func(s *messages.Settings) {
				s.ClusterStatusUpdateFrequency, s.ClusterFailureThreshold = c.frequency, c.threshold
			})
			d.Advance(13 * time.Second)
			d.Tell(lost(13 * time.Second))
			d.Approach(c.expires - 13*time.Second)
			d.Advance(0).Recorded(seen(fails(0)), tainted(notReadyNoSchedule, d.Now(), bySystem(dead)))
		})
	}
}

func TestProbesContradictWhatOthersSayOfADeadCluster(t *testing.T) {
	d := probed(t, probing)
	d.Tell(lost(0))
	d.Advance(time.Minute)
	d.Tell(report("Ready", "True"))
	d.QuietFor(10*time.Second - 1)
	d.Advance(1).Recorded(fails(100 * time.Second))
}

func TestAClusterThatIsBackSaysAgainWhatItSaid(t *testing.T) {
	d := probed(t, probing)
	d.Tell(&messages.ConditionReported{Type: "Ready", Status: "False", Reason: "NoNodes"})
	d.Tell(lost(0))
	d.Advance(10 * time.Second).Recorded(seen(fails(0)))
	d.Tell(restored)
	d.Advance(10 * time.Second).Recorded(&messages.ConditionChanged{Cluster: name, Type: "Ready", Status: "False", Reason: "NoNodes", By: "probe"})
}

func TestAClusterThatIsBackSaysAgainWhatAProbeFound(t *testing.T) {
	d := probed(t, probing)
	d.Tell(report("Ready", "Unknown"))
	d.Tell(&messages.ConditionReported{Type: "Ready", Status: "False", Reason: "NoNodes", Observed: true})
	d.Tell(lost(0))
	d.Advance(10 * time.Second).Recorded(seen(fails(0)))
	d.Tell(restored)
	d.Advance(10 * time.Second).Recorded(&messages.ConditionChanged{Cluster: name, Type: "Ready", Status: "False", Reason: "NoNodes", By: "probe"})
}

func TestProbesAcrossARestart(t *testing.T) {
	forgetful := func(s *messages.Settings) {
		probing(s)
		s.PersistentClusterTimers = false
	}
	dying := push("True", "", "")
	dying.Status.ReadyObservation = &api.ReadyObservation{
		Status: "False", Reason: "ClusterNotReachable", Message: "cluster is not reachable", Since: metav1.Time{Time: after(-20 * time.Second)},
	}
	gone := push("False", "ClusterNotReachable", "cluster is not reachable")
	gone.Spec.Taints = []corev1.Taint{parsed(notReadyNoSchedule, after(-time.Hour))}
	for title, c := range map[string]struct {
		stored *api.Cluster
		change func(*messages.Settings)
		lost   time.Duration
		want   []messages.Fact
		then   []messages.Fact // ten seconds later
	}{
		"a silence counts on from its first failed probe": {dying, probing, -27 * time.Second,
			[]messages.Fact{silent(-30*time.Second, 10*time.Second)},
			[]messages.Fact{seen(fails(0)), tainted(notReadyNoSchedule, after(10*time.Second), bySystem(dead))}},
		"the first probe counts immediately": {push("True", "", ""), forgetful, -2 * time.Second,
			[]messages.Fact{silent(-10*time.Second, 30*time.Second), seen(fails(0)), tainted(notReadyNoSchedule, after(0), bySystem(dead))}, nil},
		"so it does where there is no threshold": {push("True", "", ""), func(s *messages.Settings) { s.ClusterStatusUpdateFrequency = 10 * time.Second }, -2 * time.Second,
			[]messages.Fact{silent(-10*time.Second, 0), seen(fails(0)), tainted(notReadyNoSchedule, after(0), bySystem(dead))}, nil},
		"a cluster that is known to be dead stays so": {gone, probing, -time.Hour,
			[]messages.Fact{}, nil},
	} {
		t.Run(title, func(t *testing.T) {
			d := actorstest.Drive(t, cluster.New(name, settings(c.change), 0))
			d.Tell(joined(c.stored)).Recorded()
			d.Tell(lost(c.lost)).Recorded(c.want...)
			d.Advance(10 * time.Second).Recorded(c.then...)
		})
	}
}
