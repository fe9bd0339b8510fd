// Package failover folds facts into failovers: how bindings are evicted from clusters, step by step. It alone knows which
// fact is which step, and what else a fact is to a failover; code that tells, counts or compares failovers reads them here.
package failover

import (
	"iter"
	"maps"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
)

// Key names what a failover is about: a binding, and the cluster that it is evicted from.
type Key struct {
	Binding messages.BindingName
	Cluster messages.ClusterName
}

// Failover is one eviction from its countdown until the old copy is removed. An instant that has not come is zero.
// What it points to belongs to facts and must not be changed.
type Failover struct {
	// next began after it, of its binding's; awaits is Evicted, Released or Removed. What most facts look at comes first, on
	// few lines of the CPU's cache.
	next   *Failover
	awaits Step
	Key
	// Cause is why, as told last; its Deadline is what the eviction is scheduled for.
	Cause *messages.Grounds
	// BlockedBy is what last blocked the eviction, and stays after it began; nil: nothing did.
	BlockedBy *messages.EvictionBlocked
	// Available is when a copy on another cluster was last reported healthy during the handover.
	Available time.Time
	// Released is when the handover ended.
	Released time.Time
	// Reason is why it was released or cancelled.
	Reason string
	// Eviction wrote the graceful eviction task, at Evicted.
	Eviction *messages.EvictionStarted
	Evicted  time.Time
	// Placed is when the scheduler had decided where the replicas run instead, To on which clusters.
	Placed time.Time
	To     []api.TargetCluster
	// Scheduled is when the countdown began; zero, too, for an eviction that had none.
	Scheduled time.Time
	// Cancelled is when a countdown ended without an eviction, or a handover was withdrawn.
	Cancelled time.Time
}

// Step is what a fact changed of a failover: the field of that name, or that the old copy is gone.
type Step int

// The steps. Scheduled, Blocked and Available may be taken several times, each other one once. Nothing follows Removed and Cancelled.
const (
	Scheduled Step = iota
	Blocked
	Evicted
	Placed
	Available
	Released
	Removed
	Cancelled
)

// Reader hears of each step when it is taken. It may keep the failover, which the following steps change.
type Reader func(at time.Time, s Step, f *Failover)

// Binding folds the facts about one binding. The zero value has heard of none.
type Binding struct {
	// Clusters are its targets, so far as facts have told them. The next fact may overwrite them.
	Clusters []api.TargetCluster
	// open is the first of the failovers that are not over, in the order in which they began. From one cluster one at most
	// waits for each step, but where the cluster became a target again before its handover had ended.
	open *Failover
}

// Stored returns the fold of a binding that was stored before the first fact. Its handovers have no cause.
func Stored(name messages.BindingName, s *api.BindingSpec) *Binding {
	b := &Binding{Clusters: slices.Clone(s.Clusters)}
	for _, k := range s.GracefulEvictionTasks {
		e := &messages.EvictionStarted{Binding: name, Cluster: messages.ClusterName(k.FromCluster), Task: k}
		o := b.due(Key{name, e.Cluster}, &e.Grounds)
		o.awaits, o.Eviction, o.Evicted = Released, e, time.Unix(0, 0)
		if k.CreationTimestamp != nil {
			o.Evicted = k.CreationTimestamp.Time
		}
	}
	return b
}

// Handovers are the failovers whose graceful eviction task exists.
func (b *Binding) Handovers() iter.Seq[*Failover] {
	return func(yield func(*Failover) bool) {
		for o := b.open; o != nil; o = o.next {
			if o.awaits == Released && !yield(o) {
				return
			}
		}
	}
}

// Take takes in the next fact about the binding, and tells of the steps that it is. A fact that was told before, as after
// a restart, is no further failover.
func (b *Binding) Take(at time.Time, f messages.Fact, step Reader) {
	switch f := f.(type) {
	case *messages.EvictionScheduled:
		o := b.due(Key{f.Binding, f.Cluster}, &f.Grounds)
		if o.Scheduled.IsZero() {
			o.Scheduled = at
		}
		step(at, Scheduled, o)
	case *messages.EvictionBlocked:
		o := b.due(Key{f.Binding, f.Cluster}, &f.Grounds)
		o.BlockedBy = f
		step(at, Blocked, o)
	case *messages.EvictionCancelled:
		b.cancel(at, f.Reason, step, func(o *Failover) bool { return o.Cluster == f.Cluster && o.awaits == Evicted })
	case *messages.EvictionStarted:
		b.evicted(at, f, step)
	case *messages.Scheduled:
		b.targets(at, f.Clusters, step)
		b.placed(at, f.Takeovers, step)
	case *messages.PlacementConfirmed:
		b.placed(at, nil, step)
	case *messages.ScheduleFailed:
		if f.Cleared {
			b.targets(at, nil, step)
		}
	case *messages.BindingDescheduled:
		b.targets(at, f.Clusters, step)
	case *messages.HealthChanged:
		for o := range b.Handovers() {
			if f.Health == api.Healthy && o.Cluster != f.Cluster {
				o.Available = at
				step(at, Available, o)
			}
		}
	case *messages.EvictionEnded:
		for o := range b.Handovers() {
			if o.Cluster == f.Cluster {
				o.awaits, o.Released, o.Reason = Removed, at, f.Reason
				step(at, Released, o)
			}
		}
	case *messages.EvictionWithdrawn:
		b.cancel(at, f.Reason, step, func(o *Failover) bool { return o.Cluster == f.Cluster && o.awaits == Released })
		b.targets(at, f.Clusters, step)
	case *messages.HealthForgotten: // before the handover has ended, the copy may fail and start again
		b.over(f.Cluster, func(o *Failover) { step(at, Removed, o) })
	case *messages.CopyPreserved: // the old copy is not removed
		b.over(f.Cluster, func(*Failover) {})
	case *messages.BindingDeleted:
		b.cancel(at, "the binding was deleted", step, func(*Failover) bool { return true })
	}
}

