package simulation

import (
	"maps"
	"slices"
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

// recounted has a workload tolerate a taint for a while, for some of the cases, and changes, while that counts down, what it
// counts: the toleration is edited to last shorter or longer, for good or not at all, now and then with a placement that no cluster
// fits, the taint is added again, or the workload
// is scaled to zero. It comes from dice of its own, as again.
func recounted(c *Case, policies []mapping) (steps []mapping) {
	d := newDice(c.Seed ^ 0x7e4a)
	if !d.chance(30) {
		return nil
	}
	i := d.IntN(len(policies))
	seconds := pick(d, 10, 60, 300, 1800)
	at := d.seconds(0, int(c.Duration/time.Second)/2)
	then := at + d.seconds(0, pick(d, 5, seconds, 2*seconds))
	taint := mapping{"cluster": d.someClusters(len(c.Fleet)), "taints": []string{"ours:NoExecute"}}
	steps = []mapping{step(at, "apply", tolerating(policies[i], seconds)), step(at, "taint", taint)}
	switch d.IntN(6) {
	case 0, 1, 2:
		edited := tolerating(policies[i], pick(d, 0, 5, 30, 120, 600, 3600, -1))
		if d.chance(40) {
			edited["spec"].(mapping)["placement"].(mapping)["spreadConstraints"] = []mapping{unmet()}
		}
		steps = append(steps, step(then, "apply", edited))
	case 3:
		steps = append(steps, step(then, "apply", policies[i]))
	case 4:
		steps = append(steps, step(then, "untaint", taint), step(then+d.seconds(0, pick(d, 0, 0, 60)), "taint", taint))
	default:
		steps = append(steps, step(then, "scale", mapping{"workload": "default/" + workload(i), "replicas": 0}))
	}
	if d.chance(60) {
		steps = append(steps, step(then+d.seconds(1, 1800), "untaint", taint))
	}
	for _, s := range steps {
		if s["apply"] != nil {
			s["mayFail"] = true
		}
	}
	return steps
}

// unmet is a spread that no fleet of a case has clusters for: what was placed stays where it is, and is not placed again.
func unmet() mapping { return mapping{"spreadByField": "cluster", "minGroups": 50, "maxGroups": 50} }

// tolerating is a policy that has workloads tolerate a taint of ours for some seconds; negative: for good.
func tolerating(policy mapping, seconds int) mapping {
	toleration := mapping{"key": "ours", "operator": "Exists", "effect": "NoExecute"}
	if seconds >= 0 {
		toleration["tolerationSeconds"] = seconds
	}
	policy = maps.Clone(policy)
	spec := maps.Clone(policy["spec"].(mapping))
	placement := maps.Clone(spec["placement"].(mapping))
	others, _ := placement["clusterTolerations"].([]mapping)
	policy["spec"], spec["placement"], placement["clusterTolerations"] = spec, placement, slices.Concat([]mapping{toleration}, others)
	return policy
}
