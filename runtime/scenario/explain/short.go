package explain

import (
	"slices"
)

// mostShort is how many clusters, and evictions, a short explanation names.
const mostShort = 5

// Short says why a binding or a pod is where it is in a few lines, for an expectation that failed.
func Short(x *Explanation) []string {
	if x.Pod != nil {
		return shortPod(x)
	}
	b := x.Binding
	if b == nil {
		return nil
	}
	head := joined("; ", "explained: "+x.Name+" at "+x.At.String()+" on "+clusters(b.Clusters), scheduledAt(b.Placed))
	lines := []string{head}
	if b.Now != nil {
		if b.Now.Reason != "" {
			lines = append(lines, "  not met: "+joined(": ", b.Now.Reason, b.Now.Message))
		}
		if len(b.Now.Terms) > 0 {
			lines = append(lines, shortTerm(&b.Now.Terms[len(b.Now.Terms)-1])...)
		}
	}
	for _, m := range b.UnderWay[:min(len(b.UnderWay), mostShort)] {
		lines = append(lines, "  "+shortMove(&m))
	}
	return lines
}

func shortPod(x *Explanation) []string {
	p := x.Pod
	bound := ""
	if p.Bound != nil {
		bound = "bound " + p.Bound.String()
	}
	lines := []string{joined("; ", "explained: "+x.Name+" at "+x.At.String()+", "+p.how(), bound)}
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
	for i := range moves[:min(len(moves), mostShort)] {
		m := &moves[i]
		lines = append(lines, "  "+joined(": ", shortWhat(m.State, string(m.Node), m.Deadline),
			joined("; ", m.Taint, labelled("by", m.TaintedBy), labelled("condition", m.Condition), m.Toleration, m.Reason, labelled("blocked:", m.Blocked), labelled("replacement", string(m.Replacement)))))
	}
	return lines
}

// shortWhat says what is under way, from where, and for when.
func shortWhat(state, from string, deadline *Seconds) string {
	what := state + " from " + from
	if deadline != nil && state != StateEvicting {
		what += " for " + deadline.String()
	}
	return what
}

// shortMore says how many others a short explanation omits.
func shortMore(lines []string, others int, what string) []string {
	if n := others - mostShort; n > 0 {
		lines = append(lines, "  ... and "+counted(n, "more "+what)+": leeward explain")
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

// shortMove is a failover that is under way on one line.
func shortMove(m *Move) string {
	what := shortWhat(m.State, string(m.Cluster), m.Deadline)
	why := []string{m.Taint, labelled("policy", m.Policy), labelled("condition", m.Condition), m.Toleration, m.Reason}
	return joined(": ", what, joined("; ", append(why, labelled("blocked:", m.Blocked))...))
}
