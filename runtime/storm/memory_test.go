package storm

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/manifest"
	"leeward/runtime/scenario"
)

func TestAStormThatCannotFitIsRefusedBeforeItBegins(t *testing.T) {
	const gib = 1 << 30
	for name, c := range map[string]struct {
		config Config
		says   string
		fits   int
	}{
		"alone":     {Config{Fleet: Fleet{Clusters: 100, Bindings: 2_000_000}}, "the storm needs about 12 GiB of memory, and 8192 MiB are available (a test)", 1_386_000},
		"durable":   {Config{Fleet: Fleet{Clusters: 100, Bindings: 1_000_000}, Dir: "folder"}, "the storm needs about 26 GiB of memory, and 8192 MiB are available (a test)", 305_000},
		"manifests": {Config{Manifests: &scenario.Scenario{Objects: make([]manifest.Document, 2_000_000)}}, "the storm needs about 12 GiB of memory, and 8192 MiB are available (a test)", 1_387_000},
		"clusters":  {Config{Fleet: Fleet{Clusters: 1_000_000, Bindings: 1}}, "the storm needs about 15 GiB of memory, and 8192 MiB are available (a test)", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Memory = Memory{8 * gib, "a test"}
			var large *TooLarge
			require.ErrorAs(t, c.config.fits(), &large)
			require.EqualError(t, large, c.says)
			require.InDelta(t, c.fits, large.Bindings, 1000)
			if large.Bindings > 0 && c.config.Manifests == nil {
				c.config.Fleet.Bindings = large.Bindings
				require.NoError(t, c.config.fits(), "what is advised fits")
			}
			c.config.Memory = Memory{}
			require.NoError(t, c.config.fits(), "without a limit")
		})
	}
}

func TestGarbageIsCollectedBeforeItFillsTheMemoryThereIs(t *testing.T) {
	for there, limit := range map[int64]int64{0: memoryLimit, 100 << 30: memoryLimit, 1000: 900} {
		require.Equal(t, limit, Memory{Bytes: there}.softLimit(), there)
	}
}

func TestTheLeastOfTheLimitsIsTheMemoryThereIs(t *testing.T) {
	there := MemoryThere()
	if there.Bytes > 0 {
		require.NotEmpty(t, there.Source)
	}
	before := debug.SetMemoryLimit(64 << 20)
	defer debug.SetMemoryLimit(before)
	require.Equal(t, Memory{64 << 20, "GOMEMLIMIT"}, MemoryThere())
}
