package simulation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/config"
	"leeward/runtime/storm/simulation"
)

// Every setting is drawn, words and switches with each of their values and all others with several.
func TestEveryFieldIsDrawn(t *testing.T) {
	drawn := map[string]map[string]bool{}
	for seed := range uint64(6000) {
		for _, one := range simulation.Draw(seed).Config {
			for name, value := range one.(map[string]any) {
				if drawn[name] == nil {
					drawn[name] = map[string]bool{}
				}
				drawn[name][fmt.Sprint(value)] = true
			}
		}
	}
	for _, f := range config.Fields() {
		least := 2
		switch {
		case f.Name == "allowNoExecuteTaintPolicy": // without it, drawn policies are no valid scenario
			least = 1
		case len(f.Words) > 0:
			least = len(f.Words)
		}
		require.GreaterOrEqual(t, len(drawn[f.Name]), least, "%s: %v", f.Name, drawn[f.Name])
	}
}

// An invariant that holds under a profile is asked of it often enough.
func TestEveryProfileIsDrawn(t *testing.T) {
	const cases = 1000
	drawn := map[string]int{}
	for seed := range uint64(cases) {
		drawn[simulation.Draw(seed).Profile]++
	}
	require.GreaterOrEqual(t, drawn["leeward"], cases/3, "%v", drawn)
	require.GreaterOrEqual(t, drawn["karmada"], cases/4, "%v", drawn)
	require.GreaterOrEqual(t, drawn["karmada"]+drawn["karmada-legacy"], cases/3, "%v", drawn)
}
