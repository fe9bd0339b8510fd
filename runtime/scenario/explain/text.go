package explain

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"leeward/messages"
	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/journal"
)

// mostRows is how many clusters, workloads or failovers a short text names.
const mostRows = 20

// WriteText writes an explanation for users: fixed fields in a fixed order. Wide omits nothing.
func WriteText(w io.Writer, x *Explanation, wide bool) error {
	t := &text{wide: wide}
	t.line(0, "explain: %s %s at %s; profile %s, seed %d", x.Kind, x.Name, x.At, x.Profile, x.Seed)
	switch {
	case x.Binding != nil:
		t.binding(x.Binding)
	case x.Cluster != nil:
		t.cluster(x.Cluster)
	case x.Policy != nil:
		t.policy(x.Policy)
	case x.Node != nil:
		t.node(x.Node)
	case x.Pod != nil:
		t.pod(x.Pod)
	}
	_, err := w.Write(t.Bytes())
	return err
}

// text is what is written so far.
type text struct {
	bytes.Buffer
	wide bool
}

// line writes one line behind an indent. What objects say may hold any character.
func (t *text) line(indent int, format string, args ...any) {
	t.WriteString(strings.TrimRight(strings.Repeat("  ", indent)+journal.Printable(fmt.Sprintf(format, args...)), " ") + "\n")
}

// optional writes a line, unless it is empty.
func (t *text) optional(line string) {
	if line != "" {
		t.line(0, "%s", line)
	}
}

// title begins a section.
func (t *text) title(words string) {
	t.WriteString("\n" + words + "\n")
}

