package simulation

import (
	"maps"
	"slices"
	"time"
)

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
