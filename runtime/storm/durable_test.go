package storm_test

import (
	"context"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"leeward/runtime/storm"
)

func durable(t *testing.T, changes ...func(*storm.Config)) storm.Config {
	wall := clock.New()
	started := wall.Now()
	c := small(t, changes...)
	c.Dir, c.Clock = t.TempDir(), func() time.Duration { return wall.Since(started) }
	return c
}

func TestADurableStormLosesNothing(t *testing.T) {
	r := run(t, durable(t, func(c *storm.Config) { c.Lanes = 2 }))
	require.True(t, r.Passed(), r.Checks)
	require.Len(t, r.Checks, 5)
	require.Equal(t, 300, r.Fleet.Bindings)
	require.Positive(t, r.Rates.Evicted.Count)
	require.Equal(t, r.Rates.Evicted.Count, r.Rates.Released.Count)
	require.Equal(t, r.Rates.Evicted.Count, r.Rates.Healthy.Count)
	for _, c := range r.Load {
		require.Equal(t, c.Failed, c.After == 0, c.Cluster)
	}
}

func TestADurableStormTakesTheStartUpOfCopies(t *testing.T) {
	r := run(t, durable(t, func(c *storm.Config) { c.Fleet.Startup = 30 * time.Millisecond }))
	require.True(t, r.Passed(), r.Checks)
	healthy := r.Latencies[2]
	require.Equal(t, storm.StageHealthy, healthy.Stage)
	require.GreaterOrEqual(t, time.Duration(healthy.Min), 30*time.Millisecond)
}

func TestADurableStormTakesManifests(t *testing.T) {
	r := run(t, durable(t, func(c *storm.Config) { c.Manifests, c.Kill, c.Seed = fleetOf(t, ownFleet), kill(t, "1"), 2 }))
	require.True(t, r.Passed(), r.Checks)
}

func TestAnInterruptedDurableStormEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := storm.New(durable(t))
	require.NoError(t, err)
	defer s.Close()
	r, err := s.Run(ctx)
	require.NoError(t, err)
	require.True(t, r.Interrupted)
}
