package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/span"
)

// Draw returns the case of a seed.
func Draw(seed uint64) *Case {
	d := newDice(seed)
	c := &Case{Seed: seed, Profile: pick(d, "leeward", "leeward", "leeward", "leeward", "leeward", "karmada", "karmada", "karmada", "karmada-legacy")}
	c.Duration = time.Duration(d.between(10, 90)) * time.Minute
	values := drawLimits(seed)
	manifests := d.beside(values)
	c.drawConfig(d, values)
	c.drawFleet(d, d.between(1, most(seed)))
	for i := range d.between(0, 2) {
		manifests = append(manifests, d.taintPolicy(i))
	}
	workloads := d.between(1, most(seed))
	deployments, policies := make([]mapping, workloads), make([]mapping, workloads)
	for i := range workloads {
		deployments[i], policies[i] = d.deployment(i), d.policy(i, len(c.Fleet))
		manifests = append(manifests, deployments[i], policies[i])
	}
	grouped(c, deployments, policies)
	timeline := d.timeline(c, deployments, policies)
	if d.chance(40) { // drawn last, so that seeds draw the rest as they did before
		manifests = append(manifests, d.budget())
	}
	c.Manifests, c.Timeline = plainList(manifests), plainList(timeline)
	return c
}

// most is how many clusters and how many workloads a case has at the most: few, because that is quick, and now and then
// more, because something else goes wrong then.
func most(seed uint64) int {
	if newDice(seed ^ 0xb16).chance(4) {
		return 20
	}
	return 6
}

// drawConfig sets, beside what was asked for, what makes taints evict, and now and then a few other fields, each
// within its range.
func (c *Case) drawConfig(d dice, values map[string]any) {
	values["allowNoExecuteTaintPolicy"] = true
	if c.Profile != config.Default && d.chance(90) {
		values["enableNoExecuteTaintEviction"] = true
	}
	if d.chance(60) {
		values["evictionWorkers"] = pick(d, 0, 0, 1, 3, 20)
	}
	fields := config.Fields()
	if d.chance(50) {
		for range d.between(1, 6) {
			if f := fields[d.IntN(len(fields))]; values[f.Name] == nil {
				values[f.Name] = d.value(f)
			}
		}
	}
	for _, f := range fields {
		if value, drawn := values[f.Name]; drawn {
			c.Config = append(c.Config, mapping{f.Name: value})
		}
	}
}

// value is one of a field's documented range.
func (d dice) value(f config.Field) any {
	switch f.Type() {
	case "true or false":
		return d.chance(50)
	case "duration":
		if strings.Contains(f.Range(), "more than 0") {
			return pick(d, "10s", "40s", "2m")
		}
		return d.duration()
	case "whole number":
		if strings.HasPrefix(f.Range(), "at most") {
			return pick(d, -1, 0, 30, 300)
		}
		return d.between(0, 16)
	case "number":
		if strings.HasSuffix(f.Range(), "at most 1") || strings.HasSuffix(f.Range(), "to 1") {
			return pick(d, 0.1, 0.25, 0.5, 1)
		}
		return pick(d, 0, 0.1, 0.5, 10, 1000)
	default:
		return pick(d, f.Words...)
	}
}

func (c *Case) drawFleet(d dice, n int) {
	tight := d.chance(50)
	for i := range n {
		m := mapping{"name": cluster(i), "region": pick(d, "eu", "us"), "zones": []string{pick(d, "a", "b")}}
		if tight {
			m["capacity"] = mapping{"cpu": d.between(1, 12), "memory": "64Gi", "pods": d.between(2, 30)}
		}
		if d.chance(60) {
			least := d.between(0, 60)
			m["startup"] = mapping{"min": text(time.Duration(least) * time.Second), "max": text(d.seconds(least, least+60))}
		}
		if d.chance(30) {
			m["syncMode"] = "Pull"
		}
		if d.chance(10) {
			m["taints"] = []string{pick(d, "spot:NoSchedule", "spot:NoExecute")}
		}
		c.Fleet = append(c.Fleet, plain(m))
	}
}

// dice are where all chance of a case comes from.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0x1ee3a4d))} }

// chance returns true so many times of a hundred.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// between returns a number from least to most.
func (d dice) between(least, most int) int { return least + d.IntN(most-least+1) }

// pick returns one of several.
func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// seconds returns a span between two.
func (d dice) seconds(least, most int) time.Duration {
	return time.Duration(d.between(least, most)) * time.Second
}

// duration returns a span as people set it: nothing, an instant, seconds, or minutes.
func (d dice) duration() string {
	return pick(d, "0s", "1s", "5s", "10s", "30s", "90s", "2m", "5m", "10m", "30m")
}

func text(t time.Duration) string { return span.String(t) }

func cluster(i int) string  { return fmt.Sprintf("m%d", i+1) }
func workload(i int) string { return fmt.Sprintf("w%d", i+1) }
