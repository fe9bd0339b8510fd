package page

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"leeward/runtime/report/chart"
	"leeward/runtime/storm"
)

// WriteStorm writes what came of a storm as one page.
func WriteStorm(w io.Writer, r *storm.Report) error {
	if err := write(w, "head", "Leeward storm"); err != nil {
		return err
	}
	if err := write(w, "storm", stormed(r)); err != nil {
		return err
	}
	return write(w, "foot", nil)
}

// stormPage is a storm as its page shows it.
type stormPage struct {
	*storm.Report
	Tiles []tile
	Rates chart.Panel
	// Stages are the latencies by the clock on the wall, FleetStages those by the fleet's time, if anything took any.
	Stages      distribution
	FleetStages *distribution
	// FailedLoad and SurvivingLoad say what became of the replicas of clusters that failed and of those that did not.
	Parts, Kinds              []part
	Load                      chart.Panel
	FailedLoad, SurvivingLoad balance
}

// tile is one figure that a storm is judged by.
type tile struct{ Name, Value, Detail string }

// part is a share of a whole: of a failover, or of the time of the lanes.
type part struct {
	Name, Class   string
	X, Wide       chart.Percent
	Value, Detail string
}

// stormed lays a storm out.
func stormed(r *storm.Report) *stormPage {
	return &stormPage{
		Report: r, Tiles: tiles(r), Rates: rates(&r.Series), Stages: distributed(r.Latencies), FleetStages: byFleet(r.FleetLatencies),
		Parts: stages(r.Latencies), Kinds: machines(r.Machines), Load: load(r.Load),
		FailedLoad: balanced(r.Load, true), SurvivingLoad: balanced(r.Load, false),
	}
}

// patterns say how clusters fail.
var patterns = map[string]string{storm.Burst: ", all together", storm.Cascade: ", in waves", storm.Flapping: ", again and again"}

// Title says what happened, in one line.
func (p *stormPage) Title() string {
	of := count(p.Fleet.Clusters, "cluster")
	if p.Fleet.Nodes > 0 {
		of = count(p.Fleet.Nodes, "node")
	}
	return fmt.Sprintf("%d of %s fail%s", p.Outage.Failed, of, patterns[p.Outage.Pattern])
}

// Parted is what the load is shown of, and Counted what that is.
func (p *stormPage) Parted() string {
	if p.Fleet.Nodes > 0 {
		return "zones"
	}
	return "clusters"
}

// Counted is what a load counts.
func (p *stormPage) Counted() string {
	if p.Fleet.Nodes > 0 {
		return "pods"
	}
	return "replicas"
}

// Settings are those that the storm changed, as it was asked to.
func (p *stormPage) Settings() string { return strings.Join(p.Set, ", ") }

// Source says where the fleet is from.
func (p *stormPage) Source() string {
	if len(p.Fleet.Files) == 0 {
		return "built to measure"
	}
	return "read from " + strings.Join(p.Fleet.Files, ", ")
}

func tiles(r *storm.Report) []tile {
	c := &r.Costs
	completed := &r.Rates.Released
	if r.Fleet.Nodes > 0 { // the kubelet that would end the old pod is down
		completed = &r.Rates.Healthy
	}
	all := []tile{
		{"handovers completed a second", chart.Count(completed.PerSecond), peak(completed)},
		{"evictions a second", chart.Count(r.Rates.Evicted.PerSecond), peak(&r.Rates.Evicted)},
		{"placements a second", chart.Count(r.Rates.Placed.PerSecond), peak(&r.Rates.Placed)},
	}
	for _, l := range r.Latencies {
		all = append(all, tile{"until " + l.Stage + ", 99 %", l.P99.String(), "half within " + l.P50.String()})
	}
	return append(all,
		tile{"CPU a failover", c.CPUPerFailover.String(), c.CPU.String() + " in all"},
		tile{"messages a failover", chart.Count(c.MessagesPerFailover), ""},
		tile{"allocated a failover", size(c.BytesPerFailover), chart.Count(c.ObjectsPerFailover) + " objects"},
		tile{"memory a " + workload(r), size(c.BytesPerBinding), size(float64(c.PeakMemory)) + " at the peak, in all"},
		tile{"garbage collection", fmt.Sprintf("%.1f %%", 100*c.GCShare), count(c.GCs, "cycle") + ", of the CPU"},
	)
}

