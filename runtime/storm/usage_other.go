//go:build !unix

package storm

import (
	"runtime"
	"time"
)

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }

// peakMemory is what the Go runtime has asked the operating system for.
func peakMemory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
