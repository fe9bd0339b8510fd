package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ToNode is what a node understands.
type ToNode interface{ toNode() }

// ToNodeLifecycle is what the node lifecycle understands.
type ToNodeLifecycle interface{ toNodeLifecycle() }

// NodeView is a node as schedulers and owners see it. A view that was sent never changes.
type NodeView struct {
	Name          NodeName
	Labels        map[string]string
	Taints        []corev1.Taint
	Unschedulable bool
	Allocatable   corev1.ResourceList
}

// NodeViewed carries a node as it now is, whenever any of it changed.
// From: API server. To: pod scheduler, every DaemonSet, the MachineSet of the node.
type NodeViewed struct{ View *NodeView }

// NodeGone says that a node was deleted. From: API server. To: pod scheduler, every DaemonSet, the MachineSet of the node.
type NodeGone struct{ Name NodeName }

// NodeStored carries a node as the API server has it, when it was created and whenever it changed. Objects that were sent never
// change. From: API server. To: node.
type NodeStored struct{ Object *corev1.Node }

// NodeForgotten says that the node does not exist any more; its machine ends. From: API server. To: node.
type NodeForgotten struct{}

// KubeletBeats says that the kubelet renews the Lease of its node at From, and every Every after it. From: kubelet. To: node.
type KubeletBeats struct {
	From  time.Time
	Every time.Duration
}

// KubeletSilent says that the kubelet promises no further renewal of the Lease: it has stopped, or is a real one, of which each renewal is
// heard. From: kubelet, ingress. To: node.
type KubeletSilent struct {
	// Last is when it renewed the Lease for the last time; zero: never.
	Last time.Time
}

// HealthPass has a node look at its heartbeat and its NoExecute taints. From: node lifecycle. To: every node that waits for passes.
type HealthPass struct {
	// Period is the time between two passes. A heartbeat counts from the first pass at or after it.
	Period time.Duration
}

// NodesDisrupted says that every zone is now fully disrupted, or, with Over, that one no longer is. In the first case all
// failure taints go, in the second every node that is not Unknown yet gets a fresh grace period.
// From: node lifecycle. To: every node.
type NodesDisrupted struct {
	Over bool
	// Pass is the instant of the health pass that found it, where passes last: what was tainted since it has not seen. Zero: it has seen all.
	Pass time.Time
}

// ControllersStopped says that the controllers are down: they hear, and do nothing, until they have restarted, which nodes and the node
// lifecycle are told by ControllersRestarted, and zones and owners by Over. From: ingress. To: every node, zone and owner, node lifecycle.
type ControllersStopped struct{ Over bool }

// ControllersRestarted says that the controllers have lost their memory: grace periods begin again, and in Kubernetes the failure
// taints of every node go first, and the limiters of zones are new. The API server tells all of its objects again.
// From: ingress. To: every node, API server, node lifecycle, which tells zones.
type ControllersRestarted struct{}

// NodeObserved says what the lifecycle must know of a node: what counts for its zone, and whether it waits for health passes.
// From: node. To: node lifecycle.
type NodeObserved struct {
	Node NodeName
	Zone ZoneName
	// Ready is the status of its condition Ready; empty: it has none, and counts as not ready.
	Ready corev1.ConditionStatus
	// Counted: the node counts for the state of its zone.
	Counted bool
	// Waits: it wants health passes.
	Waits bool
	// Gone: it does not exist any more.
	Gone bool
}

func (*NodeStored) toNode()                {}
func (*NodeForgotten) toNode()             {}
func (*KubeletBeats) toNode()              {}
func (*KubeletSilent) toNode()             {}
func (*HealthPass) toNode()                {}
func (*NodesDisrupted) toNode()            {}
func (*ControllersStopped) toNode()        {}
func (*ControllersRestarted) toNode()      {}
func (*ControllersRestarted) toAPIServer() {}
func (*Woken) toNode()                     {}

func (*NodeObserved) toNodeLifecycle() {}

func (*ControllersStopped) toNodeLifecycle()   {}
func (*ControllersRestarted) toNodeLifecycle() {}
func (*Woken) toNodeLifecycle()                {}

// ToZone is what a zone of nodes understands.
type ToZone interface{ toZone() }

// ZoneName names a zone of nodes by its region and zone labels: "region/zone", each empty without a label.
type ZoneName string

// NodeQueued says that a node of the zone is to get the NoExecute taint that its Ready condition asks for. From: node. To: zone.
type NodeQueued struct {
	Node NodeName
	// Since is when it was found that the taint is missing.
	Since time.Time
}

// NodeDequeued says that a node needs no NoExecute taint any more: it is Ready, in another zone, or deleted. From: node. To: zone.
type NodeDequeued struct{ Node NodeName }

// NodeLeft says that a node that waits is in another zone or deleted, and that its place in the queue uses up a token, as in Kubernetes.
// From: node. To: zone.
type NodeLeft struct{ Node NodeName }

// ZoneRateSet sets how many nodes of the zone a second get their taint; zero: none. From: node lifecycle. To: zone.
type ZoneRateSet struct{ Rate float64 }

// ZoneSlowed says that a health pass has more requests to make than the client of the controllers permits, behind which those of taints wait.
// Over: no longer. From: node lifecycle. To: zone.
type ZoneSlowed struct{ Over bool }

func (*NodeQueued) toZone()           {}
func (*NodeDequeued) toZone()         {}
func (*NodeLeft) toZone()             {}
func (*ZoneSlowed) toZone()           {}
func (*ZoneRateSet) toZone()          {}
func (*ControllersStopped) toZone()   {}
func (*ControllersRestarted) toZone() {}
func (*Woken) toZone()                {}
