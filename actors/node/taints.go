package node

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

// failureTaints are the NoExecute taints that Ready asks for.
var failureTaints = []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}

func hasFailureTaint(o *corev1.Node) bool {
	for _, key := range failureTaints {
		if taint.Find(o.Spec.Taints, key, corev1.TaintEffectNoExecute) >= 0 {
			return true
		}
	}
	return false
}

// retaintNoSchedule has the NoSchedule taints say what conditions and cordon do. What was asked for already is asked for once more where
// something else happens before the answer: the API server passes it over.
func (n *Node) retaintNoSchedule(out *actors.Outbox) {
	c := nodelife.NoSchedule(n.object.Spec.Taints, n.object.Status.Conditions, n.object.Spec.Unschedulable)
	if len(c.Add)+len(c.Remove) == 0 {
		return
	}
	m := &messages.ChangeTaints{Node: n.name, Add: c.Add, Remove: c.Remove, Because: c.Because}
	for i := range c.Remove {
		m.Because = append(m.Because, n.superfluous(&c.Remove[i]))
	}
	out.TellAPIServer(m)
}

// superfluous is why nothing asks for an owned taint.
func (n *Node) superfluous(t *corev1.Taint) string {
	switch t.Key {
	case corev1.TaintNodeUnschedulable:
		return "the node is schedulable"
	case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable:
		return readyIs(nodelife.Ready(n.object.Status.Conditions))
	}
	return "no condition asks for it"
}

// readyIs names the status of Ready.
func readyIs(status corev1.ConditionStatus) string {
	if status == "" {
		return "it has not reported"
	}
	return "Ready=" + string(status)
}

// rezone takes a node that has moved to another zone out of the queue of the old one. One that got its taint has left the queue.
func (n *Node) rezone(out *actors.Outbox) {
	if hasFailureTaint(n.object) {
		n.queued = false
	}
	if n.queued && n.zone != zoneOf(n.object) {
		n.dequeue(out)
	}
}

func (n *Node) dequeue(out *actors.Outbox) {
	if n.queued {
		out.TellZone(n.zone, &messages.NodeDequeued{Node: n.name})
		n.queued = false
	}
}

// retaintNoExecute brings the node towards the NoExecute taint that Ready asks for: none while all zones are disrupted.
func (n *Node) retaintNoExecute(now time.Time, ready corev1.ConditionStatus, out *actors.Outbox) {
	swap := nodelife.NoExecute(ready)
	switch nodelife.StepOf(n.object.Spec.Taints, ready) {
	case nodelife.Clear:
		n.dequeue(out)
		n.clearFailureTaints("Ready=True", out)
	case nodelife.Exchange:
		m := &messages.ChangeTaints{Node: n.name, Add: []corev1.Taint{{Key: swap.Add, Effect: swap.Effect}}, Because: []string{readyIs(ready), readyIs(ready)}}
		m.Remove = []corev1.Taint{{Key: swap.Remove[0], Effect: swap.Effect}}
		n.dequeue(out)
		out.TellAPIServer(m)
	case nodelife.Queue:
		n.enqueue(now, corev1.Taint{Key: swap.Add, Effect: swap.Effect}, out)
	case nodelife.Stay:
		n.dequeue(out)
	}
}

// enqueue has the node wait in its zone for a taint.
func (n *Node) enqueue(now time.Time, t corev1.Taint, out *actors.Outbox) {
	if n.queued || n.disrupted {
		return
	}
	n.zone, n.queued = zoneOf(n.object), true
	out.Record(&messages.NodeTaintQueued{Node: n.name, Zone: n.zone, Taint: t})
	out.TellZone(n.zone, &messages.NodeQueued{Node: n.name, Since: now})
}

// clearFailureTaints takes the NoExecute taints off that Ready had asked for.
func (n *Node) clearFailureTaints(because string, out *actors.Outbox) {
	n.dequeue(out)
	m := &messages.ChangeTaints{Node: n.name}
	for _, key := range failureTaints {
		if taint.Find(n.object.Spec.Taints, key, corev1.TaintEffectNoExecute) >= 0 {
			m.Remove = append(m.Remove, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute})
			m.Because = append(m.Because, because)
		}
	}
	if len(m.Remove) > 0 {
		out.TellAPIServer(m)
	}
}
