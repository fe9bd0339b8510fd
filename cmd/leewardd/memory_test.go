package main

import (
	"os"
	"path/filepath"
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

// untuned has a test leave the limits as it found them, with an environment that says nothing of them.
func untuned(t *testing.T) {
	t.Helper()
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	percent, memory := limits()
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(memory) })
}

// folderOf is a folder with one file of some size, which takes no disk space.
func folderOf(t *testing.T, size int64) string {
	t.Helper()
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "1.log"))
	require.NoError(t, err)
	require.NoError(t, file.Truncate(size))
	require.NoError(t, file.Close())
	return dir
}

func TestALargeStartCollectsNoGarbageUntilItHasStarted(t *testing.T) {
	untuned(t)
	_, unlimited := limits()
	m := hurry(folderOf(t, hurryFrom), true)
	percent, limit := limits()
	require.Equal(t, -1, percent)
	require.EqualValues(t, hurryFrom, limit)
	m.opened(0)
	_, limit = limits()
	require.NotEqual(t, unlimited, limit)
	m.settle()
	percent, limit = limits()
	require.Equal(t, m.percentFor(livingBytes()), percent)
	require.Equal(t, unlimited, limit)
}

// TestAStartHasMemoryForEachObject opens a store that is small for what machines make of it: nothing in it has changed lately.
func TestAStartHasMemoryForEachObject(t *testing.T) {
	untuned(t)
	m := hurry(folderOf(t, hurryFrom), true)
	const objects = 400_000
	m.opened(objects)
	_, limit := limits()
	require.GreaterOrEqual(t, limit, int64(objects*objectTakes))
}

func TestASmallStartAndOneThatIsToldDoNotHurry(t *testing.T) {
	for name, c := range map[string]struct {
		size int64
		gogc string
	}{
		"an empty folder":         {0, ""},
		"a small store":           {hurryFrom - 1, ""},
		"the environment says it": {hurryFrom, "70"},
	} {
		t.Run(name, func(t *testing.T) {
			untuned(t)
			percent, limit := limits()
			t.Setenv("GOGC", c.gogc)
			m := hurry(folderOf(t, c.size), true)
			m.opened(0)
			gotPercent, gotLimit := limits()
			require.Equal(t, percent, gotPercent)
			require.Equal(t, limit, gotLimit)
			if m.settle(); c.gogc != "" {
				m.look()
				gotPercent, _ = limits()
				require.Equal(t, percent, gotPercent)
			}
		})
	}
}

func TestALargeFleetHasLessGarbage(t *testing.T) {
	untuned(t)
	m := hurry("", true)
	require.Equal(t, ownPercent, m.percentFor(largeHeap-1))
	require.Equal(t, garbagePercent, m.percentFor(largeHeap))
	m.settle()
	m.percent = 1 // as if much had lived until now
	m.look()
	percent, _ := limits()
	require.Equal(t, m.percentFor(livingBytes()), percent)
}