// table writes rows in columns behind an indent.
func (t *text) table(indent int, rows [][]string) {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = journal.Printable(row[i])
		}
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t")) // to memory
	}
	_ = w.Flush()
	for line := range strings.Lines(out.String()) {
		t.WriteString(strings.TrimRight(strings.Repeat("  ", indent)+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
}

// shown is how many of so many rows are named.
func (t *text) shown(n int) int {
	if t.wide {
		return n
	}
	return min(n, mostRows)
}

func (t *text) more(indent, n int, what string) {
	if n > 0 {
		t.line(indent, "... and %s: -o wide", spelling.Count(n, "more "+what))
	}
}

// listed is a table of what is shown of a list, and how many more there are.
func listed[T any](t *text, indent int, what string, columns []string, all []T, row func(*T) []string) {
	rows := [][]string{columns}
	for i := range all[:t.shown(len(all))] {
		rows = append(rows, row(&all[i]))
	}
	t.table(indent, rows)
	t.more(indent, len(all)+1-len(rows), what)
}

func (t *text) binding(b *Binding) {
	t.line(0, "%s", joined("; ", b.Workload, owner(b.Policy)))
	t.line(0, "%s wanted; on %s; %d available", spelling.Count(b.Replicas, "replica"), clusters(b.Clusters), b.Available)
	t.title("why it is where it is")
	if len(b.Asks) > 0 {
		t.line(1, "the placement asks for")
		for _, line := range b.Asks {
			t.line(2, "%s", line)
		}
	}
	t.placed(b)
	t.underWay(b.UnderWay)
	t.title("why it moved before")
	if len(b.Past) == 0 {
		t.line(1, "it did not")
	}
	t.past(b.Past, "failover")
}

func owner(policy string) string {
	if policy == "" {
		return "no policy"
	}
	return "policy " + policy
}

// placed tells the decision that led to the clusters, or else the one that would be made now, and what is different now.
func (t *text) placed(b *Binding) {
	p, shown := b.Placed, b.Now
	switch {
	case p != nil && p.Decision != nil:
		t.line(1, "%s %s on %s%s%s", p.At, "scheduled", clusters(b.Clusters), was(p), because(p.Trigger))
		t.decision(p.Decision, "as decided then")
		t.changed(p.Decision, b.Now)
		return
	case p != nil:
		t.line(1, "%s %s on %s%s%s", p.At, "scheduled", clusters(b.Clusters), was(p), because(p.Trigger))
		t.line(1, "asked again, the scheduler did not come to the same: what follows is the decision as it would be now")
	}
	if shown == nil {
		t.line(1, "the scheduler does not know it")
		return
	}
	t.decision(shown, "as decided now")
}

func was(p *Placed) string {
	if len(p.Before) == 0 {
		return ""
	}
	return " (was " + clusters(p.Before) + ")"
}

func because(trigger string) string {
	if trigger == "" {
		return ""
	}
	return ", because " + trigger
}

func (t *text) decision(d *Decision, when string) {
	if d.Note != "" {
		t.line(1, "%s", d.Note)
		return
	}
	if len(d.Without) > 0 {
		when += ", without " + clusterNames(d.Without) + ", which it must be evicted from"
	}
	if d.Reason != "" {
		when += ": not met: " + joined(": ", d.Reason, d.Message)
	}
	t.line(1, "%s", when)
	for i := range d.Terms {
		t.term(&d.Terms[i])
	}
}

func (t *text) term(m *Term) {
	if m.Name != "" {
		t.line(2, "affinity %s: %s", m.Name, cmp.Or(m.Result, "met"))
	}
	columns := []string{"CLUSTER", "REGION", "SCORE", "GROUP", "CAPACITY", "WEIGHT", "BEFORE", "REPLICAS", "RESULT"}
	listed(t, 2, "cluster", columns, inOrder(m.Clusters, rank), func(c *ClusterFitted) []string { return row(c, m) })
	if len(m.Division) > 0 {
		t.line(2, "division: %s", strings.Join(m.Division, "; "))
	}
}

// inOrder is a list by rank.
func inOrder[T any](all []T, rank func(*T) int) []T {
	return slices.SortedStableFunc(slices.Values(all), func(a, b T) int { return rank(&a) - rank(&b) })
}

// rank puts targets first, then clusters that fit.
func rank(c *ClusterFitted) int {
	switch {
	case c.Target:
		return 0
	case c.Refused == "":
		return 1
	default:
		return 2
	}
}

func row(c *ClusterFitted, m *Term) []string {
	r := []string{string(c.Cluster), cmp.Or(c.Region, "-"), "-", "-", "-", "-", dash(int64(c.Previous)), dash(int64(c.Replicas)), c.result(m)}
	if c.Refused == "" {
		r[2], r[3] = fmt.Sprint(c.Score), fmt.Sprint(c.Group)
		if c.Capacity != nil {
			r[4] = fmt.Sprint(*c.Capacity)
		}
		r[5] = dash(c.Weight)
	}
	return r
}

// result says what became of a cluster.
func (c *ClusterFitted) result(m *Term) string {
	notes := ""
	if c.Avoid > 0 {
		notes += ", avoided"
	}
	if c.Frozen {
		notes += ", takes no more"
	}
	switch {
	case c.Target:
		return "target" + notes
	case c.Refused != "":
		return "refused: " + strings.TrimPrefix(c.Refused, "cluster(s) ")
	case m.Result != "":
		return "fits" + notes
	case !c.Chosen:
		return "fits, not chosen" + notes
	default:
		return "fits, gets no replicas" + notes
	}
}

// changed tells what clusters would be to a decision now that they were not then.
func (t *text) changed(then, now *Decision) {
	if now == nil || len(then.Terms) == 0 || len(now.Terms) == 0 {
		return
	}
	before := map[messages.ClusterName]string{}
	for _, c := range then.Terms[len(then.Terms)-1].Clusters {
		before[c.Cluster] = c.Refused
	}
	first := true
	for _, c := range now.Terms[len(now.Terms)-1].Clusters {
		was, known := before[c.Cluster]
		if known && was == c.Refused {
			continue
		}
		if first {
			t.line(1, "different now")
			first = false
		}
		t.line(2, "%s: %s", c.Cluster, fitsNow(c.Refused))
	}
}

func fitsNow(refused string) string {
	if refused == "" {
		return "fits"
	}
	return "refused: " + strings.TrimPrefix(refused, "cluster(s) ")
}

func (t *text) underWay(moves []Move) {
	t.title("what is under way")
	if len(moves) == 0 {
		t.line(1, "nothing")
	}
	for i := range moves {
		m := &moves[i]
		switch {
		case m.Deadline == nil, m.Node != "" && m.State != StateScheduled:
			t.line(1, "%s from %s", m.State, m.from())
		case m.State == StateEvicting:
			t.line(1, "evicting from %s, with a grace period until %s", m.Cluster, m.Deadline)
		default:
			t.line(1, "%s from %s for %s", m.State, m.from(), m.Deadline)
		}
		t.fields(m)
		if m.Blocked != "" {
			t.line(2, "blocked: %s%s", m.Blocked, until(m.Until))
		}
		for _, wait := range m.Waits {
			t.line(2, "goes on when %s", wait)
		}
		for _, end := range m.Ends {
			if m.ended() {
				t.line(2, "ends when %s", end)
			} else {
				t.line(2, "cancelled when %s", end)
			}
		}
		t.steps(m.Steps)
	}
}

func until(at *Seconds) string {
	if at == nil {
		return ""
	}
	return ", until " + at.String()
}

// fields tells why, each part apart.
func (t *text) fields(m *Move) {
	for _, f := range [][2]string{{"taint", m.Taint}, {"policy", m.Policy}, {"tainted by", m.TaintedBy}, {"condition", m.Condition}, {"toleration", m.Toleration}, {"reason", m.Reason}, {"replacement", string(m.Replacement)}} {
		if f[1] != "" {
			t.line(2, "%s: %s", f[0], f[1])
		}
	}
	if len(m.To) > 0 {
		t.line(2, "to: %s", clusters(m.To))
	}
}

func (t *text) steps(steps []Step) {
	rows := lists.Of(steps, func(s Step) []string { return []string{s.At.String(), s.Part, s.Text} })
	t.table(2, rows)
}

func (t *text) past(moves []Move, what string) {
	omitted := len(moves) - t.shown(len(moves))
	if omitted > 0 {
		t.line(1, "%s before: -o wide", spelling.Count(omitted, "more "+what))
	}
	for i := range moves[omitted:] {
		m := &moves[omitted+i]
		t.line(1, "%s from %s%s", m.State, m.from(), lasted(m.Steps))
		if m.Node != "" { // a binding has them in its steps
			t.fields(m)
		}
		t.steps(m.Steps)
	}
}

func lasted(steps []Step) string {
	if len(steps) == 0 {
		return ""
	}
	return fmt.Sprintf(", %s to %s", steps[0].At, steps[len(steps)-1].At)
}

func (t *text) cluster(c *Cluster) {
	t.optional(joined("; ", labelled("region", c.Region), labelled("zones", strings.Join(c.Zones, " ")), labelled("provider", c.Provider)))
	if c.Deleting {
		t.line(0, "the cluster is being deleted")
	}
	t.state(c.Conditions, c.Taints, nil)
	t.title("what the policies ask for")
	for i := range c.Policies {
		t.asked(&c.Policies[i], "policy "+c.Policies[i].Policy)
	}
	t.none(len(c.Policies))
	t.title("what is placed here, and when it would be evicted as things are")
	if c.Stays != "" {
		t.line(1, "workloads stay: %s", c.Stays)
	}
	t.workloads(c.Workloads)
}

// state has the conditions and the taints of a cluster or a node, and below them lines on taints to come.
func (t *text) state(conditions []Condition, taints []Taint, queued []string) {
	t.title("conditions")
	for _, k := range conditions {
		t.line(1, "%s  %s", k.Since, k.Text)
	}
	t.none(len(conditions))
	t.title("taints")
	for _, k := range taints {
		t.line(1, "%s  %s", k.Since, joined("; ", k.Taint, labelled("by", k.By), labelled("policy", k.Policy), labelled("condition", k.Condition)))
	}
	for _, line := range queued {
		t.line(1, "%s", line)
	}
	t.none(len(taints) + len(queued))
}

func labelled(label, value string) string {
	if value == "" {
		return ""
	}
	return label + " " + value
}

func (t *text) none(n int) {
	if n == 0 {
		t.line(1, "none")
	}
}

func (t *text) workloads(all []Workload) {
	t.none(len(all))
	if len(all) == 0 {
		return
	}
	listed(t, 1, "workload", []string{"BINDING", "REPLICAS", "STATE", "DUE", "WHY"}, all, func(w *Workload) []string {
		return []string{string(w.Binding), dash(int64(w.Replicas)), w.State, when(w.Due), w.Why}
	})
}

// when is an instant of a table; nil: there is none.
func when(at *Seconds) string {
	if at == nil {
		return "-"
	}
	return at.String()
}

func (t *text) asked(a *Asked, of string) {
	line := of + ": " + a.Asks
	if a.Since != nil {
		line += ", since " + a.Since.String()
	}
	if a.Due != nil {
		line += ", looked at again at " + a.Due.String()
	}
	t.line(1, "%s", line)
	for _, why := range a.Why {
		t.line(2, "%s", why)
	}
}

func (t *text) policy(p *Policy) {
	t.line(0, "%s", p.Kind)
	if p.Kind == "ClusterTaintPolicy" {
		t.line(0, "adds %s when %s", strings.Join(p.Taints, ", "), cmp.Or(p.Adds, "never"))
		t.line(0, "removes it when %s", cmp.Or(p.Removes, "never"))
		if p.ReportOnly {
			t.line(0, "reportOnly: it changes nothing")
		}
		t.title("what it asks of each cluster")
		n := t.shown(len(p.Clusters))
		for i := range p.Clusters[:n] {
			t.asked(&p.Clusters[i], "cluster "+string(p.Clusters[i].Cluster))
		}
		t.more(1, len(p.Clusters)-n, "cluster")
		t.none(len(p.Clusters))
		return
	}
	t.title("the placement asks for")
	for _, line := range p.Asks {
		t.line(1, "%s", line)
	}
	t.title("the resources that its selectors match")
	n := t.shown(len(p.Workloads))
	for i := range p.Workloads[:n] {
		t.line(1, "%s", p.Workloads[i].text())
	}
	t.more(1, len(p.Workloads)-n, "resource")
	t.none(len(p.Workloads))
}

// text says whether the policy applies to the resource.
func (c *Claimed) text() string {
	switch {
	case c.Has && c.Since != nil:
		return c.Workload + ": applies since " + c.Since.String() + "; on " + clusters(c.Clusters)
	case c.Has:
		return c.Workload + ": applies; on " + clusters(c.Clusters)
	case c.By != "":
		return c.Workload + ": does not apply: policy " + c.By + " has it"
	}
	return c.Workload + ": does not apply: no policy has it"
}

func dash(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
