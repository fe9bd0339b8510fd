package explain

import (
	"slices"
)

// mostShort is how many clusters, and evictions, a short explanation names.
const mostShort = 5

// Short says why a binding is where it is in a few lines, for an expectation that failed.
func Short(x *Explanation) []string {
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
	if n := len(others) - mostShort; n > 0 {
		lines = append(lines, "  ... and "+counted(n, "more cluster")+": leeward explain")
	}
	return lines
}

// shortMove is a failover that is under way on one line.
func shortMove(m *Move) string {
	what := m.State + " from " + string(m.Cluster)
	if m.State == StateEvicting {
		what = "evicting from " + string(m.Cluster)
	}
	if m.Deadline != nil && m.State != StateEvicting {
		what += " for " + m.Deadline.String()
	}
	why := []string{m.Taint, labelled("policy", m.Policy), labelled("condition", m.Condition), m.Toleration, m.Reason}
	return joined(": ", what, joined("; ", append(why, labelled("blocked:", m.Blocked))...))
}
