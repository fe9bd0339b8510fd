package sweep

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/replay"
)

// Table is what came of a sweep.
type Table struct {
	// Fields are those of the axes, in order.
	Fields []string `json:"fields"`
	Runs   []*Row   `json:"runs"`
}

// Row is one variant of one scenario.
type Row struct {
	Scenario string            `json:"scenario"`
	File     string            `json:"file"`
	Values   map[string]string `json:"values"`
	Passed   bool              `json:"passed"`
	Figures
	// AsRecorded are the evictions of a recording that the replay has, too, and Otherwise those that it has otherwise, or not, or alone.
	// Nil: it is a scenario.
	AsRecorded *int `json:"asRecorded,omitempty"`
	Otherwise  *int `json:"otherwise,omitempty"`
	// Differ are the latter, in order of time, as text.
	Differ []string `json:"differ,omitempty"`
	// Failures are the expectations that failed, with what was seen.
	Failures []replay.ExpectationResult `json:"failures,omitempty"`
	// Error is why the variant could not be run to its end, so that it has no figures; empty: it could.
	Error string `json:"error,omitempty"`
	// Repeat is the command that runs the variant again, with its timeline.
	Repeat string `json:"repeat"`

	variant Variant
}

// NewTable returns an empty table.
func NewTable(axes []Axis) *Table {
	return &Table{Runs: []*Row{}, Fields: lists.Of(axes, func(a Axis) string { return a.Field })}
}

// Add takes the run of a variant.
func (t *Table) Add(v Variant, run *replay.Run, repeat string) {
	row := &Row{
		Scenario: run.Name, File: run.File, Values: map[string]string{}, Passed: run.Passed, Figures: Measure(run), Repeat: repeat, variant: v,
	}
	if run.Err != nil {
		row.Error = run.Err.Error()
	}
	for i, value := range v.Values() {
		row.Values[t.Fields[i]] = value
	}
	row.compare(run.Compared)
	for _, e := range run.Expectations {
		if !e.Passed {
			row.Failures = append(row.Failures, e)
		}
	}
	t.Runs = append(t.Runs, row)
}

// compare takes in how the replay of a recording compares with it.
func (r *Row) compare(with []replay.Comparison) {
	if with == nil {
		return
	}
	same, other := 0, 0
	for i := range with {
		if c := &with[i]; c.Verdict == replay.Same {
			same++
		} else {
			other++
			r.Differ = append(r.Differ, c.String())
		}
	}
	r.AsRecorded, r.Otherwise = &same, &other
}

// Failed counts the runs in which an expectation failed.
func (t *Table) Failed() (n int) {
	for _, r := range t.Runs {
		if !r.Passed {
			n++
		}
	}
	return n
}

// WriteJSON writes the table for programs.
func (t *Table) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(t)
}

// mostFailures is how many expectations that failed, or evictions that differ, a text names of a variant.
const mostFailures = 3

// WriteText writes the table for users, a row for each variant, and below it what failed, and what is otherwise than it was recorded.
func (t *Table) WriteText(w io.Writer) error {
	if err := t.rows(w); err != nil {
		return err
	}
	recorded, otherwise := 0, 0
	for _, r := range t.Runs {
		if r.AsRecorded != nil {
			recorded++
		}
		if len(r.Differ) > 0 {
			otherwise++
		}
		if _, err := io.WriteString(w, r.told()); err != nil {
			return err
		}
	}
	var err error
	if recorded < len(t.Runs) || t.Failed() > 0 {
		_, err = fmt.Fprintf(w, "\n%s of %d failed\n", spelling.Count(t.Failed(), "variant"), len(t.Runs))
	}
	if recorded > 0 && err == nil {
		_, err = fmt.Fprintf(w, "\n%s of %d otherwise than recorded\n", spelling.Count(otherwise, "variant"), recorded)
	}
	return err
}

// told says what failed, or is otherwise than it was recorded; empty: nothing.
func (r *Row) told() string {
	var lines []string
	what := "failed"
	for _, e := range r.Failures {
		lines = append(lines, e.Text+": "+indented(e.Reason))
	}
	if r.Passed {
		what, lines = "otherwise than recorded", r.Differ
	}
	if r.Passed && len(lines) == 0 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\n%s  %s with %s\n", journal.Printable(r.Scenario), what, journal.Printable(r.variant.String()))
	if r.Error != "" {
		fmt.Fprintf(&text, "  not run to its end: %s\n", indented(r.Error))
	}
	for i, line := range lines {
		if i == mostFailures {
			fmt.Fprintf(&text, "  and %d more\n", len(lines)-i)
			break
		}
		fmt.Fprintf(&text, "  %s\n", line)
	}
	fmt.Fprintf(&text, "  timeline: %s\n", r.Repeat)
	return text.String()
}

func indented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

// rows writes the table itself.
func (t *Table) rows(w io.Writer) error {
	var several, plain, recorded bool
	for _, r := range t.Runs {
		several = several || r.Scenario != t.Runs[0].Scenario || r.File != t.Runs[0].File
		plain, recorded = plain || r.AsRecorded == nil, recorded || r.AsRecorded != nil
	}
	var head []string
	if several {
		head = append(head, "SCENARIO")
	}
	for _, f := range t.Fields {
		head = append(head, journal.Printable(f))
	}
	if plain {
		head = append(head, "HELD", "FAILED")
	}
	if recorded {
		head = append(head, "AS RECORDED", "OTHERWISE")
	}
	head = append(head, "EVICTIONS", "UNSCHEDULABLE", "LOWEST AVAILABLE", "AVAILABLE AGAIN")
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	lines := []string{strings.Join(head, "\t")}
	for _, r := range t.Runs {
		var cells []string
		if several {
			cells = append(cells, journal.Printable(r.Scenario))
		}
		for _, value := range r.variant.Values() {
			cells = append(cells, journal.Printable(value))
		}
		held, failed := &r.Held, &r.Figures.Failed
		if r.AsRecorded != nil { // a recording expects nothing
			held, failed = nil, nil
		}
		if plain {
			cells = append(cells, r.count(held), r.count(failed))
		}
		if recorded {
			cells = append(cells, r.count(r.AsRecorded), r.count(r.Otherwise))
		}
		lines = append(lines, strings.Join(append(cells, r.cells()...), "\t"))
	}
	if _, err := fmt.Fprintln(table, strings.Join(lines, "\n")); err != nil {
		return err
	}
	return table.Flush()
}

// count is a number of a row, nil where it has none.
func (r *Row) count(n *int) string {
	if r.Error != "" || n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

// cells are the figures of a row.
func (r *Row) cells() []string {
	if r.Error != "" {
		return []string{"-", "-", "-", "-"}
	}
	lowest, again := "-", "-"
	if r.Lowest != nil {
		lowest = fmt.Sprintf("%d%%", int(*r.Lowest*100+1e-9)) // rounded down: only what is whole is 100 %
	}
	switch {
	case r.After != nil:
		again = "after " + span.String(time.Duration(*r.After*float64(time.Second)))
	case r.Disturbed:
		again = "never"
	}
	return []string{fmt.Sprint(r.Evictions), fmt.Sprint(r.Unschedulable), lowest, again}
}
