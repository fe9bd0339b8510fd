package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// A run that would leave out nodes and pods is none.
func TestNodesAreRefusedWhileNoEngineRunsThem(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.yaml")
	require.NoError(t, os.WriteFile(file, []byte("\n{apiVersion: leeward.dev/v1alpha1, kind: Scenario, metadata: {name: s}, spec: {nodes: [{name: n1}]}}\n"), 0o600))
	scenarios, problems := scenario.Load(file)
	require.Empty(t, problems)
	_, err := replay.Play(scenarios[0], replay.Options{Seed: 1})
	var invalid *world.Invalid
	require.ErrorAs(t, err, &invalid)
	require.EqualError(t, err, file+":2: a scenario with nodes cannot be replayed yet")
}
