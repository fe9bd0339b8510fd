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

// PodDeletionRequested says that an evicted pod was deleted: it ends when its grace period is over.
type PodDeletionRequested struct {
	Pod                PodName  `json:"pod"`
	Node               NodeName `json:"node"`
	GracePeriodSeconds int64    `json:"gracePeriodSeconds"`
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

func (*PodEvictionScheduled) Kind() string { return "PodEvictionScheduled" }
func (*PodEvictionCancelled) Kind() string { return "PodEvictionCancelled" }
func (*PodEvicted) Kind() string           { return "PodEvicted" }
func (*PodDeletionRequested) Kind() string { return "PodDeletionRequested" }
func (*PodEvictionFailed) Kind() string    { return "PodEvictionFailed" }

func (f *PodEvictionScheduled) AboutPod() PodName { return f.Pod }
func (f *PodEvictionCancelled) AboutPod() PodName { return f.Pod }
func (f *PodEvicted) AboutPod() PodName           { return f.Pod }
func (f *PodDeletionRequested) AboutPod() PodName { return f.Pod }
func (f *PodEvictionFailed) AboutPod() PodName    { return f.Pod }
