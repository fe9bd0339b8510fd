package journal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"leeward/messages"
)

// A change that repeats is told in full this often at first, and once at its end; what is between is counted, if
// that is at least as many.
const (
	toldFirst   = 2
	leastFolded = 2
)

// folding says which lines of a timeline are counted on one, because a cluster flaps.
type folding struct {
	changes  map[repeatable]*repetition
	subjects map[string]*flapping
}

// repeatable is what flapping repeats: "member1 reports Ready=False".
type repeatable struct{ subject, verb, what string }

// repetition is how often a change happens, and has happened so far.
type repetition struct{ total, seen int }

// folded reports whether the occurrence that was seen last is counted only.
func (r *repetition) folded() bool {
	return r.total-toldFirst-1 >= leastFolded && r.seen > toldFirst && r.seen < r.total
}

// flapping is what is counted of one subject.
type flapping struct {
	times int
	until time.Time
	what  []string
	told  bool
}

// fold looks for what repeats in a whole timeline.
func (l *line) fold(entries []Entry) {
	l.folding = folding{map[repeatable]*repetition{}, map[string]*flapping{}}
	l.eachFlap(entries, func(c repeatable, _ *Entry) {
		r := l.folding.changes[c]
		if r == nil {
			r = &repetition{}
			l.folding.changes[c] = r
		}
		r.total++
	})
	l.eachFlap(entries, func(c repeatable, e *Entry) {
		if r := l.folding.changes[c]; r.count() {
			l.folding.of(c.subject).add(c, e.At, r.seen-toldFirst)
		}
	})
	for _, r := range l.folding.changes { // order-free: each by itself
		r.seen = 0
	}
}

func (l *line) eachFlap(entries []Entry, do func(repeatable, *Entry)) {
	for i := range entries {
		if c, flaps := flap(entries[i].Fact, l.teller); flaps {
			do(c, &entries[i])
		}
	}
}

// flap returns the change that a fact is, if flapping repeats it: what a cluster reports, its taints, and the countdowns
// that follow. Decisions are never folded.
func flap(f messages.Fact, t teller) (c repeatable, flaps bool) {
	switch f.(type) {
	case *messages.ConditionChanged, *messages.ReadyObserved, *messages.TaintAdded, *messages.TaintRemoved, *messages.WorkloadsStay,
		*messages.HeartbeatStopped, *messages.HeartbeatReturned, *messages.EvictionScheduled, *messages.EvictionCancelled:
	default:
		return repeatable{}, false
	}
	p := t.tell(f)
	c = repeatable{p.subject, p.verb, p.what}
	if _, silent := f.(*messages.HeartbeatStopped); silent {
		c.what = "" // since when it is silent, which is never the same
	}
	return c, p.Level > zerolog.DebugLevel
}

// count takes in the next occurrence, and reports whether it is counted only.
func (r *repetition) count() bool {
	r.seen++
	return r.folded()
}

func (f *folding) of(subject string) *flapping {
	if f.subjects[subject] == nil {
		f.subjects[subject] = &flapping{}
	}
	return f.subjects[subject]
}

func (f *flapping) add(c repeatable, at time.Time, nth int) {
	f.times, f.until = max(f.times, nth), at
	if text := joined(" ", c.verb, c.what); !slices.Contains(f.what, text) {
		f.what = append(f.what, text)
	}
}

// counted returns the phrase in place of a line that is folded: empty but for the first of its subject.
func (l *line) counted(f messages.Fact) (p Phrase, folded bool) {
	c, flaps := flap(f, l.teller)
	if !flaps || !l.folding.changes[c].count() {
		return Phrase{}, false
	}
	all := l.folding.of(c.subject)
	if all.told {
		return Phrase{}, true
	}
	all.told = true
	verb := "flaps"
	if _, follows := f.(messages.AboutBinding); follows {
		verb = "repeats"
	}
	what := fmt.Sprintf("%d more times", all.times)
	return change(verb, what, "until "+l.teller.at(all.until)+": "+strings.Join(all.what, ", ")).about(c.subject), true
}
