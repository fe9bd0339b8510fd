package world

import (
	"time"

	"leeward/actors/scheduler"
	"leeward/messages"
)

// ExplainPlacement is what the scheduler would decide now on a binding, and why; nil: it knows no such binding, or does not run.
// It changes nothing. It is for the goroutine of the world, on one lane: between instants, or from a listener of AttendPlacements.
func (w *World) ExplainPlacement(b messages.BindingName) *scheduler.Explanation {
	if w.down || w.scheduler == nil {
		return nil
	}
	return w.scheduler.Explain(w.now, b)
}

// AttendPlacements has a listener hear of each binding immediately before the scheduler decides on it, so that ExplainPlacement is of
// what that decision rests on.
func (w *World) AttendPlacements(listener func(at time.Time, b messages.BindingName)) {
	w.attended = listener
	w.scheduler.Attend(listener)
}
