package storm

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Write writes a report for people to read.
func Write(w io.Writer, r *Report) error {
	t := &text{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.DiscardEmptyColumns)}
	t.heading(r)
	t.rates(r)
	t.latencies("latency", r.Latencies)
	if takesTheFleetTime(r.FleetLatencies) {
		t.latencies("by the fleet's time", r.FleetLatencies)
	}
	t.machines(r)
	t.costs(r)
	t.measured(r.Measured)
	t.checks(r)
	return t.w.Flush()
}

// text writes tables whose cells end with a tab. A line without one is no part of a table.
type text struct{ w *tabwriter.Writer }

func (t *text) line(format string, args ...any) { _, _ = fmt.Fprintf(t.w, format+"\n", args...) }

// row writes a name, to the left, and cells, to the right.
func (t *text) row(name string, cells ...string) {
	t.line("%-18s\t%s\t", name, strings.Join(cells, "\t"))
}

// table begins one.
func (t *text) table(name string, columns ...string) {
	t.line("")
	t.line("%-18s\t%s\t", name, strings.Join(columns, "\t"))
}

func (t *text) heading(r *Report) {
	f := &r.Fleet
	from := ""
	if len(f.Files) > 0 {
		from = " of " + strings.Join(f.Files, ", ")
	}
	of, in := counted(f.Clusters, "cluster"), counted(f.Regions, "region")
	workloads, replicas := counted(f.Bindings, "workload"), counted(f.Replicas, "replica")
	if f.Nodes > 0 {
		of, in, workloads, replicas = counted(f.Nodes, "node"), counted(f.Zones, "zone"), counted(f.Deployments, "Deployment"), counted(f.Pods, "pod")
	}
	t.line("storm: %s, %s failed of %s in %s%s", r.Outage.Pattern, thousands(int64(r.Outage.Failed)), of, in, from)
	t.line("%s, %s; profile %s, seed %d, lanes %d", workloads, replicas, r.Profile, r.Seed, r.Lanes)
	t.line("built and placed in %s; the storm took %s, and the fleet %s", r.Setup, r.Elapsed, r.FleetTime)
	if r.Interrupted {
		t.line("INTERRUPTED: what follows is of what was done until then")
	}
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(int64(n)) + " " + noun + "s"
}

func (t *text) rates(r *Report) {
	t.table("rates", "count", "per second", "busiest 100ms, per second")
	for _, s := range []struct {
		stage string
		rate  *Rate
	}{
		{StageEvicted, &r.Rates.Evicted}, {StagePlaced, &r.Rates.Placed}, {StageHealthy, &r.Rates.Healthy}, {StageReleased, &r.Rates.Released},
	} {
		t.row(s.stage, thousands(int64(s.rate.Count)), ofRate("", s.rate.PerSecond).text, ofRate("", s.rate.Peak).text)
	}
	if r.Rates.Held > 0 {
		t.row("held", thousands(int64(r.Rates.Held)), "", "")
	}
	if r.Rates.Withdrawn > 0 {
		t.row("withdrawn", thousands(int64(r.Rates.Withdrawn)), "", "")
	}
}

func (t *text) latencies(name string, list []Latency) {
	t.table(name, "p50", "p90", "p99", "p99.9", "max", "share")
	for i := range list {
		l := &list[i]
		t.row(l.Stage, l.P50.String(), l.P90.String(), l.P99.String(), l.P999.String(), l.Max.String(), percent(l.Share))
	}
}

func takesTheFleetTime(list []Latency) bool {
	return slices.ContainsFunc(list, func(l Latency) bool { return l.Max > 0 })
}

func (t *text) machines(r *Report) {
	t.table("machines", "messages", "time", "share")
	for _, m := range r.Machines {
		t.row(m.Kind, thousands(int64(m.Messages)), m.Time.String(), percent(m.Share))
	}
}

func (t *text) costs(r *Report) {
	c := &r.Costs
	t.line("")
	t.line("one failover: %s of CPU, %.1f messages, %s in %.1f objects", c.CPUPerFailover, c.MessagesPerFailover,
		bytesText(c.BytesPerFailover), c.ObjectsPerFailover)
	of := "workload"
	if r.Fleet.Nodes > 0 {
		of = "pod"
	}
	t.line("memory: %s a %s, %s at most; %s of the CPU time for %d garbage collections", bytesText(c.BytesPerBinding), of,
		bytesText(float64(c.PeakMemory)), percent(c.GCShare), c.GCs)
}

// measured says what another system did, which was not run now.
func (t *text) measured(m *Measured) {
	if m != nil {
		t.line("measured, not run here: %s: the first eviction after %s, the last after %s, %.1f a second", m.System, m.First, m.Last, m.PerSecond)
	}
}

func (t *text) checks(r *Report) {
	t.line("")
	for _, c := range r.Checks {
		verdict := "ok  "
		if !c.Passed {
			verdict = "LOST"
		}
		t.line("%s  %s%s", verdict, c.Name, detail(c.Detail))
	}
	if len(r.Checks) == 0 {
		t.line("nothing was checked")
	}
}

