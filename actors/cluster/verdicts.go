package cluster

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/policy"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

// toAsk reports whether the policies must be asked now.
func (c *Cluster) toAsk() bool { return c.judging.inquiry == due && !c.conditions.blind() }

func (c *Cluster) ask(now time.Time, out *actors.Outbox) {
	c.judging.inquiry = open
	question := &messages.JudgeCluster{View: c.view(c.conditions.seen()), Generation: c.judging.generation}
	for i := range c.judging.policies {
		c.judging.policies[i].verdict = nil
		out.TellPolicy(c.judging.policies[i].Name, question)
	}
	c.conclude(now, out)
}

func (c *Cluster) verdictGiven(now time.Time, m *messages.VerdictGiven, out *actors.Outbox) {
	i := c.judging.at(m.Policy)
	if c.judging.inquiry != open || m.Generation != c.judging.generation || i < 0 {
		return
	}
	c.judging.policies[i].verdict = m
	c.conclude(now, out)
}

// conclude carries out all verdicts in one change, once every policy has given its own.
func (c *Cluster) conclude(now time.Time, out *actors.Outbox) {
	rulings := make([]policy.Ruling, 0, len(c.judging.policies))
	var next time.Time
	for i := range c.judging.policies {
		v := c.judging.policies[i].verdict
		if v == nil {
			return
		}
		if !v.ReportOnly {
			rulings = append(rulings, ruling(v))
		}
		next = actors.Earlier(next, v.Due)
	}
	c.judging.inquiry, c.judging.due = concluded, next
	c.carryOut(now, rulings, out)
	c.judging.dropped = nil
	c.updatePreviews(now, out)
}

// policyDropped forgets a policy. Unless its taints go with it, for which others may have reasons to
// stay, they are not asked again, but may have waited for its verdict only.
func (c *Cluster) policyDropped(now time.Time, name messages.PolicyName, out *actors.Outbox) {
	i := c.judging.at(name)
	if i < 0 {
		return
	}
	if c.judging.cleanup(&c.judging.policies[i]).Cleans() {
		c.judging.dropped = append(c.judging.dropped, name)
		c.judging.reopen()
	}
	c.judging.policies = slices.Delete(c.judging.policies, i, i+1)
	c.previews.end(&c.judging)
	if c.judging.inquiry == open {
		c.conclude(now, out)
	}
}

// noPolicy is why workloads stay on a cluster for which no policy does anything.
const noPolicy = "no ClusterTaintPolicy adds NoExecute for it"

// stay returns why nothing evicts the workloads of a cluster that is not Ready; empty where the cluster is Ready, runs
// none, or they will be evicted. It is not settled before all policies have judged every condition that the cluster has.
func (c *Cluster) stay() (reason string, settled bool) {
	ready := c.conditions.ready()
	if ready == metav1.ConditionTrue || ready == "" || c.deleting || c.subscribers.len() == 0 {
		return "", true
	}
	if c.judging.inquiry != concluded || len(c.conditions.young) > 0 {
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
