package difference

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/assess"
)

const (
	// mostRows is how many workloads or contingencies, and mostNamed how many workloads of a contingency, a short text names.
	mostRows  = 20
	mostNamed = 5
)

// predicted begins each line that is a prediction.
const predicted = assess.Predicted

// WriteText writes a difference for people: the verdict, what differs in outcome, and the first decision that differs. Wide leaves
// nothing out.
func WriteText(w io.Writer, d *Difference, wide bool) error {
	t := &text{wide: wide}
	t.line("diff: A is %s; B is %s; seed %d", journal.Printable(d.A), journal.Printable(d.B), d.Seed)
	t.line("%s; nothing is written", journal.Printable(d.Outage))
	for _, note := range d.Notes {
		t.line("note: %s", journal.Printable(note))
	}
	t.line("%s%s", predicted, d.Sentence())
	t.body(d)
	for _, one := range d.Scenarios {
		t.line("")
		t.line("%sscenario %s: %s", predicted, journal.Printable(one.Scenario), one.Sentence())
		for _, note := range one.Notes {
			t.line("note: %s", journal.Printable(note))
		}
		t.body(one)
	}
	_, err := t.WriteTo(w)
	return err
}

// body is what differs, behind the verdict.
func (t *text) body(d *Difference) {
	t.table(predicted, "WHAT DIFFERS\tFIGURE\tA\tB\tB IS", d.rows(t.wide))
	if more := d.more(t.wide); more > 0 {
		t.line("%s%d more differ; -o wide shows them", predicted, more)
	}
	t.troubles(d)
	t.decision(d.Decision)
	t.table("recorded: ", "WORKLOAD\tWHAT DIFFERS\tA\tB\tB IS", d.recordedRows(t.wide))
	if more := len(d.Recorded) - mostRows; more > 0 && !t.wide {
		t.line("recorded: %d more differ; -o wide shows them", more)
	}
}

// Sentence is the verdict: "B is better than A, by unavailability".
func (d *Difference) Sentence() string {
	var verdict string
	switch {
	case !d.Differ && len(d.Scenarios) > 0:
		return fmt.Sprintf("no difference: the outcomes and decisions of all %d scenarios are the same", len(d.Scenarios))
	case !d.Differ && d.Compared > 0:
		return fmt.Sprintf("no difference: the outcomes of all %d contingencies are the same", d.Compared)
	case !d.Differ:
		return "no difference: all outcomes and decisions are the same"
	case d.Verdict == Same:
		return "B is neither better nor worse than A: the figures are the same, and what is below differs"
	case d.Verdict == Mixed:
		verdict = "B is mixed against A: better and worse"
	default:
		verdict = fmt.Sprintf("B is %s than A", d.Verdict)
	}
	verdict += ", by " + strings.Join(d.By, ", ")
	if len(d.Scenarios) > 0 {
		verdict += fmt.Sprintf("; of %d scenarios compared", len(d.Scenarios))
	}
	if d.Compared > 0 {
		verdict += fmt.Sprintf("; %s, of %d compared", d.tally(), d.Compared)
	}
	return verdict
}

// tally counts contingencies by their verdict.
func (d *Difference) tally() string {
	var texts []string
	for _, v := range []Verdict{Better, Worse, Mixed, Differs} {
		n := 0
		for _, c := range d.Contingencies {
			if c.Verdict == v {
				n++
			}
		}
		word := string(v)
		if v == Differs {
			word = "neither better nor worse"
		}
		if n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, word))
		}
	}
	noun := "contingencies "
	if len(d.Contingencies) == 1 {
		noun = "contingency "
	}
	return noun + strings.Join(texts, ", ")
}

