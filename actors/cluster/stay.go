package cluster

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

// noPolicy is why workloads stay on a cluster for which no policy does anything.
const noPolicy = "no ClusterTaintPolicy adds NoExecute for it"

// stay returns why nothing evicts the workloads of a cluster that is not Ready; empty where the cluster is Ready, runs
// none, or they will be evicted. It is not settled before all policies have judged every condition that the cluster has.
func (c *Cluster) stay() (reason string, settled bool) {
	ready := c.conditions.ready()
	if ready == metav1.ConditionTrue || ready == "" || c.deleting || c.subscribers.len() == 0 {
		return "", true
	}
	if c.judging.inquiry != concluded || len(c.conditions.held) > 0 {
		return "", false
	}
	if off := c.settings.EvictionOff(); off != "" {
		return off, true
	}
	if len(taint.Evicting(c.taints.list)) > 0 || c.ways().NotReadyEvictsAfter() > 0 || slices.ContainsFunc(c.judging.policies, voter.evicts) {
		return "", true
	}
	return noPolicy, true
}

// evicts reports whether the policy adds NoExecute for the cluster, as it last judged.
func (v voter) evicts() bool { return v.verdict != nil && v.verdict.Evicts }

// toSayStay reports whether that is news. It is said once for each outage, when its instant ends.
func (c *Cluster) toSayStay() bool {
	reason, settled := c.stay()
	return settled && reason != c.stays
}

func (c *Cluster) sayStay(out *actors.Outbox) {
	if c.toSayStay() {
		c.stays, _ = c.stay()
		out.Record(&messages.WorkloadsStay{Cluster: c.name, Reason: c.stays})
	}
}
