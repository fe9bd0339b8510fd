//go:build unix

package storm

import (
	"runtime"
	"syscall"
	"time"
)

// usage is what the operating system says of this process; nothing, if it does not say.
func usage() (u syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u
}

// cpuTime is the time that the process has had of all CPUs, user and system.
func cpuTime() time.Duration {
	u := usage()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemory is the most memory that the process has had, in bytes. Linux counts in KiB, Darwin in bytes.
func peakMemory() uint64 {
	peak := uint64(usage().Maxrss)
	if runtime.GOOS == "darwin" {
		return peak
	}
	return peak << 10
}
