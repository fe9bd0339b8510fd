package cluster

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

// policyListed takes in a policy, or its edit, and has all policies judge anew.
func (c *Cluster) policyListed(now time.Time, m *messages.PolicyListed, out *actors.Outbox) {
	i := slices.IndexFunc(c.policies, func(p messages.PolicyListed) bool { return p.Name == m.Name })
	if i < 0 {
		c.policies = append(c.policies, *m)
	} else {
		c.policies[i] = *m
	}
	c.sortPolicies()
	c.judge(now, out)
}

// policyDropped forgets a policy; its taints stay. Others are not asked again, but may have waited
// for its verdict only.
func (c *Cluster) policyDropped(now time.Time, name messages.PolicyName, out *actors.Outbox) {
	i := slices.IndexFunc(c.policies, func(p messages.PolicyListed) bool { return p.Name == name })
	if i < 0 {
		return
	}
	waiting := !c.complete()
	c.policies = slices.Delete(c.policies, i, i+1)
	c.verdicts = slices.Delete(c.verdicts, i, i+1)
	if waiting && c.complete() {
		c.retaint(now, nil, out)
	}
}

// sortPolicies keeps the policies in the order in which they act: the youngest last, so that it wins.
func (c *Cluster) sortPolicies() {
	order := policy.Order{Tie: c.settings.PolicyTieBreak, Seed: c.seed}
	slices.SortFunc(c.policies, func(a, b messages.PolicyListed) int {
		return order.Compare(policy.Birth{Name: a.Name, Created: a.CreatedAt}, policy.Birth{Name: b.Name, Created: b.CreatedAt})
	})
}

// judge opens a new generation: every policy is asked, and the answers to older questions are void.
func (c *Cluster) judge(now time.Time, out *actors.Outbox) {
	c.generation++
	c.verdicts = make([]*messages.VerdictGiven, len(c.policies))
	if len(c.policies) == 0 {
		c.retaint(now, nil, out)
		return
	}
	question := &messages.JudgeCluster{View: c.view(c.seen), Generation: c.generation}
	for _, p := range c.policies {
		out.TellPolicy(p.Name, question)
	}
}

func (c *Cluster) verdictGiven(now time.Time, m *messages.VerdictGiven, out *actors.Outbox) {
	if m.Generation != c.generation {
		return
	}
	for i := range c.policies {
		if c.policies[i].Name == m.Policy {
			c.verdicts[i] = m
		}
	}
	if c.complete() {
		c.retaint(now, nil, out)
	}
}

// complete reports whether every policy has answered for the present generation.
func (c *Cluster) complete() bool { return !slices.Contains(c.verdicts, nil) }

// applyVerdicts carries out all verdicts at once, in policy order, add before remove, and says why
// what went had to go. A generation that is not complete changes nothing yet.
func (c *Cluster) applyVerdicts(now time.Time) (removals []api.TaintCause) {
	if !c.complete() {
		return nil
	}
	rulings := make([]policy.Ruling, 0, len(c.verdicts))
	for _, v := range c.verdicts {
		rulings = append(rulings, policy.Ruling{
			Policy:  v.Policy,
			Verdict: policy.Verdict{Add: v.Add, Remove: v.Remove, AddCause: v.AddCause, RemoveCause: v.RemoveCause},
			Taints:  v.Taints,
		})
	}
	_, changes := policy.Apply(c.taints, rulings, c.stamp(now).Time)
	for i := range changes {
		t := changes[i].Taint
		cause := api.TaintCause{Key: t.Key, Effect: t.Effect, Policy: string(changes[i].Policy), By: byPolicy, Because: changes[i].Cause}
		if changes[i].Added {
			c.add(t, cause)
			continue
		}
		c.removeByHand(&t)
		removals = append(removals, cause)
	}
	return removals
}
