package page

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"leeward/runtime/fleet/span"
	"leeward/runtime/report/chart"
	"leeward/runtime/scenario/assess"
)

// WriteAssessment writes what outages would do as one page: a heat map of contingencies by groups of workloads, what to change, and
// each contingency in detail. The command repeats it.
func WriteAssessment(w io.Writer, a *assess.Assessment, command string) error {
	if err := write(w, "head", "Leeward assessment"); err != nil {
		return err
	}
	if err := write(w, "assessment", laidOut(a, command)); err != nil {
		return err
	}
	return write(w, "foot", nil)
}

// assessmentPage is an assessment as its page shows it.
type assessmentPage struct {
	*assess.Assessment
	Command string
	Tiles   []tile
	Heat    heatMap
	// Details are the contingencies that change something, the worst first.
	Details []detail
	// Quiet counts those that change nothing, and Unshown the rows and columns that the map omits.
	Quiet                       int
	UnshownRows, UnshownColumns int
}

// heatMap has a row for each contingency and a column for each group. Lengths are in pixels.
type heatMap struct {
	Wide, High int
	Columns    []heatLabel
	Rows       []heatRow
}

type heatLabel struct {
	X     int
	Label string
}

type heatRow struct {
	Y, TextY int
	Label    string
	Cells    []heatCell
}

type heatCell struct {
	X, TextX            int
	Class, Text, Detail string
}

// detail is one contingency.
type detail struct {
	*assess.Outcome
	Again, Sum string
}

// Sizes of the map, and how much of it is shown: more cannot be read.
const (
	heatLeft, heatTop      = 210, 84
	heatCellWide, heatHigh = 56, 26
	heatMostRows           = 60
	heatMostColumns        = 30
	heatText               = 17
)

// laidOut lays an assessment out.
func laidOut(a *assess.Assessment, command string) *assessmentPage {
	p := &assessmentPage{Assessment: a, Command: command}
	var rows []*assess.Outcome
	for _, o := range a.Contingencies {
		switch {
		case !o.Changes():
			p.Quiet++
		case o.SameAs == "":
			rows = append(rows, o)
			p.Details = append(p.Details, detail{o, again(o), summed(o)})
		}
	}
	columns := worstGroups(rows)
	p.UnshownRows, p.UnshownColumns = max(0, len(rows)-heatMostRows), max(0, len(columns)-heatMostColumns)
	p.Heat = heat(rows[:min(len(rows), heatMostRows)], columns[:min(len(columns), heatMostColumns)])
	p.Tiles = assessmentTiles(a, rows)
	return p
}

// again says how long after the failure all replicas are available again.
func again(o *assess.Outcome) string {
	switch {
	case o.AvailableAfter == nil:
		return "never"
	case *o.AvailableAfter == 0:
		return "no interruption"
	}
	return "after " + span.String(time.Duration(*o.AvailableAfter))
}

// summed says in a line what a contingency would do.
func summed(o *assess.Outcome) string {
	return fmt.Sprintf("%s evicted, %d rescheduled, %d unschedulable, %d unavailable at the end; lowest availability %s; available again: %s",
		count(o.Evicted.Workloads, "workload"), o.Rescheduled.Workloads, o.Unschedulable.Workloads, o.Unavailable.Workloads, share(o.Lowest), again(o))
}

// share rounds down, so that only what is whole is 100 %.
func share(of float64) string { return fmt.Sprintf("%d %%", int(of*100+1e-9)) }

func assessmentTiles(a *assess.Assessment, rows []*assess.Outcome) []tile {
	hurt, lowest, worst := 0, 1.0, "nothing is lost"
	for _, o := range a.Contingencies {
		if o.Hurts() {
			hurt++
		}
	}
	for _, o := range rows {
		if o.Lowest < lowest {
			lowest, worst = o.Lowest, "losing "+o.Name
		}
	}
	return []tile{
		{"contingencies", chart.Count(float64(len(a.Contingencies))), fmt.Sprintf("%d would change something", len(a.Contingencies)-quiet(a))},
		{"would not be survived whole", chart.Count(float64(hurt)), "workloads unavailable or unschedulable at the end"},
		{"lowest availability", share(lowest), worst},
		{"things to change", chart.Count(float64(len(a.Advice))), "see below"},
	}
}

func quiet(a *assess.Assessment) (n int) {
	for _, o := range a.Contingencies {
		if !o.Changes() {
			n++
		}
	}
	return n
}

// worstGroups are the groups that contingencies concern: those with the most that is unavailable first, then by name.
func worstGroups(rows []*assess.Outcome) []string {
	type total struct {
		group       string
		unavailable int
	}
	var all []*total
	of := map[string]*total{}
	for _, o := range rows {
		for _, g := range o.Groups {
			if of[g.Group] == nil {
				of[g.Group] = &total{group: g.Group}
				all = append(all, of[g.Group])
			}
			of[g.Group].unavailable += g.Unavailable
		}
	}
	slices.SortFunc(all, func(a, b *total) int {
		return cmp.Or(cmp.Compare(b.unavailable, a.unavailable), cmp.Compare(a.group, b.group))
	})
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.group
	}
	return names
}

// heat draws the map.
func heat(rows []*assess.Outcome, columns []string) heatMap {
	m := heatMap{Wide: heatLeft + len(columns)*heatCellWide + heatTop, High: heatTop + len(rows)*heatHigh}
	at := map[string]int{}
	for i, c := range columns {
		at[c] = heatLeft + i*heatCellWide
		m.Columns = append(m.Columns, heatLabel{at[c] + heatCellWide/2, cut(cmp.Or(c, "none"), 16)})
	}
	for i, o := range rows {
		row := heatRow{Y: heatTop + i*heatHigh, TextY: heatTop + i*heatHigh + heatText, Label: cut(o.Name, 30)}
		for _, g := range o.Groups {
			if x, shown := at[g.Group]; shown {
				row.Cells = append(row.Cells, cell(x, o, &g))
			}
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// cell is what a contingency would do to a group.
func cell(x int, o *assess.Outcome, g *assess.Share) heatCell {
	c := heatCell{X: x, TextX: x + heatCellWide/2, Text: share(g.Lowest)}
	end := "all available again in the end"
	switch {
	case g.Unavailable > 0:
		c.Class, end = "lost", fmt.Sprintf("%d unavailable in the end", g.Unavailable)
	case g.Lowest >= 1:
		c.Class = "kept"
	case g.Lowest >= 0.9:
		c.Class = "slight"
	case g.Lowest >= 0.5:
		c.Class = "dips"
	default:
		c.Class = "sinks"
	}
	c.Detail = fmt.Sprintf("losing %s, %s: %s hit, lowest availability %s, %s", o.Name, cmp.Or(g.Group, "none"), count(g.Workloads, "workload"), share(g.Lowest), end)
	return c
}

// cut shortens a name to so many letters.
func cut(name string, most int) string {
	letters := []rune(name)
	if len(letters) <= most {
		return name
	}
	return string(letters[:most-1]) + "…"
}
