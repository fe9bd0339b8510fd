package invariant

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/runtime/fleet/journal"
)

// batch is what was told together, of one instant or several.
type batch struct {
	// started are the evictions that did, of which the first asked were held to their instant already; released are the
	// old copies that were let go.
	started  []instantOf[*messages.EvictionStarted]
	asked    int
	released []instantOf[*messages.EvictionEnded]
	// untainted are the taints that clusters lost.
	untainted map[messages.ClusterName][]corev1.Taint
	// forsaken are the bindings that were placed nowhere, or went elsewhere immediately after an old copy had been let go;
	// let are those of whom one was, and reapplied those that go by another placement since.
	forsaken, let, reapplied map[messages.BindingName]bool
	// unhealthy is since when copies were that were evicted from.
	unhealthy map[evictedFrom]time.Time
	// remade are the bindings that were deleted: what their objects tell is of another one.
	remade map[messages.BindingName]bool
	// bindings and clusters are the instants of the last facts about them, where there are several instants.
	bindings map[messages.BindingName]time.Time
	clusters map[messages.ClusterName]time.Time
}

// instantOf is a fact with its instant.
type instantOf[F messages.Fact] struct {
	at   time.Time
	fact F
}

func newBatch() batch {
	return batch{
		untainted: map[messages.ClusterName][]corev1.Taint{}, forsaken: map[messages.BindingName]bool{},
		unhealthy: map[evictedFrom]time.Time{}, let: map[messages.BindingName]bool{}, reapplied: map[messages.BindingName]bool{},
		remade: map[messages.BindingName]bool{}, bindings: map[messages.BindingName]time.Time{}, clusters: map[messages.ClusterName]time.Time{},
	}
}

// begin notes what changes last, where facts are of several instants.
func (b *batch) begin(news []journal.Entry) {
	for i := range news {
		if f, is := news[i].Fact.(*messages.BindingDeleted); is {
			b.remade[f.Binding] = true
		}
	}
	if len(news) == 0 || news[0].At.Equal(news[len(news)-1].At) {
		return
	}
	for i := range news {
		switch f := news[i].Fact.(type) {
		case messages.AboutBinding:
			b.bindings[f.AboutBinding()] = news[i].At
		case messages.AboutCluster:
			b.clusters[f.AboutCluster()] = news[i].At
		}
	}
}

// current reports whether neither a binding nor a cluster has changed since an instant, for all that facts tell.
func (b *batch) current(at time.Time, name messages.BindingName, on messages.ClusterName) bool {
	return !b.bindings[name].After(at) && !b.clusters[on].After(at)
}

// news are the evictions that were not asked for yet.
func (b *batch) news() []instantOf[*messages.EvictionStarted] {
	news := b.started[b.asked:]
	b.asked = len(b.started)
	return news
}

func (b *batch) end() {
	b.started, b.released, b.asked = b.started[:0], b.released[:0], 0
	b.untainted, b.forsaken, b.let, b.reapplied = emptied(b.untainted), emptied(b.forsaken), emptied(b.let), emptied(b.reapplied)
	b.unhealthy, b.remade = emptied(b.unhealthy), emptied(b.remade)
	b.bindings, b.clusters = emptied(b.bindings), emptied(b.clusters)
}
