package main

import (
	"os"
	"runtime/debug"
)

// garbagePercent is how much garbage there may be for what lives, in hundredths, once the machines have started: half of
// Go's own. A fleet is large and mostly lies still.
const garbagePercent = 50

// settle keeps the memory of a daemon small whose machines have started, unless GOGC says otherwise, and gives back what
// the start took and is done with: as much as what stays.
func settle() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	go debug.FreeOSMemory() // it takes as long as a collection
}
