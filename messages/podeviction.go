package messages

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ToPodEviction is what the taint eviction of a pod understands.
type ToPodEviction interface{ toPodEviction() }

// PodStored carries what matters of a pod as the API server has it: when it was created, bound or edited, has finished or is being deleted, and
// when the engine starts. From: API server. To: pod eviction.
type PodStored struct {
	UID types.UID
	// Node is empty for a pod that is not bound.
	Node        NodeName
	Tolerations []corev1.Toleration
	// GracePeriodSeconds is what a deletion grants it: nothing, where it has finished.
	GracePeriodSeconds int64
	// Spared is set where it needs no eviction: it has finished, is being deleted, or mirrors a static pod. Disrupted: it has the condition
	// that evictions give.
	Spared, Disrupted bool
}

// NewPodStored takes it from a pod.
func NewPodStored(o *corev1.Pod) *PodStored {
	finished := o.Status.Phase == corev1.PodSucceeded || o.Status.Phase == corev1.PodFailed
	_, mirror := o.Annotations[corev1.MirrorPodAnnotationKey]
	m := &PodStored{
		UID: o.UID, Node: NodeName(o.Spec.NodeName), Tolerations: o.Spec.Tolerations, GracePeriodSeconds: corev1.DefaultTerminationGracePeriodSeconds,
		Spared: mirror || finished || o.DeletionTimestamp != nil,
		Disrupted: slices.ContainsFunc(o.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
		}),
	}
	switch seconds := o.Spec.TerminationGracePeriodSeconds; {
	case finished:
		m.GracePeriodSeconds = 0
	case seconds != nil:
		m.GracePeriodSeconds = *seconds
	}
	return m
}

// PodForgotten says that the pod does not exist any more. From: API server. To: pod eviction.
type PodForgotten struct{}

// NodeTaintsSeen carries all NoExecute taints of a pod's node, none where the node has none. From: API server. To: pod eviction.
type NodeTaintsSeen struct {
	Node   NodeName
	Taints []corev1.Taint
	// Gone is set where the node was deleted: nothing is known of its taints any more.
	Gone bool
}

// RequestServed answers a pod's RequestAsked: the API server has served it, or refused it.
// From: API client. To: pod eviction.
type RequestServed struct {
	Verb    APIVerb
	Attempt int
	// Error is why it was refused; empty: it was served.
	Error string
}

func (*PodStored) toPodEviction()      {}
func (*PodForgotten) toPodEviction()   {}
func (*NodeTaintsSeen) toPodEviction() {}
func (*RequestServed) toPodEviction()  {}
func (*Woken) toPodEviction()          {}
