// Package node is the machine of one node of a cluster: the node lifecycle controller of Kubernetes, as far as it concerns one node. It
// keeps the NoSchedule taints that conditions and cordons ask for, finds a kubelet that is silent, and sees that a node which is not Ready
// gets its NoExecute taint when the zone permits.
//
// Under the rules of Kubernetes heartbeats and NoExecute taints are looked at in health passes only. Under Leeward's rules a node is Unknown
// at its last heartbeat plus the grace period, exactly, and its taints follow its conditions immediately.
//
// A node collects what it hears in an instant, and acts when the instant has no more messages.
package node

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// Rules say how nodes are watched.
type Rules struct {
	// AtPasses has heartbeats and NoExecute taints looked at in health passes, as in Kubernetes. False: whenever anything changes.
	AtPasses bool
	// Grace is for how long a node may be silent, StartupGrace the same for one that never posted a Ready condition.
	// --node-monitor-grace-period, --node-startup-grace-period.
	Grace, StartupGrace time.Duration
	// KeepTaintsOverRestart has failure taints stay when the controllers restart. Kubernetes removes them, and adds them again at the rate of
	// the zone.
	KeepTaintsOverRestart bool
}

// Node is one node.
type Node struct {
	name  messages.NodeName
	rules Rules

	// object is the node as last stored; nil: it does not exist. zone is where its labels say that it is.
	object *corev1.Node
	zone   messages.ZoneName
	// stale is set where the node must be assessed at the end of this instant; heard is what else came in it.
	stale bool
	heard heard

	lease lease
	// reported is when the kubelet last reported a status. The grace period counts from fresh at the earliest: the instant from which
	// the controllers know the node.
	reported, fresh time.Time
	// passed is the instant of the last health pass. open is the last instant at which an answer of the API server was awaited that belongs
	// to the pass of that instant.
	passed, open time.Time
	period       time.Duration

	asked asked
	queue queue
	// disrupted is set while all zones are fully disrupted: no failure taint is asked for. strips is why the failure taints must go, until
	// that was asked for; empty: they need not.
	disrupted bool
	strips    string
	// seen is the instant of the pass that found the disruption: failure taints that are newer stay.
	seen time.Time
	// told is what the lifecycle knows of the node.
	told messages.NodeObserved
	// down: the controllers are.
	down bool
}

// heard is what a node was told in this instant.
type heard struct {
	// pass: to look at itself. restart: the controllers restarted. strip: disruption has begun. resume: disruption is over.
	pass, restart, strip, resume bool
}

// asked is what the API server was asked for on account of the object that is stored; its answer is another object.
type asked struct {
	noSchedule, noExecute bool
	// unknown is set where Ready is to become Unknown, for the heartbeat at since.
	unknown bool
	since   time.Time
}

// queue is what the node told zones.
type queue struct {
	// zone was told that the node waits, and not yet that it waits no more. waits: the taint has not come since.
	zone        messages.ZoneName
	told, waits bool
	// doubted: Ready has asked for no taint since, so the zone may have passed the node over.
	doubted bool
}

// New returns a node that does not exist yet; its first NodeStored creates it.
func New(name messages.NodeName, rules Rules) *Node { return &Node{name: name, rules: rules} }

// Receive routes a message to its transition.
func (n *Node) Receive(now time.Time, m messages.ToNode, out *actors.Outbox) {
	n.stale = true
	switch m := m.(type) {
	case *messages.NodeStored:
		n.stored(now, m.Object)
	case *messages.NodeForgotten:
		n.forgotten(out)
	case *messages.KubeletBeats:
		n.lease = lease{beats: true, from: m.From, every: m.Every, last: n.lease.renewed(now)}
	case *messages.KubeletSilent:
		n.lease = lease{last: m.Last}
	case *messages.HealthPass:
		n.heard.pass, n.passed, n.period = true, now, m.Period
	case *messages.NodesDisrupted:
		n.disrupted, n.seen = !m.Over, m.Pass
		n.heard.strip, n.heard.resume = !m.Over, m.Over
	case *messages.ControllersStopped:
		n.down = true
	case *messages.ControllersRestarted:
		n.heard.restart, n.down = true, false
	case *messages.Woken:
		n.assess(now, out)
	default:
		panic(fmt.Sprintf("node %s: unknown message %T", n.name, m))
	}
	out.WakeAt(n.next(now))
}

// stored takes over the object. A status that the kubelet reported is a heartbeat.
func (n *Node) stored(now time.Time, object *corev1.Node) {
	before := n.object
	n.object, n.zone = object, messages.ZoneName(nodelife.ZoneOf(object.Labels).String())
	n.asked.noSchedule, n.asked.noExecute, n.asked.unknown = false, false, false
	n.queue.doubted = n.queue.doubted || nodelife.NoExecute(n.ready()).Add == ""
	beat := heartbeat(object)
	switch {
	case before == nil && beat == nil:
		n.fresh = object.CreationTimestamp.Time
		if n.fresh.IsZero() || n.fresh.After(now) {
			n.fresh = now
		}
	case before == nil:
		n.fresh = now
	case beat != nil && heartbeat(before) == nil:
		n.reported = now
	case beat != nil && !beat.Equal(*heartbeat(before)):
		n.reported = actors.Later(n.reported, earlier(*beat, now))
	}
}

// heartbeat is when the kubelet reported the Ready condition; nil: it never did.
func heartbeat(object *corev1.Node) *time.Time {
	if i := find(object, corev1.NodeReady); i >= 0 {
		return &object.Status.Conditions[i].LastHeartbeatTime.Time
	}
	return nil
}

// earlier is the earlier of two instants: what an object says of the future is not believed.
func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}

// forgotten forgets the node, but not its kubelet, which may be that of a next node with this name.
func (n *Node) forgotten(out *actors.Outbox) {
	if n.object == nil {
		return
	}
	n.leave(out)
	out.TellNodeLifecycle(&messages.NodeObserved{Node: n.name, Gone: true})
	*n = Node{
		name: n.name, rules: n.rules, lease: n.lease, down: n.down,
		stale: true, heard: n.heard, passed: n.passed, period: n.period,
	}
}

// next is when the node must act by itself; zero: only when it is told something.
func (n *Node) next(now time.Time) time.Time {
	switch {
	case n.down:
		return time.Time{}
	case n.stale:
		return now
	case n.rules.AtPasses || !n.expires(now):
		return time.Time{}
	}
	return n.heartbeat(now).Add(n.grace())
}

// ready is the status of the Ready condition, empty if there is none.
func (n *Node) ready() corev1.ConditionStatus { return nodelife.Ready(n.object.Status.Conditions) }

// find returns the index of a condition, -1 if there is none.
func find(object *corev1.Node, of corev1.NodeConditionType) int {
	for i := range object.Status.Conditions {
		if object.Status.Conditions[i].Type == of {
			return i
		}
	}
	return -1
}
