package whatif

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"leeward/messages"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/rehearsal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/forecast"
)

// mostNamed is how many of a kind a short text names.
const mostNamed = 20

// WriteText writes a prediction for people. Wide omits nothing.
func WriteText(w io.Writer, p *Prediction, wide bool) error {
	t := &text{wide: wide}
	t.line("what-if: %s, %s; profile %s, seed %d; nothing is written",
		spelling.Count(p.Clusters, "cluster"), spelling.Count(p.Workloads, "workload"), p.Profile, p.Seed)
	for _, c := range p.Changes {
		t.line("change: %s", c)
	}
	t.line("")
	if !p.Changed {
		t.predicted("nothing would change")
	} else {
		t.summary(p)
		t.sections(p)
		t.tables(p)
	}
	_, err := w.Write(t.Bytes())
	return err
}

// text collects lines.
type text struct {
	bytes.Buffer
	wide bool
}

func (t *text) line(format string, args ...any) { _, _ = fmt.Fprintf(t, format+"\n", args...) } // to memory

func (t *text) predicted(format string, args ...any) { t.line(forecast.Predicted+format, args...) }

// summary has the figures.
func (t *text) summary(p *Prediction) {
	for _, line := range p.Summary() {
		t.predicted("%s", line)
	}
	t.predicted("in the end: %s changed, %s unavailable; without an available replica for a while: %s",
		spelling.Count(len(p.Placements), "placement"), spelling.Count(len(p.Unavailable), "binding"), spelling.Count(len(p.Down), "binding"))
	if p.Busiest != nil {
		t.predicted("busiest minute: from +%s, %s", short(p.Busiest.From), spelling.Count(p.Busiest.Evictions, "eviction"))
	}
	if p.Lowest < 1 {
		t.predicted("lowest availability: %d%% at +%s; all available again: %s", int(p.Lowest*100+1e-9), short(p.LowestAt), again(p.AvailableAfter))
	} else {
		t.predicted("lowest availability: 100%%, all the time")
	}
	if s := p.Samples; s != nil {
		t.predicted("%d seeds: all available again: median %s, worst %s; never in %d", s.Seeds, again(s.Median), again(s.Worst), s.Never)
	}
}

// short is a length of time, in whole milliseconds.
func short(s span.Seconds) string {
	return span.String(time.Duration(s).Round(time.Millisecond))
}

func again(s *span.Seconds) string {
	if s == nil {
		return "never (within " + span.String(forecast.Horizon) + ")"
	}
	return "+" + short(*s)
}

// some is how many of n are named; what is not is counted.
func (t *text) some(n int) int {
	if t.wide {
		return n
	}
	return min(n, mostNamed)
}

func (t *text) more(n int, what string) {
	if left := n - t.some(n); left > 0 {
		t.predicted("  %d more %s; -o wide shows them", left, what)
	}
}

// sections list evictions by time, placements, what is blocked, and what is not whole.
func (t *text) sections(p *Prediction) {
	section(t, "evictions", "evictions", p.Evictions, func(e *rehearsal.Eviction) string { return "+" + short(e.At) + " " + e.String() })
	section(t, "placements in the end", "placements", p.Placements, func(m *Move) string {
		return fmt.Sprintf("%s on %s; without the changes on %s", m.Workload, rehearsal.Targets(m.After), rehearsal.Targets(m.Before))
	})
	section(t, "blocked evictions", "blocked evictions", p.Blocked, func(b *rehearsal.Blocked) string { return "+" + short(b.At) + " " + b.String() })
	section(t, "unschedulable", "unschedulable", p.Unschedulable, (*rehearsal.Trouble).String)
	section(t, "unavailable in the end", "unavailable in the end", p.Unavailable, (*rehearsal.Trouble).String)
	section(t, "without an available replica for a while", "bindings", p.Down, func(b *messages.BindingName) string { return string(*b) })
}

// section lists all of a kind under a title, as far as a short text does, and counts what it does not name.
func section[T any](t *text, title, what string, all []T, line func(*T) string) {
	for i := range all[:t.some(len(all))] {
		if i == 0 {
			t.line("\n%s", title)
		}
		t.predicted("  %s", line(&all[i]))
	}
	t.more(len(all), what)
}

// heading is what groups, in capital letters, but for the key of a label.
func heading(by string) string {
	if key, is := strings.CutPrefix(by, "label:"); is {
		return "LABEL " + key
	}
	return strings.ToUpper(by)
}

// tables are those of groups and of capacity.
func (t *text) tables(p *Prediction) {
	w := tabwriter.NewWriter(t, 0, 0, 3, ' ', 0)
	if len(p.Groups) > 0 {
		_, _ = fmt.Fprintf(w, "\nBY %s\tEVICTIONS\tREPLICAS\tUNSCHEDULABLE\tUNAVAILABLE\n", heading(p.By))
	}
	for _, g := range p.Groups[:t.some(len(p.Groups))] {
		_, _ = fmt.Fprintf(w, "%s%s\t%d\t%d\t%d\t%d\n", forecast.Predicted, cmp.Or(g.Group, "-"), g.Evictions, g.Replicas, g.Unschedulable, g.Unavailable)
	}
	_ = w.Flush() // to memory
	t.more(len(p.Groups), "groups")
	shown := 0
	for _, c := range p.Capacity {
		if !t.wide && (c.Before == c.After || shown == mostNamed) {
			continue
		}
		if shown++; shown == 1 {
			_, _ = fmt.Fprintf(w, "\nCAPACITY\tRESOURCE\tALLOCATABLE\tFREE WITHOUT\tFREE WITH\n")
		}
		_, _ = fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%s\n", forecast.Predicted, c.Cluster, c.Resource, c.Allocatable, c.Before, c.After)
	}
	_ = w.Flush()
}
