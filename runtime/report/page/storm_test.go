package page

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/report/chart"
	"leeward/runtime/storm"
)

const ms = storm.Seconds(time.Millisecond)

// burst is a storm in which one of three clusters fails and four workloads move.
func burst() *storm.Report {
	return &storm.Report{
		Command: "leeward storm --clusters 3 --bindings 10",
		Fleet:   storm.Shape{Clusters: 3, Regions: 1, Bindings: 10, Replicas: 30},
		Outage:  storm.Outage{Pattern: "burst", Kill: "1", Failed: 1},
		Profile: "leeward", Seed: 1, Lanes: 2, Setup: 3 * ms, Elapsed: 400 * ms,
		Rates: storm.Rates{Released: storm.Rate{Count: 4, PerSecond: 10, Peak: 20}, Held: 3},
		Latencies: []storm.Latency{
			{Stage: storm.StageEvicted, Count: 4, P50: 2 * ms, P90: 9 * ms, P99: 90 * ms, Mean: 5 * ms, Share: 0.25,
				Buckets: []storm.LatencyBucket{{From: 1 * ms, To: 10 * ms, Count: 3}, {From: 10 * ms, To: 100 * ms, Count: 1}}},
			{Stage: storm.StageReleased, Count: 4, P50: 50 * ms, P90: 60 * ms, P99: 90 * ms, Mean: 20 * ms, Share: 0.75,
				Buckets: []storm.LatencyBucket{{From: 10 * ms, To: 100 * ms, Count: 4}}},
		},
		Series: storm.Series{Interval: 100 * ms, Points: []storm.Point{
			{Evicted: 1, Backlog: 1}, {Evicted: 3, Placed: 4, Backlog: 4}, {Released: 2, Backlog: 2}, {Released: 2}}},
		Machines: []storm.MachineTime{{Kind: "binding", Messages: 1200, Time: 12 * ms, Share: 0.6}, {Kind: "scheduler", Messages: 1, Time: 8 * ms, Share: 0.4}},
		Costs:    storm.Costs{CPUPerFailover: 43_400, BytesPerFailover: 2900, GCs: 1, GCShare: 0.125, PeakMemory: 1_500_000},
		Load: []storm.ClusterLoad{
			{Cluster: "m1", Failed: true, Before: 10}, {Cluster: "m2", Region: "eu", Before: 10, After: 13}, {Cluster: "m3", Before: 10, After: 17}},
		Checks: []storm.Check{{Name: "nothing is lost", Passed: true}, {Name: "every handover ended", Passed: true, Detail: "4 of 4"}},
	}
}

func stormPageOf(t *testing.T, r *storm.Report) document {
	t.Helper()
	var out strings.Builder
	require.NoError(t, WriteStorm(&out, r))
	return parse(t, out.String())
}

func TestAStormIsOnePage(t *testing.T) {
	d := stormPageOf(t, burst())
	require.Equal(t, []string{"Leeward storm"}, d.texts("head > title"))
	require.Equal(t, []string{"1 of 3 clusters fail, all together ✓ passed"}, d.texts("h1"))
	require.Equal(t, []string{"Is anything lost?", "Rates over time", "How long failovers take", "Where the time of a failover goes",
		"Who has the time of the lanes", "Load of the clusters that survive", "Run it again"}, d.texts("h2"))
	require.Equal(t, []string{"✓nothing is lost", "✓every handover ended4 of 4"}, d.texts("li"))
	require.Equal(t, []string{"10", "0", "0", "90ms", "90ms", "43.4µs", "0", "2.9kB", "0B", "12.5 %"}, d.texts(".tile .value"))
	require.Equal(t, []string{"leeward storm --clusters 3 --bindings 10"}, d.texts(".command"))
	require.Equal(t, []string{"evicted", "placed", "healthy", "released", "in progress", "evicted", "released", "replicas"}, d.texts(".strip .name"))
	require.Contains(t, d.texts("p")[0], "10 workloads of 30 replicas on 3 clusters in 1 regions, built to measure.")
	require.Contains(t, strings.Join(d.texts("figcaption"), " "), "2 clusters ran 20 replicas before and 30 after: from 13 to 17 each.")
	d.needsNothing(t)
}

