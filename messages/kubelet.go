package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ToKubelet is what the simulated kubelet of a node understands.
type ToKubelet interface{ toKubelet() }

// KubeletBehaviour is how a simulated kubelet behaves.
type KubeletBehaviour struct {
	// StartupMin and StartupMax bound how long a pod that was bound takes to run and be ready; which value it is follows from the seed
	// and the pod.
	StartupMin, StartupMax time.Duration
	// LeasePeriod is the time between two renewals of the Lease. Zero: 10 seconds.
	LeasePeriod time.Duration
	// LeasePhase has each kubelet renew at instants of its own, by the seed. False: all at whole periods.
	LeasePhase bool
	// RunsFor is after how long a pod whose restartPolicy is not Always succeeds. Zero: never.
	RunsFor time.Duration
}

// KubeletConfigured sets the behaviour of a simulated kubelet. From: ingress. To: kubelet.
type KubeletConfigured struct{ Behaviour KubeletBehaviour }

// KubeletSwitched stops a kubelet, or lets it run again: while it is down, it renews no Lease, starts and ends no pod and reports nothing.
// From: ingress. To: kubelet.
type KubeletSwitched struct{ Down bool }

// ConditionsObserved has a kubelet report conditions of its node; while it is down, it reports them when it is back.
// From: ingress. To: kubelet.
type ConditionsObserved struct{ Conditions []corev1.NodeCondition }

// KubeletPod carries what a kubelet must know of a pod of its node, whenever any of it changed. From: API server. To: kubelet.
type KubeletPod struct {
	Pod PodName
	UID types.UID
	// Phase is what was last reported of it.
	Phase corev1.PodPhase
	// Once: its restartPolicy is not Always.
	Once bool
	// Terminating: it was deleted, and is to end at Until at the latest: at its deletionTimestamp.
	Terminating bool
	Until       time.Time
}

// KubeletPodGone says that a pod of the node does not exist any more. From: API server. To: kubelet.
type KubeletPodGone struct {
	Pod PodName
	UID types.UID
}

func (*KubeletConfigured) toKubelet()  {}
func (*KubeletSwitched) toKubelet()    {}
func (*ConditionsObserved) toKubelet() {}
func (*KubeletPod) toKubelet()         {}
func (*KubeletPodGone) toKubelet()     {}
func (*Woken) toKubelet()              {}
