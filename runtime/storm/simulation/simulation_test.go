package simulation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/runtime/storm/simulation"
)

// seeds are tried at every test; .ci/run tries others each time.
const seeds = 300

func TestEveryInvariantHoldsForEverySeed(t *testing.T) {
	for seed := range actorstest.Cases(seeds) {
		f := simulation.Try(simulation.Draw(seed))
		require.Nil(t, f, "seed %d: repeat with leeward storm --simulate --seed %d --seeds 1", seed, seed)
	}
}

func TestEveryInvariantOfNodesHoldsForEverySeed(t *testing.T) {
	for seed := range actorstest.Cases(seeds) {
		f := simulation.Try(simulation.DrawNodes(seed))
		require.Nil(t, f, "seed %d: repeat with leeward storm --simulate --seed %d --seeds 1", seed, seed)
	}
}

func TestASeedIsOneCase(t *testing.T) {
	for seed := range uint64(50) {
		require.Equal(t, string(simulation.DrawNodes(seed).YAML("x")), string(simulation.DrawNodes(seed).YAML("x")))
		require.Equal(t, string(simulation.Draw(seed).YAML("x")), string(simulation.Draw(seed).YAML("x")))
	}
	require.NotEqual(t, string(simulation.Draw(1).YAML("x")), string(simulation.Draw(2).YAML("x")))
}

// An invariant that a certain setting and a certain cluster break together.
func TestShrinkLeavesWhatBreaksTheInvariant(t *testing.T) {
	const name = "no cluster has an outage"
	silent := func(c *simulation.Case) *simulation.Finding {
		if _, err := c.Scenario(); err != nil {
			return &simulation.Finding{Invariant: simulation.Valid}
		}
		if strings.Contains(string(c.YAML("x")), "outage:") {
			return &simulation.Finding{Invariant: name}
		}
		return nil
	}
	shrunk := 0
	for seed := range uint64(6) {
		if silent(simulation.Draw(seed)) == nil {
			continue
		}
		small := simulation.Shrink(simulation.Draw(seed), name, silent)
		require.Equal(t, name, silent(small).Invariant)
		require.Len(t, small.Timeline, 1, "seed %d", seed)
		require.Len(t, small.Fleet, 1)
		require.Empty(t, small.Manifests)
		require.Empty(t, small.Config)
		shrunk++
	}
	require.Positive(t, shrunk)
}

func TestWhatIsNoScenarioIsSaid(t *testing.T) {
	c := simulation.Draw(1)
	c.Fleet = nil
	c.Profile = "none"
	found := simulation.Try(c)
	require.Equal(t, simulation.Valid, found.Invariant)
	require.Regexp(t, `seed-1.yaml:\d+: .*spec.profile`, found.Detail, "the line of what people get to read")
}
