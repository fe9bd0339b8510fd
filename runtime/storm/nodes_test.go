package storm_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/config"
	"leeward/runtime/storm"
)

// ofNodes runs a storm that breaks upon 60 nodes in three zones, with 600 pods.
func ofNodes(t *testing.T, change func(*storm.Config)) *storm.Report {
	t.Helper()
	var ticks time.Duration
	c := storm.Config{
		Nodes: storm.Nodes{Nodes: 60, Pods: 600, Zones: 3}, Kill: kill(t, "zone=a"), Pattern: storm.Burst, Seed: 1,
		Clock: func() time.Duration { ticks += time.Microsecond; return ticks },
	}
	change(&c)
	s, err := storm.NewOfNodes(c)
	require.NoError(t, err)
	defer s.Close()
	r, err := s.Run(t.Context())
	require.NoError(t, err)
	return r
}

func TestAZoneThatFailsIsReplacedByTheOthers(t *testing.T) {
	r := ofNodes(t, func(*storm.Config) {})
	require.True(t, r.Passed(), "%+v", r.Checks)
	require.Equal(t, storm.Shape{Nodes: 60, Zones: 3, Pods: 600, Deployments: 6}, r.Fleet)
	require.Equal(t, storm.Outage{Pattern: storm.Burst, Kill: "zone=a", Failed: 20}, r.Outage)
	lost := r.Load[0].Before
	require.InDelta(t, 200, lost, 20)
	require.Equal(t, []storm.ClusterLoad{{Cluster: "a", Failed: true, Before: lost}}, r.Load[:1])
	require.Equal(t, 600, r.Load[1].After+r.Load[2].After)
	require.Equal(t, []int{lost, lost, lost, 0}, []int{r.Rates.Evicted.Count, r.Rates.Placed.Count, r.Rates.Healthy.Count, r.Rates.Released.Count})
	require.Len(t, r.Latencies, 3, "no kubelet ends the old pods")
	require.Equal(t, storm.StageHealthy, r.FleetLatencies[2].Stage)
	require.InDelta(t, 0.2, time.Duration(r.FleetLatencies[2].Max).Seconds(), 0.001, "the other pods start within 0.2 s of the deadline")
	require.Zero(t, r.Series.Points[len(r.Series.Points)-1].Backlog)
	require.NotNil(t, r.Measured)
	require.Less(t, r.Measured.PerSecond, r.Rates.Evicted.PerSecond)
}

// Pods that tolerate a failure for ever remain, and others for as long as they do.
func TestAStormOfNodesKeepsTolerations(t *testing.T) {
	forever := ofNodes(t, func(c *storm.Config) { c.Nodes.Tolerations = mix(t, "forever", storm.IsToleration) })
	require.True(t, forever.Passed(), "%+v", forever.Checks)
	require.Zero(t, forever.Rates.Evicted.Count)
	none := ofNodes(t, func(c *storm.Config) { c.Nodes.Tolerations = mix(t, "none", storm.IsToleration) })
	minute := ofNodes(t, func(c *storm.Config) { c.Nodes.Tolerations = mix(t, "1m", storm.IsToleration) })
	require.Equal(t, none.FleetTime+storm.Seconds(time.Minute), minute.FleetTime)
	mixed := ofNodes(t, func(c *storm.Config) { c.Nodes.Tolerations = mix(t, "forever,none", storm.IsToleration) })
	require.Positive(t, mixed.Rates.Evicted.Count)
	require.Less(t, mixed.Rates.Evicted.Count, none.Rates.Evicted.Count)
}

// In Kubernetes at its own pace a zone loses one node each ten seconds, and the client's limits delay evictions.
func TestAPacedStormOfNodesTakesAsLongAsInKubernetes(t *testing.T) {
	paced := ofNodes(t, func(c *storm.Config) { c.Profile, c.Paced = "kubernetes", true })
	require.True(t, paced.Passed(), "%+v", paced.Checks)
	require.InDelta(t, (50*time.Second + 19*10*time.Second + 300*time.Second).Seconds(), time.Duration(paced.FleetTime).Seconds(), 15)
	free := ofNodes(t, func(c *storm.Config) { c.Profile = "kubernetes" })
	require.Less(t, free.FleetTime, paced.FleetTime-storm.Seconds(3*time.Minute))
}

