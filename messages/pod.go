package messages

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ToPod is what a pod understands.
type ToPod interface {
	Message
	toPod()
}

// PodPlaced answers a pod's request: the node to bind it to, or why there is none. From: pod scheduler. To: pod.
type PodPlaced struct {
	// Request is that of the PodViewed that it answers.
	Request uint64
	// Node is empty where no node can take the pod.
	Node NodeName
	// Timed: every node that can take it has a NoExecute taint that it tolerates only for a time.
	Timed bool
	// Why is the explanation of kube-scheduler's FailedScheduling, where there is no node.
	Why string
}

// CreatePod has a pod of an owner begin. From: its owner. To: pod.
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

// DeletePod has a pod deleted, with its own grace period. A pod with another UID is left alone. From: its owner. To: pod.
type DeletePod struct {
	UID types.UID
	// Cause says why.
	Cause string
}

func (*PodPlaced) message() {}
func (*CreatePod) message() {}
func (*DeletePod) message() {}

func (*PodPlaced) toPod() {}
func (*CreatePod) toPod() {}
func (*DeletePod) toPod() {}
