package storm

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"leeward/messages"
	"leeward/runtime/kernel"
)

// interval is the grain of the series.
const interval = 100 * time.Millisecond

// timing is how long stages took, on both clocks, and when they were reached.
type timing struct {
	wall, fleet [released + 1]*hdrhistogram.Histogram
	points      []Point
	// until is when each stage was last reached.
	until [released + 1]time.Duration
}

// Latencies are kept from a nanosecond to a day, to one part in a thousand; shown from a microsecond.
const (
	shortest = int64(time.Microsecond)
	longest  = int64(24 * time.Hour)
	digits   = 3
)

func newTiming() (t timing) {
	for g := range t.wall {
		t.wall[g] = hdrhistogram.New(1, longest, digits)
		t.fleet[g] = hdrhistogram.New(1, longest, digits)
	}
	return t
}

// record times a stage that was reached at a moment.
func (t *timing) record(g stage, reached, due moment) {
	took := moment{reached.wall - due.wall, reached.fleet - due.fleet}
	store(t.wall[g], took.wall)
	store(t.fleet[g], took.fleet)
	*t.point(reached.wall).of(g)++
	t.until[g] = max(t.until[g], reached.wall)
}

// store keeps a latency, and what is beyond the bounds at them.
func store(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(int64(d), 0), longest))
}

func (t *timing) point(wall time.Duration) *Point {
	i := int(wall / interval)
	for len(t.points) <= i {
		t.points = append(t.points, Point{})
	}
	return &t.points[i]
}

func (p *Point) of(g stage) *int {
	return [...]*int{evicted: &p.Evicted, placed: &p.Placed, healthy: &p.Healthy, released: &p.Released}[g]
}

// merge adds what another lane timed.
func (t *timing) merge(o *timing) {
	for g := range t.wall {
		t.wall[g].Merge(o.wall[g])
		t.fleet[g].Merge(o.fleet[g])
		t.until[g] = max(t.until[g], o.until[g])
	}
	for i := range o.points {
		p := t.point(time.Duration(i) * interval)
		for g := evicted; g <= released; g++ {
			*p.of(g) += *o.points[i].of(g)
		}
	}
}

// series are the points until the end, with the backlogs of what is complete with a stage.
func (t *timing) series(end time.Duration, complete stage) Series {
	t.point(end)
	backlog := 0
	for i := range t.points {
		p := &t.points[i]
		backlog += p.Evicted - *p.of(complete)
		p.Backlog = backlog
	}
	return Series{Interval: Seconds(interval), Points: t.points}
}

// timed reports how stages were timed. Failovers are complete with a stage.
func (r *Report) timed(t *timing, complete stage) {
	r.Rates.Evicted, r.Rates.Placed, r.Rates.Healthy, r.Rates.Released = t.rate(evicted), t.rate(placed), t.rate(healthy), t.rate(released)
	r.Latencies, r.FleetLatencies = latencies(&t.wall), latencies(&t.fleet)
	r.Series = t.series(time.Duration(r.Elapsed), complete)
}

// rate of a stage, and that of its busiest interval.
func (t *timing) rate(g stage) Rate {
	r := Rate{Count: int(t.wall[g].TotalCount())}
	if t.until[g] <= 0 {
		return r
	}
	r.PerSecond = float64(r.Count) / t.until[g].Seconds()
	r.Peak = r.PerSecond
	for i := range t.points {
		r.Peak = max(r.Peak, float64(*t.points[i].of(g))/interval.Seconds())
	}
	return r
}

// latencies of all stages up to the last that was reached. The part of a stage is its mean less that of the stage before.
func latencies(all *[released + 1]*hdrhistogram.Histogram) []Latency {
	last := released
	for last > evicted && all[last].TotalCount() == 0 {
		last--
	}
	list := make([]Latency, last+1)
	total, before := all[last].Mean(), 0.0
	for g, h := range all[:last+1] {
		list[g] = latency(stageNames[g], h)
		if total > 0 {
			list[g].Share = max(0, h.Mean()-before) / total
		}
		before = h.Mean()
	}
	return list
}

