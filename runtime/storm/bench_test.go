package storm

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkFailover is the figure of docs/performance.md: three in ten clusters fail in one instant, with permits for all. "x-floor"
// says how many times the CPU it took of a bare loop that applies the same rules to the same data, run in the same breath.
func BenchmarkFailover(b *testing.B) {
	for _, size := range []struct{ bindings, clusters int }{{10_000, 200}, {100_000, 200}, {10_000, 5_000}, {1_000_000, 5_000}} {
		for _, lanes := range []int{1, 2} {
			b.Run(fmt.Sprintf("%d/%d/lanes=%d", size.bindings, size.clusters, lanes), func(b *testing.B) {
				if testing.Short() && size.bindings > 10_000 {
					b.Skip("takes minutes")
				}
				benchmarkFailover(b, size.bindings, size.clusters, lanes)
			})
		}
	}
}

func benchmarkFailover(b *testing.B, bindings, clusters, lanes int) {
	var r *Report
	for b.Loop() {
		s, err := New(burst(b, bindings, clusters, lanes))
		require.NoError(b, err)
		r, err = s.Run(b.Context())
		require.NoError(b, err)
		s.Close()
		require.True(b, r.Passed(), "%+v", r.Checks)
	}
	reportFloors(b, bindings, clusters, time.Duration(r.Costs.CPUPerFailover))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(r.Costs.CPUPerFailover), "cpu-ns/failover")
	b.ReportMetric(r.Rates.Released.PerSecond, "failovers/s")
	b.ReportMetric(time.Duration(r.Latencies[0].P99).Seconds(), "s-p99-evicted")
	b.ReportMetric(r.Costs.MessagesPerFailover, "messages/failover")
	b.ReportMetric(r.Costs.BytesPerFailover, "B/failover")
	b.ReportMetric(r.Costs.BytesPerBinding, "B/binding")
}

// burst fails three in ten clusters in one instant.
func burst(b *testing.B, bindings, clusters, lanes int) Config {
	b.Helper()
	kill, err := ParseKill("30%")
	require.NoError(b, err)
	start := time.Now()
	return Config{
		Fleet: Fleet{
			Clusters: clusters, Bindings: bindings, Regions: 10, Seed: 1,
			Placements: Mix{{Kind: "dynamic", Weight: 1}}, Tolerations: Mix{{Kind: "none", Weight: 1}},
		},
		Kill: kill, Pattern: Burst, Seed: 1, Lanes: lanes,
		Clock: func() time.Duration { return time.Since(start) },
	}
}

// durableBurst is that of 200 clusters in the store of the daemon.
func durableBurst(b *testing.B, bindings int) Config {
	b.Helper()
	c := burst(b, bindings, 200, 2)
	c.Dir = b.TempDir()
	return c
}
