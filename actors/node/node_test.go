package node_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/node"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

const (
	self messages.NodeName = "n1"

	notReady, unreachable = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"

	grace, startup, period = 50 * time.Second, 60 * time.Second, 5 * time.Second
)

var (
	apiServer = messages.Address{Kind: messages.KindAPIServer}
	lifecycle = messages.Address{Kind: messages.KindNodeLifecycle}

	kubernetes = node.Rules{AtPasses: true, Grace: grace, StartupGrace: startup}
	leeward    = node.Rules{Grace: grace, StartupGrace: startup, KeepTaintsOverRestart: true}
	both       = []node.Rules{kubernetes, leeward}
	pass       = &messages.HealthPass{Period: period}
)

func zoneAt(name string) messages.Address {
	return messages.Address{Kind: messages.KindZone, Name: name}
}

func drive(t *testing.T, r node.Rules) *actorstest.Driver[messages.ToNode] {
	return actorstest.Drive[messages.ToNode](t, node.New(self, r))
}

// beats has the kubelet renew its Lease each 10 seconds, from the start on.
func beats() *messages.KubeletBeats {
	return &messages.KubeletBeats{From: actorstest.Start, Every: 10 * time.Second}
}

func silent(second int) *messages.KubeletSilent { return &messages.KubeletSilent{Last: at(second)} }

func at(second int) time.Time { return actorstest.Start.Add(time.Duration(second) * time.Second) }

// stored is a node in zone a, with the status of its Ready condition, empty for none, and taints as "key:effect".
func stored(ready corev1.ConditionStatus, taints ...string) *messages.NodeStored {
	o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: string(self), CreationTimestamp: metav1.Time{Time: actorstest.Start}, Labels: map[string]string{corev1.LabelTopologyZone: "a"},
	}}
	if ready != "" {
		o.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	}
	for _, spec := range taints {
		o.Spec.Taints = append(o.Spec.Taints, parsed(spec))
	}
	return &messages.NodeStored{Object: o}
}

func parsed(spec string) corev1.Taint {
	key, effect, _ := strings.Cut(spec, ":")
	return corev1.Taint{Key: key, Effect: corev1.TaintEffect(effect)}
}

func like(m *messages.NodeStored, change func(*corev1.Node)) *messages.NodeStored {
	object := m.Object.DeepCopy()
	change(object)
	return &messages.NodeStored{Object: object}
}

// asked are the taints that the API server was asked for, as "+key:effect Because" and "-key:effect Because".
func asked(n *actorstest.Network) (changes []string) {
	for _, m := range actorstest.MailTo(n.Mail(), apiServer) {
		c, is := m.(*messages.ChangeTaints)
		if !is {
			continue
		}
		for i := range c.Add {
			changes = append(changes, "+"+taint.String(&c.Add[i])+" "+c.Because[i])
		}
		for i := range c.Remove {
			changes = append(changes, "-"+taint.String(&c.Remove[i])+" "+c.Because[len(c.Add)+i])
		}
	}
	return changes
}

func queued(second int) *messages.NodeQueued {
	return &messages.NodeQueued{Node: self, Since: at(second)}
}

var dequeued = &messages.NodeDequeued{Node: self}

// gone is what a zone hears of a node that waits and is not there any more.
func gone(r node.Rules) messages.Message {
	if r.AtPasses {
		return &messages.NodeLeft{Node: self}
	}
	return dequeued
}

func observed(ready corev1.ConditionStatus, waits bool) *messages.NodeObserved {
	return &messages.NodeObserved{Node: self, Zone: "a", Ready: ready, Counted: true, Waits: waits}
}

// isUnknown requires that all conditions of the kubelet were reported as Unknown in this step.
func isUnknown(t *testing.T, n *actorstest.Network) {
	t.Helper()
	require.NotEmpty(t, actorstest.MailTo(n.Mail(), apiServer))
	m := actorstest.MailTo(n.Mail(), apiServer)[0].(*messages.ReportNode)
	require.Equal(t, "node lifecycle", m.By)
	var types []corev1.NodeConditionType
	for _, c := range m.Conditions {
		require.Equal(t, corev1.ConditionUnknown, c.Status)
		types = append(types, c.Type)
	}
	require.Equal(t, []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure}, types)
}

