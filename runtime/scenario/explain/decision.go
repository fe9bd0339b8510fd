package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/division"
	"leeward/actors/rules/placement"
	"leeward/actors/scheduler"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/spelling"
)

// decisionOf reads the scheduler's answer.
func decisionOf(x *scheduler.Explanation) *Decision {
	d := &Decision{
		Calls: string(x.Calls), Without: x.Without, Reason: x.Decision.Reason, Message: x.Decision.Message,
		Targets: slices.Clone(x.Decision.Targets),
	}
	switch {
	case x.Suspended:
		d.Note, d.Targets = "the binding is not placed: scheduling is suspended, or another scheduler has it", x.Targets
	case x.ZeroReplicas:
		d.Note = "0 replicas: no cluster has to fit"
	}
	for i := range x.Plan.Terms {
		d.Terms = append(d.Terms, termOf(&x.Plan.Terms[i]))
	}
	return d
}

func termOf(t *placement.TermExplained) Term {
	term := Term{Name: t.Name, Result: joined(": ", t.Reason, t.Message), ByCapacity: t.ByCapacity, Division: divided(&t.Division)}
	for i := range t.Clusters {
		c := &t.Clusters[i]
		fitted := ClusterFitted{
			Cluster: c.Cluster, Region: c.Region, Refused: c.Refused, Score: c.Score, Avoid: c.Avoid, Frozen: c.Frozen,
			Weight: c.Weight, Previous: c.Previous, Replicas: c.Replicas, Chosen: c.Chosen, Target: c.Target,
		}
		if c.Refused == "" {
			fitted.Group = int(c.Tier) + 1
			if c.Capacity != placement.Unlimited {
				fitted.Capacity = &c.Capacity
			}
		}
		term.Clusters = append(term.Clusters, fitted)
	}
	return term
}

// divided says step by step how replicas are divided.
func divided(o *division.Outline) []string {
	if o.Method == "" {
		return nil
	}
	lines := []string{fmt.Sprintf("%s asked for", spelling.Count(o.Asked, "replica"))}
	if o.Kept > 0 {
		lines = append(lines, fmt.Sprintf("%s remain where they run", spelling.Count(o.Kept, "replica")))
	}
	if o.Missing > 0 {
		lines = append(lines, fmt.Sprintf("%s find no capacity", spelling.Count(o.Missing, "replica")))
	}
	if o.Divided == 0 {
		return append(lines, "nothing is divided")
	}
	how := fmt.Sprintf("%s divided by %s (%s)", spelling.Count(o.Divided, "replica"), o.By, o.Method)
	if o.Fewest {
		how += ", among the fewest clusters that suffice"
	}
	return append(lines, how)
}

// asks says what a placement asks for, a line each.
func asks(p *api.Placement) (lines []string) {
	if p == nil {
		return nil
	}
	for _, t := range p.ClusterAffinities {
		lines = append(lines, "affinity "+t.AffinityName+": "+selects(&t.ClusterAffinity))
		for _, o := range t.OverflowAffinities {
			lines = append(lines, "overflow affinity "+o.AffinityName+": "+selects(&o.ClusterAffinity))
		}
	}
	if p.ClusterAffinity != nil {
		lines = append(lines, "affinity: "+selects(p.ClusterAffinity))
	}
	for _, c := range p.SpreadConstraints {
		most := "no limit"
		if c.MaxGroups > 0 {
			most = fmt.Sprint(c.MaxGroups)
		}
		by := cmp.Or(labelled("label", c.SpreadByLabel), string(c.SpreadByField), "cluster")
		lines = append(lines, fmt.Sprintf("spread by %s: minGroups %d, maxGroups %s", by, c.MinGroups, most))
	}
	for _, t := range p.ClusterTolerations {
		lines = append(lines, "toleration: "+toleration(t))
	}
	return append(lines, "replicas: "+strategy(p.ReplicaScheduling))
}

// selects says which clusters an affinity selects.
func selects(a *api.ClusterAffinity) string {
	var parts []string
	if len(a.ClusterNames) > 0 {
		parts = append(parts, "clusterNames "+strings.Join(a.ClusterNames, " "))
	}
	if a.LabelSelector != nil {
		for _, key := range slices.Sorted(maps.Keys(a.LabelSelector.MatchLabels)) {
			parts = append(parts, "label "+key+"="+a.LabelSelector.MatchLabels[key])
		}
		for _, e := range a.LabelSelector.MatchExpressions {
			parts = append(parts, fmt.Sprintf("label %s %s %v", e.Key, e.Operator, e.Values))
		}
	}
	if a.FieldSelector != nil {
		for _, e := range a.FieldSelector.MatchExpressions {
			parts = append(parts, fmt.Sprintf("%s %s %v", e.Key, e.Operator, e.Values))
		}
	}
	if len(a.ExcludeClusters) > 0 {
		parts = append(parts, "exclude "+strings.Join(a.ExcludeClusters, " "))
	}
	if len(parts) == 0 {
		return "every cluster"
	}
	return strings.Join(parts, ", ")
}

func strategy(s *api.ReplicaSchedulingStrategy) string {
	if !s.Divides() {
		return "Duplicated"
	}
	text := "Divided, " + string(s.ReplicaDivisionPreference)
	switch w := s.WeightPreference; {
	case w == nil:
	case w.DynamicWeight != "":
		text += ", dynamicWeight " + w.DynamicWeight
	default:
		for _, one := range w.StaticWeightList {
			text += fmt.Sprintf(", weight %d of %s", one.Weight, selects(&one.TargetCluster))
		}
	}
	return text
}

// toleration is one in words: "not-ready:NoExecute Exists for 60s".
func toleration(t corev1.Toleration) string {
	key := cmp.Or(t.Key, "every taint")
	if t.Operator != corev1.TolerationOpExists && t.Value != "" {
		key += "=" + t.Value
	}
	if t.Effect != "" {
		key += ":" + string(t.Effect)
	}
	if t.TolerationSeconds == nil {
		return key + " without an end"
	}
	return fmt.Sprintf("%s for %ds", key, *t.TolerationSeconds)
}

// clusters are targets in words: "member1:2 member3:2".
func clusters(targets []api.TargetCluster) string {
	if len(targets) == 0 {
		return "nowhere"
	}
	words := make([]string, len(targets))
	for i, t := range targets {
		words[i] = t.Name
		if t.Replicas != 0 {
			words[i] += fmt.Sprintf(":%d", t.Replicas)
		}
	}
	return strings.Join(words, " ")
}

func clusterNames(names []messages.ClusterName) string {
	return strings.Join(lists.Of(names, func(name messages.ClusterName) string { return string(name) }), ", ")
}
