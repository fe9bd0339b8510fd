package whatif

import (
	"time"

	"leeward/messages"
	"leeward/runtime/fleet/rehearsal"
	"leeward/runtime/scenario/replay"
)

// follower reads the facts of a run.
type follower struct {
	// first is the instant of the first change.
	first   time.Time
	outcome *rehearsal.Outcome
	// rested is the outcome before the first change.
	rested *rehearsal.Outcome
	// available replicas; target is how many must be, as there were before and as the end asks for.
	available, target map[messages.BindingName]int32
	// whole is how many of total targets are available.
	whole, total, lowest int
	lowestAt             time.Time
	wholeAt              time.Time
	down                 map[messages.BindingName]bool
	// want caps the targets; nil: there are none.
	want func(messages.BindingName, int32) int32
}

func newFollower(first time.Time) *follower {
	return &follower{
		first: first, outcome: rehearsal.NewOutcome(),
		available: map[messages.BindingName]int32{}, target: map[messages.BindingName]int32{}, down: map[messages.BindingName]bool{}, wholeAt: first,
	}
}

// all reads a run, instant by instant.
func (f *follower) all(run *replay.Run) {
	struck := false
	var touched []messages.BindingName
	for i := range run.Events {
		e := &run.Events[i]
		if !struck && !e.At.Before(f.first) {
			f.strike()
			struck = true
		}
		f.outcome.Hear(e.At, e.Fact)
		touched = f.take(e.Fact, touched)
		if last := i+1 == len(run.Events) || run.Events[i+1].At.After(e.At); last {
			if struck && len(touched) > 0 {
				f.sample(e.At, touched)
			}
			touched = touched[:0]
		}
	}
	if !struck {
		f.strike()
	}
}

// strike takes stock before the first change.
func (f *follower) strike() {
	for b, n := range f.available { // order-free: each by itself
		if f.want != nil {
			n = f.want(b, n)
		}
		f.target[b] = n
		f.whole += int(n)
	}
	f.rested = f.outcome.Rested()
	f.total, f.lowest, f.lowestAt = f.whole, f.whole, f.first
}

// take takes a fact, and returns the workloads whose availability changed.
func (f *follower) take(fact messages.Fact, touched []messages.BindingName) []messages.BindingName {
	a, is := fact.(*messages.AvailabilityChanged)
	if !is {
		return touched
	}
	target := f.target[a.Binding]
	before := min(f.available[a.Binding], target)
	f.available[a.Binding] += a.Available - a.Before
	f.whole += int(min(f.available[a.Binding], target) - before)
	return append(touched, a.Binding)
}

// sample looks at what is available once an instant has settled.
func (f *follower) sample(at time.Time, touched []messages.BindingName) {
	for _, b := range touched {
		if f.available[b] <= 0 && f.target[b] > 0 {
			f.down[b] = true
		}
	}
	if f.whole < f.lowest {
		f.lowest, f.lowestAt = f.whole, at
	}
	switch {
	case f.whole < f.total:
		f.wholeAt = time.Time{}
	case f.wholeAt.IsZero():
		f.wholeAt = at
	}
}
