package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"leeward/messages/lists"
)

// timeline draws what fails, what comes back, and what people do meanwhile. Steps of one outage share a
// beginning now and then with those of others, because what comes together is what goes wrong.
func (d dice) timeline(c *Case, deployments, policies []mapping) (steps []mapping) {
	workloads := len(policies)
	at := time.Duration(0)
	for range d.between(1, 8) {
		if !d.chance(30) {
			at = d.seconds(0, int(c.Duration/time.Second)*3/4)
		}
		steps = append(steps, d.trouble(at, c, workloads)...)
	}
	others := steps
	steps = append(steps, again(c, workloads)...)
	steps = append(steps, zeroed(c, workloads, others)...)
	steps = append(steps, untold(c, policies, others)...)
	steps = append(steps, recounted(c, policies)...)
	steps = append(steps, often(c, policies)...)
	steps = append(steps, removed(c, deployments, policies, others)...)
	steps = slices.DeleteFunc(steps, func(s mapping) bool { return s["at"].(time.Duration) > c.Duration })
	slices.SortStableFunc(steps, func(a, b mapping) int { return cmp.Compare(a["at"].(time.Duration), b["at"].(time.Duration)) })
	for _, s := range steps {
		s["at"] = text(s["at"].(time.Duration))
	}
	return steps
}

// step is one action at an instant.
func step(at time.Duration, action string, what any) mapping { return mapping{"at": at, action: what} }

// trouble is one thing that goes wrong, or that people do, and most often its end.
func (d dice) trouble(at time.Duration, c *Case, workloads int) []mapping {
	clusters := d.someClusters(len(c.Fleet))
	on, back := mapping{"cluster": clusters}, at+d.seconds(0, 1200)
	with := func(fields mapping) mapping {
		fields["cluster"] = clusters
		return fields
	}
	if d.chance(33) {
		return []mapping{d.fault(at, on)}
	}
	switch d.IntN(14) {
	case 0, 1:
		return []mapping{d.outage(at, back, with(mapping{}))}
	case 2, 3:
		down := with(mapping{"type": "Ready", "status": pick(d, "False", "Unknown"), "reason": "Down"})
		return d.ends(step(at, "condition", down), step(back, "condition", with(mapping{"type": "Ready", "status": "True", "reason": "Up"})))
	case 4, 5:
		key := pick(d, "ours:NoExecute", "ours:NoSchedule", "theirs:NoExecute")
		return d.ends(step(at, "taint", with(mapping{"taints": []string{key}})), step(back, "untaint", with(mapping{"taints": []string{key}})))
	case 6:
		return d.ends(step(at, "drain", on), step(back, "uncordon", on))
	case 7, 8:
		return d.ends(step(at, "health", d.ofOne(with(mapping{"status": pick(d, "Unhealthy", "Unknown")}), workloads)), step(back, "health", with(mapping{"status": "Healthy"})))
	case 10:
		return d.ends(step(at, "capacity", with(mapping{"capacity": mapping{"cpu": d.between(0, 6)}})), step(back, "capacity", with(mapping{"capacity": mapping{"cpu": d.between(4, 20)}})))
	case 9, 11:
		return d.userSteps(at, workloads, len(c.Fleet))
	case 12:
		return d.held(at, back, on, workloads)
	default:
		return []mapping{step(at, "restart", true)}
	}
}

// outage is a failure of what clusters need, which most often ends.
func (d dice) outage(at, back time.Duration, of mapping) mapping {
	n := d.IntN(100)
	of["kind"] = []string{"network", "network", "power", "apiserver"}[n%4]
	if back > at && n >= 20 {
		of["for"] = text(back - at)
	}
	return step(at, "outage", of)
}

// held is what people have wait, or go immediately, and most often the end of that.
func (d dice) held(at, back time.Duration, on mapping, workloads int) []mapping {
	one := mapping{"binding": fmt.Sprintf("default/%s-deployment", workload(d.IntN(workloads)))}
	because := func(of mapping) mapping {
		said := maps.Clone(of)
		said["reason"] = "drawn"
		if d.chance(40) {
			said["for"] = text(d.seconds(1, 900))
		}
		return said
	}
	switch d.IntN(4) {
	case 0:
		return d.ends(step(at, "pause", because(mapping{})), step(back, "resume", true))
	case 1:
		return d.ends(step(at, "hold", because(on)), step(back, "release", on))
	case 2:
		return d.ends(step(at, "hold", because(one)), step(back, "release", one))
	default:
		now := maps.Clone(one)
		now["now"], now["reason"] = true, "drawn"
		return d.ends(step(at, "release", now), step(back, "release", one))
	}
}

// ends returns a trouble with its end, or now and then without.
func (d dice) ends(begins, ends mapping) []mapping {
	if d.chance(20) {
		return []mapping{begins}
	}
	return []mapping{begins, ends}
}

func allClusters(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = cluster(i)
	}
	return names
}

func (d dice) someClusters(n int) []string {
	names := lists.Of(d.Perm(n)[:1+d.IntN(1+n/2)], cluster)
	slices.Sort(names)
	return names
}

// ofOne narrows a report down to one workload, half of the time.
func (d dice) ofOne(report mapping, workloads int) mapping {
	if d.chance(50) {
		report["binding"] = fmt.Sprintf("default/%s-deployment", workload(d.IntN(workloads)))
	}
	return report
}

// fault is what goes wrong with the engine itself, its clock, or what it hears of some clusters.
func (d dice) fault(at time.Duration, on mapping) mapping {
	switch d.IntN(7) {
	case 0, 1, 2:
		return step(at, "crash", d.crash())
	case 3:
		return step(at, "clock", mapping{pick(d, "ahead", "back"): text(d.seconds(1, 600))})
	case 4, 5:
		return step(at, "reports", d.disturbance(on))
	default:
		return step(at, "rebootNodes", on)
	}
}

// crash lets the engine die within what an instant takes, and be back immediately or later.
func (d dice) crash() mapping {
	c := mapping{"after": d.between(0, 80)}
	if d.chance(50) {
		c["for"] = text(d.seconds(1, 600))
	}
	return c
}

func (d dice) disturbance(on mapping) mapping {
	r := maps.Clone(on)
	r["fault"], r["for"] = pick(d, "lost", "delayed", "duplicated", "reordered"), text(d.seconds(10, 900))
	if r["fault"] != "lost" {
		r["by"] = text(d.seconds(1, 90))
	}
	return r
}

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