func workload(r *storm.Report) string {
	if r.Fleet.Nodes > 0 {
		return "pod"
	}
	return "workload"
}

func peak(r *storm.Rate) string {
	return chart.Count(float64(r.Count)) + " in all, " + chart.Count(r.Peak) + " at the peak"
}

func size(bytes float64) string { return chart.Count(bytes) + "B" }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return chart.Count(float64(n)) + " " + noun + "s"
}

// rated is a series of a storm: what its points count, and how it is told.
type rated struct {
	name, class, unit string
	of                func(*storm.Point) int
	// level is set where a point is how much there is at its end, and not how much came.
	level bool
}

var series = []rated{
	{"evicted", "c-evicted", " a second", func(p *storm.Point) int { return p.Evicted }, false},
	{"placed", "c-placed", " a second", func(p *storm.Point) int { return p.Placed }, false},
	{"healthy", "c-healthy", " a second", func(p *storm.Point) int { return p.Healthy }, false},
	{"released", "c-released", " a second", func(p *storm.Point) int { return p.Released }, false},
	{"in progress", "c-backlog", " failovers", func(p *storm.Point) int { return p.Backlog }, true},
}

// mostColumns is how many columns a chart has at most: more cannot be told apart.
const mostColumns = 240

// rates draws what happened over time. Rates share one scale, so that they can be compared.
func rates(s *storm.Series) chart.Panel {
	groups := chart.Groups(len(s.Points), mostColumns)
	values := make([][]float64, len(series))
	most := 0.0
	for i := range series {
		values[i] = series[i].values(s, groups)
		if !series[i].level {
			most = max(most, highest(values[i]))
		}
	}
	panel := chart.Panel{Axis: elapsed(s)}
	for i, r := range series {
		top := chart.RoundUp(most)
		if r.level {
			top = chart.RoundUp(highest(values[i]))
		}
		columns := chart.Even(values[i], chart.Linear(top), func(n int) string {
			return fmt.Sprintf("%s to %s: %s%s %s", after(s, groups[n]), after(s, groups[n+1]), chart.Count(values[i][n]), r.unit, r.name)
		})
		panel.Strips = append(panel.Strips, chart.Strip{
			Name: r.name, Class: r.class, Area: chart.Area(columns), Columns: columns, Top: chart.Count(top) + r.unit})
	}
	return panel
}

// values returns one value for each group of points: their rate, or where they end.
func (r *rated) values(s *storm.Series, groups []int) []float64 {
	values := make([]float64, len(groups)-1)
	for i := range values {
		points := s.Points[groups[i]:groups[i+1]]
		if r.level {
			values[i] = float64(r.of(&points[len(points)-1]))
			continue
		}
		sum := 0
		for j := range points {
			sum += r.of(&points[j])
		}
		values[i] = float64(sum) / (float64(len(points)) * inSeconds(s.Interval))
	}
	return values
}

// elapsed are ticks of the time since the storm began.
func elapsed(s *storm.Series) []chart.Tick {
	whole := float64(len(s.Points)) * inSeconds(s.Interval)
	return ticks(chart.Linear(whole))
}

// ticks puts the round values of a scale of seconds into words.
func ticks(scale chart.Scale) []chart.Tick {
	var all []chart.Tick
	for _, v := range scale.Ticks(6) {
		all = append(all, chart.Tick{At: chart.Share(scale.At(v)), Label: storm.Seconds(math.Round(v * float64(time.Second))).String()})
	}
	return all
}

// after is how long after the beginning a point begins.
func after(s *storm.Series, point int) storm.Seconds { return s.Interval * storm.Seconds(point) }

func highest(values []float64) (most float64) {
	for _, v := range values {
		most = max(most, v)
	}
	return most
}
