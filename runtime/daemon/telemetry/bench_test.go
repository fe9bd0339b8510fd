package telemetry

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// BenchmarkHear tells the facts of one failover.
func BenchmarkHear(b *testing.B) {
	f := newFixture(b)
	failover := []messages.Fact{
		&messages.EvictionStarted{Binding: "web", Cluster: "m1", Grounds: messages.Grounds{Taint: &failed}},
		&messages.Scheduled{Binding: "web", Trigger: "eviction"},
		&messages.CopyWanted{Binding: "web", Cluster: "m2"},
		&messages.HealthChanged{Binding: "web", Cluster: "m2", Health: api.Healthy},
		&messages.EvictionEnded{Binding: "web", Cluster: "m1", Reason: messages.EndedHealthy},
		&messages.CopyUnwanted{Binding: "web", Cluster: "m1"},
		&messages.HealthForgotten{Binding: "web", Cluster: "m1"},
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, fact := range failover {
			f.Hear(fact)
		}
	}
}

// BenchmarkScrape reads all metrics of a fleet.
func BenchmarkScrape(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("%d bindings", size), func(b *testing.B) {
			if testing.Short() && size > 10_000 {
				b.Skip("takes its time")
			}
			f := newFixture(b)
			all := []api.Object{cluster("m1", metav1.ConditionTrue)}
			for i := range size {
				o := leaving()
				o.Name = fmt.Sprintf("web-%d", i)
				o.Spec.Resource.Name = o.Name
				all = append(all, o)
			}
			f.write(all...)
			f.run()
			for b.Loop() {
				_, err := f.Gatherer().Gather()
				require.NoError(b, err)
			}
		})
	}
}
