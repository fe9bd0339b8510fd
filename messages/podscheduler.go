package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ToPodScheduler is what the scheduler of pods understands.
type ToPodScheduler interface{ toPodScheduler() }

// PodViewed carries all that the scheduler of pods must know of a pod, whenever any of it changed; it replaces what an earlier one said.
// The scheduler decides at the end of the instant, in order of priority, arrival and name. From: API server. To: pod scheduler.
type PodViewed struct {
	Pod PodName
	// Request counts the versions of what the pod asks for; the answer carries it. A pod that could not be bound asks again.
	Request uint64
	// Since is when the pod was created.
	Since    time.Time
	Priority int32
	Labels   map[string]string
	// Spec is shared by the pods of a template that are not edited: what all of them need is read only once.
	Spec *corev1.PodSpec
	// Peers selects the pods of its ReplicaSet or StatefulSet, which are spread; nil: none.
	Peers *metav1.LabelSelector
	// Node is where it is bound, empty for a pending pod.
	Node NodeName
	// Terminating: it was deleted, and uses its node until it is gone. Finished: it Succeeded or Failed and uses nothing.
	// Gone: it does not exist any more.
	Terminating, Finished, Gone bool
}

func (*NodeViewed) toPodScheduler() {}
func (*NodeGone) toPodScheduler()   {}
func (*PodViewed) toPodScheduler()  {}
func (*Woken) toPodScheduler()      {}
