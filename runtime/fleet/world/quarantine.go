package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// showQuarantined shows the scheduler a cluster whose machine is not run, as it is stored: with a taint that only the scheduler
// sees, so that what the cluster runs stays, and nothing else is placed there.
func (w *World) showQuarantined(c *api.Cluster) {
	if !w.config.Quarantined[clusterAt(messages.ClusterName(c.Name))] {
		return
	}
	v := messages.Located(c)
	v.Conditions, v.Created, v.Deleting = c.Status.Conditions, c.CreationTimestamp.Time, c.DeletionTimestamp != nil
	v.APIs, v.Resources = c.Status.APIEnablements, c.Status.ResourceSummary
	v.Taints = append(slices.Clone(c.Spec.Taints), corev1.Taint{Key: "leeward.dev/quarantined", Effect: corev1.TaintEffectNoSchedule})
	w.kernel.Post(schedulerAt, &messages.ClusterViewed{View: v})
}

// judges reports whether clusters are to wait for the verdicts of a policy: one in quarantine gives none, and its taints stay.
func (w *World) judges(p *api.ClusterTaintPolicy) bool {
	return !w.config.Quarantined[policyAt(messages.PolicyName(p.Name))]
}
