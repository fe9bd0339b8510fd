package live

import (
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// restoreRecord tells of evictions that are stored and were not told before a kill, which may come between a commit and the
// record of it.
func (f *Fleet) restoreRecord() {
	if f.config.Recorded == nil {
		return
	}
	f.world.Store().EachBinding(func(b *store.Binding) {
		for i := range b.Status.FailoverHistory {
			h := &b.Status.FailoverHistory[i]
			if f.unrecorded(kindStarted, b, h, h.StartTime.Time) {
				f.restoreDecision(h.StartTime.Time, started(b, h))
			}
			if h.CompletionTime != nil && f.unrecorded(kindEnded(h), b, h, h.CompletionTime.Time) {
				f.restoreDecision(h.CompletionTime.Time, ended(b, h))
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

// restoreDecision tells of a decision that is missing in the record.
func (f *Fleet) restoreDecision(at time.Time, fact messages.Fact) {
	f.noteEvent(Decision{At: at, Fact: fact, Told: journal.Tell(time.Time{}, fact), Restored: true})
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