func TestNoScheduleTaintsFollowConditionsImmediately(t *testing.T) {
	for _, r := range both {
		d := drive(t, r)
		d.Tell(beats(), stored("True"))
		require.Empty(t, asked(d.Network))
		ill := like(stored("True", "mine:NoSchedule"), func(o *corev1.Node) {
			o.Status.Conditions = append(o.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue})
			o.Spec.Unschedulable = true
		})
		require.Equal(t, []string{
			"+node.kubernetes.io/disk-pressure:NoSchedule DiskPressure=True",
			"+node.kubernetes.io/unschedulable:NoSchedule spec.unschedulable",
		}, asked(d.Tell(ill)))
		d.QuietFor(time.Hour)
		require.Equal(t, []string{
			"-node.kubernetes.io/disk-pressure:NoSchedule no condition DiskPressure",
		}, asked(d.Tell(stored("True", "node.kubernetes.io/disk-pressure:NoSchedule"))))
	}
}

// TestAChangeIsAskedForOnce while its answer is on the way.
func TestAChangeIsAskedForOnce(t *testing.T) {
	for _, r := range both {
		d := drive(t, r)
		require.Len(t, asked(d.Tell(beats(), stored("True"), stored("True", unreachable+":NoSchedule"))), 1)
		d.Tell(beats()).Quiet()
		d.Tell(pass).Quiet()
		d.Tell(&messages.NodesDisrupted{Over: true}).Quiet()
	}
}

func TestASilentNodeIsUnknownAtItsHeartbeatPlusTheGracePeriod(t *testing.T) {
	d := drive(t, leeward)
	d.Tell(beats(), stored("True")).Told(lifecycle, observed("True", false)).Sleeps()
	d.QuietFor(12 * time.Second)
	d.Tell(silent(10)).Quiet().WakesIn(48 * time.Second)
	d.Approach(48 * time.Second)
	d.Quiet()
	isUnknown(t, d.Advance(0))
	d.Told(lifecycle, observed("Unknown", false)).Sleeps()
	d.Tell(stored("Unknown", unreachable+":NoSchedule")).
		Told(zoneAt("a"), queued(60)).Told(lifecycle).
		Recorded(&messages.NodeTaintQueued{Node: self, Zone: "a", Taint: parsed(unreachable + ":NoExecute")})
	d.Tell(stored("Unknown", unreachable+":NoSchedule")).Quiet()
	d.Tell(stored("Unknown", unreachable+":NoSchedule", unreachable+":NoExecute")).Quiet()
	d.QuietFor(time.Hour)
}

// TestAHeartbeatCountsFromThePassThatFindsIt in Kubernetes: Unknown at the first pass that is the grace period
// later. Measured with a grace period of 5 s, and passes and renewals each second: 4.2 to 5.5 s after the kubelet stopped.
func TestAHeartbeatCountsFromThePassThatFindsIt(t *testing.T) {
	for _, c := range []struct{ last, unknown int }{{9, 62}, {10, 62}, {12, 62}, {7, 57}, {5, 57}} {
		d := drive(t, kubernetes)
		d.Tell(beats(), stored("True"))
		d.Advance(time.Duration(c.last) * time.Second)
		d.Tell(silent(c.last)).Told(lifecycle, observed("True", true)).Sleeps()
		for second := 2; second < c.unknown; second += 5 {
			if second >= c.last {
				d.Advance(at(second).Sub(d.Now()))
				d.Tell(pass).Quiet()
			}
		}
		d.Advance(period)
		isUnknown(t, d.Tell(pass))
		d.Told(zoneAt("a")).Told(lifecycle, observed("Unknown", false))
		d.Tell(stored("Unknown")).Told(zoneAt("a"), queued(c.unknown))
		require.Equal(t, []string{"+" + unreachable + ":NoSchedule Ready=Unknown"}, asked(d.Network))
	}
}

