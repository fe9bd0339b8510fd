package messages

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ToAPIServer is what the API server of one cluster is asked for by controllers, kubelets and users. It collects the requests of an
// instant and serves them in an order that does not depend on that of their arrival; those of users are served first, in their order.
// It then tells whom each change concerns.
type ToAPIServer interface{ toAPIServer() }

// PutNode creates a node, or replaces what users say of one: labels, annotations, taints, cordon and capacity.
// From: ingress. To: API server.
type PutNode struct {
	Object *corev1.Node
	// Settled: the node was there before, and its taints say what its conditions do.
	Settled bool
}

// PutPod creates a pod, or edits one: of its spec only the tolerations, and its labels, annotations and finalizers. It has been
// admitted. From: ingress. To: API server.
type PutPod struct {
	Object *corev1.Pod
	// Owner keeps it up, empty for none.
	Owner OwnerName
}

// OwnerWatches has an owner hear of every node, from now on or no longer: a DaemonSet. From: ingress. To: API server.
type OwnerWatches struct {
	Owner OwnerName
	// Over: it does not any more.
	Over bool
}

// EditNode changes a node as a user asks; what is nil stays. From: ingress. To: API server.
type EditNode struct {
	Node NodeName
	// Taint are set, in place of those with the same key and effect; Untaint are removed, those of every effect where there is none.
	Taint, Untaint []corev1.Taint
	Unschedulable  *bool
	// Label are set; Unlabel are removed.
	Label   map[string]string
	Unlabel []string
	// By is who asks.
	By string
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

// DeletePod deletes a pod, with its own grace period. A pod with another UID is not deleted. From: its owner, its taint eviction,
// ingress. To: API server.
type DeletePod struct {
	Pod PodName
	UID types.UID
	// GracePeriodSeconds is granted in place of the pod's own, where it is set.
	GracePeriodSeconds *int64
	// Cause says why; the facts of a taint eviction say it themselves. Eviction: the Eviction API deletes it.
	Cause    string
	Eviction bool
}

// MarkDisrupted gives a pod the condition DisruptionTarget. From: its taint eviction. To: API server.
type MarkDisrupted struct {
	Pod PodName
	UID types.UID
	// Reason and Message are those of the condition.
	Reason, Message string
}

// PodReported carries the status of a pod. From: kubelet. To: API server.
type PodReported struct {
	Pod   PodName
	UID   types.UID
	Phase corev1.PodPhase
	Ready bool
}

// PodEnded says that a pod that was deleted runs no more. From: kubelet. To: API server.
type PodEnded struct {
	Pod PodName
	UID types.UID
}

// ReportNode sets conditions of a node. From: kubelet, node. To: API server.
type ReportNode struct {
	Node       NodeName
	Conditions []corev1.NodeCondition
	// By is "kubelet", or "node lifecycle" where the heartbeat is missing.
	By string
}

// ChangeTaints adds and removes taints of a node. Taints to add that it has, and taints to remove that it has not, are passed over.
// From: node, the MachineSet of the node. To: API server.
type ChangeTaints struct {
	Node        NodeName
	Add, Remove []corev1.Taint
	// Because names for each of Add, and then of Remove, what asks for it.
	Because []string
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

// OwnNode says that the machine of a node is one of a MachineSet, which then hears of the node, or that it is gone. From: ingress. To: API server.
type OwnNode struct {
	Node  NodeName
	Owner OwnerName
}

// DeleteNode removes a node with its machine. From: the MachineSet of the machine, ingress. To: API server.
type DeleteNode struct {
	Node NodeName
	// Cause says why.
	Cause string
}

// TaintNode gives a node the NoExecute taint that its Ready condition asks for. From: zone. To: API server.
type TaintNode struct{ Node NodeName }

// NodeSynced carries a node as another API server stores it, which this one follows: users and kubelets write it there.
// From: ingress. To: API server.
type NodeSynced struct {
	Node NodeName
	// Object is the node, nil where it was deleted.
	Object *corev1.Node
}

// PodSynced carries a pod as another API server stores it, which this one follows. From: ingress. To: API server.
type PodSynced struct {
	Pod PodName
	// Object is the pod, nil where it is gone.
	Object *corev1.Pod
}

func (*NodeSynced) toAPIServer()      {}
func (*PodSynced) toAPIServer()       {}
func (*PodBudgetSynced) toAPIServer() {}

func (*PutNode) toAPIServer()           {}
func (*PutPod) toAPIServer()            {}
func (*OwnerWatches) toAPIServer()      {}
func (*OwnNode) toAPIServer()           {}
func (*EditNode) toAPIServer()          {}
func (*BindPod) toAPIServer()           {}
func (*MarkUnschedulable) toAPIServer() {}
func (*CreatePod) toAPIServer()         {}
func (*DeletePod) toAPIServer()         {}
func (*MarkDisrupted) toAPIServer()     {}
func (*PodReported) toAPIServer()       {}
func (*PodEnded) toAPIServer()          {}
func (*ReportNode) toAPIServer()        {}
func (*ChangeTaints) toAPIServer()      {}
func (*CreateNode) toAPIServer()        {}
func (*DeleteNode) toAPIServer()        {}
func (*TaintNode) toAPIServer()         {}
func (*Woken) toAPIServer()             {}
