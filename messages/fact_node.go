package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// AboutNode is a fact that names a node, and no pod.
type AboutNode interface{ AboutNode() NodeName }

// NodeRegistered says that a node was created, and what it came with: its taints, whether it is cordoned, and the status of its Ready condition,
// empty where it has none.
type NodeRegistered struct {
	Node          NodeName               `json:"node"`
	Zone          ZoneName               `json:"zone,omitempty"`
	Taints        []corev1.Taint         `json:"taints,omitempty"`
	Unschedulable bool                   `json:"unschedulable,omitempty"`
	Ready         corev1.ConditionStatus `json:"ready,omitempty"`
}

// NodeDeleted says that a node does not exist any more. Cause says why.
type NodeDeleted struct {
	Node  NodeName `json:"node"`
	Cause string   `json:"cause,omitempty"`
}

// NodeConditionChanged says that a condition of a node has another status. By is "kubelet" where its kubelet reports it, and "node lifecycle"
// where the heartbeat is missing.
type NodeConditionChanged struct {
	Node   NodeName                 `json:"node"`
	Type   corev1.NodeConditionType `json:"type"`
	Status corev1.ConditionStatus   `json:"status"`
	// Before is the status that it had; empty: the node had no such condition.
	Before  corev1.ConditionStatus `json:"before,omitempty"`
	Reason  string                 `json:"reason,omitempty"`
	Message string                 `json:"message,omitempty"`
	By      string                 `json:"by"`
}

// NodeTaintAdded says that a node has a new taint, or a new value for one. Because says who asked for it: a condition
// ("Ready=Unknown"), a cordon ("spec.unschedulable"), "by" whom, or its Machine.
type NodeTaintAdded struct {
	Node    NodeName     `json:"node"`
	Taint   corev1.Taint `json:"taint"`
	Because string       `json:"because"`
}

// NodeTaintRemoved says that a node lost a taint. Because says why, as that of NodeTaintAdded.
type NodeTaintRemoved struct {
	Node    NodeName     `json:"node"`
	Taint   corev1.Taint `json:"taint"`
	Because string       `json:"because"`
}

// NodeTaintQueued says that a node waits in the queue of its zone for the NoExecute taint that its Ready condition asks for.
type NodeTaintQueued struct {
	Node NodeName `json:"node"`
	Zone ZoneName `json:"zone"`
	// Taint is what it is to get.
	Taint corev1.Taint `json:"taint"`
}

// NodeCordoned says that a node was made unschedulable, NodeUncordoned that it is schedulable again.
type NodeCordoned struct {
	Node NodeName `json:"node"`
}

// NodeUncordoned says that a node is schedulable again.
type NodeUncordoned struct {
	Node NodeName `json:"node"`
}

// NodeLabelsChanged says that a node has other labels.
type NodeLabelsChanged struct {
	Node    NodeName          `json:"node"`
	Set     map[string]string `json:"set,omitempty"`
	Removed []string          `json:"removed,omitempty"`
}

// KubeletStopped says that the kubelet of a node stopped: no Lease is renewed, no pod starts or ends.
type KubeletStopped struct {
	Node NodeName `json:"node"`
}

// KubeletReturned says that the kubelet of a node runs again.
type KubeletReturned struct {
	Node NodeName `json:"node"`
	// After is for how long it was down.
	After time.Duration `json:"-"`
}

// ZoneStateChanged says that a zone of nodes is disrupted in another way, or no longer.
type ZoneStateChanged struct {
	Zone ZoneName `json:"zone"`
	// State is Normal, PartialDisruption or FullDisruption.
	State string `json:"state"`
	Ready int    `json:"ready"`
	// NotReady counts the nodes whose Ready condition is not True.
	NotReady int `json:"notReady"`
	// Rate is how many nodes a second of the zone get their NoExecute taint from now on.
	Rate float64 `json:"rate"`
}

// DisruptionChanged says that every zone is now fully disrupted, so that all failure taints go and none is added, or that one no longer is.
type DisruptionChanged struct {
	// Full: every zone is fully disrupted.
	Full bool `json:"full"`
}