func TestAStormSaysWhatWentWrong(t *testing.T) {
	lost := burst()
	lost.Checks[0] = storm.Check{Name: "nothing is lost", Detail: "default/<web> runs nowhere"}
	d := stormPageOf(t, lost)
	require.Equal(t, []string{"✗ failed"}, d.texts(".verdict"))
	require.Equal(t, "✗nothing is lostdefault/<web> runs nowhere", d.texts("li")[0])

	early := burst()
	early.Interrupted = true
	require.Equal(t, []string{"interrupted"}, stormPageOf(t, early).texts(".verdict"))
}

func TestAStormOfNothingIsAPageToo(t *testing.T) {
	d := stormPageOf(t, &storm.Report{})
	require.Equal(t, []string{"0 of 0 clusters fail ✓ passed"}, d.texts("h1"))
	d.needsNothing(t)
	for _, path := range d.all("path") {
		require.NotContains(t, fmt.Sprint(path.Attr), "NaN")
	}
}

func TestAStormSaysWhereItsFleetIsFrom(t *testing.T) {
	r := burst()
	r.Fleet.Files, r.Set, r.Outage.Pattern = []string{"a.yaml", "b.yaml"}, []string{"x=1", "y=2"}, "flapping"
	d := stormPageOf(t, r)
	require.Contains(t, d.texts("p")[0], "read from a.yaml, b.yaml.")
	require.Contains(t, strings.Join(d.texts(".meta"), "\n"), "profile leeward with x=1, y=2 · seed 1")
	require.Contains(t, d.texts("h1")[0], "fail, again and again")
}

func TestRatesShareAScaleAndTheBacklogHasItsOwn(t *testing.T) {
	panel := rates(&burst().Series)
	require.Len(t, panel.Strips, 5)
	evicted, backlog := panel.Strips[0], panel.Strips[4]
	require.Equal(t, "40 a second", evicted.Top)
	require.Equal(t, "4 failovers", backlog.Top)
	require.Equal(t, []float64{0.25, 0.75, 0, 0}, heights(evicted.Columns))
	require.Equal(t, []float64{0, 1, 0, 0}, heights(panel.Strips[1].Columns))
	require.Equal(t, []float64{0.25, 1, 0.5, 0}, heights(backlog.Columns))
	require.Equal(t, "100ms to 200ms: 30 a second evicted", evicted.Columns[1].Title)
	require.Equal(t, chart.Tick{At: 25, Label: "100ms"}, panel.Axis[1])
}

func TestALongStormIsDrawnInCoarserSteps(t *testing.T) {
	s := storm.Series{Interval: 100 * ms, Points: make([]storm.Point, 3*mostColumns-1)}
	for i := range s.Points {
		s.Points[i] = storm.Point{Released: 5, Backlog: i}
	}
	panel := rates(&s)
	require.Len(t, panel.Strips[3].Columns, mostColumns)
	for _, c := range panel.Strips[3].Columns {
		require.InDelta(t, 50.0/chart.RoundUp(50), c.Value, 1e-9, "a rate does not depend on how many points share a column: %s", c.Title)
	}
	require.Equal(t, "0s to 300ms: 2 failovers in progress", panel.Strips[4].Columns[0].Title, "there is as much as at the end")
}

