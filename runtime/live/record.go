package live

import (
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/journal"
	"leeward/runtime/store"
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
			f.restoreDecision(h.StartTime.Time, started(b, h))
			if h.CompletionTime != nil {
				f.restoreDecision(h.CompletionTime.Time, ended(b, h))
			}
		}
	})
}

// beforeTakeover is how long before it takes over a daemon looks for decisions that the one before it did not record: longer than
// its Lease holds. What is older is in the record of that one.
const beforeTakeover = time.Minute

// restoreDecision tells of a decision unless it was recorded.
func (f *Fleet) restoreDecision(at time.Time, fact messages.Fact) {
	if f.config.Term != 0 && f.world.Now().Sub(at) > beforeTakeover {
		return
	}
	b, c := fact.(messages.AboutBinding).AboutBinding(), fact.(messages.AboutCluster).AboutCluster()
	if !f.config.Recorded(fact.Kind(), b, c, at) {
		f.noteEvent(Decision{At: at, Fact: fact, Told: journal.Tell(time.Time{}, fact), Restored: true})
	}
}

// started is the beginning of an eviction as its binding tells it: with its task, as long as that exists.
func started(b *store.Binding, h *api.FailoverRecord) messages.Fact {
	fact := &messages.EvictionStarted{Binding: b.Name(), Cluster: messages.ClusterName(h.FromCluster)}
	fact.Task = api.GracefulEvictionTask{FromCluster: h.FromCluster, Reason: h.Reason, Producer: h.Producer}
	for i := range b.Spec.GracefulEvictionTasks {
		if k := &b.Spec.GracefulEvictionTasks[i]; k.FromCluster == h.FromCluster && h.CompletionTime == nil {
			fact.Task = *k
		}
	}
	return fact
}

func ended(b *store.Binding, h *api.FailoverRecord) messages.Fact {
	c := messages.ClusterName(h.FromCluster)
	if h.Outcome == "withdrawn" {
		return &messages.EvictionWithdrawn{Binding: b.Name(), Cluster: c, Clusters: b.Spec.Clusters}
	}
	return &messages.EvictionEnded{Binding: b.Name(), Cluster: c, Reason: h.Outcome, After: h.CompletionTime.Sub(h.StartTime.Time)}
}
