package agent

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// status is what the agent reports of its cluster; what other writers say of it remains.
func (a *Agent) status(c *api.Cluster) *api.ClusterStatus {
	nodes, resources := a.member.summary(c.Spec.ResourceModels)
	if resources != nil && c.Status.ResourceSummary != nil && sameSummary(resources, c.Status.ResourceSummary) {
		resources = c.Status.ResourceSummary // the same amounts, written otherwise
	}
	return statusOf(c, a.readiness.current, a.member.served.Load(), nodes, resources, a.Clock.Now())
}

// statusOf puts together the status of a cluster. What is not known is as it was.
func statusOf(c *api.Cluster, ready probe, s *served, nodes *api.NodeSummary, resources *api.ResourceSummary, now time.Time) *api.ClusterStatus {
	next := c.Status
	next.Conditions = slices.Clone(next.Conditions)
	meta.SetStatusCondition(&next.Conditions, ready.condition(now))
	if s != nil {
		next.KubernetesVersion, next.APIEnablements = s.version, s.enablements
		complete := metav1.Condition{
			Type: api.ConditionCompleteAPIEnablements, Status: metav1.ConditionTrue, Reason: "Complete", Message: "all API groups of the member answered",
			LastTransitionTime: metav1.Time{Time: now.UTC().Truncate(time.Second)},
		}
		if s.incomplete != nil {
			complete.Status, complete.Reason, complete.Message = metav1.ConditionFalse, "PartialAPIEnablements", s.incomplete.Error()
		}
		meta.SetStatusCondition(&next.Conditions, complete)
	}
	if resources != nil {
		next.NodeSummary, next.ResourceSummary = nodes, resources
	}
	return &next
}

func sameSummary(a, b *api.ResourceSummary) bool {
	return equality.Semantic.DeepEqual(a.Allocatable, b.Allocatable) && equality.Semantic.DeepEqual(a.Allocated, b.Allocated) &&
		equality.Semantic.DeepEqual(a.Allocating, b.Allocating) && slices.Equal(a.AllocatableModelings, b.AllocatableModelings)
}
