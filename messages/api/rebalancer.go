package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WorkloadRebalancer asks for a fresh placement of the workloads it names.
type WorkloadRebalancer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              WorkloadRebalancerSpec   `json:"spec"`
	Status            WorkloadRebalancerStatus `json:"status,omitzero"`
}

// WorkloadRebalancerSpec names the workloads.
type WorkloadRebalancerSpec struct {
	Workloads               []RebalancedReference `json:"workloads"`
	TTLSecondsAfterFinished *int32                `json:"ttlSecondsAfterFinished,omitempty"`
}

// RebalancedReference names one workload.
type RebalancedReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace,omitempty"`
}

// WorkloadRebalancerStatus says what became of each workload.
type WorkloadRebalancerStatus struct {
	ObservedWorkloads  []ObservedWorkload `json:"observedWorkloads,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	FinishTime         *metav1.Time       `json:"finishTime,omitempty"`
}

// ObservedWorkload is the outcome for one workload.
type ObservedWorkload struct {
	Workload RebalancedReference `json:"workload"`
	Result   string              `json:"result,omitempty"`
	Reason   string              `json:"reason,omitempty"`
}
