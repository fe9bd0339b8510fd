package page

import (
	"io"
	"strings"
	"time"

	"leeward/runtime/journal"
	"leeward/runtime/report"
	"leeward/runtime/report/chart"
	"leeward/runtime/report/timeline"
	"leeward/runtime/scenario/span"
)

// Replay writes runs as one page: of each its time-line, its expectations and its story. All are open, or, where
// there are many, those that failed.
type Replay struct {
	W io.Writer
	// Many is set where runs of several files will be added.
	Many bool

	begun bool
}

// Add writes the next run.
func (p *Replay) Add(r *report.Run) error {
	if err := p.begin(); err != nil {
		return err
	}
	var story strings.Builder
	if err := report.WriteStory(&story, r, journal.Style{}); err != nil {
		return err
	}
	s := sectionOf(r)
	s.Story, s.Open = story.String(), !p.Many || !r.Passed
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
	*report.Run
	Open  bool
	Story string
	// Quiet is when the last thing happened.
	Quiet  string
	Lanes  []lane
	Legend []key
	// Calm are the clusters and bindings that nothing happened to, without a lane.
	CalmClusters, CalmBindings []string
	Axis                       []chart.Tick
}

// Failed counts the expectations that did not hold.
func (s *section) Failed() (n int) {
	for _, e := range s.Expectations {
		if !e.Passed {
			n++
		}
	}
	return n
}

// sectionOf lays one run out.
func sectionOf(r *report.Run) *section {
	t := timeline.Of(r.Start, r.Events)
	d := draw(r, t)
	s := &section{Run: r, Quiet: span.String(t.End.Sub(r.Start).Round(time.Millisecond)), Axis: d.grid}
	d.expectations(r.Expectations)
	d.lane("input", t.Inputs, "what is asked for")
	for _, l := range t.Clusters {
		if !d.lane("cluster", l, l.Name) {
			s.CalmClusters = append(s.CalmClusters, l.Name)
		}
	}
	for _, l := range t.Bindings {
		if l.Calm() {
			s.CalmBindings = append(s.CalmBindings, l.Name)
			continue
		}
		d.binding(l)
	}
	s.Lanes, s.Legend = d.lanes, d.legend()
	return s
}
