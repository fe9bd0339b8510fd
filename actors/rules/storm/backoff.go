package storm

import (
	"slices"
	"time"
)

// BackingOff says when a cluster on which starts fail gets fewer, and for how long.
type BackingOff struct {
	// Failures is how many starts fail within Window before that begins. Zero: it never does.
	Failures int
	Window   time.Duration
	// First is how long it lasts at first. Every failure since makes it twice as long, up to sixteen times.
	First time.Duration
}

// Works reports whether there is any back-off.
func (t BackingOff) Works() bool { return t.Failures > 0 }

// doublings is how often a back-off becomes longer.
const doublings = 4

// Backoff is what is known of starts that failed on a cluster. The zero Backoff is of one where none did.
type Backoff struct {
	// Failed is when starts failed within the window, the earliest first.
	Failed []time.Time
	// Level is one at first, and one more each time it became longer; zero: there was no back-off.
	Level int
	// Since is when it last began or became longer, Until when time ends it; zero: it is not in force.
	Since, Until time.Time
}

// InForce reports whether the cluster gets fewer starts.
func (b *Backoff) InForce() bool { return !b.Until.IsZero() }

// Fail takes in the starts that failed at an instant, by when each began, whichever comes first. One that began before the
// back-off did tells nothing new: where a hundred were under way together, the last of them does not count for more than
// the first.
func (b *Backoff) Fail(now time.Time, began []time.Time, t BackingOff) {
	if !t.Works() {
		return
	}
	since, news := b.Since, false
	for _, at := range began {
		known := at.Before(since)
		if known && now.After(since) {
			continue
		}
		b.Failed, news = append(b.Failed, now), news || !known
	}
	b.forget(now, t)
	if !news || !b.InForce() && len(b.Failed) < t.Failures {
		return
	}
	b.Level = min(b.Level+1, 1+doublings)
	b.Since = now
	b.Until = now.Add(b.lasts(t))
}

// forget drops failures that have left the window.
func (b *Backoff) forget(now time.Time, t BackingOff) {
	b.Failed = slices.DeleteFunc(b.Failed, func(at time.Time) bool { return !at.Add(t.Window).After(now) })
}

// Judge brings a back-off up to date with the time, and reports whether that ends it. It is remembered for another
// window, so that the next one is longer.
func (b *Backoff) Judge(now time.Time, t BackingOff) (ended bool) {
	b.forget(now, t)
	ended = b.InForce() && (!t.Works() || !b.Until.After(now))
	if ended {
		b.Until = time.Time{}
	}
	if !b.InForce() && !b.remembered(t).After(now) || !t.Works() {
		*b = Backoff{}
	}
	return ended
}

// remembered is until when a back-off that is over, and the failures that led to none, matter.
func (b *Backoff) remembered(t BackingOff) (end time.Time) {
	if n := len(b.Failed); n > 0 {
		end = b.Failed[n-1].Add(t.Window)
	}
	if b.Level == 0 {
		return end
	}
	if after := b.Since.Add(b.lasts(t)).Add(t.Window); after.After(end) {
		end = after
	}
	return end
}

// lasts is how long a back-off of this level does.
func (b *Backoff) lasts(t BackingOff) time.Duration { return t.First << (b.Level - 1) }

// Due is when time alone changes it; zero: it does not.
func (b *Backoff) Due(t BackingOff) time.Time {
	if b.InForce() {
		return b.Until
	}
	return b.remembered(t)
}
