package storm

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
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