func TestNodesThatFlapEndTheirOldPods(t *testing.T) {
	r := ofNodes(t, func(c *storm.Config) {
		c.Pattern, c.Nodes.Tolerations = storm.Flapping, mix(t, "none", storm.IsToleration)
	})
	require.True(t, r.Passed(), "%+v", r.Checks)
	require.Positive(t, r.Rates.Released.Count)
	require.Equal(t, r.Rates.Evicted.Count, r.Rates.Released.Count)
	cascade := ofNodes(t, func(c *storm.Config) { c.Pattern = storm.Cascade })
	require.InDelta(t, (9 * time.Minute).Seconds(), time.Duration(cascade.FleetTime-ofNodes(t, func(*storm.Config) {}).FleetTime).Seconds(), 10, "ten waves, a minute apart, and Leases at instants of their own")
}

func TestTheSameStormOfNodesTakesTheSameTime(t *testing.T) {
	one := ofNodes(t, func(c *storm.Config) { c.Kill = kill(t, "30%") })
	again := ofNodes(t, func(c *storm.Config) { c.Kill = kill(t, "30%") })
	require.Equal(t, one.FleetLatencies, again.FleetLatencies)
	require.Equal(t, one.Load, again.Load)
	other := ofNodes(t, func(c *storm.Config) { c.Kill, c.Seed = kill(t, "30%"), 2 })
	require.NotEqual(t, one.Load, other.Load)
}

func TestAStormOfNodesThatHasNoPlaceForPodsSaysSo(t *testing.T) {
	r := ofNodes(t, func(c *storm.Config) { c.Nodes, c.Kill = storm.Nodes{Nodes: 3, Pods: 300, Zones: 3}, kill(t, "1") })
	require.False(t, r.Passed())
	require.Contains(t, r.Checks[0].Detail, "not so for 80: ")
}

func TestAStormOfNodesIsInterrupted(t *testing.T) {
	s, err := storm.NewOfNodes(storm.Config{
		Nodes: storm.Nodes{Nodes: 60, Pods: 600, Zones: 3}, Kill: kill(t, "zone=a"), Pattern: storm.Burst, Clock: func() time.Duration { return 0 },
	})
	require.NoError(t, err)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := s.Run(ctx)
	require.NoError(t, err)
	require.True(t, r.Interrupted)
	require.Empty(t, r.Checks)
}

func TestAStormOfNodesThatCannotBeIsRefused(t *testing.T) {
	for problem, c := range map[string]storm.Config{
		"--nodes 0: want 1 to 10000":        {Nodes: storm.Nodes{Pods: 1, Zones: 1}},
		"--pods 500001: want 1 to 500000":   {Nodes: storm.Nodes{Nodes: 10_000, Pods: 500_001, Zones: 1}},
		"--pods 111: 1 nodes take 110 pods": {Nodes: storm.Nodes{Nodes: 1, Pods: 111, Zones: 1}},
		"--zones 2: want 1 to 1":            {Nodes: storm.Nodes{Nodes: 1, Pods: 1, Zones: 2}},
		"unknown profile":                   {Nodes: storm.Nodes{Nodes: 1, Pods: 1, Zones: 1}, Profile: "kubernets"},
		"did you mean nodeEvictionRate":     {Nodes: storm.Nodes{Nodes: 1, Pods: 1, Zones: 1}, Set: []config.Override{{Field: "nodeEvictionRat", Value: 1}}},
		"the storm needs about 1500 MiB":    {Nodes: storm.Nodes{Nodes: 5000, Pods: 150_000, Zones: 3}, Memory: storm.Memory{Bytes: 1 << 30, Source: "a test"}},
	} {
		_, err := storm.NewOfNodes(c)
		var invalid *storm.Invalid
		require.ErrorAs(t, err, &invalid, problem)
		require.ErrorContains(t, err, problem)
	}
}
