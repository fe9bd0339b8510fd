package world

import (
	"leeward/actors/scheduler"
	"leeward/messages"
)

// ExplainPlacement is what the scheduler would decide now on a binding, and why; nil: it knows no such binding, or does not run.
// It changes nothing. It is for the goroutine of the world, on one lane: between instants, or from a Tamper.
func (w *World) ExplainPlacement(b messages.BindingName) *scheduler.Explanation {
	if w.down || w.scheduler == nil {
		return nil
	}
	return w.scheduler.Explain(w.now, b)
}