// rows are the table of what differs: what it is about, the figure, A, B, and how B is.
func (d *Difference) rows(wide bool) (rows [][]string) {
	add := func(subject string, all []Figure) {
		for i := range all {
			f := &all[i]
			if f.Verdict != Same || wide {
				rows = append(rows, []string{subject, f.Name, f.text(f.A), f.text(f.B), string(f.Verdict)})
			}
		}
	}
	add("all workloads", d.Fleet)
	for i := range d.Workloads {
		if i == mostRows && !wide {
			break
		}
		w := &d.Workloads[i]
		add(string(w.Name), w.Figures)
		if w.PlacementA != "" {
			rows = append(rows, []string{string(w.Name), Placement, w.PlacementA, w.PlacementB, string(Differs)})
		}
	}
	for i := range d.Contingencies {
		if i == mostRows && !wide {
			break
		}
		c := &d.Contingencies[i]
		add("losing "+c.Name, c.Figures)
		if c.Only != "" {
			rows = append(rows, []string{"losing " + c.Name, "there is such a loss", yes(c.Only == "A"), yes(c.Only == "B"), string(Differs)})
		}
	}
	return rows
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// more is how many workloads and contingencies the table has not.
func (d *Difference) more(wide bool) int {
	if wide {
		return d.Unnamed
	}
	return max(0, len(d.Workloads)+d.Unnamed-mostRows) + max(0, len(d.Contingencies)-mostRows)
}

// text is what is written, in memory.
type text struct {
	bytes.Buffer
	wide bool
}

func (t *text) line(format string, args ...any) { _, _ = fmt.Fprintf(t, format+"\n", args...) }

func (t *text) table(prefix, head string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	t.line("")
	table := tabwriter.NewWriter(t, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, head) // to memory
	for _, row := range rows {
		for i := range row {
			row[i] = journal.Printable(row[i])
		}
		_, _ = fmt.Fprintln(table, prefix+strings.Join(row, "\t"))
	}
	_ = table.Flush()
}

// troubles says why workloads are unavailable or unschedulable at the end.
func (t *text) troubles(d *Difference) {
	lines := d.reasons(t.wide)
	if len(lines) > 0 {
		t.line("")
	}
	for _, line := range lines {
		t.line("%s%s", predicted, journal.Printable(line))
	}
}

// reasons are why workloads are unavailable or unschedulable at the end, a line each.
func (d *Difference) reasons(wide bool) (lines []string) {
	for i, w := range d.Workloads {
		if i == mostRows && !wide {
			break
		}
		if w.ReasonA != "" {
			lines = append(lines, fmt.Sprintf("A: %s at the end: %s", w.Name, w.ReasonA))
		}
		if w.ReasonB != "" {
			lines = append(lines, fmt.Sprintf("B: %s at the end: %s", w.Name, w.ReasonB))
		}
	}
	named := func(side, loss string, all []Trouble) {
		for i, w := range all {
			if i == mostNamed && !wide {
				lines = append(lines, fmt.Sprintf("only %s: losing %s: and %d more; -o wide names them", side, loss, len(all)-i))
				break
			}
			lines = append(lines, fmt.Sprintf("only %s: losing %s: %s lacks %d at the end, %s", side, loss, w.Workload, w.Missing, w.Reason))
		}
	}
	for i := range d.Contingencies {
		if i == mostRows && !wide {
			break
		}
		c := &d.Contingencies[i]
		named("A", c.Name, c.Resolved)
		named("B", c.Name, c.Introduced)
		for n, w := range c.Changed {
			if n == mostNamed && !wide {
				lines = append(lines, fmt.Sprintf("both: losing %s: and %d more; -o wide names them", c.Name, len(c.Changed)-n))
				break
			}
			lines = append(lines, fmt.Sprintf("both: losing %s: %s lacks at the end under A %d, %s; under B %d, %s", c.Name, w.Workload, w.MissingA, w.ReasonA, w.MissingB, w.ReasonB))
		}
	}
	return lines
}

// decision tells of the first decision that differs.
func (t *text) decision(d *Decision) {
	if d == nil {
		return
	}
	t.line("")
	t.line("%s%s", predicted, d.title())
	t.line("%s  A: %s", predicted, d.A.told())
	t.line("%s  B: %s", predicted, d.B.told())
}

func (d *Decision) title() string {
	title := "first differing decision, about " + journal.Printable(d.Subject)
	if d.Contingency != "" {
		title += ", losing " + journal.Printable(d.Contingency)
	}
	return title
}

// told is a decision with its time, which counts from the start or the outage.
func (d *Decided) told() string {
	switch {
	case d == nil:
		return "no such decision"
	case d.at < 0:
		return span.String(-d.at) + " before the outage: " + d.Decision
	}
	return journal.Clock(d.at) + " " + d.Decision
}
