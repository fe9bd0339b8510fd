package assess

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

// BenchmarkAssess assesses all single contingencies of 100 clusters and 10 000 workloads. Shared is as it is done, from the
// state before any failure, which is computed once; scratch is what one contingency takes that is replayed from the manifests.
func BenchmarkAssess(b *testing.B) {
	workloads := 10_000
	if testing.Short() {
		workloads /= 10
	}
	c := Config{Fleet: read(b, large(100, workloads)), Seed: 1, Outage: messages.OutagePower, Startup: 30 * time.Second, Jobs: runtime.NumCPU()}
	b.Run("shared", func(b *testing.B) {
		for range b.N {
			a, err := Run(context.Background(), c)
			require.NoError(b, err)
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(len(a.Contingencies)), "s/contingency")
			b.ReportMetric(float64(len(a.Contingencies)), "contingencies")
		}
	})
	b.Run("scratch", func(b *testing.B) {
		for range b.N {
			f, _, err := settle(context.Background(), &c)
			require.NoError(b, err)
			all := contingencies(f.clusters, false)
			_, err = f.try(context.Background(), &all[0])
			require.NoError(b, err)
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/contingency")
		}
	})
}