func latency(name string, h *hdrhistogram.Histogram) Latency {
	at := func(quantile float64) Seconds { return Seconds(h.ValueAtQuantile(quantile)) }
	return Latency{
		Stage: name, Count: int(h.TotalCount()), Min: Seconds(h.Min()), Mean: Seconds(h.Mean()),
		P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: Seconds(h.Max()), Buckets: buckets(h),
	}
}

// bucketsPerDecade is how finely latencies are shown.
const bucketsPerDecade = 10

// bound is the upper end of a bucket: shortest for 0, ten times that for 10.
func bound(i int) int64 {
	return int64(math.Round(float64(shortest) * math.Pow(10, float64(i)/bucketsPerDecade)))
}

// buckets gather the bars of a histogram, which are narrower. What is under the first bound begins at 0.
func buckets(h *hdrhistogram.Histogram) []LatencyBucket {
	var list []LatencyBucket
	upper := 0
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		for bound(upper) < bar.To {
			upper++
		}
		b := LatencyBucket{To: Seconds(bound(upper))}
		if upper > 0 {
			b.From = Seconds(bound(upper - 1))
		}
		if last := len(list) - 1; last < 0 || list[last].To != b.To {
			list = append(list, b)
		}
		list[len(list)-1].Count += int(bar.Count)
	}
	return list
}

// meter is what the process had used at one moment.
type meter struct {
	cpu       time.Duration
	allocated uint64 // bytes
	objects   uint64
	cycles    uint32
	classes   cpuClasses
	handled   uint64
	spent     [messages.Kinds]kernel.Spent
}

// measure reads the meters of the process, beside what the machines have done.
func measure(counters kernel.Counters, spent [messages.Kinds]kernel.Spent) meter {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return meter{
		cpu: cpuTime(), allocated: m.TotalAlloc, objects: m.Mallocs, cycles: m.NumGC, classes: readCPUClasses(),
		handled: counters.Handled, spent: spent,
	}
}

// cpuClasses are CPU seconds as the Go runtime estimates them: what collecting garbage took, and what everything did. It
// brings them up to date at the end of each cycle.
type cpuClasses struct{ gc, all float64 }

func readCPUClasses() cpuClasses {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"},
	}
	metrics.Read(samples)
	return cpuClasses{gc: samples[0].Value.Float64(), all: samples[1].Value.Float64() - samples[2].Value.Float64()}
}

// gcShareSince is the part of the CPU time since then that collecting garbage took; both by the same estimate.
func (c cpuClasses) gcShareSince(before cpuClasses) float64 {
	if c.all <= before.all {
		return 0
	}
	return (c.gc - before.gc) / (c.all - before.all)
}

// charge says what so many failovers cost between two moments.
func (r *Report) charge(before, after meter, failovers float64) {
	c := &r.Costs
	c.CPU = Seconds(after.cpu - before.cpu)
	c.GCs = int(after.cycles - before.cycles)
	c.PeakMemory = peakMemory()
	c.GCShare = after.classes.gcShareSince(before.classes)
	if failovers > 0 {
		c.CPUPerFailover = Seconds(float64(c.CPU) / failovers)
		c.MessagesPerFailover = float64(after.handled-before.handled) / failovers
		c.BytesPerFailover = float64(after.allocated-before.allocated) / failovers
		c.ObjectsPerFailover = float64(after.objects-before.objects) / failovers
	}
	r.Machines = machineTimes(&before.spent, &after.spent)
}

func machineTimes(before, after *[messages.Kinds]kernel.Spent) []MachineTime {
	var all time.Duration
	for kind := range after {
		all += after[kind].Time - before[kind].Time
	}
	var list []MachineTime
	for kind := range after {
		m := MachineTime{
			Kind:     messages.Kind(kind).String(),
			Messages: int(after[kind].Messages - before[kind].Messages),
			Time:     Seconds(after[kind].Time - before[kind].Time),
		}
		if m.Messages == 0 {
			continue
		}
		if all > 0 {
			m.Share = float64(m.Time) / float64(all)
		}
		list = append(list, m)
	}
	return list
}