func TestANodeThatNeverPostedHasItsStartupGrace(t *testing.T) {
	d := drive(t, leeward)
	d.Advance(5 * time.Second)
	d.Tell(stored("", notReady+":NoSchedule")).WakesIn(55 * time.Second)
	require.Equal(t, []string{"-" + notReady + ":NoSchedule no condition Ready"}, asked(d.Network), "schedulable until then, as was seen")
	n := d.Advance(55 * time.Second)
	isUnknown(t, n)
	c := actorstest.MailTo(n.Mail(), apiServer)[0].(*messages.ReportNode).Conditions[0]
	require.Equal(t, corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusNeverUpdated", Message: "Kubelet never posted node status.",
		LastHeartbeatTime: metav1.Time{Time: at(0)}, LastTransitionTime: metav1.Time{Time: at(60)},
	}, c)

	d = drive(t, kubernetes)
	d.Tell(stored("")).Told(lifecycle, observed("", true))
	d.Advance(59 * time.Second)
	d.Tell(pass).Quiet()
	d.Advance(time.Second)
	isUnknown(t, d.Tell(pass))

	d = drive(t, leeward)
	d.Tell(beats(), stored("")).Sleeps()
}

// TestWhatASilentNodeIsSaidToBe: conditions that it had stopped coming, those that it never had never came, and what is Unknown or not the
// kubelet's is not changed.
func TestWhatASilentNodeIsSaidToBe(t *testing.T) {
	condition := func(of corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string, heartbeat, since int) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: of, Status: status, Reason: reason, Message: message,
			LastHeartbeatTime: metav1.Time{Time: at(heartbeat)}, LastTransitionTime: metav1.Time{Time: at(since)},
		}
	}
	d := drive(t, leeward)
	d.Tell(silent(0), like(stored(""), func(o *corev1.Node) {
		o.CreationTimestamp = metav1.Time{Time: at(-3600)}
		o.Status.Conditions = []corev1.NodeCondition{
			condition(corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "RouteCreated", "", -60, -60),
			condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "", -5, -30),
			condition(corev1.NodePIDPressure, corev1.ConditionUnknown, "Odd", "", -5, -30),
			condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "", -5, -20),
		}
	}))
	d.Advance(grace)
	const stopped, never = "Kubelet stopped posting node status.", "Kubelet never posted node status."
	require.Equal(t, []corev1.NodeCondition{
		condition(corev1.NodeReady, corev1.ConditionUnknown, "NodeStatusUnknown", stopped, -5, 50),
		condition(corev1.NodeMemoryPressure, corev1.ConditionUnknown, "NodeStatusNeverUpdated", never, -3600, 50),
		condition(corev1.NodeDiskPressure, corev1.ConditionUnknown, "NodeStatusUnknown", stopped, -5, 50),
	}, actorstest.MailTo(d.Mail(), apiServer)[0].(*messages.ReportNode).Conditions)
}

// TestWhenANodeWithoutAStatusIsUnknown: the startup grace counts from its creation or the last renewal of its Lease.
func TestWhenANodeWithoutAStatusIsUnknown(t *testing.T) {
	old := like(stored(""), func(o *corev1.Node) { o.CreationTimestamp = metav1.Time{Time: at(-3600)} })
	isUnknown(t, drive(t, leeward).Tell(old))
	isUnknown(t, drive(t, kubernetes).Tell(old, pass))
	d := drive(t, leeward)
	d.Tell(beats(), old).Sleeps()
	d.Advance(30 * time.Second)
	d.Tell(silent(30)).Quiet().WakesIn(startup)
	isUnknown(t, d.Advance(startup))
}

