package placement_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/placement"
	"leeward/messages"
)

// BenchmarkExplained measures a decision that fails, with the reason of every cluster that did not fit.
// "x-plain" is how much longer the quickest takes than that of one on the same clusters that succeeds and gives no
// reasons, run in the same breath.
func BenchmarkExplained(b *testing.B) {
	for _, name := range []string{"dynamic weight spread 3", "Aggregated over 2 regions", "dynamic weight everywhere"} {
		for _, clusters := range []int{100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", name, clusters), func(b *testing.B) {
				fleet := fleetOf(tenthTainted(clusters)...)
				planner := placement.NewPlanner(fleet, &messages.Settings{}, 0)
				plain, explained := benchmarked(name), benchmarked(name)
				explained.Replicas = 1 << 30
				require.Empty(b, planner.Plan(noon, plain).Rejections)
				require.NotEmpty(b, planner.Plan(noon, explained).Rejections)
				quick, slow := time.Hour, time.Hour
				for b.Loop() {
					start := time.Now()
					planner.Plan(noon, plain)
					between := time.Now()
					planner.Plan(noon, explained)
					quick, slow = min(quick, between.Sub(start)), min(slow, time.Since(between))
				}
				b.ReportMetric(float64(slow)/float64(quick), "x-plain")
			})
		}
	}
}
