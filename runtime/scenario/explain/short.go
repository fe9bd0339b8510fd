package explain

import (
	"slices"
	"strings"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/spelling"
)

// mostShort is how many clusters, evictions, taints and so on a short explanation names of each.
const mostShort = 5

// Meant is what explains an object: one of Kinds, and its name; empty: nothing does. A resource is explained by its binding.
func Meant(key api.Key) (kind, name string) {
	name = string(messages.NameBinding(key.Namespace, key.Name))
	switch key.Kind {
	case "":
		return "", ""
	case "Cluster":
		return KindCluster, name
	case "Node":
		return KindNode, name
	case "Pod":
		return KindPod, name
	case "ResourceBinding", "ClusterResourceBinding":
		return KindBinding, name
	case "ClusterTaintPolicy", "PropagationPolicy", "ClusterPropagationPolicy":
		return KindPolicy, key.Kind + "/" + name
	}
	return KindBinding, string(messages.NameBinding(key.Namespace, propagation.BindingName(key.Kind, key.Name)))
}

// Short explains in a few lines, for an expectation that failed.
func Short(x *Explanation) []string {
	switch {
	case x.Binding != nil:
		return shortBinding(x, x.Binding)
	case x.Cluster != nil:
		return shortCluster(x, x.Cluster)
	case x.Policy != nil:
		return shortPolicy(x, x.Policy)
	case x.Node != nil:
		return shortNode(x, x.Node)
	}
	return shortPod(x)
}

// head begins a short explanation.
func (x *Explanation) head(kind string) string {
	return "explained: " + strings.TrimLeft(kind+" ", " ") + x.Name + " at " + x.At.String()
}

func shortBinding(x *Explanation, b *Binding) []string {
	lines := []string{joined("; ", x.head("")+" on "+clusters(b.Clusters), scheduledAt(b.Placed))}
	if b.Now != nil {
		if b.Now.Reason != "" {
			lines = append(lines, "  not met: "+joined(": ", b.Now.Reason, b.Now.Message))
		}
		if len(b.Now.Terms) > 0 {
			lines = append(lines, shortTerm(&b.Now.Terms[len(b.Now.Terms)-1])...)
		}
	}
	return append(lines, shortMoves(b.UnderWay)...)
}

func shortCluster(x *Explanation, c *Cluster) []string {
	lines := []string{x.head("cluster")}
	if c.Stays != "" {
		lines = append(lines, "  workloads stay: "+c.Stays)
	}
	lines = append(lines, shortState(c.Conditions, c.Taints)...)
	lines = append(lines, shortAsked(c.Policies, func(a *Asked) string { return "policy " + a.Policy })...)
	for _, w := range c.Workloads[:min(len(c.Workloads), mostShort)] {
		lines = append(lines, "  "+joined(": ", shortWhat(string(w.Binding)+" "+w.State, "", w.Due), w.Why))
	}
	return shortMore(lines, len(c.Workloads), "workload")
}

// shortState says how a cluster or a node is.
func shortState(conditions []Condition, taints []Taint) (lines []string) {
	for _, c := range conditions[:min(len(conditions), mostShort)] {
		lines = append(lines, "  condition "+c.Text+", since "+c.Since.String())
	}
	if len(taints) == 0 {
		return append(lines, "  no taints")
	}
	for _, t := range taints[:min(len(taints), mostShort)] {
		lines = append(lines, "  taint "+joined("; ", t.Taint+", since "+t.Since.String(), labelled("by", t.By), labelled("policy", t.Policy), labelled("condition", t.Condition)))
	}
	return lines
}

// shortAsked says what policies ask for, first what changes a taint.
func shortAsked(all []Asked, of func(*Asked) string) (lines []string) {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b Asked) int { return a.rank() - b.rank() })
	for i := range order[:min(len(order), mostShort)] {
		lines = append(lines, "  "+joined("; ", append([]string{of(&order[i]) + ": " + order[i].Asks}, order[i].Why...)...))
	}
	return lines
}

