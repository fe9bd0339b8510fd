package page

import (
	"fmt"
	"io"
	"strings"
	"time"

	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/report"
	"leeward/runtime/report/chart"
	"leeward/runtime/report/timeline"
	"leeward/runtime/scenario/replay"
)

// Replay writes runs as one page: of each its timeline, its expectations and its events. All are open, or, where
// there are many, those that failed.
type Replay struct {
	W io.Writer
	// Many is set where runs of several files will be added.
	Many bool

	begun bool
}

// Add writes the next run.
func (p *Replay) Add(r *replay.Run) error {
	if err := p.begin(); err != nil {
		return err
	}
	var transcript strings.Builder
	if err := report.WriteTranscript(&transcript, r, journal.Style{}); err != nil {
		return err
	}
	s := sectionOf(r)
	s.Details, s.Open = transcript.String(), !p.Many || !r.Passed
	return write(p.W, "replay", s)
}

// Close ends the page.
func (p *Replay) Close() error {
	if err := p.begin(); err != nil {
		return err
	}
	return write(p.W, "foot", nil)
}

// begin writes the head of the page, once.
func (p *Replay) begin() error {
	if p.begun {
		return nil
	}
	p.begun = true
	return write(p.W, "head", "Leeward replay")
}

// section is one run on a page.
type section struct {
	*replay.Run
	Open    bool
	Details string
	// Quiet is when the last thing happened.
	Quiet  string
	Lanes  []lane
	Legend []key
	Axis   []chart.Tick
	// Clusters and Bindings are those without a lane, because nothing happened to them; More counts bindings to which
	// something did, and that have none because there are too many.
	Clusters, Bindings []string
	More               int
}

const (
	// mostBindings is how many bindings have lanes, and mostNames how many are named that have none.
	mostBindings = 200
	mostNames    = 40
)

// CalmClusters names clusters that nothing happened to.
func (s *section) CalmClusters() string { return few(s.Clusters) }

// CalmBindings names bindings that ran where they were placed.
func (s *section) CalmBindings() string { return few(s.Bindings) }

// few names some, and says how many there are beside them.
func few(names []string) string {
	if len(names) <= mostNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
}

// sectionOf lays one run out.
func sectionOf(r *replay.Run) *section {
	t := timeline.Of(r.Start, r.Events)
	d := draw(r, t)
	s := &section{Run: r, Quiet: span.String(t.End.Sub(r.Start).Round(time.Millisecond)), Axis: d.grid}
	d.expectations(r.Expectations)
	d.lane("input", t.Inputs, "what is asked for")
	d.lane("governor", t.Governor, "evictions")
	for _, l := range t.Clusters {
		if !d.lane("cluster", l, l.Name) {
			s.Clusters = append(s.Clusters, l.Name)
		}
	}
	s.bindings(d, t.Bindings)
	s.Lanes, s.Legend = d.lanes, d.legend()
	return s
}

// bindings draws the first of those to which something happened.
func (s *section) bindings(d *drawing, all []*timeline.Lane) {
	drawn := 0
	for _, l := range all {
		switch {
		case l.Calm():
			s.Bindings = append(s.Bindings, l.Name)
		case drawn == mostBindings:
			s.More++
		default:
			d.binding(l)
			drawn++
		}
	}
}
