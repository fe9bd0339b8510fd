package messages

import corev1 "k8s.io/api/core/v1"

// ToPodEviction is what the taint eviction of a pod understands.
type ToPodEviction interface{ toPodEviction() }

// PodStored carries a pod as the API server has it: when it was created, bound or edited, has finished or is being deleted, and when the
// engine starts. From: API server. To: pod eviction.
type PodStored struct{ Object *corev1.Pod }

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