// rank puts first what changes a taint.
func (a *Asked) rank() int {
	if a.Asks == "add" || a.Asks == "remove" {
		return 0
	}
	return 1
}

func shortPolicy(x *Explanation, p *Policy) []string {
	lines := []string{x.head(p.Kind)}
	lines = append(lines, shortAsked(p.Clusters, func(a *Asked) string { return "cluster " + string(a.Cluster) })...)
	lines = shortMore(lines, len(p.Clusters), "cluster")
	for i := range p.Workloads[:min(len(p.Workloads), mostShort)] {
		lines = append(lines, "  "+p.Workloads[i].text())
	}
	return shortMore(lines, len(p.Workloads), "resource")
}

func shortNode(x *Explanation, n *Node) []string {
	lines := []string{x.head("node") + "; " + n.Zone.text()}
	if n.KubeletStopped != nil {
		lines = append(lines, "  its kubelet has stopped, since "+n.KubeletStopped.String())
	}
	lines = append(lines, shortState(n.Conditions, n.Taints)...)
	for _, k := range n.Queued[:min(len(n.Queued), mostShort)] {
		lines = append(lines, "  taint "+k.Taint+" queued, since "+k.Since.String())
	}
	for _, p := range n.Pods[:min(len(n.Pods), mostShort)] {
		lines = append(lines, "  "+joined(": ", shortWhat(string(p.Pod)+" "+p.State, "", p.Due), p.Why))
	}
	return shortMore(lines, len(n.Pods), "pod")
}

func shortPod(x *Explanation) []string {
	p := x.Pod
	bound := ""
	if p.Bound != nil {
		bound = "bound " + p.Bound.String()
	}
	lines := []string{joined("; ", x.head("")+", "+p.how(), bound)}
	if d := p.Decision; d != nil && d.Node == "" {
		lines = append(lines, "  unschedulable: "+d.Why)
		for _, n := range d.Nodes[:min(len(d.Nodes), mostShort)] {
			lines = append(lines, "  "+n.Node+": "+n.result())
		}
		lines = shortMore(lines, len(d.Nodes), "node")
	}
	moves := p.UnderWay
	if p.Gone && len(p.Past) > 0 {
		moves = p.Past[len(p.Past)-1:]
	}
	return append(lines, shortMoves(moves)...)
}

// shortWhat says what is under way, from where, and for when.
func shortWhat(state, from string, deadline *Seconds) string {
	what := state
	if from != "" {
		what += " from " + from
	}
	if deadline != nil && state != StateEvicting {
		what += " for " + deadline.String()
	}
	return what
}

// shortMore says how many others a short explanation omits.
func shortMore(lines []string, others int, what string) []string {
	if n := others - mostShort; n > 0 {
		lines = append(lines, "  ... and "+spelling.Count(n, "more "+what)+": leeward explain")
	}
	return lines
}

func scheduledAt(p *Placed) string {
	if p == nil {
		return ""
	}
	return "scheduled " + p.At.String() + because(p.Trigger)
}

// shortTerm says of the clusters that are no target why they are not.
func shortTerm(t *Term) (lines []string) {
	others := slices.DeleteFunc(slices.Clone(t.Clusters), func(c ClusterFitted) bool { return c.Target })
	slices.SortStableFunc(others, func(a, b ClusterFitted) int { return rank(&a) - rank(&b) })
	for _, c := range others[:min(len(others), mostShort)] {
		lines = append(lines, "  "+string(c.Cluster)+": "+c.result(t))
	}
	return shortMore(lines, len(others), "cluster")
}

// shortMoves are failovers or evictions on a line each.
func shortMoves(all []Move) (lines []string) {
	for i := range all[:min(len(all), mostShort)] {
		m := &all[i]
		why := joined("; ", m.Taint, labelled("policy", m.Policy), labelled("by", m.TaintedBy), labelled("condition", m.Condition), m.Toleration, m.Reason,
			labelled("blocked:", m.Blocked), labelled("replacement", string(m.Replacement)))
		lines = append(lines, "  "+joined(": ", shortWhat(m.State, m.from(), m.Deadline), why))
	}
	return lines
}
