package node

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// beats is what is known of the heartbeat of a kubelet: the renewals of its Lease, without a message for each.
type beats struct {
	// from and every say when the Lease is renewed, while the kubelet is not silent; last is when it was last renewed, where it is.
	from   time.Time
	every  time.Duration
	silent bool
	last   time.Time
	// renewed is when a grace period began again for another reason; zero: never.
	renewed time.Time
}

// heartbeat is the newest sign of life: of the Lease, a status that the kubelet reported, and what counts as one.
func (n *Node) heartbeat(now time.Time) time.Time {
	b := &n.beats
	newest := actors.Later(b.renewed, b.last)
	if !b.silent && b.every > 0 && !b.from.After(now) {
		newest = actors.Later(newest, b.from.Add(now.Sub(b.from)/b.every*b.every))
	}
	if c := condition(n.object, corev1.NodeReady); c != nil {
		return actors.Later(newest, c.LastHeartbeatTime.Time)
	}
	return actors.Later(newest, n.object.CreationTimestamp.Time)
}

// grace is how long a heartbeat may be missing.
func (n *Node) grace() time.Duration {
	if condition(n.object, corev1.NodeReady) == nil {
		return n.rules.StartupGrace
	}
	return n.rules.Grace
}

// overdue reports whether the node must be declared Unknown now. At passes a heartbeat counts from the first one that saw it, and
// must be missing for longer than the grace period.
func (n *Node) overdue(now time.Time) bool {
	if nodelife.Ready(n.object.Status.Conditions) == corev1.ConditionUnknown || n.lives() {
		return false
	}
	last := n.heartbeat(now)
	if !n.rules.AtPasses {
		return !last.Add(n.grace()).After(now)
	}
	if n.pass <= 0 {
		return false
	}
	seen := now.Add(-(now.Sub(last) / n.pass * n.pass))
	return seen.Add(n.grace()).Before(now)
}

// lives reports whether the kubelet renews its Lease.
func (n *Node) lives() bool { return !n.beats.silent && n.beats.every > 0 }

// due is when the heartbeat will have been missing for too long; zero: passes look at it, or it is not missing.
func (n *Node) due(now time.Time) time.Time {
	if n.rules.AtPasses || n.lives() || nodelife.Ready(n.object.Status.Conditions) == corev1.ConditionUnknown {
		return time.Time{}
	}
	if at := n.heartbeat(now).Add(n.grace()); at.After(now) {
		return at
	}
	return time.Time{} // it was just declared
}

// unheard are the conditions of which nothing is known while the heartbeat is missing. Source: the node lifecycle controller.
var unheard = []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure}

// declareUnknown says of those conditions that they are not known.
func (n *Node) declareUnknown(out *actors.Outbox) {
	m := &messages.ReportNode{Node: n.name, By: "node lifecycle"}
	for _, of := range unheard {
		c := corev1.NodeCondition{
			Type: of, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.",
		}
		if condition(n.object, of) == nil {
			c.Reason, c.Message = "NodeStatusNeverUpdated", "Kubelet never posted node status."
		}
		m.Conditions = append(m.Conditions, c)
	}
	out.TellAPIServer(m)
}

func condition(o *corev1.Node, of corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range o.Status.Conditions {
		if o.Status.Conditions[i].Type == of {
			return &o.Status.Conditions[i]
		}
	}
	return nil
}
