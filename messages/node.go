package messages

import corev1 "k8s.io/api/core/v1"

// ToNode is what a node understands.
type ToNode interface {
	Message
	toNode()
}

// CreateNode has a machine register as a node. From: the MachineSet of the machine. To: node.
type CreateNode struct {
	Node   NodeName
	Owner  OwnerName
	Labels map[string]string
	Taints []corev1.Taint
	// Allocatable is what the machine offers to pods.
	Allocatable corev1.ResourceList
}

// DeleteNode removes a node with its machine. From: the MachineSet of the machine. To: node.
type DeleteNode struct {
	Node NodeName
	// Cause says why.
	Cause string
}

func (*CreateNode) message() {}
func (*DeleteNode) message() {}

func (*CreateNode) toNode() {}
func (*DeleteNode) toNode() {}
