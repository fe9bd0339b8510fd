package whatif

import (
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/scenario/replay"
)

// eviction tells one from another.
type eviction struct {
	binding messages.BindingName
	cluster messages.ClusterName
	at      time.Time
}

// follower reads the facts of a run.
type follower struct {
	begins    time.Time
	fold      failover.Fold
	evictions []*failover.Failover
	blocked   map[failover.Key]*failover.Failover
	blockedAt map[failover.Key]time.Time
	refused   map[messages.BindingName]string
	stays     map[messages.ClusterName]string
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

func newFollower(begins time.Time) *follower {
	return &follower{
		begins: begins, fold: failover.Fold{}, blocked: map[failover.Key]*failover.Failover{}, blockedAt: map[failover.Key]time.Time{},
		refused: map[messages.BindingName]string{}, stays: map[messages.ClusterName]string{},
		available: map[messages.BindingName]int32{}, target: map[messages.BindingName]int32{}, down: map[messages.BindingName]bool{}, wholeAt: begins,
	}
}

// all reads a run, instant by instant.
func (f *follower) all(run *replay.Run) {
	struck := false
	var touched []messages.BindingName
	for i := range run.Events {
		e := &run.Events[i]
		if !struck && !e.At.Before(f.begins) {
			f.strike()
			struck = true
		}
		if struck {
			f.fold.Take(e.At, e.Fact, f.step)
		}
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
	f.total, f.lowest, f.lowestAt = f.whole, f.whole, f.begins
}

// take takes a fact, and returns the workloads whose availability changed.
func (f *follower) take(fact messages.Fact, touched []messages.BindingName) []messages.BindingName {
	switch fact := fact.(type) {
	case *messages.AvailabilityChanged:
		target := f.target[fact.Binding]
		before := min(f.available[fact.Binding], target)
		f.available[fact.Binding] += fact.Available - fact.Before
		f.whole += int(min(f.available[fact.Binding], target) - before)
		return append(touched, fact.Binding)
	case *messages.ScheduleFailed:
		f.refuse(fact.Binding, fact.Reason, fact.Message)
	case *messages.Scheduled:
		delete(f.refused, fact.Binding)
	case *messages.WorkloadsStay:
		f.stays[fact.Cluster] = fact.Reason
	case *messages.BindingDeleted:
		delete(f.refused, fact.Binding)
	}
	return touched
}

// step follows a failover.
func (f *follower) step(at time.Time, s failover.Step, o *failover.Failover) {
	switch s {
	case failover.Blocked:
		if !f.refuse(o.Binding, o.BlockedBy.Reason, o.BlockedBy.Message) {
			if f.blocked[o.Key] == nil {
				f.blockedAt[o.Key] = at
			}
			f.blocked[o.Key] = o
		}
	case failover.Evicted:
		f.evictions = append(f.evictions, o)
		delete(f.refused, o.Binding)
	case failover.Cancelled:
		delete(f.refused, o.Binding)
		delete(f.blocked, o.Key)
	}
}

// refuse notes a workload that no cluster can take, if the reason says so.
func (f *follower) refuse(b messages.BindingName, reason, message string) bool {
	switch reason {
	case api.ReasonNoClusterFit, api.ReasonUnschedulable, api.ReasonQuotaExceeded, api.ReasonSchedulerError:
		f.refused[b] = message
		return true
	}
	return false
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