func detail(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// Compare writes the figures of two reports side by side, with the ratio of the first to the second.
func Compare(w io.Writer, r, other *Report) error {
	t := &text{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.line("%-24s\tthis\tother\tthis/other\t", "")
	theirs := figures(other)
	for _, f := range figures(r) {
		i := slices.IndexFunc(theirs, func(o figure) bool { return o.name == f.name })
		o := figure{text: "-"}
		if i >= 0 {
			o = theirs[i]
		}
		t.line("%-24s\t%s\t%s\t%s\t", f.name, f.text, o.text, cmp.Or(ratio(f.value, o.value), "-"))
	}
	return t.w.Flush()
}

// ratio of two figures; empty where there is none.
func ratio(a, b float64) string {
	if b == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", a/b)
}

// Progress is how far a storm has come.
type Progress struct {
	// Struck is set once clusters fail. Until then the fleet is placed, and Placed counts its workloads.
	Struck                             bool
	Evicted, Placed, Healthy, Released int64
	// Workloads is how many the fleet has; zero where that is not known beforehand.
	Workloads int64
	// Backlog is how many messages wait.
	Backlog uint64
}

// Progress may be asked from any goroutine.
func (s *Storm) Progress() Progress {
	p := Progress{Struck: s.struck.Load(), Backlog: s.ground.backlog()}
	if s.config.Manifests == nil {
		p.Workloads = int64(s.config.Fleet.Bindings)
	}
	for _, l := range s.lanes {
		p.Evicted += l.counters[evicted].Load()
		p.Placed += l.counters[placed].Load()
		p.Healthy += l.counters[healthy].Load()
		p.Released += l.counters[released].Load()
	}
	return p
}

// Line is the progress in one line for a terminal, with what was done since an earlier one.
func (p Progress) Line(before Progress, since time.Duration) string {
	perSecond := func(now, then int64) string {
		if since <= 0 || now < then {
			return "0"
		}
		return thousands(int64(float64(now-then) / since.Seconds()))
	}
	if !p.Struck {
		return fmt.Sprintf("%s placing %s workloads (%s/s), %s messages wait",
			bar(p.Placed, p.Workloads), thousands(p.Placed), perSecond(p.Placed, before.Placed), thousands(int64(p.Backlog)))
	}
	return fmt.Sprintf("%s evicted %s (%s/s), released %s (%s/s): to place %s, to start %s, to release %s; %s messages wait",
		bar(p.Released, p.Evicted), thousands(p.Evicted), perSecond(p.Evicted, before.Evicted),
		thousands(p.Released), perSecond(p.Released, before.Released), thousands(max(0, p.Evicted-p.Placed)),
		thousands(max(0, p.Placed-p.Healthy)), thousands(max(0, p.Healthy-p.Released)), thousands(int64(p.Backlog)))
}

// barWidth is how many characters a bar has.
const barWidth = 20

// bar draws a share; of nothing, or of what is not known, an empty one.
func bar(done, all int64) string {
	full := int64(0)
	if all > 0 {
		full = min(barWidth, done*barWidth/all)
	}
	return "[" + strings.Repeat("#", int(full)) + strings.Repeat("-", int(barWidth-full)) + "]"
}

// figure is one number of a report, as people read it.
type figure struct {
	name  string
	value float64
	text  string
}

func ofCount(name string, n int) figure { return figure{name, float64(n), thousands(int64(n))} }

func ofRate(name string, perSecond float64) figure {
	return figure{name, perSecond, thousands(int64(math.Round(perSecond)))}
}

func ofTime(name string, s Seconds) figure { return figure{name, float64(s), s.String()} }

func ofBytes(name string, n float64) figure { return figure{name, n, bytesText(n)} }

func ofNumber(name string, n float64) figure {
	return figure{name, n, strconv.FormatFloat(n, 'f', 1, 64)}
}

// figures are the numbers by which two storms are compared.
func figures(r *Report) []figure {
	list := []figure{
		ofCount("clusters", r.Fleet.Clusters),
		ofCount("workloads", r.Fleet.Bindings),
		ofCount("clusters failed", r.Outage.Failed),
	}
	if r.Fleet.Nodes > 0 {
		list = []figure{ofCount("nodes", r.Fleet.Nodes), ofCount("pods", r.Fleet.Pods), ofCount("nodes failed", r.Outage.Failed)}
	}
	list = append(list,
		ofCount("evictions", r.Rates.Evicted.Count),
		ofCount("completed failovers", r.Rates.Released.Count),
		ofTime("took", r.Elapsed),
		ofTime("took the fleet", r.FleetTime),
		ofRate("evictions/s", r.Rates.Evicted.PerSecond),
		ofRate("placements/s", r.Rates.Placed.PerSecond),
		ofRate("completed failovers/s", r.Rates.Released.PerSecond),
	)
	for _, l := range r.Latencies {
		list = append(list, ofTime(l.Stage+" p50", l.P50), ofTime(l.Stage+" p99", l.P99))
	}
	c := &r.Costs
	return append(list,
		ofTime("CPU per failover", c.CPUPerFailover),
		ofNumber("messages per failover", c.MessagesPerFailover),
		ofBytes("allocated per failover", c.BytesPerFailover),
		ofNumber("objects per failover", c.ObjectsPerFailover),
		ofBytes("memory per workload", c.BytesPerBinding),
		ofBytes("peak memory", float64(c.PeakMemory)),
		figure{"GC share of CPU", c.GCShare, percent(c.GCShare)},
	)
}

// thousands writes a number in groups of three digits.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + "%" }

var byteUnits = [...]string{"B", "KiB", "MiB", "GiB", "TiB"}

func bytesText(n float64) string {
	unit := 0
	for n >= 1024 && unit < len(byteUnits)-1 {
		n, unit = n/1024, unit+1
	}
	if unit == 0 || n >= 100 {
		return fmt.Sprintf("%.0f %s", n, byteUnits[unit])
	}
	return fmt.Sprintf("%.1f %s", n, byteUnits[unit])
}
