package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// AnnotationExceedBudget, on a resource, lets its evictions exceed every budget; on a Cluster, those of all that leave
// it. Its value is the reason, which is recorded. Leeward's own.
const AnnotationExceedBudget = "leeward.dev/exceed-budget"

// EvictionBudget bounds what evictions for taints take from the workloads of its namespace. Leeward's own.
type EvictionBudget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              EvictionBudgetSpec   `json:"spec"`
	Status            EvictionBudgetStatus `json:"status,omitzero"`
}

// ClusterEvictionBudget is an EvictionBudget for the workloads of several namespaces, and for cluster-scoped
// ones.
type ClusterEvictionBudget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              EvictionBudgetSpec   `json:"spec"`
	Status            EvictionBudgetStatus `json:"status,omitzero"`
}

// EvictionBudgetSpec says of which workloads how many replicas have to serve, and how many may move. Replicas
// count across all clusters; a resource that has none counts as one on each of its clusters. Percentages are of
// the replicas that the workloads are to have, and are rounded up. Source of the form: Kubernetes'
// PodDisruptionBudget.
type EvictionBudgetSpec struct {
	// Workloads says which; the zero value means all that the kind of budget may have.
	Workloads WorkloadSelector `json:"workloads,omitzero"`
	// MinAvailable is how many replicas have to go on serving, as a number or a percentage.
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`
	// MaxUnavailable is how many need not. There may be only one of both.
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// MaxMoved is how many may move in a time, whether they serve or not; nil: any number.
	MaxMoved *MaxMoved `json:"maxMoved,omitempty"`
	// PerWorkload has the numbers hold for each workload by itself. False: for all of them together.
	PerWorkload bool `json:"perWorkload,omitempty"`
}

// WorkloadSelector selects workloads that meet all that it asks for.
type WorkloadSelector struct {
	// Namespaces are for a ClusterEvictionBudget. Empty: any, and none.
	Namespaces []string `json:"namespaces,omitempty"`
	// LabelSelector is about the labels of the resource; nil: any.
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// MinPriority and MaxPriority bound the schedulePriority of a tier; nil: no bound.
	MinPriority *int32 `json:"minPriority,omitempty"`
	MaxPriority *int32 `json:"maxPriority,omitempty"`
}

// MaxMoved is so many replicas, as a number or a percentage, in any WindowSeconds.
type MaxMoved struct {
	Replicas      intstr.IntOrString `json:"replicas"`
	WindowSeconds int32              `json:"windowSeconds"`
}

// EvictionBudgetStatus is the state of a budget. The engine writes it. Where numbers hold per workload, they are
// shown as sums.
type EvictionBudgetStatus struct {
	// ExpectedWorkloads are selected, and to have ExpectedReplicas.
	ExpectedWorkloads int64 `json:"expectedWorkloads"`
	ExpectedReplicas  int64 `json:"expectedReplicas"`
	// CurrentHealthy are the replicas that serve on clusters that are Ready, old copies included; those beyond
	// what a workload is to have do not count. DesiredHealthy have to.
	CurrentHealthy int64 `json:"currentHealthy"`
	DesiredHealthy int64 `json:"desiredHealthy"`
	// DisruptionsAllowed is how many replicas that serve may stop serving now.
	DisruptionsAllowed int64 `json:"disruptionsAllowed"`
	// Waiting is how many evictions wait for this budget; Message says for what the most urgent one does.
	Waiting int64  `json:"waiting,omitempty"`
	Message string `json:"message,omitempty"`
	// Moved are the replicas that were let go within the window of maxMoved, oldest first.
	Moved []BudgetMove `json:"moved,omitempty"`
}

// BudgetMove is how many replicas were let go at an instant, of one workload where numbers hold per workload.
type BudgetMove struct {
	At       metav1.MicroTime `json:"at"`
	Binding  string           `json:"binding,omitempty"`
	Replicas int64            `json:"replicas"`
}
