package storm

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// limits returns when garbage is collected at present.
func limits() (percent int, memory int64) {
	percent = debug.SetGCPercent(-1)
	debug.SetGCPercent(percent)
	return percent, debug.SetMemoryLimit(-1)
}

func TestGarbageIsCollectedRarelyUnlessTheEnvironmentSaysWhen(t *testing.T) {
	percent, memory := limits()
	for name, c := range map[string]struct {
		gogc, gomemlimit string
		percent          int
		memory           int64
	}{
		"by itself":              {"", "", garbagePercent, memoryLimit},
		"GOGC is kept":           {"100", "", percent, memoryLimit},
		"so does GOMEMLIMIT":     {"", "off", garbagePercent, memory},
		"and so do both of them": {"100", "off", percent, memory},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOGC", c.gogc)
			t.Setenv("GOMEMLIMIT", c.gomemlimit)
			back := CollectRarely(Memory{})
			gotPercent, gotMemory := limits()
			back()
			require.Equal(t, c.percent, gotPercent)
			require.Equal(t, c.memory, gotMemory)
			gotPercent, gotMemory = limits()
			require.Equal(t, percent, gotPercent)
			require.Equal(t, memory, gotMemory)
		})
	}
}
