package cluster

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/policy"
	"leeward/messages"
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
	// due: they are to be asked at the end of the instant.
	due
	// open: they have been asked.
	open
)

// reopen has all policies judge anew, once for all changes of an instant. Answers to older questions
// are void from now on.
func (c *Cluster) reopen() {
	c.generation++
	c.inquiry = due
	c.judgeAt = time.Time{}
}

// reopenDue has them judge anew when a condition has lasted for as long as one of them asks.
func (c *Cluster) reopenDue(now time.Time) {
	if !c.judgeAt.IsZero() && !c.judgeAt.After(now) {
		c.reopen()
	}
}

// toAsk reports whether the policies are to be asked now.
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
	rulings := make([]policy.Ruling, len(c.policies))
	var next time.Time
	for i := range c.policies {
		v := c.policies[i].verdict
		if v == nil {
			return
		}
		rulings[i] = policy.Ruling{
			Policy:  v.Policy,
			Verdict: policy.Verdict{Add: v.Add, Remove: v.Remove, AddCause: v.AddCause, RemoveCause: v.RemoveCause},
			Taints:  v.Taints,
		}
		next = actors.Earlier(next, v.Due)
	}
	c.inquiry, c.judgeAt = concluded, next
	c.retaint(now, rulings, out)
}

// policyListed takes in a policy, or its edit.
func (c *Cluster) policyListed(m *messages.PolicyListed) {
	if i := c.policyAt(m.Name); i >= 0 {
		c.policies[i].PolicyListed = *m
	} else {
		c.policies = append(c.policies, voter{PolicyListed: *m})
	}
	c.sortPolicies()
	if m.Targeted || c.inquiry == open {
		c.reopen()
	}
}

// policyDropped forgets a policy; its taints stay. Others are not asked again, but may have waited for
// its verdict only.
func (c *Cluster) policyDropped(now time.Time, name messages.PolicyName, out *actors.Outbox) {
	i := c.policyAt(name)
	if i < 0 {
		return
	}
	c.policies = slices.Delete(c.policies, i, i+1)
	if c.inquiry == open {
		c.conclude(now, out)
	}
}

func (c *Cluster) policyAt(name messages.PolicyName) int {
	return slices.IndexFunc(c.policies, func(v voter) bool { return v.Name == name })
}

// sortPolicies keeps the policies in the order in which they act: the youngest last, so that it wins.
func (c *Cluster) sortPolicies() {
	order := policy.Order{Tie: c.settings.PolicyTieBreak, Seed: c.seed}
	slices.SortFunc(c.policies, func(a, b voter) int {
		return order.Compare(policy.Birth{Name: a.Name, Created: a.CreatedAt}, policy.Birth{Name: b.Name, Created: b.CreatedAt})
	})
}
