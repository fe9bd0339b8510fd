package main

import (
	"errors"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"

	"leeward/messages"
	"leeward/runtime/daemon/live"
)

// A machine whose step did not return is tried again when its object changes, but the first time not before firstQuarantine, and
// each time twice as long after the last, up to longestQuarantine: each trial stops the decisions of the fleet for as long as a
// step may last.
const (
	firstQuarantine   = time.Minute
	longestQuarantine = time.Hour
)

// quarantine keeps machines out of those that are made, because a step of theirs did not return. It is used by one goroutine at
// a time, that which makes machines.
type quarantine struct {
	clock clock.Clock
	log   zerolog.Logger
	// changed hears how many of a kind are kept out; times is how often each machine was.
	changed func(kind messages.Kind, n int)
	kept    []live.Quarantined
	times   map[messages.Address]int
}

// hear reports whether the machines ended only for a machine to be kept out from now on, or to be tried again. The others can go
// on without the one, unless it serves the whole fleet.
func (q *quarantine) hear(err error) bool {
	if stuck := new(live.Stuck); errors.As(err, &stuck) && stuck.Address.Name != "" {
		q.add(stuck)
		return true
	}
	if again := new(live.TryAgain); errors.As(err, &again) {
		q.release(again.Machine)
		return true
	}
	return false
}

func (q *quarantine) add(stuck *live.Stuck) {
	if q.times == nil {
		q.times = map[messages.Address]int{}
	}
	lasts := min(firstQuarantine<<min(q.times[stuck.Address], 10), longestQuarantine)
	q.times[stuck.Address]++
	now := q.clock.Now()
	q.kept = append(q.kept, live.Quarantined{Machine: stuck.Address, Since: now, Step: stuck.Message, Heard: stuck.Heard, NotBefore: now.Add(lasts)})
	q.tell(stuck.Address.Kind)
	q.log.Error().Stringer("machine", stuck.Address).Type("received", stuck.Message).Stringer("limit", stuck.Limit).Stringer("notBefore", lasts).
		Msg("the step of a machine did not return: it is quarantined until its object changes, and all others are recreated from the stored objects")
}

func (q *quarantine) release(m messages.Address) {
	kept := q.kept
	q.kept = nil
	for _, k := range kept {
		if k.Machine != m {
			q.kept = append(q.kept, k)
		}
	}
	q.tell(m.Kind)
	q.log.Warn().Stringer("machine", m).Msg("the object of a machine in quarantine has changed: it is tried again")
}

// tell counts those of a kind.
func (q *quarantine) tell(kind messages.Kind) {
	n := 0
	for _, k := range q.kept {
		if k.Machine.Kind == kind {
			n++
		}
	}
	q.changed(kind, n)
}
