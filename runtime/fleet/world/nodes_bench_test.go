package world_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
)

// BenchmarkZoneLost loses a third of 5,000 nodes, and with it of 150,000 pods, until every pod runs elsewhere.
func BenchmarkZoneLost(b *testing.B) {
	for _, size := range []struct{ nodes, pods int }{{500, 15_000}, {5_000, 150_000}} {
		b.Run(fmt.Sprintf("nodes=%d/pods=%d", size.nodes, size.pods), func(b *testing.B) {
			if testing.Short() && size.nodes > 500 {
				b.Skip("takes a quarter of a minute")
			}
			for b.Loop() {
				loseZone(b, size.nodes, size.pods)
			}
			b.ReportMetric(float64(size.pods/3)/(b.Elapsed().Seconds()/float64(b.N)), "evictions/s")
		})
	}
}

func loseZone(b *testing.B, nodes, pods int) {
	settings, err := config.Profile("leeward")
	require.NoError(b, err)
	settings.NodeEvictionRate = 1000
	w := world.New(world.Config{Settings: settings, Seed: 1, Nodes: true})
	defer w.Close()
	for i := range nodes {
		n := nodeOf(i)
		n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110")
		require.NoError(b, w.Nodes().Settle(n))
	}
	const each = 100
	for i := range pods / each {
		require.NoError(b, w.Apply(webDeployment(fmt.Sprint("web-", i), each)))
	}
	until(b, w, 10)
	require.Len(b, secondsOf(w, every[*messages.PodBound]), pods)
	for i := range (nodes + 2) / 3 {
		require.NoError(b, w.Nodes().Stop(messages.NodeName(fmt.Sprintf("n%d", 3*i+1))))
	}
	until(b, w, 600)
	require.InDelta(b, pods*4/3, len(secondsOf(w, every[*messages.PodBound])), float64(pods)/50)
}
