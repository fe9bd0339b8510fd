package main

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// garbagePercent is how much garbage there may be for what lives, in hundredths, once the machines have started: half
	// of Go's own. A fleet is large and mostly lies still.
	garbagePercent = 50
	// startTimes is how many times what the store holds there may be while the machines start. They, and what they begin
	// with, come to twice as much: to look for garbage on the way would take as long as one part in six of the start.
	startTimes = 4
	// startFrom is what a store holds at least for that to be worth it.
	startFrom = 128 << 20
)

// hurry has a large start fill the memory that it will need anyway before garbage is collected, unless the environment
// says when that is to be.
func hurry() {
	if held := heldNow(); held >= startFrom && !tuned() {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(startTimes * held)
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

// heldNow is how many bytes lived when garbage was last collected.
func heldNow() int64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return int64(live[0].Value.Uint64())
}