// TestAReportedStatusIsAHeartbeat, whatever the Lease says; what an object says of the future is not believed.
func TestAReportedStatusIsAHeartbeat(t *testing.T) {
	reported := func(second int) *messages.NodeStored {
		return like(stored("True"), func(o *corev1.Node) { o.Status.Conditions[0].LastHeartbeatTime = metav1.Time{Time: at(second)} })
	}
	d := drive(t, leeward)
	d.Tell(silent(0), stored("True")).WakesIn(50 * time.Second)
	d.Advance(20 * time.Second)
	d.Tell(reported(20)).WakesIn(50 * time.Second)
	d.Advance(time.Second)
	d.Tell(reported(20)).WakesIn(49 * time.Second)
	d.Tell(reported(1 << 30)).WakesIn(50 * time.Second)
	d.Advance(20 * time.Second)
	d.Tell(reported(1 << 30)).WakesIn(30 * time.Second)
	d.Tell(beats()).Sleeps()

	d = drive(t, leeward)
	d.Tell(silent(0), stored(""))
	d.Advance(30 * time.Second)
	d.Tell(stored("True")).WakesIn(50 * time.Second)
}

// TestALeaseThatIsRenewedTooSeldomLapses at its last renewal plus the grace period.
func TestALeaseThatIsRenewedTooSeldomLapses(t *testing.T) {
	d := drive(t, leeward)
	d.Tell(&messages.KubeletBeats{From: at(-30), Every: time.Minute}, stored("True")).WakesIn(50 * time.Second)
	d.QuietFor(50 * time.Second).WakesIn(30 * time.Second)
	isUnknown(t, d.Advance(30*time.Second))
	d = drive(t, kubernetes)
	d.Tell(&messages.KubeletBeats{From: at(-30), Every: time.Minute}, stored("True")).Told(lifecycle, observed("True", true))
	d = drive(t, leeward)
	d.Tell(beats(), stored("True"))
	d.Advance(19 * time.Second)
	d.Tell(&messages.KubeletBeats{From: at(-30), Every: time.Minute}).WakesIn(41 * time.Second)
}

// TestARecoveredNodeLosesItsTaints: it keeps its NoExecute taint until the next pass in Kubernetes, and loses both immediately in Leeward.
func TestARecoveredNodeLosesItsTaints(t *testing.T) {
	was := []string{unreachable + ":NoSchedule", unreachable + ":NoExecute"}
	d := drive(t, kubernetes)
	d.Tell(silent(0), stored("Unknown", was...))
	require.Equal(t, []string{"-" + unreachable + ":NoSchedule Ready=True"}, asked(d.Tell(beats(), stored("True", was...))))
	d.Told(lifecycle, observed("True", true))
	d.Tell(stored("True", unreachable+":NoExecute")).Quiet()
	d.QuietFor(3 * time.Second)
	require.Equal(t, []string{"-" + unreachable + ":NoExecute Ready=True"}, asked(d.Tell(pass)))
	d.Told(lifecycle, observed("True", false))

	d = drive(t, leeward)
	d.Tell(silent(0), stored("Unknown", was...))
	require.Equal(t, []string{
		"-" + unreachable + ":NoSchedule Ready=True", "-" + unreachable + ":NoExecute Ready=True",
	}, asked(d.Tell(beats(), stored("True", was...))))
	require.Len(t, actorstest.MailTo(d.Mail(), apiServer), 1, "one request")
}

// TestANodeThatRecoversLeavesItsQueue: in Kubernetes at the next pass.
func TestANodeThatRecoversLeavesItsQueue(t *testing.T) {
	for _, r := range both {
		d := drive(t, r)
		d.Tell(beats(), stored("False", notReady+":NoSchedule"))
		if r.AtPasses {
			d.Told(zoneAt("a")).Told(lifecycle, observed("False", true))
			d.Advance(time.Second)
			d.Tell(pass).Told(zoneAt("a"), queued(1)).Told(lifecycle, observed("False", false))
			d.Tell(pass).Quiet()
			d.Tell(stored("True")).Told(zoneAt("a"))
			d.Tell(pass).Told(zoneAt("a"), dequeued)
			continue
		}
		d.Told(zoneAt("a"), queued(0))
		d.Tell(stored("True")).Told(zoneAt("a"), dequeued)
		d.Tell(stored("True")).Quiet()
	}
}

