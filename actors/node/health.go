package node

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// ByLifecycle is who reports the conditions of a node whose heartbeat is missing.
const ByLifecycle = "node lifecycle"

// assess looks at what was heard in this instant, in an order of its own, and does what follows from it.
func (n *Node) assess(now time.Time, out *actors.Outbox) {
	h := n.heard
	n.stale, n.heard = false, heard{}
	if n.object == nil {
		return
	}
	var c taintChanges
	n.restarted(now, h, out)
	n.disruption(now, h, out)
	n.strip(now, &c)
	n.expire(now, h, out)
	n.keepNoSchedule(&c)
	n.keepNoExecute(now, h, &c, out)
	c.ask(n.name, out)
	n.observe(now, out)
}

// restarted begins the grace period again. In Kubernetes every known node is new to controllers that have restarted, and a new node loses its
// failure taints and its place in the queue.
func (n *Node) restarted(now time.Time, h heard, out *actors.Outbox) {
	if !h.restart {
		return
	}
	n.fresh = now
	if n.rules.AtPasses && !h.strip {
		n.disrupted = false // until the first pass has found it again
	}
	if !n.rules.KeepTaintsOverRestart {
		n.strips = "the controllers restarted"
		n.dequeue(out)
	}
}

// disruption takes the failure taints off while all zones are fully disrupted. When one no longer is, the grace period begins again.
func (n *Node) disruption(now time.Time, h heard, out *actors.Outbox) {
	if h.strip {
		n.strips = "every zone is fully disrupted"
		n.dequeue(out)
	}
	if h.resume {
		n.fresh = now
	}
}

// expires reports whether the heartbeat of the node can become too old.
func (n *Node) expires(now time.Time) bool {
	if n.object == nil || n.ready() == corev1.ConditionUnknown || !n.lease.lapses(now, n.grace()) {
		return false
	}
	return !n.asked.unknown && !n.asked.since.Equal(n.heartbeat(now))
}

// heartbeat is the last sign of life: a renewal of the Lease or a report of the status. That of a node without one is its creation.
func (n *Node) heartbeat(now time.Time) time.Time {
	return actors.Later(n.fresh, actors.Later(n.reported, n.lease.renewed(now)))
}

// grace is how old a heartbeat may be.
func (n *Node) grace() time.Duration {
	if n.ready() == "" {
		return n.rules.StartupGrace
	}
	return n.rules.Grace
}

// expire reports the conditions of a node as Unknown when its heartbeat is too old. In Kubernetes a heartbeat counts from the pass that finds it. The
// controller asks for more than the grace period, and has it after as many periods: its passes are a period and their own duration apart.
func (n *Node) expire(now time.Time, h heard, out *actors.Outbox) {
	if !n.expires(now) {
		return
	}
	last := n.heartbeat(now)
	from := last
	if n.rules.AtPasses {
		from = passFrom(last, now, n.period)
	}
	if n.rules.AtPasses && !h.pass || now.Before(from.Add(n.grace())) {
		return
	}
	n.asked.unknown, n.asked.since, n.open = true, last, now
	out.TellAPIServer(&messages.ReportNode{Node: n.name, Conditions: n.unknown(now), By: ByLifecycle})
}

// passFrom is the first pass at or after an instant, where one is now and passes are a period apart.
func passFrom(from, now time.Time, period time.Duration) time.Time {
	if period <= 0 || !from.Before(now) {
		return from
	}
	return now.Add(-(now.Sub(from) / period * period))
}

// unknown are the conditions of a node whose kubelet is silent. NetworkUnavailable is not the kubelet's.
func (n *Node) unknown(now time.Time) (conditions []corev1.NodeCondition) {
	for _, of := range []corev1.NodeConditionType{
		corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure,
	} {
		i := find(n.object, of)
		if i >= 0 && n.object.Status.Conditions[i].Status == corev1.ConditionUnknown {
			continue
		}
		c := corev1.NodeCondition{
			Type: of, LastHeartbeatTime: n.object.CreationTimestamp,
			Reason: "NodeStatusNeverUpdated", Message: "Kubelet never posted node status.",
		}
		if i >= 0 {
			c = n.object.Status.Conditions[i]
			c.Reason, c.Message = "NodeStatusUnknown", "Kubelet stopped posting node status."
		}
		c.Status, c.LastTransitionTime = corev1.ConditionUnknown, metav1.Time{Time: now}
		conditions = append(conditions, c)
	}
	return conditions
}

// observe tells the lifecycle what it must know, if it does not know it. A node that was just reported as Unknown counts as that, so that its
// zone is assessed before its queue goes on.
func (n *Node) observe(now time.Time, out *actors.Outbox) {
	o := messages.NodeObserved{
		Node: n.name, Zone: n.zone, Ready: n.ready(),
		Counted: nodelife.Counted(n.object.Labels),
		Waits:   n.rules.AtPasses && (n.expires(now) || n.due()),
	}
	if n.asked.unknown {
		o.Ready = corev1.ConditionUnknown
	}
	if o != n.told {
		n.told = o
		out.TellNodeLifecycle(&o)
	}
}

// lease is what is known of the Lease of a node. Renewals are not told one by one: the kubelet says when it begins and when it stops.
type lease struct {
	// beats is set while the kubelet renews it, at from and every so often after it.
	beats bool
	from  time.Time
	every time.Duration
	// last is the last renewal of those before from; zero: there is none.
	last time.Time
}

// renewed returns the last renewal at or before an instant; zero: there is none.
func (l *lease) renewed(at time.Time) time.Time {
	switch {
	case !l.beats || at.Before(l.from):
		return l.last
	case l.every <= 0:
		return at
	}
	return actors.Later(l.last, at.Add(-(at.Sub(l.from) % l.every)))
}

// lapses reports whether a grace period can pass without a renewal.
func (l *lease) lapses(at time.Time, grace time.Duration) bool {
	return !l.beats || at.Before(l.from) || l.every > grace
}
