package node

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

// failure are the keys of the failure taints: what the Ready condition of a node asks for, with the effect NoExecute.
var failure = []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}

// taintChanges collects what the API server is asked to change.
type taintChanges struct {
	add, remove        []corev1.Taint
	whyAdd, whyRemoved []string
}

func (c *taintChanges) ask(node messages.NodeName, out *actors.Outbox) {
	if len(c.add)+len(c.remove) > 0 {
		out.TellAPIServer(&messages.ChangeTaints{
			Node: node, Add: c.add, Remove: c.remove, Because: slices.Concat(c.whyAdd, c.whyRemoved),
		})
	}
}

// keepNoSchedule has the NoSchedule taints say what conditions and cordon say.
func (n *Node) keepNoSchedule(c *taintChanges) {
	if n.asked.noSchedule {
		return
	}
	s := nodelife.NoSchedule(n.object.Spec.Taints, n.object.Status.Conditions, n.object.Spec.Unschedulable)
	n.asked.noSchedule = len(s.Add)+len(s.Remove) > 0
	c.add, c.whyAdd = append(c.add, s.Add...), append(c.whyAdd, s.Because[:len(s.Add)]...)
	c.remove, c.whyRemoved = append(c.remove, s.Remove...), append(c.whyRemoved, s.Because[len(s.Add):]...)
}

// keepNoExecute does what the Ready condition asks for, if it is time to look. A node that changes its zone is no more of the queue of the old one
// in any case.
func (n *Node) keepNoExecute(now time.Time, h heard, c *taintChanges, out *actors.Outbox) {
	if n.queue.told && n.queue.zone != n.zone {
		n.leave(out)
	}
	if n.tainted() {
		n.queue.waits = false
	}
	if n.asked.noExecute || n.asked.unknown || !n.looks(now, h) {
		return
	}
	swap := nodelife.NoExecute(n.ready())
	switch n.step() {
	case nodelife.Queue:
		n.enqueue(now, swap.Add, out)
	case nodelife.Exchange:
		if n.find(swap.Add) < 0 {
			c.add = append(c.add, corev1.Taint{Key: swap.Add, Effect: corev1.TaintEffectNoExecute})
			c.whyAdd = append(c.whyAdd, nodelife.Because(corev1.NodeReady, n.ready()))
		}
		n.remove(swap.Remove, nodelife.Because(corev1.NodeReady, n.ready()), c)
	case nodelife.Clear:
		n.remove(swap.Remove, nodelife.Because(corev1.NodeReady, n.ready()), c)
		n.dequeue(out)
	}
}

// looks reports whether NoExecute taints are looked at now. In Kubernetes that is in a pass, which goes on with what was stored because of it,
// and when disruption ends.
func (n *Node) looks(now time.Time, h heard) bool {
	return !n.rules.AtPasses || h.pass || h.resume || n.passed.Equal(now) && n.open.Equal(now)
}

// step is what the NoExecute taints need; nothing is added while all zones are fully disrupted.
func (n *Node) step() nodelife.Step {
	step := nodelife.StepOf(n.object.Spec.Taints, n.ready())
	if n.disrupted && step != nodelife.Clear {
		return nodelife.Stay
	}
	return step
}

// due reports whether a look at the NoExecute taints would do anything.
func (n *Node) due() bool {
	if n.asked.noExecute {
		return false
	}
	switch n.step() {
	case nodelife.Exchange:
		return true
	case nodelife.Queue:
		return !n.queue.waits || n.queue.doubted
	case nodelife.Clear:
		return n.tainted() || n.queue.told
	}
	return false
}

// tainted reports whether the node has a failure taint.
func (n *Node) tainted() bool {
	return slices.ContainsFunc(failure, func(key string) bool { return n.find(key) >= 0 })
}

// strip takes all failure taints off, whatever Ready asks for. Where a change is on its way, it waits for what that comes to.
func (n *Node) strip(now time.Time, c *taintChanges) {
	if n.strips == "" || n.asked.noExecute {
		return
	}
	if n.remove(n.known(), n.strips, c); n.asked.noExecute {
		n.open = now
	}
	n.strips = ""
}

// known are the failure taints that the pass has seen which found all zones disrupted. A restart finds all.
func (n *Node) known() []string {
	if !n.disrupted || n.seen.IsZero() {
		return failure
	}
	return slices.DeleteFunc(slices.Clone(failure), func(key string) bool {
		i := n.find(key)
		return i >= 0 && n.object.Spec.Taints[i].TimeAdded != nil && n.object.Spec.Taints[i].TimeAdded.After(n.seen)
	})
}

// remove asks for the removal of those NoExecute taints that the node has.
func (n *Node) remove(keys []string, because string, c *taintChanges) {
	for _, key := range keys {
		if n.find(key) < 0 {
			continue
		}
		n.asked.noExecute = true
		c.remove = append(c.remove, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute})
		c.whyRemoved = append(c.whyRemoved, because)
	}
}

// find returns the index of a NoExecute taint, -1 if the node has none with this key.
func (n *Node) find(key string) int {
	return taint.Find(n.object.Spec.Taints, key, corev1.TaintEffectNoExecute)
}

// enqueue tells the zone that the node waits for its taint, once, and again where it may have been passed over.
func (n *Node) enqueue(now time.Time, key string, out *actors.Outbox) {
	if n.queue.waits && !n.queue.doubted {
		return
	}
	if n.queue.waits {
		n.dequeue(out)
	}
	n.queue = queue{zone: n.zone, told: true, waits: true}
	out.TellZone(n.zone, &messages.NodeQueued{Node: n.name, Since: now})
	out.Record(&messages.NodeTaintQueued{
		Node: n.name, Zone: n.zone, Taint: corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute},
	})
}

// leave tells the zone that the node is not there any more. The queues of Kubernetes do not know, and keep its place.
func (n *Node) leave(out *actors.Outbox) {
	if n.rules.AtPasses && n.queue.waits {
		out.TellZone(n.queue.zone, &messages.NodeLeft{Node: n.name})
		n.queue = queue{}
	}
	n.dequeue(out)
}

// dequeue tells the zone that the node does not wait any more.
func (n *Node) dequeue(out *actors.Outbox) {
	if n.queue.told {
		out.TellZone(n.queue.zone, &messages.NodeDequeued{Node: n.name})
	}
	n.queue = queue{}
}
