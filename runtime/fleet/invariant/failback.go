package invariant

import (
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/store"
)

// failbackTo notes where a binding may return to; nowhere: it is there, or has no such place.
func (m *Monitor) failbackTo(b messages.BindingName, clusters []api.TargetCluster) {
	if len(clusters) == 0 {
		delete(m.preferred, b)
		return
	}
	m.preferred[b] = clusters
}

// asksForAnother reports whether what was changed of a binding makes where it ran before another placement than is asked for.
func asksForAnother(changed string) bool {
	return changed == "resource" || changed == "replicas" || changed == "placement"
}

// failsBackNoMore notes that a binding has no place to return to any more, whatever its object says.
func (m *Monitor) failsBackNoMore(b messages.BindingName) {
	if _, told := m.preferred[b]; told {
		m.preferred[b] = nil
	}
}

// notePreferred notes where a binding may return to, as its object says, unless a fact told: one that was there before the monitor
// has not told since.
func (m *Monitor) notePreferred(b *store.Binding) {
	if _, told := m.preferred[b.Name()]; told || len(b.Status.Home) == 0 {
		return
	}
	clusters := lists.Of(b.Status.Home, func(h api.PreferredShare) api.TargetCluster { return h.TargetCluster })
	m.preferred[b.Name()] = clusters
}

// failsBackTo asks whether the binding ran, before it was evicted, on the cluster that has something back.
func (m *Monitor) failsBackTo(at time.Time, s *store.Store, b messages.BindingName, c messages.ClusterName) {
	if known := s.Binding(b); known != nil {
		m.notePreferred(known)
	}
	ran := api.FindTarget(m.preferred[b], string(c)) >= 0
	m.check(FailsBack, ran, Violation{At: at, Binding: b, Cluster: c}, "it returns there, and did not run there before it was evicted")
}

// failbackStarted asks where a failback goes: to an earlier affinity group, or to clusters that ran the workload before.
func (m *Monitor) failbackStarted(at time.Time, s *store.Store, f *messages.FailbackStarted) {
	m.check(FailsBack, f.Affinity != "" || len(f.Clusters) > 0, Violation{At: at, Binding: f.Binding}, "it returns, and has no place to return to")
	for i := range f.Clusters {
		m.failsBackTo(at, s, f.Binding, messages.ClusterName(f.Clusters[i].Name))
	}
}
