package storm

import (
	"os"
	"runtime/debug"
)

const (
	// garbagePercent lets a storm leave four times as much garbage as lives before it is collected, unless GOGC says
	// otherwise: every cycle walks through the whole fleet, which only grows, and takes a tenth of a storm's CPU time.
	garbagePercent = 400
	// memoryLimit bounds that for large fleets, unless GOMEMLIMIT does.
	memoryLimit = 7 << 30
)

// collectRarely sets when garbage is collected, and returns what sets it back.
func collectRarely() (back func()) {
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	debug.SetGCPercent(percent)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
