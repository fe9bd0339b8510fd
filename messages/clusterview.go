package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// ClusterView is what placement and policies see of one cluster at one instant. It is a snapshot:
// a holder may keep it, and must not change it.
type ClusterView struct {
	Name     ClusterName
	Labels   map[string]string
	Provider string
	Region   string
	Zones    []string
	// Taints in the order of the Cluster's spec.
	Taints []corev1.Taint
	// Conditions in the order of the Cluster's status, one per type.
	Conditions []metav1.Condition
	// Removed are the conditions that the cluster ceased to report. One of neither list is missing since
	// the cluster was Created.
	Removed []api.RemovedCondition
	Created time.Time
	// APIs is what the cluster serves; empty means that nothing is known and everything is assumed.
	APIs []api.APIEnablement
	// Resources is nil where the cluster reports no capacity.
	Resources *api.ResourceSummary
	// Models are the grades of nodes that Resources counts, if it does; nil: none.
	Models   []api.ResourceModel
	Deleting bool
}

// Located returns as much of a cluster as an affinity looks at.
func Located(c *api.Cluster) *ClusterView {
	return &ClusterView{
		Name: ClusterName(c.Name), Labels: c.Labels,
		Provider: c.Spec.Provider, Region: c.Spec.Region, Zones: c.Spec.Zones,
	}
}

// Condition returns the condition of one type, or nil.
func (v *ClusterView) Condition(kind string) *metav1.Condition {
	for i := range v.Conditions {
		if v.Conditions[i].Type == kind {
			return &v.Conditions[i]
		}
	}
	return nil
}

// MissingSince returns since when a condition that the cluster does not report is missing.
func (v *ClusterView) MissingSince(kind string) time.Time {
	for i := range v.Removed {
		if v.Removed[i].Type == kind {
			return v.Removed[i].At.Time
		}
	}
	return v.Created
}
