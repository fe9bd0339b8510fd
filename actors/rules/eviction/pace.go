package eviction

import (
	"time"

	"leeward/messages/api"
)

// Remembered is how many departures a binding's history keeps of each reason.
const Remembered = 16

// Remember returns the history with a new departure; beyond Remembered, the oldest of its reason goes.
func Remember(history []api.FailoverRecord, r api.FailoverRecord) []api.FailoverRecord {
	alike := 1
	for i := range history {
		if history[i].Reason == r.Reason {
			alike++
		}
	}
	next := make([]api.FailoverRecord, 0, len(history)+1)
	for i := range history {
		if alike > Remembered && history[i].Reason == r.Reason {
			alike--
			continue
		}
		next = append(next, history[i])
	}
	return append(next, r)
}

// NextFailover returns when one more failover may start without there being more than limit within a window:
// once the limit-th last of those that started, given oldest first, is a window ago. Zero: at any time, as
// with a limit of zero.
func NextFailover(started []time.Time, limit int, window time.Duration) time.Time {
	if limit <= 0 || len(started) < limit {
		return time.Time{}
	}
	return started[len(started)-limit].Add(window)
}
