package main

import (
	"os"
	"runtime/debug"
)

// garbagePercent is how much garbage there may be for what lives, in hundredths: half of Go's own. A fleet is large and
// mostly lies still, and a collection of it takes half a second of one core.
const garbagePercent = 50

// collectOften keeps the memory of the daemon small, unless GOGC says otherwise.
func collectOften() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}

// returnMemory gives back what a start took and is done with, which is as much as what stays.
func returnMemory() { go debug.FreeOSMemory() }
