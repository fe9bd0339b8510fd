package telemetry

import (
	"time"

	"leeward/messages"
	"leeward/runtime/fleet/failover"
)

// The stages of a failover.
const (
	stageEvicted  = "evicted"
	stagePlaced   = "placed"
	stageHealthy  = "healthy"
	stageReleased = "released"
)

// time times the stages of failovers, so far as these began since the daemon did.
func (c *facts) time(at time.Time, s failover.Step, f *failover.Failover) {
	took := func(stage string, since time.Time) { c.stages.WithLabelValues(stage).Observe(at.Sub(since).Seconds()) }
	switch s {
	case failover.Evicted:
		if t := f.Cause.Taint; t != nil && t.TimeAdded != nil {
			took(stageEvicted, t.TimeAdded.Time)
		}
		if due := f.Cause.Deadline; !due.IsZero() {
			c.lateness.Observe(max(0, at.Sub(due)).Seconds())
		}
	case failover.Placed:
		took(stagePlaced, f.Evicted)
	case failover.Released:
		if f.Reason == messages.EndedHealthy {
			took(stageHealthy, f.Evicted)
		}
	case failover.Removed:
		took(stageReleased, f.Released)
	}
}
