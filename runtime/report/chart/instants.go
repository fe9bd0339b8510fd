package chart

import (
	"slices"
	"time"
)

// Instants is an axis of time on which every instant at which something happens has some width, and what is
// left goes by the clock: seconds of a handover can be told apart behind hours of quiet.
type Instants struct {
	// instants are in order, each once, from the beginning to the end.
	instants []time.Duration
}

// byClock is the part of the width that is to scale.
const byClock = 0.5

// NewInstants returns the axis from zero to the last of the instants.
func NewInstants(instants []time.Duration) Instants {
	sorted := slices.Sorted(slices.Values(append(instants, 0)))
	return Instants{slices.Compact(sorted)}
}

// At returns where an instant lies, 0 to 1. One between two instants lies between them.
func (a Instants) At(t time.Duration) float64 {
	last := len(a.instants) - 1
	if last == 0 {
		return 0
	}
	i, found := slices.BinarySearch(a.instants, t)
	passed := float64(i)
	switch {
	case i > last:
		return 1
	case !found && i > 0:
		before := a.instants[i-1]
		passed += float64(t-before)/float64(a.instants[i]-before) - 1
	}
	return byClock*float64(t)/float64(a.instants[last]) + (1-byClock)*passed/float64(last)
}

// Ticks returns instants at least a share of the width apart, the first one among them.
func (a Instants) Ticks(apart float64) []time.Duration {
	var ticks []time.Duration
	at := -1.0
	for _, t := range a.instants {
		if x := a.At(t); x >= at+apart {
			ticks, at = append(ticks, t), x
		}
	}
	return ticks
}
