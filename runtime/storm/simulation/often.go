package simulation

import (
	"maps"
	"slices"
	"time"
)

// often has the copies of one workload become unhealthy again and again, for some of the cases, and its policy say how often it may
// be evicted for that and which clusters rest. It comes from dice of its own, as again.
func often(c *Case, policies []mapping) (steps []mapping) {
	d := newDice(c.Seed ^ 0x0f7e)
	if !d.chance(15) {
		return nil
	}
	i := d.IntN(len(policies))
	policy := maps.Clone(policies[i])
	spec := maps.Clone(policy["spec"].(mapping))
	policy["spec"], spec["propagateDeps"] = spec, true
	application := mapping{
		"decisionConditions": mapping{"tolerationSeconds": pick(d, 0, 5, 30), "startupSeconds": 0},
		"purgeMode":          pick(d, "Gracefully", "Directly"),
	}
	application["pace"] = mapping{"maxFailovers": d.between(1, 3), "windowSeconds": pick(d, 60, 600, 3600), "cooldownSeconds": pick(d, 0, 60, 1200)}
	spec["failover"] = mapping{"application": application}
	at := d.seconds(0, int(c.Duration/time.Second)/2)
	edit := step(at, "apply", policy)
	edit["mayFail"] = true
	steps = append(steps, edit)
	for range d.between(2, 6) {
		at += d.seconds(1, 400)
		of := mapping{"cluster": d.someClusters(len(c.Fleet)), "binding": "default/" + workload(i) + "-deployment"}
		ill, well := maps.Clone(of), maps.Clone(of)
		ill["status"], well["status"] = "Unhealthy", "Healthy"
		steps = append(steps, d.ends(step(at, "health", ill), step(at+d.seconds(1, 400), "health", well))...)
	}
	return steps
}

// grouped keeps workloads of a group apart or together, for some of the cases. It comes from dice of its own, as again.
func grouped(c *Case, deployments, policies []mapping) {
	d := newDice(c.Seed ^ 0x6909)
	if !d.chance(12) || slices.ContainsFunc(c.Config, func(one any) bool { return one.(mapping)["workloadAffinity"] != nil }) {
		return
	}
	c.Config = append(c.Config, mapping{"workloadAffinity": true})
	how := pick(d, "antiAffinity", "antiAffinity", "affinity")
	for i := range policies {
		if d.chance(25) {
			continue
		}
		deployments[i]["metadata"].(mapping)["labels"] = mapping{"team": pick(d, "a", "a", "b")}
		policies[i]["spec"].(mapping)["placement"].(mapping)["workloadAffinity"] = mapping{how: mapping{"groupByLabelKey": "team"}}
	}
}
