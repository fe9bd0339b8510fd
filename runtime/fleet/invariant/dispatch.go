package invariant

import (
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// noteDestinations notes which clusters took over from those that a binding leaves: of a task that has ended, its object tells no more.
func (m *Monitor) noteDestinations(b *store.Binding) {
	if !m.settings.DestinationsMustHear {
		return
	}
	delete(m.replacements, b.Name())
	for i := range b.Spec.GracefulEvictionTasks {
		k := &b.Spec.GracefulEvictionTasks[i]
		if len(k.ReplacedBy) == 0 {
			continue
		}
		if m.replacements[b.Name()] == nil {
			m.replacements[b.Name()] = map[messages.ClusterName][]api.TargetCluster{}
		}
		m.replacements[b.Name()][messages.ClusterName(k.FromCluster)] = k.ReplacedBy
	}
}

// destinationsHear asks of a placement that nothing comes to a cluster that is told nothing. What runs there already
// comes back: its eviction was withdrawn, or it gives way to nothing else.
func (m *Monitor) destinationsHear(at time.Time, s *store.Store, f *messages.Scheduled) {
	b := s.Binding(f.Binding)
	if b == nil || !m.settings.DestinationsMustHear || m.edited[f.Binding] || m.batch.remade[f.Binding] || b.Spec.Suspension == nil || b.Spec.Suspension.DispatchingOnClusters == nil {
		return
	}
	for _, c := range b.Spec.Suspension.DispatchingOnClusters.ClusterNames {
		name := messages.ClusterName(c)
		comes := api.FindTarget(f.Clusters, c) >= 0 && api.FindTarget(f.Before, c) < 0 && !m.runs(b, name)
		m.check(DestinationsHear, !comes, Violation{At: at, Binding: f.Binding, Cluster: name}, "it is placed there, because %s, and dispatching is suspended", f.Trigger)
	}
	if !m.settings.EvictionNeedsDestination {
		return // an eviction does not wait for who takes over: successorsHeard asks that the old copy does
	}
	for _, t := range f.Takeovers {
		for _, by := range t.By {
			suspended := by.Replicas > 0 && slices.Contains(b.Spec.Suspension.DispatchingOnClusters.ClusterNames, by.Name)
			m.check(DestinationsHear, !suspended, Violation{At: at, Binding: f.Binding, Cluster: messages.ClusterName(by.Name)}, "it takes %d replicas over from %s, and dispatching is suspended", by.Replicas, t.From)
		}
	}
}

// successorsHeard asks, where an old copy is removed, that whatever took over from it was told to run. Without keepLastCopy a
// handover ends at its timeout, or with any report of health, whatever runs elsewhere.
func (m *Monitor) successorsHeard(at time.Time, s *store.Store, f *messages.EvictionEnded) {
	b := s.Binding(f.Binding)
	if b == nil || !m.settings.DestinationsMustHear || !m.settings.KeepLastCopy || m.real || m.edited[f.Binding] || f.Reason != messages.EndedHealthy && f.Reason != messages.EndedTimeout {
		return
	}
	for _, by := range m.replacements[f.Binding][f.Cluster] {
		name, i := messages.ClusterName(by.Name), api.FindTarget(b.Spec.Clusters, by.Name)
		if i < 0 || !b.Spec.Suspension.Dispatch(by.Name) || !m.hears(at, name) {
			continue
		}
		v := Violation{At: at, Binding: f.Binding, Cluster: f.Cluster}
		k := m.copies.find(f.Binding, name)
		m.check(DestinationsHear, k != nil && k.runs && k.replicas >= b.Spec.Clusters[i].Pods(), v, "the old copy goes (%s), and %s, which took over, was not told to run %d replicas", f.Reason, name, b.Spec.Clusters[i].Pods())
	}
}

// runs reports whether a copy is known to run on a cluster.
func (m *Monitor) runs(b *store.Binding, on messages.ClusterName) bool {
	if m.real {
		return b.Status.Of(string(on)) != nil
	}
	k := m.copies.find(b.Name(), on)
	return k != nil && k.runs
}
