package api

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// FailoverPreview asks what would happen, and changes nothing: it is created, answered in its status and not
// kept. Leeward's own.
type FailoverPreview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              FailoverPreviewSpec `json:"spec"`
	// Status is shown also where nothing would follow: that is an answer, too.
	Status FailoverPreviewStatus `json:"status"`
}

// FailoverPreviewSpec is what is supposed to happen, all at one instant.
type FailoverPreviewSpec struct {
	// Clusters are the names of those that Taints are put on; without Taints they are lost.
	Clusters []string       `json:"clusters,omitempty"`
	Taints   []corev1.Taint `json:"taints,omitempty"`
	// Objects are manifests that are applied: policies, placements, whole clusters.
	Objects []runtime.RawExtension `json:"objects,omitempty"`
}

// FailoverPreviewStatus is what would follow.
type FailoverPreviewStatus struct {
	// Summary is the answer in a few lines: those that the API would warn with before such a change.
	Summary []string `json:"summary,omitempty"`
	// Evictions are in order of time, then of names.
	Evictions []PreviewedEviction `json:"evictions,omitempty"`
	// Evicted counts the bindings that would be evicted from a cluster, and Unschedulable those of them that no other
	// cluster would take.
	Evicted       int32 `json:"evicted"`
	Unschedulable int32 `json:"unschedulable"`
	// UnschedulableBindings names those that no other cluster would take, with the reason, by namespace and name: the first 100.
	UnschedulableBindings []UnschedulableBinding `json:"unschedulableBindings,omitempty"`
	// Warnings name the clusters that are not Ready in the end and keep their workloads, because nothing evicts them.
	Warnings []string `json:"warnings,omitempty"`
}

// PreviewedEviction is one eviction that would follow.
type PreviewedEviction struct {
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name"`
	FromCluster string `json:"fromCluster"`
	// ToClusters would take over, with the replicas that each would have for it; empty: none would.
	ToClusters []TargetCluster  `json:"toClusters,omitempty"`
	At         metav1.MicroTime `json:"at"`
	Message    string           `json:"message,omitempty"`
}

// UnschedulableBinding is one that no cluster would take, and why.
type UnschedulableBinding struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Message   string `json:"message"`
}
