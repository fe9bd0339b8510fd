package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// ToDrain is what the drain of a node understands.
type ToDrain interface{ toDrain() }

// DrainOptions are the flags of kubectl drain.
type DrainOptions struct {
	IgnoreDaemonSets, DeleteEmptyDirData, Force bool
	// DisableEviction deletes pods without the Eviction API, whatever their budgets say.
	DisableEviction bool
	// GracePeriodSeconds is granted to each pod in place of its own; nil: its own.
	GracePeriodSeconds *int64
	// Timeout is when the drain gives up; zero: never.
	Timeout time.Duration
	// SkipWaitForDelete is how long ago the deletionTimestamp of a pod may be for the drain to wait for it, in whole seconds; zero: any time.
	SkipWaitForDelete time.Duration
	// Pods selects pods by their labels; nil: all.
	Pods labels.Selector
}

// BeginDrain starts to drain a node, in place of a drain that runs. The list of its pods follows. From: ingress. To: drain.
type BeginDrain struct{ Options DrainOptions }

// ListPods asks for the pods of a node, as they are at the end of the instant, and for word of each that is gone.
// From: ingress. To: API server, which answers the drain of the node.
type ListPods struct{ Node NodeName }

// PodsListed are the pods of a node, by name. From: API server. To: drain.
type PodsListed struct{ Pods []ListedPod }

// ListedPod is a pod of a node. Orphan: it is of a DaemonSet that does not exist.
type ListedPod struct {
	Object *corev1.Pod
	Orphan bool
}

// DrainedPodGone says that a pod that was listed does not exist any more. From: API server. To: drain.
type DrainedPodGone struct {
	Pod PodName
	UID types.UID
}

// DrainedPodDeleted says that a pod that was listed is being deleted. At is its deletionTimestamp. From: API server. To: drain.
type DrainedPodDeleted struct {
	Pod PodName
	UID types.UID
	At  time.Time
}

func (*BeginDrain) toDrain()          {}
func (*PodsListed) toDrain()          {}
func (*DrainedPodDeleted) toDrain()   {}
func (*DrainedPodGone) toDrain()      {}
func (*PodEvictionAnswered) toDrain() {}
func (*Woken) toDrain()               {}

func (*ListPods) toAPIServer() {}
