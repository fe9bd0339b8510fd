package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ToOwner is what an owner of pods or nodes understands.
type ToOwner interface{ toOwner() }

// The kinds of owners.
const (
	KindNameDeployment  = "Deployment"
	KindNameReplicaSet  = "ReplicaSet"
	KindNameStatefulSet = "StatefulSet"
	KindNameDaemonSet   = "DaemonSet"
	KindNameJob         = "Job"
	KindNameMachineSet  = "MachineSet"
)

// OwnerSpec is what an owner keeps up. One that was sent never changes.
type OwnerSpec struct {
	// Replicas is how many pods, or machines, there must be; a DaemonSet and a Job have none.
	Replicas int32
	Selector *metav1.LabelSelector
	// Template is that of the pods; nil for a MachineSet.
	Template *corev1.PodTemplateSpec
	// Hash is that of the ReplicaSet which a Deployment has for its template already, as in a dump of a cluster; empty: it makes one of its own.
	Hash string
	// Paused, Recreate, MaxSurge, MaxUnavailable and MinReady say how a Deployment rolls a new template out: not at all; all old pods go before
	// new ones come; else with so many pods more, and so few fewer that have been ready for that long.
	Paused, Recreate         bool
	MaxSurge, MaxUnavailable intstr.IntOrString
	MinReady                 time.Duration
	// Rolls has a StatefulSet or a DaemonSet replace the pods of an older template, of the former those with an ordinal of Partition and more, of
	// the latter within MaxUnavailable, or with MaxSurge new pods beside old ones; else they remain until they are deleted.
	Rolls     bool
	Partition int32
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

// OwnerApplied says that an owner was created or edited. From: API server. To: owner.
type OwnerApplied struct{ Spec *OwnerSpec }

// OwnerDeleted says that an owner was deleted; what it owns is deleted with it. From: API server. To: owner.
type OwnerDeleted struct{}

// OwnedPodViewed carries what the owner of a pod must know of it, whenever any of it changed. From: API server. To: its owner.
type OwnedPodViewed struct {
	Pod  PodName
	UID  types.UID
	Node NodeName
	// Target is the node that the affinity of a daemon pod requires.
	Target NodeName
	Phase  corev1.PodPhase
	// ReadySince is when it became ready, zero if it is not.
	ReadySince  time.Time
	Terminating bool
}

// OwnedPodGone says that a pod does not exist any more. From: API server. To: its owner.
type OwnedPodGone struct {
	Pod PodName
	UID types.UID
}

// MachineFound says that a MachineSet has the machine of a node, which it has not made here. Taints are those of the machine. From: ingress.
// To: MachineSet.
type MachineFound struct {
	Node   NodeName
	Taints []corev1.Taint
}

func (*OwnerApplied) toOwner()       {}
func (*MachineFound) toOwner()       {}
func (*OwnerDeleted) toOwner()       {}
func (*OwnedPodViewed) toOwner()     {}
func (*OwnedPodGone) toOwner()       {}
func (*NodeViewed) toOwner()         {}
func (*NodeGone) toOwner()           {}
func (*ControllersStopped) toOwner() {}
func (*Woken) toOwner()              {}
