package storm

import (
	"os"
	"runtime/debug"
)

const (
	// garbagePercent lets a storm, or a replay, leave four times as much garbage as lives before it is collected, unless GOGC says
	// otherwise: every cycle walks through the whole fleet, which only grows, and takes a tenth of a storm's CPU time.
	garbagePercent = 400
	// memoryLimit bounds that for large fleets, unless GOMEMLIMIT does.
	memoryLimit = 7 << 30
	// A workload takes so many bytes at most, with its garbage: of the machines alone, and with a store.
	bytesAlone, bytesDurable = 8 << 10, 32 << 10
)

// reserve asks for memory by large pages for a fleet. Half of a storm's time is waiting for memory.
func (c *Config) reserve() {
	perWorkload := int64(bytesAlone)
	if c.Dir != "" {
		perWorkload = bytesDurable
	}
	c.HugePages.Reserve(int64(c.workloads()) * perWorkload)
}

// CollectRarely sets when garbage is collected where a whole fleet lives until the end, and returns what sets it back.
func CollectRarely(there Memory) (back func()) {
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	debug.SetGCPercent(percent)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(there.softLimit())
	}
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
