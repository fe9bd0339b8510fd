package api

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FederatedResourceQuota limits what the workloads of its namespace ask of all clusters together.
type FederatedResourceQuota struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              FederatedResourceQuotaSpec   `json:"spec"`
	Status            FederatedResourceQuotaStatus `json:"status,omitzero"`
}

// FederatedResourceQuotaSpec says what is allowed.
type FederatedResourceQuotaSpec struct {
	// Overall are the limits by resource; a resource that is not in it has none.
	Overall corev1.ResourceList `json:"overall"`
	// StaticAssignments are for the clusters' own quotas. No placement looks at them.
	StaticAssignments []StaticClusterAssignment `json:"staticAssignments,omitempty"`
}

// StaticClusterAssignment is the part of the limits that one cluster is to enforce itself.
type StaticClusterAssignment struct {
	ClusterName string              `json:"clusterName"`
	Hard        corev1.ResourceList `json:"hard"`
}

// FederatedResourceQuotaStatus says what is used of what is limited.
type FederatedResourceQuotaStatus struct {
	Overall corev1.ResourceList `json:"overall,omitempty"`
	// OverallUsed is what placements ask for: replicas of spec.clusters times what each requests.
	OverallUsed corev1.ResourceList `json:"overallUsed,omitempty"`
	// OverallEvicting is what old copies hold on top of OverallUsed until their handover ends. It counts
	// against no limit. Leeward's own.
	OverallEvicting  corev1.ResourceList  `json:"overallEvicting,omitempty"`
	AggregatedStatus []ClusterQuotaStatus `json:"aggregatedStatus,omitempty"`
}

// ClusterQuotaStatus is what one cluster says of the quota that it was assigned.
type ClusterQuotaStatus struct {
	ClusterName                string `json:"clusterName"`
	corev1.ResourceQuotaStatus `json:",inline"`
}
