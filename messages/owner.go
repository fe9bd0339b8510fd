package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ToOwner is what an owner of pods or nodes understands.
type ToOwner interface {
	Message
	toOwner()
}

// The kinds of owners.
const (
	KindNameDeployment  = "Deployment"
	KindNameReplicaSet  = "ReplicaSet"
	KindNameStatefulSet = "StatefulSet"
	KindNameDaemonSet   = "DaemonSet"
	KindNameJob         = "Job"
	KindNameMachineSet  = "MachineSet"
)

// OwnerSpec is what an owner is to keep up. Nobody changes one that was sent.
type OwnerSpec struct {
	// Replicas is how many pods, or machines, there must be; a DaemonSet and a Job have none.
	Replicas int32
	Selector *metav1.LabelSelector
	// Template is that of the pods; nil for a MachineSet.
	Template *corev1.PodTemplateSpec
	// Parallel pods of a StatefulSet do not wait for one another: podManagementPolicy Parallel.
	Parallel bool
	// Parallelism, Completions and BackoffLimit are those of a Job; Completions 0: any one that succeeds completes it.
	Parallelism, Completions, BackoffLimit int32
	// Machine is the template of the machines of a MachineSet.
	Machine *MachineTemplate
}

// MachineTemplate is what the nodes of new machines have: spec.template.spec of a MachineSet, and what its machines offer.
type MachineTemplate struct {
	Labels      map[string]string
	Taints      []corev1.Taint
	Allocatable corev1.ResourceList
}

// OwnerApplied says that somebody created or edited an owner. From: the world. To: owner.
type OwnerApplied struct{ Spec *OwnerSpec }

// OwnerDeleted says that somebody deleted an owner; what it owns goes with it. From: the world. To: owner.
type OwnerDeleted struct{}

// OwnedPodViewed carries what the owner of a pod must know of it, whenever any of it changed. From: pod. To: its owner.
type OwnedPodViewed struct {
	Pod   PodName
	UID   types.UID
	Node  NodeName
	Phase corev1.PodPhase
	// ReadySince is when it became ready, zero if it is not.
	ReadySince  time.Time
	Terminating bool
}

// OwnedPodGone says that a pod does not exist any more. From: pod. To: its owner.
type OwnedPodGone struct {
	Pod PodName
	UID types.UID
}

func (*OwnerApplied) message()   {}
func (*OwnerDeleted) message()   {}
func (*OwnedPodViewed) message() {}
func (*OwnedPodGone) message()   {}

func (*OwnerApplied) toOwner()   {}
func (*OwnerDeleted) toOwner()   {}
func (*OwnedPodViewed) toOwner() {}
func (*OwnedPodGone) toOwner()   {}
func (*NodeViewed) toOwner()     {}
func (*NodeGone) toOwner()       {}
func (*Woken) toOwner()          {}
