package messages

import "time"

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