// TestANodeThatItsZoneMayHavePassedOverIsQueuedAgain: while it waits it is Ready for a moment, or has no Ready condition, and who taints it
// then finds nothing to do.
func TestANodeThatItsZoneMayHavePassedOverIsQueuedAgain(t *testing.T) {
	for _, r := range both {
		for _, meanwhile := range []corev1.ConditionStatus{"True", ""} {
			d := drive(t, r)
			d.Tell(beats(), stored("False", notReady+":NoSchedule"))
			d.Tell(pass)
			d.Advance(time.Second)
			left := d.Tell(stored(meanwhile, notReady+":NoSchedule"))
			leaves := !r.AtPasses && meanwhile == "True"
			if leaves {
				left.Told(zoneAt("a"), dequeued)
			} else {
				left.Told(zoneAt("a"))
			}
			d.Advance(time.Second)
			d.Tell(stored("False", notReady+":NoSchedule"))
			if r.AtPasses {
				d.Told(zoneAt("a")).Told(lifecycle, observed("False", true))
				d.Tell(pass)
			}
			if leaves {
				d.Told(zoneAt("a"), queued(2))
			} else {
				d.Told(zoneAt("a"), dequeued, queued(2))
			}
			d.Tell(pass).Told(zoneAt("a"))
		}
	}
}

// TestOneFailureTaintIsExchangedForAnother: from False to Unknown in the pass that finds the silence, and from Unknown to False at the next.
func TestOneFailureTaintIsExchangedForAnother(t *testing.T) {
	ill := stored("False", notReady+":NoSchedule", notReady+":NoExecute")
	d := drive(t, kubernetes)
	d.Tell(silent(0), ill).Told(lifecycle, observed("False", true))
	for range 9 {
		d.Advance(period)
		d.Tell(pass).Quiet()
	}
	d.Advance(period)
	isUnknown(t, d.Tell(pass))
	require.Equal(t, []string{
		"+" + unreachable + ":NoSchedule Ready=Unknown", "+" + unreachable + ":NoExecute Ready=Unknown",
		"-" + notReady + ":NoSchedule Ready=Unknown", "-" + notReady + ":NoExecute Ready=Unknown",
	}, asked(d.Tell(stored("Unknown", notReady+":NoSchedule", notReady+":NoExecute"))))
	d.Tell(stored("Unknown", unreachable+":NoSchedule", unreachable+":NoExecute")).Quiet()
	d.Advance(time.Second)
	d.Tell(beats(), stored("False", notReady+":NoSchedule", unreachable+":NoExecute")).
		Told(apiServer).Told(lifecycle, observed("False", true))
	require.Equal(t, []string{
		"+" + notReady + ":NoExecute Ready=False", "-" + unreachable + ":NoExecute Ready=False",
	}, asked(d.Tell(pass)))
	d.Told(zoneAt("a"))

	d = drive(t, leeward)
	d.Tell(beats())
	require.Equal(t, []string{
		"+" + notReady + ":NoExecute Ready=False", "-" + unreachable + ":NoExecute Ready=False",
	}, asked(d.Tell(stored("False", notReady+":NoSchedule", unreachable+":NoExecute"))))
}

