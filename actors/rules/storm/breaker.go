package storm

import (
	"slices"
	"time"

	"leeward/messages"
)

// BreakerState says whether a breaker lets evictions go. The words are those of circuit breakers: what is
// closed lets them go.
type BreakerState string

// The states.
const (
	// Closed: evictions go, and are counted.
	Closed BreakerState = "Closed"
	// Open: too much has moved in too short a time. Nothing goes.
	Open BreakerState = "Open"
	// HalfOpen: a few go on trial. Whether they serve elsewhere decides how it goes on.
	HalfOpen BreakerState = "HalfOpen"
)

// Breaking says when a breaker opens and how it closes again.
type Breaking struct {
	// Share is the part of all copies that may go within Window before the breaker opens, if they are at least
	// Least. Zero: it never opens.
	Share  float64
	Least  int
	Window time.Duration
	// Cooldown is how long it stays open, and how long those on trial have to serve elsewhere.
	Cooldown time.Duration
	// Trials is how many go on trial. Zero is one.
	Trials int
}

// Works reports whether there is a breaker at all.
func (t Breaking) Works() bool { return t.Share > 0 }

// windowSlices is how many parts of a window are counted apart.
const windowSlices = 10

// slice is the part of the window that is forgotten as a whole.
func (t Breaking) slice() time.Duration { return t.Window / windowSlices }

// Moves counts what went in the slice of a window that begins at an instant, and of how many copies.
type Moves struct {
	At            time.Time
	Count, Copies int
}

// Trial is an eviction that a half-open breaker let go.
type Trial struct {
	Binding messages.BindingName
	Cluster messages.ClusterName
	At      time.Time
	// Ended is set once it is known whether the workload serves elsewhere.
	Ended, Serves bool
}

// Breaker watches how much moves. The zero Breaker is closed.
type Breaker struct {
	// State is empty where it never changed: closed.
	State BreakerState
	// Until is the end of the open state.
	Until time.Time
	// Moved is what went within the window, the oldest first.
	Moved []Moves
	// Trials are the evictions on trial, the first first.
	Trials []Trial
}

// Closed reports whether nothing is amiss.
func (b *Breaker) Closed() bool { return b.State != Open && b.State != HalfOpen }

// Lets reports whether another eviction may go.
func (b *Breaker) Lets(t Breaking) bool {
	return b.Closed() || b.State == HalfOpen && len(b.Trials) < max(t.Trials, 1)
}

// Count is how many went within the window, to a tenth of it.
func (b *Breaker) Count(now time.Time, t Breaking) (sum int) {
	for _, m := range b.Moved {
		if t.counts(m, now) {
			sum += m.Count
		}
	}
	return sum
}

// Most is of how many copies that is: those that there are, or were when any of it went. What leaves may have
// nowhere to go, and is not placed any more.
func (b *Breaker) Most(now time.Time, copies int, t Breaking) int {
	for _, m := range b.Moved {
		if t.counts(m, now) {
			copies = max(copies, m.Copies)
		}
	}
	return copies
}

// counts reports whether moves still do. A slice counts until the last of it has left the window.
func (t Breaking) counts(m Moves, now time.Time) bool {
	return m.At.Add(t.Window + t.slice()).After(now)
}

// Take counts an eviction that goes now, of so many copies, or puts it on trial, and reports which and whether
// that opens the breaker.
func (b *Breaker) Take(now time.Time, e Trial, copies int, t Breaking) (opens, trial bool) {
	if b.State == HalfOpen {
		e.At = now
		b.Trials = append(b.Trials, e)
		return false, true
	}
	b.move(now, copies, t)
	if !b.tooMuch(now, copies, t) {
		return false, false
	}
	b.open(now, t)
	return true, false
}

// move counts one more, and forgets what counts no longer.
func (b *Breaker) move(now time.Time, copies int, t Breaking) {
	b.Moved = slices.DeleteFunc(b.Moved, func(m Moves) bool { return !t.counts(m, now) })
	at := now.Truncate(t.slice())
	if last := len(b.Moved) - 1; last >= 0 && b.Moved[last].At.Equal(at) {
		b.Moved[last].Count++
		b.Moved[last].Copies = max(b.Moved[last].Copies, copies)
		return
	}
	b.Moved = append(b.Moved, Moves{At: at, Count: 1, Copies: copies})
}

