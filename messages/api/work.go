package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// WorkNamespacePrefix precedes a cluster's name in the name of the namespace that holds its Works.
const WorkNamespacePrefix = "karmada-es-"

// WorkFinalizer keeps a Work until its cluster's agent has taken the copy down. Source: Karmada.
const WorkFinalizer = "karmada.io/execution-controller"

// AnnotationConflict says in a manifest of a Work what happens to an object of its name that the cluster has and no Work applied:
// AnnotationOverwrites takes it over, "abort", the default, refuses the manifest. Source: Karmada.
const (
	AnnotationConflict   = "work.karmada.io/conflict-resolution"
	AnnotationOverwrites = "overwrite"
)

// ConditionApplied says of a Work whether its cluster has its manifests.
const ConditionApplied = "Applied"

// Work is what one cluster is to run; its agent reads the spec and reports in the status.
type Work struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              WorkSpec   `json:"spec"`
	Status            WorkStatus `json:"status,omitzero"`
}

// WorkSpec holds the manifests.
type WorkSpec struct {
	Workload                    WorkloadTemplate `json:"workload,omitzero"`
	SuspendDispatching          *bool            `json:"suspendDispatching,omitempty"`
	PreserveResourcesOnDeletion *bool            `json:"preserveResourcesOnDeletion,omitempty"`
}

// WorkloadTemplate is a list of whole objects.
type WorkloadTemplate struct {
	Manifests []Manifest `json:"manifests,omitempty"`
}

// Manifest is one object to apply.
type Manifest struct {
	runtime.RawExtension `json:",inline"`
}

// WorkStatus is what the cluster says of the manifests.
type WorkStatus struct {
	Conditions       []metav1.Condition `json:"conditions,omitempty"`
	ManifestStatuses []ManifestStatus   `json:"manifestStatuses,omitempty"`
}

// ManifestStatus is what the cluster says of one manifest.
type ManifestStatus struct {
	Identifier ResourceIdentifier    `json:"identifier"`
	Status     *runtime.RawExtension `json:"status,omitempty"`
	Health     ResourceHealth        `json:"health,omitempty"`
}

// ResourceIdentifier names a manifest by its place in the Work, from 0, and what it is.
type ResourceIdentifier struct {
	Ordinal   int    `json:"ordinal"`
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}
