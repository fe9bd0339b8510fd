package expect

import (
	"fmt"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/span"
)

// watch is one expectation under way. The history of a state is a row of stretches, in each of which
// it held or did not: from one look, inclusive, to the next, exclusive. A stretch counts for the
// instant it begins with immediately, and for the rest when it ends.
type watch struct {
	*Expectation
	event *Event
	state State
	key   api.Key

	// The stretch under way; begun is false before the first look.
	begun bool
	since time.Duration
	mark  mark
	holds bool
	seen  string

	// count is the number of events in the window, last the last of them, lastAt when it was.
	count  int
	last   messages.Fact
	lastAt time.Duration

	// The verdict, once done.
	done   bool
	passed bool
	at     time.Duration
	reason string
	// nearest finds what explains an event that did not happen; nil: its object is named. about is the object that a failure is about.
	nearest *nearest
	about   api.Key
}

// look judges the state at an instant, if its object changed, or what serves of it.
func (w *watch) look(now time.Duration, o *objects) {
	if w.done || now < w.From && w.waits() {
		return
	}
	is := o.mark(w.key)
	if w.begun && is == w.mark {
		return
	}
	if w.begun && now > w.since {
		w.cover(w.since, now-1)
	}
	if w.done {
		return
	}
	w.begun, w.since, w.mark = true, now, is
	w.holds, w.seen = w.state.judge(o)
	w.cover(now, now)
}

// waits reports whether the state is looked at from its window on only: it costs much to judge.
func (w *watch) waits() bool { return w.key.Kind == kindPodList }

// cover takes in that the state was what it is from one instant to another, both inclusive.
func (w *watch) cover(first, last time.Duration) {
	first, last = max(first, w.From), min(last, w.Until)
	if first > last {
		return
	}
	switch {
	case w.Mode == At || w.Mode == Within && w.holds:
		w.decide(w.holds, first, w.seen)
	case w.Mode == Within && last == w.Until:
		w.decide(false, last, "not once; at the end "+w.seen)
	case w.Mode == Always && !w.holds:
		w.decide(false, first, w.seen)
	case w.Mode == Never && w.holds:
		w.decide(false, first, "it did: "+w.seen)
	}
}

// happened takes in one event of the kind that is watched.
func (w *watch) happened(at time.Duration, f messages.Fact) {
	if w.done || at < w.From || at > w.Until || !w.event.matches(f) {
		return
	}
	w.count++
	w.last, w.lastAt = f, at
	switch {
	case w.Mode == Never:
		w.about = aboutFact(f)
		w.decide(false, at, "it happened: "+told(f))
	case w.Mode == Total && w.count > w.Count.Max:
		w.about = aboutFact(f)
		w.decide(false, at, w.often())
	case w.Mode == At || w.Mode == Within:
		w.decide(true, at, "")
	}
}

// often says how often the event happened.
func (w *watch) often() string {
	s := "it happened " + times(fmt.Sprint(w.count))
	if w.count == 0 {
		return s + w.nearest.missing()
	}
	return s + ", the last one: " + told(w.last) + " at " + span.String(w.lastAt)
}

// finish decides at the end of the run what is not decided yet.
func (w *watch) finish(end time.Duration) {
	if w.begun {
		w.cover(w.since, end)
	}
	switch {
	case w.done:
	case w.From > end || w.Mode == At && !w.isEvent() && !w.begun:
		w.decide(false, end, "the run ended at "+span.String(end))
	case w.Mode == Total:
		w.decide(w.Count.Holds(w.count), end, w.often())
	case w.Mode == Always || w.Mode == Never:
		w.decide(w.isEvent() || w.begun, end, "nothing was seen")
	case w.isEvent():
		w.decide(false, min(w.Until, end), "it did not happen"+w.nearest.missing())
	default:
		w.decide(false, end, "not once; the run ended at "+span.String(end)+", "+w.seen)
	}
}

func (w *watch) isEvent() bool { return w.event != nil }

// decide settles the matter. The reason is kept only where the expectation failed.
func (w *watch) decide(passed bool, at time.Duration, reason string) {
	w.done, w.passed, w.at = true, passed, at
	if !passed {
		w.reason = reason
	}
}

// blame says which object a failure is about, once it is decided; of an event that happened, that is known.
func (w *watch) blame(o *objects) {
	switch {
	case !w.done || w.passed || w.about != (api.Key{}):
	case w.nearest != nil:
		w.about = w.nearest.object()
	default:
		w.about = aboutOf(w.Subject, o)
	}
}
