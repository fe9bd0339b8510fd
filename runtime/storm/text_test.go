package storm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/storm"
)

func milliseconds(n float64) storm.Seconds { return storm.Seconds(n * float64(time.Millisecond)) }

// example is a report with a value of every kind.
func example() *storm.Report {
	latency := func(stage string, p50 float64, share float64) storm.Latency {
		return storm.Latency{
			Stage: stage, Count: 6000, Min: milliseconds(1), Mean: milliseconds(p50), P50: milliseconds(p50),
			P90: milliseconds(2 * p50), P99: milliseconds(3 * p50), P999: milliseconds(4 * p50), Max: milliseconds(5 * p50), Share: share,
		}
	}
	rate := storm.Rate{Count: 6000, PerSecond: 81_234.5, Peak: 100_000}
	return &storm.Report{
		Fleet:   storm.Shape{Clusters: 100, Regions: 10, Bindings: 10_000, Replicas: 30_000},
		Outage:  storm.Outage{Pattern: storm.Burst, Kill: "30%", Failed: 30},
		Profile: "leeward", Seed: 1, Lanes: 2, Setup: milliseconds(310), Elapsed: milliseconds(74),
		Rates: storm.Rates{Evicted: rate, Placed: rate, Healthy: rate, Released: rate},
		Latencies: []storm.Latency{
			latency(storm.StageEvicted, 10, 0.5), latency(storm.StagePlaced, 12, 0.1),
			latency(storm.StageHealthy, 15, 0.15), latency(storm.StageReleased, 20, 0.25),
		},
		FleetLatencies: []storm.Latency{{Stage: storm.StageEvicted, P50: milliseconds(0)}},
		Machines:       []storm.MachineTime{{Kind: "binding", Messages: 42_000, Time: milliseconds(50), Share: 0.6}},
		Costs: storm.Costs{
			CPUPerFailover: storm.Seconds(11_200), MessagesPerFailover: 13.1, BytesPerFailover: 4915, ObjectsPerFailover: 47.2,
			BytesPerBinding: 3500, PeakMemory: 120 << 20, GCShare: 0.123, GCs: 3,
		},
		Checks: []storm.Check{{Name: "all is there", Passed: true}, {Name: "nothing is late", Detail: "not so for 1: a"}},
	}
}

func written(t *testing.T, r *storm.Report) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, storm.Write(&b, r))
	return b.String()
}

func TestAReportIsText(t *testing.T) {
	require.Equal(t, strings.TrimPrefix(`
storm: burst, 30 failed of 100 clusters in 10 regions
10,000 workloads, 30,000 replicas; profile leeward, seed 1, lanes 2
built and placed in 310ms; the storm took 74ms, and the fleet 0s

  rates               count  per second  busiest 100ms, per second
  evicted             6,000      81,235                    100,000
  placed              6,000      81,235                    100,000
  healthy             6,000      81,235                    100,000
  released            6,000      81,235                    100,000

  latency              p50   p90   p99  p99.9    max  share
  evicted             10ms  20ms  30ms   40ms   50ms  50.0%
  placed              12ms  24ms  36ms   48ms   60ms  10.0%
  healthy             15ms  30ms  45ms   60ms   75ms  15.0%
  released            20ms  40ms  60ms   80ms  100ms  25.0%

  machines            messages  time  share
  binding               42,000  50ms  60.0%

one failover: 11.2µs of CPU, 13.1 messages, 4.8 KiB in 47.2 objects
memory: 3.4 KiB a workload, 120 MiB at most; 12.3% of the CPU time for 3 garbage collections

ok    all is there
LOST  nothing is late: not so for 1: a
`, "\n"), written(t, example()))
}

func TestAReportSaysWhatIsOutOfTheOrdinary(t *testing.T) {
	r := example()
	r.Fleet.Files = []string{"a.yaml", "b.yaml"}
	r.Interrupted, r.Checks = true, nil
	r.Rates.Held, r.Rates.Withdrawn = 7, 1234
	r.FleetLatencies[0].Max = storm.Seconds(time.Minute)
	text := written(t, r)
	for _, want := range []string{
		"in 10 regions of a.yaml, b.yaml\n", "INTERRUPTED", "nothing was checked", "by the fleet's time",
	} {
		require.Contains(t, text, want)
	}
	require.Regexp(t, `withdrawn +1,234`, text)
	require.Regexp(t, `held +7`, text)
}

func TestTwoReportsSideBySide(t *testing.T) {
	faster, other := example(), example()
	faster.Elapsed /= 2
	other.Costs.GCShare = 0
	other.Latencies = nil
	var b strings.Builder
	require.NoError(t, storm.Compare(&b, faster, other))
	require.Regexp(t, `(?m)^ +this +other +this/other$`, b.String())
	require.Regexp(t, `(?m)^ +took +37ms +74ms +0\.50$`, b.String())
	require.Regexp(t, `(?m)^ +GC share of CPU +12\.3% +0\.0% +-$`, b.String())
	require.Regexp(t, `(?m)^ +evicted p50 +10ms +- +-$`, b.String())
}

func TestProgressIsALine(t *testing.T) {
	placing := storm.Progress{Workloads: 1000, Placed: 500, Backlog: 12_345}
	require.Equal(t, "[##########----------] placing 500 workloads (2,000/s), 12,345 messages wait",
		placing.Line(storm.Progress{Placed: 100}, 200*time.Millisecond))
	storming := storm.Progress{Struck: true, Evicted: 4000, Placed: 3000, Healthy: 2000, Released: 1000}
	require.Equal(t, "[#####---------------] evicted 4,000 (20,000/s), released 1,000 (5,000/s): to place 1,000, to start 1,000, to release 1,000; 0 messages wait",
		storming.Line(storm.Progress{}, 200*time.Millisecond))
	require.Contains(t, storm.Progress{}.Line(placing, time.Second), "[--------------------] placing 0 workloads (0/s)")
}
