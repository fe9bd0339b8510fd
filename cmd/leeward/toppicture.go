package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"leeward/messages/lists"
	"leeward/runtime/daemon/picture"
	"leeward/runtime/report/top"
)

// pictureOf is what a screen shows of a fleet that a server tells of.
func pictureOf(s *picture.Seen) *top.Picture {
	t := &s.Totals
	w := &t.Workloads
	p := &top.Picture{
		At:        s.At,
		Workloads: w.Settled + w.Unhealthy + w.Scheduled + w.Evicting + w.Blocked + w.Unschedulable,
		Replicas: top.Replicas{
			Placed: int(t.Replicas.Placed), Available: int(t.Replicas.Available),
			Evicting: int(t.Replicas.Evicting), Unschedulable: int(t.Replicas.Unschedulable),
		},
		Governor: governedBy(&s.Governor),
	}
	for _, name := range slices.Sorted(maps.Keys(s.Clusters)) {
		p.Clusters = append(p.Clusters, clusterOf(name, s.Clusters[name]))
	}
	all := slices.Collect(maps.Values(s.Evictions))
	slices.SortFunc(all, func(a, b *picture.Eviction) int {
		return cmp.Or(due(a).Compare(due(b)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Cluster, b.Cluster))
	})
	p.Evictions = lists.Of(all, evictionOf)
	p.More.Clusters = max(0, t.Clusters.All-len(p.Clusters))
	p.More.Evictions = max(0, t.Evictions.Scheduled+t.Evictions.Blocked+t.Evictions.Evicting-len(p.Evictions))
	return p
}

func clusterOf(name string, c *picture.Cluster) top.Cluster {
	row := top.Cluster{
		Name: name, Region: c.Region, Taints: c.Taints, Workloads: c.Workloads,
		Evictions: c.Evictions.Scheduled + c.Evictions.Blocked + c.Evictions.Evicting,
	}
	if more := c.TaintCount - len(c.Taints); more > 0 {
		row.Taints = append(slices.Clone(c.Taints), fmt.Sprintf("%d more", more))
	}
	states := []string{"Ready=" + c.Ready}
	say := func(severity top.Severity, name, text string) {
		row.Severity = max(row.Severity, severity)
		row.Reason = append(row.Reason, top.Line{Name: name, Text: text})
	}
	if c.Ready != "True" {
		say(top.Bad, "condition", "Ready="+c.Ready+" "+c.Reason)
	}
	for _, t := range c.Taints {
		say(top.Notable, "taint", t)
	}
	if d := c.Drain; d != nil {
		states = append(states, fmt.Sprintf("draining, %d of %d to go", d.Left, d.Bindings))
		say(top.Notable, "drain", states[len(states)-1])
	}
	if c.Held != "" {
		states = append(states, "on hold")
		say(top.Notable, "on hold", c.Held)
	}
	if c.Stay != "" {
		say(top.Bad, "nothing evicts", c.Stay)
	}
	say(top.Calm, "replicas", fmt.Sprintf("%d of %d available", c.Available, c.Replicas))
	if c.CPUCapacity > 0 {
		say(top.Calm, "cpu", fmt.Sprintf("%.1f of %.1f requested", float64(c.CPU)/1000, float64(c.CPUCapacity)/1000))
	}
	row.State = strings.Join(states, ", ")
	return row
}

// due is when an eviction goes on by itself; zero: it is not said.
func due(e *picture.Eviction) time.Time {
	switch {
	case e.State == "Blocked" && e.Until != nil:
		return e.Until.Time
	case e.State == "Scheduled" && e.Deadline != nil:
		return e.Deadline.Time
	}
	return time.Time{}
}

// evictionStates are the words for the states of evictions, and how bad each is.
var evictionStates = map[string]struct {
	word     string
	severity top.Severity
}{"Scheduled": {"eviction scheduled", top.Calm}, "Blocked": {"blocked", top.Bad}, "Evicting": {"evicting", top.Notable}}

func evictionOf(e *picture.Eviction) top.Eviction {
	state := evictionStates[e.State]
	row := top.Eviction{
		Workload: strings.TrimPrefix(e.Namespace+"/"+e.Name, "/"), Cluster: e.Cluster,
		State: cmp.Or(state.word, e.State), Severity: state.severity, Due: due(e),
	}
	row.Text = cmp.Or(e.Message, e.Reason, e.Taint)
	for _, part := range []top.Line{{Name: "taint", Text: e.Taint}, {Name: "policy", Text: e.Policy}, {Name: "reason", Text: e.Reason}, {Name: "message", Text: e.Message}} {
		if part.Text != "" {
			row.Reason = append(row.Reason, part)
		}
	}
	if e.Deadline != nil {
		row.Reason = append(row.Reason, top.Line{Name: "deadline", Text: e.Deadline.Local().Format(time.RFC3339)})
	}
	return row
}

// governedBy says how evictions are governed where that is not as usual, and by whom they are held.
func governedBy(g *picture.Governor) (lines []string) {
	say := func(who string, of *picture.Governance) {
		if of.State != "" && (of.State != "Normal" || of.Rate != nil) {
			line := who + ": " + of.State
			if of.Rate != nil {
				line += fmt.Sprintf(", %g evictions/s", *of.Rate)
			}
			lines = append(lines, line)
		}
		if of.Breaker != nil && of.Breaker.State != "Closed" {
			lines = append(lines, who+": breaker "+of.Breaker.State)
		}
	}
	if g.Pause != nil {
		lines = append(lines, "paused: "+g.Pause.Reason)
	}
	say("fleet", &g.Governance)
	for i := range g.Regions {
		say("region "+g.Regions[i].Name, &g.Regions[i])
	}
	for i := range g.Priorities {
		say("priority "+g.Priorities[i].Name, &g.Priorities[i])
	}
	for _, h := range g.Holds {
		lines = append(lines, "on hold "+cmp.Or(h.Binding, h.Cluster)+": "+h.Reason)
	}
	if more := g.HoldCount - len(g.Holds); more > 0 {
		lines = append(lines, fmt.Sprintf("%d more holds", more))
	}
	if g.Quarantined > 0 {
		lines = append(lines, fmt.Sprintf("%d quarantined", g.Quarantined))
	}
	return lines
}
