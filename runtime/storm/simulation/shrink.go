package simulation

import (
	"maps"

	"leeward/runtime/scenario/shrink"
)

// mostTries is when a case is small enough: most are as small as they get after some hundred, and one that goes
// round in circles takes long each time.
const mostTries = 400

// Shrink returns a case that breaks the same invariant with as little as it takes: parts are omitted, and numbers
// made smaller, as long as it does. A case without which the invariant holds, or that is no valid scenario, is no
// step. The case is taken apart: draw it again to have it.
func Shrink(c *Case, name string, try func(*Case) *Finding) *Case {
	shrink.Reduce([]*[]any{&c.Timeline, &c.Manifests, &c.Fleet, &c.Config}, mostTries, func() bool {
		f := try(c)
		return f != nil && f.Invariant == name
	})
	return c
}

// removed has a workload, or its policy, deleted and made again, for some of the cases: a workload in one instant, so that what
// was known of it must not outlive it; a policy then or later. Every second time the workload is evicted before that from some
// clusters, to which it would return. It comes from dice of its own, as again.
func removed(c *Case, deployments, policies, others []mapping) (steps []mapping) {
	d := newDice(c.Seed ^ 0xde1e)
	if !d.chance(25) {
		return nil
	}
	i := d.IntN(len(policies))
	at := d.near(others)
	if d.chance(50) {
		taint := mapping{"cluster": d.someClusters(len(c.Fleet)), "taints": []string{"ours:NoExecute"}}
		returns := step(max(0, at-d.seconds(0, 120)), "apply", d.returning(policies[i]))
		returns["mayFail"] = true
		steps = append(steps, returns, step(at, "taint", taint))
		at += d.seconds(0, pick(d, 0, 10, 600))
		if d.chance(80) {
			steps = append(steps, step(at+d.seconds(0, 600), "untaint", taint))
		}
	}
	if d.chance(60) {
		again := step(at, "apply", deployments[i])
		again["mayFail"] = true
		return append(steps, step(at, "delete", mapping{"kind": "Deployment", "name": workload(i)}), again)
	}
	if d.chance(40) { // what the policy asked for last is heard beside what the next one does
		edit := step(at, "apply", d.policy(i, len(c.Fleet)))
		edit["mayFail"] = true
		steps = append(steps, edit)
	}
	again := step(at+d.seconds(0, pick(d, 0, 0, 0, 60, 600)), "apply", policies[i])
	again["mayFail"] = true
	return append(steps, step(at, "delete", mapping{"kind": "PropagationPolicy", "name": workload(i)}), again)
}

// returning is a policy that has its workload fail back once a cluster is healthy again.
func (d dice) returning(policy mapping) mapping {
	policy = maps.Clone(policy)
	spec := maps.Clone(policy["spec"].(mapping))
	failback := mapping{"mode": "Automatic", "stabilizationSeconds": pick(d, 0, 30)}
	policy["spec"], spec["propagateDeps"] = spec, true
	spec["failover"] = mapping{"cluster": mapping{"purgeMode": "Gracefully", "failback": failback}}
	return policy
}