// Return takes back the count of an eviction that did not go after all, in the instant in which it was taken.
func (b *Breaker) Return(now time.Time, t Breaking) {
	last := len(b.Moved) - 1
	if b.State == HalfOpen || last < 0 || !b.Moved[last].At.Equal(now.Truncate(t.slice())) {
		return // it was on trial, and is not any more
	}
	if b.Moved[last].Count--; b.Moved[last].Count == 0 {
		b.Moved = b.Moved[:last]
	}
}

// Reconsider closes a breaker that this instant opened, where so much came back that it need not have, and reports
// whether it did.
func (b *Breaker) Reconsider(now time.Time, copies int, t Breaking) (closes bool) {
	if b.State != Open || !b.Until.Equal(now.Add(t.Cooldown)) || b.tooMuch(now, copies, t) {
		return false
	}
	b.State, b.Until = Closed, time.Time{}
	return true
}

// tooMuch reports whether so much of all copies went within the window that the breaker opens. Nothing is not too much, also of
// no copies.
func (b *Breaker) tooMuch(now time.Time, copies int, t Breaking) bool {
	n := b.Count(now, t)
	return n > 0 && n >= t.Least && reaches(n, b.Most(now, copies, t), t.Share)
}

func (b *Breaker) open(now time.Time, t Breaking) {
	b.State, b.Until, b.Trials = Open, now.Add(t.Cooldown), nil
}

// End notes whether a workload on trial serves elsewhere. One that is not on trial, or no longer, is none of its
// business.
func (b *Breaker) End(binding messages.BindingName, cluster messages.ClusterName, serves bool) {
	if i := b.find(binding, cluster); i >= 0 {
		b.Trials[i].Ended, b.Trials[i].Serves = true, serves
	}
}

// Forget takes an eviction off the trial because it has not begun. One that is over counts, also where the same
// cluster is evicted from again.
func (b *Breaker) Forget(binding messages.BindingName, cluster messages.ClusterName) {
	if i := b.find(binding, cluster); i >= 0 {
		b.Trials = slices.Delete(b.Trials, i, i+1)
	}
}

// find returns the index of a trial that is not over yet, or -1.
func (b *Breaker) find(binding messages.BindingName, cluster messages.ClusterName) int {
	return slices.IndexFunc(b.Trials, func(e Trial) bool { return e.Binding == binding && e.Cluster == cluster && !e.Ended })
}

// Serving counts those on trial that are known to serve.
func (b *Breaker) Serving() (sum int) {
	for i := range b.Trials {
		if b.Trials[i].Serves {
			sum++
		}
	}
	return sum
}

// Judge brings the state up to date with the time and the trials, and reports whether that changed it.
func (b *Breaker) Judge(now time.Time, t Breaking) (changed bool) {
	due := b.Due(t)
	over := !due.IsZero() && !due.After(now)
	switch {
	case b.Closed():
		return false
	case !t.Works(), b.passed():
		*b = Breaker{State: Closed}
	case b.State == Open && over:
		b.State, b.Until = HalfOpen, time.Time{}
	case b.State == HalfOpen && (over || b.failed()):
		b.open(now, t)
	default:
		return false
	}
	return true
}

// passed reports whether all on trial serve, and failed whether one is known not to.
func (b *Breaker) passed() bool { return len(b.Trials) > 0 && b.Serving() == len(b.Trials) }

func (b *Breaker) failed() bool {
	return slices.ContainsFunc(b.Trials, func(e Trial) bool { return e.Ended && !e.Serves })
}

// Due is when time alone changes the state; zero: it does not. Without a trial nothing does.
func (b *Breaker) Due(t Breaking) time.Time {
	switch {
	case b.State == Open:
		return b.Until
	case b.State == HalfOpen && len(b.Trials) > 0:
		return b.Trials[0].At.Add(t.Cooldown)
	default:
		return time.Time{}
	}
}
