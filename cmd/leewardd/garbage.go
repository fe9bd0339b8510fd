package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
)

const (
	// garbagePercent is how much garbage there may be for what lives, in hundredths, once the machines have started: half
	// of Go's own. A fleet is large and mostly lies still.
	garbagePercent = 50
	// hurryFrom is how large a store is at least to be worth a hurry.
	hurryFrom = 128 << 20
	// machinesTimes is how much memory a start may take for each byte that reading the store took. What lives in the end
	// is half of that, or a little more.
	machinesTimes = 2.5
)

// hurry has the start on a large folder fill memory before garbage is collected, unless the environment says when that
// is to be: to look for it on the way takes a sixth of the time. While the store is read there may be as much as it has
// in files; opened says that it was.
func hurry(dir string) (opened func()) {
	size := filesIn(dir)
	if size < hurryFrom || tuned() {
		return func() {}
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(size)
	return func() {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		debug.SetMemoryLimit(int64(machinesTimes * float64(now.HeapAlloc)))
	}
}

// settle keeps the memory of a daemon small whose machines have started, unless the environment says otherwise, and gives
// back what the start took and is done with: as much as what stays.
func settle() {
	if !tuned() {
		debug.SetGCPercent(garbagePercent)
		debug.SetMemoryLimit(math.MaxInt64)
	}
	go debug.FreeOSMemory() // it takes as long as a collection
}

// tuned reports whether somebody has said when to collect garbage.
func tuned() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// filesIn is how many bytes the files of a folder have, if there is one; what cannot be read is for others to tell.
func filesIn(dir string) (size int64) {
	if dir == "" {
		return 0
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return size
}
