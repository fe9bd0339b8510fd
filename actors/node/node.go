// Package node is the machine of one node. It has the taints of the node say what its conditions do: those with NoSchedule immediately, those
// with NoExecute at the rate of its zone. It waits for the heartbeat of its kubelet, and declares the node Unknown where that is missing
// for too long. Under the rules of Kubernetes it does so at the health passes of the node lifecycle only.
//
// node.go is the switch and what a node knows, health.go the heartbeat, taints.go the taints.
package node

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// Rules say how a node is looked after.
type Rules struct {
	// AtPasses has a node declared Unknown, and its NoExecute taints changed, at health passes only, as in Kubernetes. False: when it is due.
	AtPasses bool
	// Grace is how long the heartbeat may be missing, StartupGrace how long the first report.
	Grace, StartupGrace time.Duration
	// KeepTaintsOverRestart leaves the taints of a failed node when the controllers start. In Kubernetes they go.
	KeepTaintsOverRestart bool
}

// Node is one node.
type Node struct {
	name  messages.NodeName
	rules Rules
	// object is the node as last stored; nil: it is not, or no longer, there.
	object *corev1.Node
	beats  beats
	// zone is where the node waits for its taint, if queued.
	zone   messages.ZoneName
	queued bool
	// disrupted: every zone is fully disrupted, no failure taint is added.
	disrupted bool
	// told is what the lifecycle was told last.
	told messages.NodeObserved
	// pass is the period of the health pass of this instant, zero where there is none; clear is why the failure taints are to go in
	// this instant, empty where they are not; queue is set where the node is to get its taint without waiting for a pass.
	pass  time.Duration
	clear string
	queue bool
}

// New returns a node of which nothing is known yet; its first message is NodeStored.
func New(name messages.NodeName, rules Rules) *Node {
	return &Node{name: name, rules: rules, told: messages.NodeObserved{Node: name, Gone: true}}
}

// Receive takes a message; what follows from those of an instant is done at its end, in whatever order they came.
func (n *Node) Receive(now time.Time, m messages.ToNode, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.NodeStored:
		n.object = m.Object
	case *messages.NodeForgotten:
		n.object = nil
	case *messages.KubeletBeats:
		n.beats.from, n.beats.every, n.beats.silent = m.From, m.Every, false
	case *messages.KubeletSilent:
		n.beats.last, n.beats.silent = m.Last, true
	case *messages.HealthPass:
		n.pass = m.Period
	case *messages.NodesDisrupted:
		n.disruptionChanged(now, m)
	case *messages.ControllersRestarted:
		n.restarted(now)
	case *messages.Woken:
		n.look(now, out)
		return
	default:
		panic(fmt.Sprintf("node %s: unknown message %T", n.name, m))
	}
	out.WakeAt(now)
}

// disruptionChanged has the failure taints go, or come again: who is not Unknown yet gets a fresh grace period.
func (n *Node) disruptionChanged(now time.Time, m *messages.NodesDisrupted) {
	n.disrupted, n.queue = !m.Over, m.Over
	if m.Over {
		n.beats.renewed = now
	} else {
		n.clear = "every zone is fully disrupted"
	}
}

// restarted forgets what controllers keep in memory: queues, and in Kubernetes when the heartbeat was seen.
func (n *Node) restarted(now time.Time) {
	n.queued, n.disrupted = false, false
	n.told = messages.NodeObserved{Node: n.name, Gone: true}
	if !n.rules.KeepTaintsOverRestart {
		n.clear = "the controllers started"
	}
	if n.rules.AtPasses {
		n.beats.renewed = now
	}
}

// look does what the node's state asks for now, and waits for what is next.
func (n *Node) look(now time.Time, out *actors.Outbox) {
	defer func() { n.pass, n.clear, n.queue = 0, "", false }()
	if n.object == nil {
		n.forget(out)
		return
	}
	ready := nodelife.Ready(n.object.Status.Conditions)
	if n.overdue(now) {
		n.declareUnknown(out)
		ready = corev1.ConditionUnknown
	}
	n.retaintNoSchedule(out)
	n.rezone(out)
	switch {
	case n.clear != "":
		n.clearFailureTaints(n.clear, out)
	case n.pass > 0 || n.queue || !n.rules.AtPasses:
		n.retaintNoExecute(now, ready, out)
	}
	n.observe(ready, out)
	out.WakeAt(n.due(now))
}

// forget tells those concerned that the node is gone.
func (n *Node) forget(out *actors.Outbox) {
	n.dequeue(out)
	if !n.told.Gone {
		n.told = messages.NodeObserved{Node: n.name, Zone: n.told.Zone, Gone: true}
		gone := n.told
		out.TellNodeLifecycle(&gone)
	}
	out.WakeAt(time.Time{})
}

// observe tells the lifecycle what counts for the zone, and whether the node waits for passes.
func (n *Node) observe(ready corev1.ConditionStatus, out *actors.Outbox) {
	o := messages.NodeObserved{
		Node: n.name, Zone: zoneOf(n.object), Ready: ready, Counted: nodelife.Counted(n.object.Labels),
		Waits: n.rules.AtPasses && (n.beats.silent || ready != corev1.ConditionTrue || hasFailureTaint(n.object)),
	}
	if o != n.told {
		n.told = o
		out.TellNodeLifecycle(&o)
	}
}

func zoneOf(o *corev1.Node) messages.ZoneName {
	return messages.ZoneName(nodelife.ZoneOf(o.Labels).String())
}
