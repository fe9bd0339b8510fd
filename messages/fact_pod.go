package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// AboutPod is a fact that names a pod.
type AboutPod interface{ AboutPod() PodName }

// PodEvictionScheduled says that a pod will be evicted at a deadline, unless that changes before: its node has a taint that it
// tolerates for a time only.
type PodEvictionScheduled struct {
	Pod        PodName           `json:"pod"`
	Node       NodeName          `json:"node"`
	Deadline   time.Time         `json:"deadline"`
	Taint      corev1.Taint      `json:"taint"`
	Toleration corev1.Toleration `json:"toleration"`
}

// PodEvictionCancelled says that a pod that was due at the deadline, or immediately where there is none, is not evicted then.
type PodEvictionCancelled struct {
	Pod      PodName   `json:"pod"`
	Node     NodeName  `json:"node"`
	Deadline time.Time `json:"deadline,omitzero"`
	Reason   string    `json:"reason"`
}

// PodEvicted says that a pod got the condition DisruptionTarget, because of a taint. Without a Toleration it does not tolerate the
// taint; with one, its time was over at the deadline.
type PodEvicted struct {
	Pod        PodName            `json:"pod"`
	Node       NodeName           `json:"node"`
	Deadline   time.Time          `json:"deadline,omitzero"`
	Taint      corev1.Taint       `json:"taint"`
	Toleration *corev1.Toleration `json:"toleration,omitempty"`
}

// PodCreated says that a pod was created, by its owner or, without one, by a user.
type PodCreated struct {
	Pod   PodName   `json:"pod"`
	Owner OwnerName `json:"owner,omitempty"`
	// Node is set where it was created on a node, and Phase where it is not Pending.
	Node  NodeName        `json:"node,omitempty"`
	Phase corev1.PodPhase `json:"phase,omitempty"`
	Ready bool            `json:"ready,omitempty"`
}

// PodBound says that the scheduler bound a pod to a node. Timed: the node has a NoExecute taint that the pod tolerates only for a time,
// as every other node that could take it.
type PodBound struct {
	Pod   PodName  `json:"pod"`
	Node  NodeName `json:"node"`
	Timed bool     `json:"timed,omitempty"`
}

// PodUnschedulable says that no node can take a pod, in the words of the scheduler.
type PodUnschedulable struct {
	Pod     PodName `json:"pod"`
	Message string  `json:"message"`
}

// PodPhaseChanged says that a pod is in another phase, or is ready or not.
type PodPhaseChanged struct {
	Pod   PodName         `json:"pod"`
	Node  NodeName        `json:"node,omitempty"`
	Phase corev1.PodPhase `json:"phase"`
	Ready bool            `json:"ready"`
	// Reason says why, where its kubelet did not report it.
	Reason string `json:"reason,omitempty"`
}

// PodDeletionRequested says that a pod was deleted, by whom Cause says: it ends when its grace period is over, or earlier. Cause is empty for
// its taint eviction.
type PodDeletionRequested struct {
	Pod                PodName  `json:"pod"`
	Node               NodeName `json:"node,omitempty"`
	GracePeriodSeconds int64    `json:"gracePeriodSeconds"`
	Cause              string   `json:"cause,omitempty"`
	// Eviction: the Eviction API deleted it, as far as its PodDisruptionBudget allowed that.
	Eviction bool `json:"eviction,omitempty"`
}

// PodDeleted says that a pod does not exist any more.
type PodDeleted struct {
	Pod  PodName  `json:"pod"`
	Node NodeName `json:"node,omitempty"`
}

// PodEvictionFailed says that the API server refused a request of an eviction. Retry is when it is tried again; without one
// the eviction was given up after so many tries.
type PodEvictionFailed struct {
	Pod   PodName   `json:"pod"`
	Node  NodeName  `json:"node"`
	Verb  APIVerb   `json:"verb"`
	Error string    `json:"error"`
	Tries int       `json:"tries"`
	Retry time.Time `json:"retry,omitzero"`
}

// PodBudgetChanged carries the status of a PodDisruptionBudget: how many pods it expects, how many of them are ready and are not being deleted,
// how many must be, and how many evictions it allows. With a Problem it allows none.
type PodBudgetChanged struct {
	Budget             PodBudgetName `json:"budget"`
	ExpectedPods       int32         `json:"expectedPods"`
	CurrentHealthy     int32         `json:"currentHealthy"`
	DesiredHealthy     int32         `json:"desiredHealthy"`
	DisruptionsAllowed int32         `json:"disruptionsAllowed"`
	Problem            string        `json:"problem,omitempty"`
}

func (*PodBudgetChanged) Kind() string { return "PodBudgetChanged" }

func (*PodCreated) Kind() string           { return "PodCreated" }
func (*PodBound) Kind() string             { return "PodBound" }
func (*PodUnschedulable) Kind() string     { return "PodUnschedulable" }
func (*PodPhaseChanged) Kind() string      { return "PodPhaseChanged" }
func (*PodDeleted) Kind() string           { return "PodDeleted" }
func (*PodEvictionScheduled) Kind() string { return "PodEvictionScheduled" }
func (*PodEvictionCancelled) Kind() string { return "PodEvictionCancelled" }
func (*PodEvicted) Kind() string           { return "PodEvicted" }
func (*PodDeletionRequested) Kind() string { return "PodDeletionRequested" }
func (*PodEvictionFailed) Kind() string    { return "PodEvictionFailed" }

func (f *PodCreated) AboutPod() PodName           { return f.Pod }
func (f *PodBound) AboutPod() PodName             { return f.Pod }
func (f *PodUnschedulable) AboutPod() PodName     { return f.Pod }
func (f *PodPhaseChanged) AboutPod() PodName      { return f.Pod }
func (f *PodDeleted) AboutPod() PodName           { return f.Pod }
func (f *PodEvictionScheduled) AboutPod() PodName { return f.Pod }
func (f *PodEvictionCancelled) AboutPod() PodName { return f.Pod }
func (f *PodEvicted) AboutPod() PodName           { return f.Pod }
func (f *PodDeletionRequested) AboutPod() PodName { return f.Pod }
func (f *PodEvictionFailed) AboutPod() PodName    { return f.Pod }
