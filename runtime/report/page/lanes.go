package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leeward/runtime/fleet/span"
	"leeward/runtime/report/chart"
	"leeward/runtime/report/timeline"
	"leeward/runtime/scenario/replay"
)

// lane is a row of the timeline: a name, and bars on tracks below each other.
type lane struct {
	Name string
	// Class is what kind of row it is: expectations, input, governor, cluster, binding, on (a binding on a cluster).
	Class  string
	Height int
	Bars   []bar
	Grid   []chart.Tick
}

// bar is a time on a lane: Y and Height in pixels, its place in percent.
type bar struct {
	X, Wide   chart.Percent
	Y, Height int
	Kind      timeline.Kind
	Label     string
	Title     string
}

// Text is where the words of a bar stand.
func (b bar) Text() int { return b.Height - 5 }

// Point reports whether a bar lasts no time.
func (b bar) Point() bool { return b.Kind == timeline.Mark || b.Kind == timeline.Warning }

// Middle is where a point is, below the upper edge of its lane.
func (b bar) Middle() int { return b.Y + b.Height/2 }

// Heights of tracks in pixels, and the gap between two.
const (
	tall, low, gap = 18, 7, 2
	// ticksApart is the least share of the width between two ticks, such that their words fit on a telephone.
	ticksApart = 0.12
	// untilEnd is the part of the width that the run takes; in the rest, what is so in the end goes on.
	untilEnd = 0.97
)

// drawing puts lanes below each other.
type drawing struct {
	start time.Time
	axis  chart.Instants
	grid  []chart.Tick
	lanes []lane
}

// draw begins a drawing on an axis that gives width to every instant at which something began, ended or was decided.
func draw(r *replay.Run, t *timeline.Timeline) *drawing {
	instants := t.Instants()
	for _, e := range r.Expectations {
		instants = append(instants, seconds(e.At))
	}
	d := &drawing{start: r.Start, axis: chart.NewInstants(instants)}
	for _, at := range d.axis.Ticks(ticksApart) {
		d.grid = append(d.grid, chart.Tick{At: chart.Share(d.at(at)), Label: span.String(at.Round(time.Millisecond))})
	}
	return d
}

// binding draws a binding, and a lane for each of its clusters.
func (d *drawing) binding(l *timeline.Lane) {
	if !d.lane("binding", l, l.Name) {
		d.lanes = append(d.lanes, lane{Name: l.Name, Class: "binding", Height: tall, Grid: d.grid})
	}
	for _, sub := range l.Lanes {
		d.lane("on", sub, sub.Name)
	}
}

// lane draws the tracks of a lane that have bars, and reports whether there is one.
func (d *drawing) lane(class string, from *timeline.Lane, name string) bool {
	l := lane{Name: name, Class: class, Grid: d.grid}
	for _, track := range from.Tracks {
		if len(track.Bars) == 0 {
			continue
		}
		height := tall
		if track.Thin() {
			height = low
		}
		for _, b := range track.Bars {
			l.Bars = append(l.Bars, d.bar(b, l.Height, height))
		}
		l.Height += height + gap
	}
	if len(l.Bars) > 0 {
		d.lanes = append(d.lanes, l)
	}
	return len(l.Bars) > 0
}

func (d *drawing) bar(b *timeline.Bar, y, height int) bar {
	from, to := d.at(b.From.Sub(d.start)), 1.0
	if !b.To.IsZero() {
		to = d.at(b.To.Sub(d.start))
	}
	return bar{
		X: chart.Share(from), Wide: chart.Share(to - from), Y: y, Height: height,
		Kind: b.Kind, Label: b.Label, Title: d.title(b),
	}
}

// at returns where an instant lies, 0 to 1.
func (d *drawing) at(t time.Duration) float64 { return untilEnd * d.axis.At(t) }

// title says from when to when, and why.
func (d *drawing) title(b *timeline.Bar) string {
	when := d.when(b)
	if b.Label != "" {
		when = b.Label + ", " + when
	}
	return when + "\n" + strings.Join(b.Details, "\n")
}

func (d *drawing) when(b *timeline.Bar) string {
	from := span.String(b.From.Sub(d.start))
	switch {
	case b.To.IsZero():
		return "from " + from + " on"
	case b.To.Equal(b.From):
		return "at " + from
	}
	return fmt.Sprintf("%s to %s (%s)", from, span.String(b.To.Sub(d.start)), span.String(b.To.Sub(b.From)))
}

// expectations draws what was expected where it was decided.
func (d *drawing) expectations(all []replay.ExpectationResult) {
	if len(all) == 0 {
		return
	}
	l := lane{Name: "expectations", Class: "expectations", Height: tall + gap, Grid: d.grid}
	for _, e := range all {
		kind, sign := timeline.Good, "✓"
		if !e.Passed {
			kind, sign = timeline.Bad, "✗"
		}
		at := seconds(e.At)
		l.Bars = append(l.Bars, bar{
			X: chart.Share(d.at(at)), Height: tall, Kind: kind,
			Title: strings.TrimSpace(fmt.Sprintf("%s %s, decided at %s\n%s", sign, e.Text, span.String(at), e.Reason)),
		})
	}
	d.lanes = append(d.lanes, l)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// key explains how one kind of bar is painted.
type key struct {
	Kind    timeline.Kind
	Meaning string
}

// Point is as of a bar.
func (k key) Point() bool { return bar{Kind: k.Kind}.Point() }

var keys = []key{
	{timeline.Good, "is well"},
	{timeline.Bad, "is ill, or silent"},
	{timeline.Slowed, "evictions are slowed or stopped"},
	{timeline.Neutral, "other condition, or drain"},
	{timeline.Blocks, "taint: nothing new comes"},
	{timeline.Evicts, "taint: NoExecute"},
	{timeline.Placed, "placed here"},
	{timeline.Countdown, "must leave at a deadline"},
	{timeline.Held, "must leave, may not yet"},
	{timeline.Leaving, "handover"},
	{timeline.Starting, "copy starts"},
	{timeline.Healthy, "copy is healthy"},
	{timeline.Unhealthy, "copy is unhealthy"},
	{timeline.Unknown, "health of the copy is not known"},
	{timeline.Mark, "decision or change"},
	{timeline.Warning, "something that a person should know"},
}

// legend explains the kinds of bars that there are.
func (d *drawing) legend() []key {
	seen := map[timeline.Kind]bool{}
	for _, l := range d.lanes {
		for _, b := range l.Bars {
			seen[b.Kind] = seen[b.Kind] || l.Class != "expectations"
		}
	}
	return slices.DeleteFunc(slices.Clone(keys), func(k key) bool { return !seen[k.Kind] })
}