// TestHandMadeTaints: those of a healthy node live until the next pass in Kubernetes, and those removed from a dead one are back within a pass.
func TestHandMadeTaints(t *testing.T) {
	d := drive(t, kubernetes)
	d.Tell(beats(), stored("True"))
	d.Tell(stored("True", unreachable+":NoExecute", "mine:NoExecute")).Told(apiServer).Told(lifecycle, observed("True", true))
	d.QuietFor(time.Second)
	require.Equal(t, []string{"-" + unreachable + ":NoExecute Ready=True"}, asked(d.Tell(pass)))
	d.Tell(silent(0), stored("Unknown", unreachable+":NoSchedule", unreachable+":NoExecute")).Told(lifecycle, observed("Unknown", false))
	d.Tell(stored("Unknown", unreachable+":NoSchedule")).Told(zoneAt("a")).Told(lifecycle, observed("Unknown", true))
	d.QuietFor(time.Second)
	d.Tell(pass).Told(zoneAt("a"), queued(2))

	d = drive(t, leeward)
	d.Tell(beats(), stored("True"))
	require.Equal(t, []string{"-" + unreachable + ":NoExecute Ready=True"}, asked(d.Tell(stored("True", unreachable+":NoExecute"))))
	d.Tell(silent(0), stored("Unknown", unreachable+":NoSchedule")).Told(zoneAt("a"), queued(0))
	d.Tell(stored("Unknown", unreachable+":NoSchedule", unreachable+":NoExecute"))
	d.Advance(time.Second)
	d.Tell(stored("Unknown", unreachable+":NoSchedule")).Told(zoneAt("a"), queued(1))
	require.Equal(t, []string{"-" + notReady + ":NoExecute Ready=Unknown"},
		asked(d.Tell(stored("Unknown", unreachable+":NoSchedule", unreachable+":NoExecute", notReady+":NoExecute"))))
}

// TestANodeIsReportedOnce, at a pass in Kubernetes, and its NoExecute taints wait for what comes of that.
func TestANodeIsReportedOnce(t *testing.T) {
	d := drive(t, kubernetes)
	d.Tell(silent(0), stored("True"))
	d.Advance(50 * time.Second)
	d.Tell(stored("True", unreachable+":NoExecute")).Told(apiServer)
	isUnknown(t, d.Tell(pass))
	require.Len(t, actorstest.MailTo(d.Mail(), apiServer), 1)
	d.Tell(stored("Unknown", unreachable+":NoSchedule", unreachable+":NoExecute")).Told(apiServer)

	d = drive(t, leeward)
	d.Tell(silent(0), stored("True"))
	isUnknown(t, d.Advance(grace))
	d.Tell(like(stored("True"), func(o *corev1.Node) { o.Labels["x"] = "y" })).Told(apiServer).Sleeps()
}

// TestDisruptionThatEndsInItsInstant changes nothing.
func TestDisruptionThatEndsInItsInstant(t *testing.T) {
	for _, r := range both {
		d := drive(t, r)
		d.Tell(silent(0), stored("Unknown", unreachable+":NoSchedule", unreachable+":NoExecute"))
		d.Tell(&messages.NodesDisrupted{}, &messages.NodesDisrupted{Over: true}).Quiet()
	}
}

// TestANodeThatChangesItsZone leaves the queue of the old one; in Kubernetes it is in that of the new one at the next pass.
func TestANodeThatChangesItsZone(t *testing.T) {
	moved := like(stored("Unknown", unreachable+":NoSchedule"), func(o *corev1.Node) { o.Labels[corev1.LabelTopologyZone] = "b" })
	for _, r := range both {
		d := drive(t, r)
		d.Tell(silent(0), stored("Unknown", unreachable+":NoSchedule"))
		d.Tell(pass)
		d.QuietFor(time.Second)
		d.Tell(moved).Told(zoneAt("a"), gone(r))
		if r.AtPasses {
			d.Told(zoneAt("b")).Told(lifecycle, &messages.NodeObserved{Node: self, Zone: "b", Ready: "Unknown", Counted: true, Waits: true})
			d.Tell(pass)
		}
		d.Told(zoneAt("b"), queued(1))
	}
}

func TestALabelTakesANodeOutOfTheCounts(t *testing.T) {
	d := drive(t, leeward)
	d.Tell(beats(), like(stored("True"), func(o *corev1.Node) { o.Labels = map[string]string{"node.kubernetes.io/exclude-disruption": ""} })).
		Told(lifecycle, &messages.NodeObserved{Node: self, Ready: "True"})
}

