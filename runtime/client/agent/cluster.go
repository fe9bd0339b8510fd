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
	sum := a.member.summary(c.Spec.ResourceModels)
	if sum != nil && c.Status.ResourceSummary != nil && sameSummary(sum.resources, c.Status.ResourceSummary) {
		sum.resources = c.Status.ResourceSummary // the same amounts, written otherwise
	}
	if sum != nil && a.hub.placeless {
		sum.topology = nil
	}
	return statusOf(c, a.readiness.current, a.member.served.Load(), sum, a.Clock.Now())
}

// statusOf puts together the status of a cluster. What is not known is as it was.
func statusOf(c *api.Cluster, ready probe, s *served, sum *summary, now time.Time) *api.ClusterStatus {
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
	if sum != nil {
		next.NodeSummary, next.ResourceSummary = sum.nodes, sum.resources
		if t := sum.topology; t != nil && sum.nodes.TotalNum > 0 && (c.Status.NodeTopology != nil || t.Region != "" || len(t.Zones) > 0) {
			next.NodeTopology = t // a cluster without nodes, for now, is where they were
		}
	}
	return &next
}

func sameSummary(a, b *api.ResourceSummary) bool {
	return equality.Semantic.DeepEqual(a.Allocatable, b.Allocatable) && equality.Semantic.DeepEqual(a.Allocated, b.Allocated) &&
		equality.Semantic.DeepEqual(a.Allocating, b.Allocating) && slices.Equal(a.AllocatableModelings, b.AllocatableModelings)
}