// due returns the failover of a cluster that is still to be evicted, with its new cause.
func (b *Binding) due(k Key, why *messages.Grounds) *Failover {
	at := &b.open
	for ; *at != nil; at = &(*at).next {
		if o := *at; o.Cluster == k.Cluster && o.awaits == Evicted {
			o.Cause = why
			return o
		}
	}
	*at = &Failover{Key: k, Cause: why, awaits: Evicted}
	return *at
}

// evicted begins a handover.
func (b *Binding) evicted(at time.Time, f *messages.EvictionStarted, step Reader) {
	if api.FindTarget(b.Clusters, string(f.Cluster)) < 0 {
		for o := range b.Handovers() {
			if o.Cluster == f.Cluster {
				return // told again
			}
		}
	}
	b.over(f.Cluster, func(*Failover) {}) // its old copy is the one that is evicted now
	b.Clusters = slices.DeleteFunc(b.Clusters, func(t api.TargetCluster) bool { return t.Name == string(f.Cluster) })
	o := b.due(Key{f.Binding, f.Cluster}, &f.Grounds)
	o.awaits, o.Eviction, o.Evicted = Released, f, at
	step(at, Evicted, o)
}

// placed ends the wait of all handovers for a placement.
func (b *Binding) placed(at time.Time, by []messages.Takeover, step Reader) {
	for o := range b.Handovers() {
		for i := range by {
			if by[i].From == o.Cluster {
				o.To = by[i].By
			}
		}
		if o.Placed.IsZero() {
			o.Placed = at
			step(at, Placed, o)
		}
	}
}

// targets takes over a result. Nothing is due any more from a cluster that is not in it.
func (b *Binding) targets(at time.Time, clusters []api.TargetCluster, step Reader) {
	b.Clusters = append(b.Clusters[:0], clusters...)
	b.cancel(at, "the cluster is no longer a target", step, func(o *Failover) bool {
		return o.awaits == Evicted && api.FindTarget(clusters, string(o.Cluster)) < 0
	})
}

// over takes off the failover from a cluster whose handover has ended.
func (b *Binding) over(c messages.ClusterName, last func(*Failover)) {
	b.drop(func(o *Failover) bool { return o.Cluster == c && o.awaits == Removed }, last)
}

// cancel takes off failovers, and tells of those whose handover has not ended.
func (b *Binding) cancel(at time.Time, why string, step Reader, these func(*Failover) bool) {
	b.drop(these, func(o *Failover) {
		if o.awaits != Removed {
			o.Cancelled, o.Reason = at, why
			step(at, Cancelled, o)
		}
	})
}

func (b *Binding) drop(these func(*Failover) bool, last func(*Failover)) {
	for at := &b.open; *at != nil; {
		o := *at
		if !these(o) {
			at = &o.next
			continue
		}
		*at, o.next = o.next, nil
		last(o)
	}
}

// Fold folds the facts about all bindings. It forgets each binding with its last failover.
type Fold map[messages.BindingName]*Binding

// Take takes in the next fact, and tells of the steps that it is.
func (a Fold) Take(at time.Time, f messages.Fact, step Reader) {
	if gone, is := f.(*messages.ClusterRemoved); is {
		for _, name := range slices.Sorted(maps.Keys(a)) {
			a[name].cancel(at, "the cluster was removed", step, func(o *Failover) bool { return o.Cluster == gone.Cluster })
			a.tidy(name)
		}
		return
	}
	name, about := About(f)
	if !about {
		return
	}
	if a[name] == nil {
		if !RoleOf(f).Is(Begins) {
			return
		}
		a[name] = &Binding{}
	}
	a[name].Take(at, f, step)
	a.tidy(name)
}

func (a Fold) tidy(name messages.BindingName) {
	if a[name].open == nil {
		delete(a, name)
	}
}

// reasons are those of Events where they are not the kind of the fact: those that Karmada's Events have for the same, and none
// where the object says it itself, such as which policy claimed it.
var reasons = map[string]string{
	"BindingCreated":     "",
	"CapacityChanged":    "",
	"TaintAdded":         "TaintClusterSucceed",
	"TaintRemoved":       "TaintClusterSucceed",
	"TaintingFailed":     "TaintClusterFailed",
	"Scheduled":          "ScheduleBindingSucceed",
	"ScheduleFailed":     "ScheduleBindingFailed",
	"EvictionEnded":      "EvictWorkloadFromClusterSucceed",
	"BindingDescheduled": "DescheduleBindingSucceed",
}

// EventReason is the reason of the Event that tells of a fact; empty: none does.
func EventReason(f messages.Fact) string {
	kind := f.Kind()
	if reason, another := reasons[kind]; another {
		return reason
	}
	return kind
}