// TestARestartForgetsFullDisruption until the first pass has found it again: the node waits meanwhile.
func TestARestartForgetsFullDisruption(t *testing.T) {
	for _, disrupted := range []bool{false, true} {
		d := drive(t, kubernetes)
		d.Tell(silent(0), stored("Unknown", unreachable+":NoSchedule"))
		d.Tell(pass, &messages.NodesDisrupted{})
		d.Advance(time.Second)
		d.Tell(pass).Told(zoneAt("a"))
		if again := []messages.ToNode{&messages.ControllersRestarted{}, pass}; disrupted {
			d.Tell(append(again, &messages.NodesDisrupted{})...).Told(zoneAt("a"))
		} else {
			d.Tell(again...).Told(zoneAt("a"), queued(1))
		}
	}
}

// TestFullDisruption takes all failure taints off. When it is over, nodes that are Unknown are queued immediately, others have fresh grace.
func TestFullDisruption(t *testing.T) {
	for _, r := range both {
		d := drive(t, r)
		d.Tell(silent(0), stored("Unknown", unreachable+":NoSchedule"))
		d.Tell(pass)
		d.Tell(stored("Unknown", unreachable+":NoSchedule", unreachable+":NoExecute", "mine:NoExecute"))
		d.Advance(time.Second)
		n := d.Tell(&messages.NodesDisrupted{})
		n.Told(zoneAt("a"), dequeued)
		require.Equal(t, []string{"-" + unreachable + ":NoExecute every zone is fully disrupted"}, asked(n))
		d.Tell(stored("Unknown", unreachable+":NoSchedule", "mine:NoExecute")).Quiet()
		d.Advance(time.Second)
		d.Tell(pass).Quiet()
		d.Tell(&messages.NodesDisrupted{Over: true}).Told(zoneAt("a"), queued(2))

		d = drive(t, r)
		d.Tell(silent(0), stored("True"))
		d.Advance(45 * time.Second)
		d.Tell(&messages.NodesDisrupted{}).Quiet()
		d.Tell(&messages.NodesDisrupted{Over: true}).Quiet()
		if r.AtPasses {
			d.Advance(45 * time.Second)
			d.Tell(pass).Quiet()
			d.Advance(5 * time.Second)
			isUnknown(t, d.Tell(pass))
		} else {
			isUnknown(t, d.WakesIn(grace).Advance(grace))
		}
	}
}

// TestDisruptionTakesOffWhatIsOnItsWay: a taint that was asked for when disruption began goes when it has come.
func TestDisruptionTakesOffWhatIsOnItsWay(t *testing.T) {
	d := drive(t, leeward)
	d.Tell(beats(), stored("False", notReady+":NoSchedule", unreachable+":NoExecute"))
	d.Tell(&messages.NodesDisrupted{}).Quiet()
	require.Equal(t, []string{"-" + notReady + ":NoExecute every zone is fully disrupted"},
		asked(d.Tell(stored("False", notReady+":NoSchedule", notReady+":NoExecute"))))
	d.Tell(stored("False", notReady+":NoSchedule")).Quiet()
}

// TestARestart of the controllers takes every failure taint off in Kubernetes, and the first pass adds it again; grace periods begin again.
func TestARestartOfTheControllers(t *testing.T) {
	dead := stored("Unknown", unreachable+":NoSchedule", unreachable+":NoExecute")
	d := drive(t, kubernetes)
	d.Tell(silent(0), dead)
	d.Advance(7 * time.Second)
	require.Equal(t, []string{"-" + unreachable + ":NoExecute the controllers restarted"}, asked(d.Tell(&messages.ControllersRestarted{})))
	d.Tell(pass).Quiet()
	d.Tell(stored("Unknown", unreachable+":NoSchedule")).Told(zoneAt("a"), queued(7))

	d = drive(t, leeward)
	d.Tell(silent(0), dead)
	d.Tell(&messages.ControllersRestarted{}).Quiet()

	d = drive(t, leeward)
	d.Tell(silent(0), stored("True")).WakesIn(grace)
	d.Advance(40 * time.Second)
	d.Tell(&messages.ControllersRestarted{}).Quiet().WakesIn(grace)
}

