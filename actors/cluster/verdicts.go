package cluster

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

// voter is one ClusterTaintPolicy, with its verdict on the present generation; nil: not given.
type voter struct {
	messages.PolicyListed
	verdict *messages.VerdictGiven
}

// inquiry says how far the policies are with the present generation.
type inquiry uint8

const (
	// concluded: all have judged, and what they ask for is done.
	concluded inquiry = iota
	// due: they are asked at the end of the instant.
	due
	// open: they have been asked.
	open
)

// reopen has all policies judge again, once for all changes of an instant. Answers to older questions
// are void from now on.
func (c *Cluster) reopen() {
	c.generation++
	c.inquiry = due
	c.judgeAt = time.Time{}
}

// reopenDue has them judge again when a condition has lasted for as long as one of them asks.
func (c *Cluster) reopenDue(now time.Time) {
	if !c.judgeAt.IsZero() && !c.judgeAt.After(now) {
		c.reopen()
	}
}

// toAsk reports whether the policies must be asked now.
func (c *Cluster) toAsk() bool { return c.inquiry == due && !c.blind() }

func (c *Cluster) ask(now time.Time, out *actors.Outbox) {
	c.inquiry = open
	question := &messages.JudgeCluster{View: c.view(c.seen()), Generation: c.generation}
	for i := range c.policies {
		c.policies[i].verdict = nil
		out.TellPolicy(c.policies[i].Name, question)
	}
	c.conclude(now, out)
}

func (c *Cluster) verdictGiven(now time.Time, m *messages.VerdictGiven, out *actors.Outbox) {
	i := c.policyAt(m.Policy)
	if c.inquiry != open || m.Generation != c.generation || i < 0 {
		return
	}
	c.policies[i].verdict = m
	c.conclude(now, out)
}

// conclude carries out all verdicts in one change, once every policy has given its own.
func (c *Cluster) conclude(now time.Time, out *actors.Outbox) {
	rulings := make([]policy.Ruling, 0, len(c.policies))
	var next time.Time
	for i := range c.policies {
		v := c.policies[i].verdict
		if v == nil {
			return
		}
		if !v.ReportOnly {
			rulings = append(rulings, ruling(v))
		}
		next = actors.Earlier(next, v.Due)
	}
	c.inquiry, c.judgeAt = concluded, next
	c.carryOut(now, rulings, out)
	c.dropped = nil
	c.updatePreviews(now, out)
}

// ruling is what a policy answered, as the rules take it.
func ruling(v *messages.VerdictGiven) policy.Ruling {
	return policy.Ruling{
		Policy:  v.Policy,
		Verdict: policy.Verdict{Add: v.Add, Remove: v.Remove, AddCause: v.AddCause, RemoveCause: v.RemoveCause},
		Taints:  v.Taints,
	}
}

// cleanup is when a policy takes away the taints that it added and no longer asks for.
func (c *Cluster) cleanup(v *voter) api.CleanupMode {
	return c.ways().Cleanup(v.Cleanup)
}

// moved has the policies judge again where the cleanup of one of them is OnChange: it removes its taints from clusters that it no
// longer selects, and adds again what users remove. Karmada's do not look again before some condition changes.
func (c *Cluster) moved() {
	if slices.ContainsFunc(c.policies, func(v voter) bool { return c.cleanup(&v) == api.CleanupOnChange }) {
		c.reopen()
	}
}

// forsaken returns why the policy that added a taint no longer asks for it; empty where it does.
func (c *Cluster) forsaken(i int) string {
	owner := messages.PolicyName(c.causes[i].Policy)
	if slices.Contains(c.dropped, owner) {
		return "it was deleted"
	}
	if at := c.policyAt(owner); at >= 0 && !c.policies[at].verdict.ReportOnly {
		v := c.policies[at].verdict
		return policy.Forsaken(c.cleanup(&c.policies[at]), v.Selects, v.Taints, &c.taints[i])
	}
	return ""
}

// policyListed takes in a policy, or its edit.
func (c *Cluster) policyListed(m *messages.PolicyListed) {
	v := voter{PolicyListed: *m}
	if i := c.policyAt(m.Name); i >= 0 {
		c.policies[i].PolicyListed = *m
	} else {
		c.policies = append(c.policies, v)
	}
	c.sortPolicies()
	if m.Targeted || c.cleanup(&v) == api.CleanupOnChange || c.inquiry == open {
		c.reopen()
	}
}

// policyDropped forgets a policy. Unless its taints go with it, for which others may have reasons to
// stay, they are not asked again, but may have waited for its verdict only.
func (c *Cluster) policyDropped(now time.Time, name messages.PolicyName, out *actors.Outbox) {
	i := c.policyAt(name)
	if i < 0 {
		return
	}
	if c.cleanup(&c.policies[i]).Cleans() {
		c.dropped = append(c.dropped, name)
		c.reopen()
	}
	c.policies = slices.Delete(c.policies, i, i+1)
	c.endPreviews()
	if c.inquiry == open {
		c.conclude(now, out)
	}
}

func (c *Cluster) policyAt(name messages.PolicyName) int {
	return slices.IndexFunc(c.policies, func(v voter) bool { return v.Name == name })
}

// sortPolicies keeps the policies in the order in which they act: the youngest last, so that it wins.
func (c *Cluster) sortPolicies() {
	order := c.ways().PolicyOrder(c.seed)
	slices.SortFunc(c.policies, func(a, b voter) int {
		return order.Compare(policy.Birth{Name: a.Name, Created: a.CreatedAt}, policy.Birth{Name: b.Name, Created: b.CreatedAt})
	})
}
