package live

import (
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// restoreRecord tells of evictions that are stored and were not told before a kill, which may come between a commit and the
// record of it. What machines that followed have noted themselves of one, or of what they lately heard the leader decide, says more than the store.
func (f *Fleet) restoreRecord(lately toldLately) {
	if f.config.Recorded == nil {
		return
	}
	heard := lately.byObject()
	f.world.Store().EachBinding(func(b *store.Binding) {
		for i := range b.Status.FailoverHistory {
			h := &b.Status.FailoverHistory[i]
			if f.unrecorded(kindStarted, b, h, h.StartTime.Time) && !f.restoreHeard(kindStarted, b, h, h.StartTime.Time, heard) {
				f.restoreDecision(h.StartTime.Time, started(b, h))
			}
			if h.CompletionTime == nil {
				continue
			}
			if kind, at := kindEnded(h), h.CompletionTime.Time; f.unrecorded(kind, b, h, at) && !f.restoreHeard(kind, b, h, at, heard) {
				f.restoreDecision(at, ended(b, h))
			}
		}
	})
}

// beforeTakeover is how long before it takes over a daemon looks for decisions that the one before it did not record: longer than
// its Lease holds. What is older is in the record of that one.
const beforeTakeover = time.Minute

// unrecorded reports whether a decision on an eviction is missing in the record. Nothing is built for those that are there,
// which are nearly all.
func (f *Fleet) unrecorded(kind string, b *store.Binding, h *api.FailoverRecord, at time.Time) bool {
	if f.config.Term != 0 && f.world.Now().Sub(at) > beforeTakeover {
		return false
	}
	return !f.config.Recorded(kind, b.Name(), messages.ClusterName(h.FromCluster), at)
}

// restoreHeard tells of a decision that is missing in the record by what was noted of it, and reports whether anything was. One that is not
// stored yet is told once it is.
func (f *Fleet) restoreHeard(kind string, b *store.Binding, h *api.FailoverRecord, at time.Time, heard map[api.Key][]*event) bool {
	key := store.BindingKey(b.Name())
	for i := range f.events[key] {
		if e := &f.events[key][i]; e.decides(kind, h, at) {
			if f.isStored(key, h, kind != kindStarted) {
				e.At, e.Restored = at, true
			}
			return true
		}
	}
	for _, e := range heard[key] {
		if e.decides(kind, h, at) {
			e.At, e.Restored = at, true
			f.tell(*e)
			return true
		}
	}
	return false
}

// restoreDecision tells of a decision that is missing in the record by what is stored.
func (f *Fleet) restoreDecision(at time.Time, fact messages.Fact) {
	f.noteEvent(Decision{At: at, Fact: fact, Told: journal.Tell(time.Time{}, fact), Restored: true})
}

// ofEviction reports whether a fact is the beginning of an eviction, or its end. Machines that are built again do not find these again, for
// bindings have them.
func ofEviction(f messages.Fact) bool {
	switch f.(type) {
	case *messages.EvictionStarted, *messages.EvictionEnded, *messages.EvictionWithdrawn:
		return true
	}
	return false
}

// decides reports whether an event that was not found in the store tells of an eviction, or of its end, at about a time: the machines of two
// daemons decide the same a moment apart.
func (e *event) decides(kind string, h *api.FailoverRecord, at time.Time) bool {
	about, is := e.Fact.(messages.AboutCluster)
	return is && !e.Restored && e.Fact.Kind() == kind && string(about.AboutCluster()) == h.FromCluster && e.At.Sub(at).Abs() <= tellsWithin
}

// isStored reports whether an eviction is stored, or its end.
func (f *Fleet) isStored(key api.Key, h *api.FailoverRecord, end bool) bool {
	o, _ := f.stored(key)
	b := store.AsBinding(o)
	return b != nil && slices.ContainsFunc(b.Status.FailoverHistory, func(k api.FailoverRecord) bool {
		return k.FromCluster == h.FromCluster && k.StartTime.Equal(&h.StartTime) && (!end || k.CompletionTime != nil)
	})
}

// kindStarted is the kind of a fact of started.
var kindStarted = (&messages.EvictionStarted{}).Kind()

// started is the beginning of an eviction as its binding tells it: with its task, as long as that exists.
func started(b *store.Binding, h *api.FailoverRecord) messages.Fact {
	fact := &messages.EvictionStarted{Binding: b.Name(), Cluster: messages.ClusterName(h.FromCluster)}
	fact.Task = api.GracefulEvictionTask{FromCluster: h.FromCluster, Reason: h.Reason, Producer: h.Producer}
	if k := b.Spec.TaskFrom(h.FromCluster); k != nil && h.CompletionTime == nil {
		fact.Task = *k
	}
	return fact
}

// withdrawn is the outcome of an eviction that was withdrawn.
const withdrawn = "withdrawn"

// kindEnded is the kind of a fact of ended.
func kindEnded(h *api.FailoverRecord) string {
	if h.Outcome == withdrawn {
		return (&messages.EvictionWithdrawn{}).Kind()
	}
	return (&messages.EvictionEnded{}).Kind()
}

// ended is the end of an eviction as its binding tells it.
func ended(b *store.Binding, h *api.FailoverRecord) messages.Fact {
	c := messages.ClusterName(h.FromCluster)
	if h.Outcome == withdrawn {
		return &messages.EvictionWithdrawn{Binding: b.Name(), Cluster: c, Clusters: b.Spec.Clusters}
	}
	return &messages.EvictionEnded{Binding: b.Name(), Cluster: c, Reason: h.Outcome, After: h.CompletionTime.Sub(h.StartTime.Time)}
}
