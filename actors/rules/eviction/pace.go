package eviction

import (
	"time"

	"leeward/messages/api"
)

// Remembered is how many departures a binding's history keeps of each reason.
const Remembered = 16

// Remember returns the history with a new eviction; beyond Remembered, the oldest of its reason goes.
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

// UnhealthySince returns since when a copy that reports Unhealthy counts as failed: not before its start-up grace
// is over, if it was never healthy. Starting is its first report then, and zero otherwise.
func UnhealthySince(unhealthy, starting time.Time, grace time.Duration) time.Time {
	if end := starting.Add(grace); !starting.IsZero() && end.After(unhealthy) {
		return end
	}
	return unhealthy
}

// Unhealthy decides, at an instant, about an application that is unhealthy on a cluster since then
// without a break; a zero since is the first sight, which the caller records. Evict means that it has
// been so for tolerationSeconds; else recheck is when to ask again, zero where time alone changes
// nothing.
//
// Exact counts to since + tolerationSeconds; zero seconds evict at first sight. Otherwise it is as
// Karmada does it: first sight evicts nothing, and with zero seconds asks for no second one; the time
// left is counted in whole seconds elapsed, so that a look in between moves the next one up to a second
// behind the deadline.
func Unhealthy(since time.Time, tolerationSeconds int32, now time.Time, exact bool) (evict bool, recheck time.Time) {
	tolerated := time.Duration(tolerationSeconds) * time.Second
	first := since.IsZero()
	if first {
		since = now
	}
	switch elapsed := now.Sub(since); {
	case first && !exact && tolerated <= 0:
		return false, time.Time{}
	case elapsed >= tolerated && (exact || !first):
		return true, time.Time{}
	case exact:
		return false, since.Add(tolerated)
	default:
		return false, now.Add(tolerated - elapsed.Truncate(time.Second))
	}
}