func (*NodeRegistered) Kind() string       { return "NodeRegistered" }
func (*NodeDeleted) Kind() string          { return "NodeDeleted" }
func (*NodeConditionChanged) Kind() string { return "NodeConditionChanged" }
func (*NodeTaintAdded) Kind() string       { return "NodeTaintAdded" }
func (*NodeTaintRemoved) Kind() string     { return "NodeTaintRemoved" }
func (*NodeTaintQueued) Kind() string      { return "NodeTaintQueued" }
func (*NodeCordoned) Kind() string         { return "NodeCordoned" }
func (*NodeUncordoned) Kind() string       { return "NodeUncordoned" }
func (*NodeLabelsChanged) Kind() string    { return "NodeLabelsChanged" }
func (*KubeletStopped) Kind() string       { return "KubeletStopped" }
func (*KubeletReturned) Kind() string      { return "KubeletReturned" }
func (*ZoneStateChanged) Kind() string     { return "ZoneStateChanged" }
func (*DisruptionChanged) Kind() string    { return "DisruptionChanged" }

func (f *NodeRegistered) AboutNode() NodeName       { return f.Node }
func (f *NodeDeleted) AboutNode() NodeName          { return f.Node }
func (f *NodeConditionChanged) AboutNode() NodeName { return f.Node }
func (f *NodeTaintAdded) AboutNode() NodeName       { return f.Node }
func (f *NodeTaintRemoved) AboutNode() NodeName     { return f.Node }
func (f *NodeTaintQueued) AboutNode() NodeName      { return f.Node }
func (f *NodeCordoned) AboutNode() NodeName         { return f.Node }
func (f *NodeUncordoned) AboutNode() NodeName       { return f.Node }
func (f *NodeLabelsChanged) AboutNode() NodeName    { return f.Node }
func (f *KubeletStopped) AboutNode() NodeName       { return f.Node }
func (f *KubeletReturned) AboutNode() NodeName      { return f.Node }

// NodeDrainStarted says that a node is cordoned, and so many of its pods are being evicted. Warning names what is not, or only because that is asked
// for.
type NodeDrainStarted struct {
	Node    NodeName `json:"node"`
	Pods    int      `json:"pods"`
	Warning string   `json:"warning,omitempty"`
}

// NodeDrained says that every pod that a drain evicts is gone, or not waited for.
type NodeDrained struct {
	Node  NodeName      `json:"node"`
	After time.Duration `json:"after"`
	// Skipped are the pods that are still being deleted, for so long that the drain does not wait for them.
	Skipped []PodName `json:"skipped,omitempty"`
}

// NodeDrainFailed says that a drain has ended before that: it was not permitted, an eviction failed, or its time was over. The node remains
// cordoned.
type NodeDrainFailed struct {
	Node  NodeName `json:"node"`
	Error string   `json:"error"`
	// Pending are the pods that it leaves behind.
	Pending []PodName `json:"pending,omitempty"`
}

// PodEvictionBlocked says that the Eviction API does not evict a pod, for a drain or for a taint as By says. It is told again when the reason
// changes.
type PodEvictionBlocked struct {
	Pod  PodName  `json:"pod"`
	Node NodeName `json:"node"`
	By   string   `json:"by"`
	// Budget is the PodDisruptionBudget that does not allow it, Error what the API says, and Detail what the budget lacks.
	Budget PodBudgetName `json:"budget,omitempty"`
	Error  string        `json:"error"`
	Detail string        `json:"detail,omitempty"`
}

func (*NodeDrainStarted) Kind() string   { return "NodeDrainStarted" }
func (*NodeDrained) Kind() string        { return "NodeDrained" }
func (*NodeDrainFailed) Kind() string    { return "NodeDrainFailed" }
func (*PodEvictionBlocked) Kind() string { return "PodEvictionBlocked" }

func (f *NodeDrainStarted) AboutNode() NodeName { return f.Node }
func (f *NodeDrained) AboutNode() NodeName      { return f.Node }
func (f *NodeDrainFailed) AboutNode() NodeName  { return f.Node }
func (f *PodEvictionBlocked) AboutPod() PodName { return f.Pod }