func TestLatenciesShareALogarithmicScale(t *testing.T) {
	d := distributed(burst().Latencies)
	require.Equal(t, []string{"1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "100ms"}, labels(d.Axis))
	evicted, released := d.Strips[0], d.Strips[1]
	require.Equal(t, "M0 100V0H500V66.67H1000V100Z", evicted.Area)
	require.Equal(t, "M500 100V0H1000V100Z", released.Area)
	require.Equal(t, "1ms to 10ms: 3 evicted, 75.0 %", evicted.Columns[0].Title)
	require.Equal(t, "50 % 2ms", evicted.Marks[0].Label)
	require.Equal(t, []string{"start", "start", "end"}, []string{evicted.Marks[0].Anchor(), evicted.Marks[1].Anchor(), evicted.Marks[2].Anchor()})
	require.Equal(t, []int{12, 26, 40}, []int{evicted.Marks[0].Y(), evicted.Marks[1].Y(), evicted.Marks[2].Y()})
}

func TestTheFleetsTimeIsShownWhereThereIsAny(t *testing.T) {
	r := burst()
	const second = 1000 * ms
	r.FleetLatencies = []storm.Latency{
		{Stage: storm.StageEvicted, Count: 4, Buckets: []storm.LatencyBucket{{To: 1000, Count: 4}}},
		{Stage: storm.StageHealthy, Count: 4, P50: 20 * second, Max: 20 * second, Buckets: []storm.LatencyBucket{{From: 20 * second, To: 25 * second, Count: 4}}}}
	require.Contains(t, stormPageOf(t, r).texts("h2"), "How long failovers take the fleet")
	d := byFleet(r.FleetLatencies)
	require.Equal(t, []string{"10s", "20s", "50s", "1m40s"}, labels(d.Axis), "what took no time does not stretch the scale")
	at := d.Strips[0].Columns[0]
	require.Equal(t, []float64{0, narrowest}, []float64{at.From, at.To}, "and can be seen")
	require.Nil(t, byFleet(r.FleetLatencies[:1]))
}

func TestPercentilesOfOneValueAreOneMark(t *testing.T) {
	marks := percentiles(&storm.Latency{Stage: storm.StagePlaced, Count: 4, P50: ms, P90: 20 * ms, P99: 20 * ms}, chart.Logarithmic(0.001, 0.1))
	require.Len(t, marks, 2)
	require.Equal(t, chart.Mark{Tick: chart.Tick{At: 65.05, Label: "99 % 20ms"}, Title: "99 % of failovers were placed within 20ms", Line: 1}, marks[1])
}

func TestALatencyOfNothingIsOnTheScale(t *testing.T) {
	d := distributed([]storm.Latency{{Stage: storm.StagePlaced, Count: 1, Buckets: []storm.LatencyBucket{{From: 0, To: 0, Count: 1}}}, {Stage: storm.StageHealthy}})
	require.Equal(t, "1µs", d.Axis[0].Label)
	require.Equal(t, []float64{1}, heights(d.Strips[0].Columns))
	require.Empty(t, d.Strips[1].Marks)
}

func TestStagesAddUpToAFailover(t *testing.T) {
	parts := stages(burst().Latencies)
	require.Equal(t, part{Name: "until evicted", Class: "c-evicted", X: 0, Wide: 25, Value: "25.0 %", Detail: "on average evicted after 5ms"}, parts[0])
	require.Equal(t, part{Name: "until released", Class: "c-released", X: 25, Wide: 75, Value: "75.0 %", Detail: "on average released after 20ms"}, parts[1])
	require.Equal(t, "12ms for 1.2k messages", machines(burst().Machines)[0].Detail)
	require.Equal(t, "8ms for 1 message", machines(burst().Machines)[1].Detail)
}

func TestTheFullestClusterComesFirst(t *testing.T) {
	strip := load(burst().Load).Strips[0]
	require.Equal(t, "20 replicas", strip.Top)
	require.Equal(t, []float64{0.85, 0.65}, heights(strip.Columns))
	require.Equal(t, "m3: 17 replicas, before 10", strip.Columns[0].Title)
	require.Equal(t, "m2 in eu: 13 replicas, before 10", strip.Columns[1].Title)
	require.Equal(t, "M0 50H500V50H1000", strip.Outline)
	require.Equal(t, balance{Clusters: 1, Before: 10}, balanced(burst().Load, true))
	require.Equal(t, balance{Clusters: 2, Before: 20, After: 30, Least: 13, Most: 17}, balanced(burst().Load, false))
	require.Empty(t, load(burst().Load[:1]).Strips, "nobody survived")
}

func TestManyClustersShareColumns(t *testing.T) {
	clusters := make([]storm.ClusterLoad, 5000)
	for i := range clusters {
		clusters[i] = storm.ClusterLoad{Cluster: fmt.Sprintf("m%d", i), Before: 1, After: 2}
	}
	columns := load(clusters).Strips[0].Columns
	require.Len(t, columns, 239)
	require.Equal(t, "m0 to m20, 21 clusters, each on average: 2 replicas, before 1", columns[0].Title)
}

func TestAStormsPagePassesOnWhatGoesWrong(t *testing.T) {
	require.ErrorIs(t, WriteStorm(full{}, burst()), errFull)
	require.ErrorContains(t, write(io.Discard, "storm", 1), "write the page of a storm")
}

func heights(columns []chart.Column) []float64 {
	values := make([]float64, len(columns))
	for i, c := range columns {
		values[i] = c.Value
	}
	return values
}

func labels(ticks []chart.Tick) []string {
	words := make([]string, len(ticks))
	for i, t := range ticks {
		words[i] = t.Label
	}
	return words
}
