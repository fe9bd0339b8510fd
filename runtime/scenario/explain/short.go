package explain

import (
	"slices"
	"strings"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
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
	lines = append(lines, shortAsked(c.Policies, "", func(a *Asked) string { return "policy " + a.Policy })...)
	return append(lines, shortList(c.Workloads, "workload", func(w Workload) string {
		return joined(": ", shortWhat(string(w.Binding)+" "+w.State, "", w.Due), w.Why)
	})...)
}

// shortState says how a cluster or a node is.
func shortState(conditions []Condition, taints []Taint) []string {
	lines := shortList(conditions, "", func(c Condition) string { return "condition " + c.Text + ", since " + c.Since.String() })
	if len(taints) == 0 {
		return append(lines, "  no taints")
	}
	return append(lines, shortList(taints, "", func(t Taint) string {
		return "taint " + joined("; ", t.Taint+", since "+t.Since.String(), labelled("by", t.By), labelled("policy", t.Policy), labelled("condition", t.Condition))
	})...)
}

// shortAsked says what policies ask for, first what changes a taint.
func shortAsked(all []Asked, what string, of func(*Asked) string) []string {
	return shortList(inOrder(all, (*Asked).rank), what, func(a Asked) string {
		return joined("; ", append([]string{of(&a) + ": " + a.Asks}, a.Why...)...)
	})
}

// rank puts first what changes a taint.
func (a *Asked) rank() int {
	if a.Asks == "add" || a.Asks == "remove" {
		return 0
	}
	return 1
}

func shortPolicy(x *Explanation, p *Policy) []string {
	return slices.Concat([]string{x.head(p.Kind)},
		shortAsked(p.Clusters, "cluster", func(a *Asked) string { return "cluster " + string(a.Cluster) }),
		shortList(p.Workloads, "resource", func(c Claimed) string { return c.text() }))
}

func shortNode(x *Explanation, n *Node) []string {
	lines := []string{x.head("node") + "; " + n.Zone.text()}
	if n.KubeletStopped != nil {
		lines = append(lines, "  its kubelet has stopped, since "+n.KubeletStopped.String())
	}
	return slices.Concat(lines, shortState(n.Conditions, n.Taints),
		shortList(n.Queued, "", func(k Queued) string { return "taint " + k.Taint + " queued, since " + k.Since.String() }),
		shortList(n.Pods, "pod", func(p PodOnIt) string { return joined(": ", shortWhat(string(p.Pod)+" "+p.State, "", p.Due), p.Why) }))
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
		lines = append(lines, shortList(d.Nodes, "node", func(n NodeFitted) string { return n.Node + ": " + n.result() })...)
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

// shortList is a line each of the first of a list, and one that says how many more there are of what they are; empty: it does not.
func shortList[T any](all []T, what string, line func(T) string) []string {
	lines := lists.Of(all[:min(len(all), mostShort)], func(of T) string { return "  " + line(of) })
	if n := len(all) - mostShort; n > 0 && what != "" {
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
func shortTerm(t *Term) []string {
	others := slices.DeleteFunc(inOrder(t.Clusters, rank), func(c ClusterFitted) bool { return c.Target })
	return shortList(others, "cluster", func(c ClusterFitted) string { return string(c.Cluster) + ": " + c.result(t) })
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
