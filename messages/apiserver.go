package messages

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ToAPIServer is what the API server of one cluster is asked for by those that schedule pods and keep them up. It changes its
// objects, and the ingress tells whom that concerns.
type ToAPIServer interface {
	Message
	toAPIServer()
}

// BindPod binds a pending pod to a node. From: pod scheduler. To: API server.
type BindPod struct {
	Pod PodName
	// Request is that of the PodViewed that it answers. The answer to an older one is void.
	Request uint64
	Node    NodeName
	// Timed: every node that can take it has a NoExecute taint that it tolerates only for a time.
	Timed bool
}

// MarkUnschedulable has a pending pod say why no node can take it: PodScheduled=False, reason Unschedulable.
// From: pod scheduler. To: API server.
type MarkUnschedulable struct {
	Pod     PodName
	Request uint64
	// Message is the explanation of kube-scheduler's FailedScheduling.
	Message string
}

// CreatePod creates a pod. From: its owner. To: API server.
type CreatePod struct {
	Pod   PodName
	UID   types.UID
	Owner OwnerName
	// Controller is the object that owns the pod: of the pods of a Deployment its ReplicaSet.
	Controller metav1.OwnerReference
	Labels     map[string]string
	// Spec is shared by the pods of a template, unless a pod has parts of its own. Admission replaces it, and changes nothing of it.
	Spec *corev1.PodSpec
	// Peers selects the pods of its ReplicaSet or StatefulSet, nil for pods of others.
	Peers *metav1.LabelSelector
}

// DeletePod deletes a pod, with its own grace period. A pod with another UID is not deleted. From: its owner. To: API server.
type DeletePod struct {
	Pod PodName
	UID types.UID
	// Cause says why.
	Cause string
}

// CreateNode has a machine register as a node. From: the MachineSet of the machine. To: API server.
type CreateNode struct {
	Node   NodeName
	Owner  OwnerName
	Labels map[string]string
	Taints []corev1.Taint
	// Allocatable is what the machine offers to pods.
	Allocatable corev1.ResourceList
}

// DeleteNode removes a node with its machine. From: the MachineSet of the machine. To: API server.
type DeleteNode struct {
	Node NodeName
	// Cause says why.
	Cause string
}

// TaintNode gives a node the NoExecute taint that its Ready condition asks for. From: zone. To: API server.
type TaintNode struct{ Node NodeName }

func (*TaintNode) message()         {}
func (*BindPod) message()           {}
func (*MarkUnschedulable) message() {}
func (*CreatePod) message()         {}
func (*DeletePod) message()         {}
func (*CreateNode) message()        {}
func (*DeleteNode) message()        {}

func (*TaintNode) toAPIServer()         {}
func (*BindPod) toAPIServer()           {}
func (*MarkUnschedulable) toAPIServer() {}
func (*CreatePod) toAPIServer()         {}
func (*DeletePod) toAPIServer()         {}
func (*CreateNode) toAPIServer()        {}
func (*DeleteNode) toAPIServer()        {}