func TestANodeThatIsForgottenLeavesItsQueue(t *testing.T) {
	for _, r := range both {
		d := drive(t, r)
		d.Tell(&messages.NodeForgotten{}).Quiet().Sleeps()
		d.Tell(silent(0), stored("Unknown", unreachable+":NoSchedule"))
		d.Tell(pass)
		d.Tell(&messages.NodeForgotten{}).Told(zoneAt("a"), gone(r)).
			Told(lifecycle, &messages.NodeObserved{Node: self, Gone: true}).Sleeps()
		d.Tell(&messages.NodeForgotten{}, pass, beats(), &messages.NodesDisrupted{Over: true}).Quiet().Sleeps()
		d.Tell(stored("True")).Told(lifecycle, observed("True", false))
	}
}

func TestTheOrderOfMessagesAtOneInstantDoesNotMatter(t *testing.T) {
	for _, r := range both {
		var first []messages.Message
		ways := 0
		actorstest.EveryWay(func(choose actorstest.Choose) {
			d := drive(t, r)
			d.Tell(silent(0), stored("False", notReady+":NoSchedule", notReady+":NoExecute"))
			d.Advance(55 * time.Second)
			var all []messages.Message
			for _, instant := range [][]messages.ToNode{
				actorstest.Interleave(choose,
					[]messages.ToNode{&messages.ControllersRestarted{}},
					[]messages.ToNode{pass, &messages.NodesDisrupted{Over: true}},
					[]messages.ToNode{stored("Unknown", notReady+":NoExecute"), stored("Unknown")},
					[]messages.ToNode{beats(), silent(40)},
				),
				{stored("Unknown", unreachable+":NoSchedule")},
				{beats(), stored("True", unreachable+":NoExecute")},
			} {
				d.Tell(instant...)
				for _, m := range d.Mail() {
					all = append(all, m.Message)
				}
				d.Advance(time.Second)
			}
			if ways++; first == nil {
				first = all
			}
			require.Equal(t, first, all)
		})
		require.Equal(t, 630, ways)
	}
}

// TestANodeThatIsCreatedAgainInOneInstant is another one, whatever else is heard in it.
func TestANodeThatIsCreatedAgainInOneInstant(t *testing.T) {
	for _, r := range both {
		var first []messages.Message
		actorstest.EveryWay(func(choose actorstest.Choose) {
			d := drive(t, r)
			d.Tell(silent(0), stored("Unknown", unreachable+":NoSchedule"))
			d.Tell(pass)
			d.Advance(time.Second)
			d.Tell(actorstest.Interleave(choose,
				[]messages.ToNode{&messages.NodeForgotten{}, stored("False", notReady+":NoSchedule")},
				[]messages.ToNode{pass},
				[]messages.ToNode{&messages.ControllersRestarted{}},
				[]messages.ToNode{beats()},
			)...)
			var all []messages.Message
			for _, m := range d.Mail() {
				all = append(all, m.Message)
			}
			if first == nil {
				first = all
			}
			require.Equal(t, first, all)
		})
		require.Equal(t, []messages.Message{
			gone(r), &messages.NodeObserved{Node: self, Gone: true}, queued(1), observed("False", false),
		}, first)
	}
}

// TestDisruptionSparesWhatThePassHasNotSeen: a taint that came while the pass was under way stays, as its writer had an older node at hand.
func TestDisruptionSparesWhatThePassHasNotSeen(t *testing.T) {
	d := drive(t, kubernetes)
	d.Tell(silent(0), stored("Unknown", unreachable+":NoSchedule"))
	d.Tell(pass)
	d.Tell(like(stored("Unknown", unreachable+":NoSchedule", unreachable+":NoExecute"), func(o *corev1.Node) {
		o.Spec.Taints[1].TimeAdded = &metav1.Time{Time: actorstest.Start.Add(50 * time.Millisecond)}
	}))
	d.Advance(60 * time.Millisecond)
	require.Empty(t, asked(d.Tell(&messages.NodesDisrupted{Pass: actorstest.Start})))
	require.Equal(t, []string{"-" + unreachable + ":NoExecute every zone is fully disrupted"},
		asked(d.Tell(&messages.NodesDisrupted{Pass: actorstest.Start.Add(time.Second)})))
}
