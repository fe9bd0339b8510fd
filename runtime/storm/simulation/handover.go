package simulation

import (
	"maps"
	"time"
)

// near is an instant at one of some steps, or soon after: while what they set off is under way.
func (d dice) near(steps []mapping) time.Duration {
	return steps[d.IntN(len(steps))]["at"].(time.Duration) + d.seconds(0, pick(d, 0, 1, 10, 60, 600))
}

// zeroed scales a workload to zero at some stage of what other steps set off, for some of the cases; of every second one no
// cluster remains by then that would take it. It comes from dice of its own, as again.
func zeroed(c *Case, workloads int, steps []mapping) (more []mapping) {
	d := newDice(c.Seed ^ 0x2e40)
	if !d.chance(40) {
		return nil
	}
	at, of := d.near(steps), "default/"+workload(d.IntN(workloads))
	if d.chance(50) {
		everywhere := mapping{"cluster": allClusters(len(c.Fleet)), "taints": []string{pick(d, "ours:NoExecute", "ours:NoExecute", "theirs:NoSchedule")}}
		more = d.ends(step(at, "taint", everywhere), step(at+d.seconds(60, 1200), "untaint", everywhere))
		at += d.seconds(0, pick(d, 0, 1, 30, 300))
	}
	more = append(more, step(at, "scale", mapping{"workload": of, "replicas": 0}))
	if d.chance(50) {
		back := step(at+d.seconds(0, 600), "scale", mapping{"workload": of, "replicas": d.between(1, 9)})
		more = append(more, back)
	}
	return more
}

// untold suspends dispatching of a workload to some clusters, or to all, about when another step sets something off, for some
// of the cases, and most often resumes it later. Every second time a cluster is tainted meanwhile. It comes from dice of its
// own, as again.
func untold(c *Case, policies []mapping, steps []mapping) (more []mapping) {
	d := newDice(c.Seed ^ 0xd15a)
	if !d.chance(35) {
		return nil
	}
	policy := policies[d.IntN(len(policies))]
	suspended, spec := maps.Clone(policy), maps.Clone(policy["spec"].(mapping))
	suspended["spec"], spec["suspension"] = spec, d.suspension(len(c.Fleet))
	at := max(0, d.near(steps)-d.seconds(0, 60))
	more = d.ends(step(at, "apply", suspended), step(at+d.seconds(30, 1200), "apply", policy))
	for _, edit := range more {
		edit["mayFail"] = true
	}
	if d.chance(50) {
		taint := mapping{"cluster": d.someClusters(len(c.Fleet)), "taints": []string{"ours:NoExecute"}}
		more = append(more, step(at+d.seconds(0, 60), "taint", taint))
	}
	return more
}

func (d dice) suspension(clusters int) mapping {
	if d.chance(40) {
		return mapping{"dispatching": true}
	}
	return mapping{"dispatchingOnClusters": mapping{"clusterNames": d.someClusters(clusters)}}
}
