package invariant

import (
	"reflect"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/store"
)

// scheduled notes who is where, and who got replicas there.
func (m *Monitor) scheduled(at time.Time, s *store.Store, f *messages.Scheduled) {
	m.limits.shrunk(m.dropped(f))
	if len(f.Clusters) > len(f.Before) {
		m.limits.grown()
	}
	m.grownBy(s, f)
	m.apply(f.Binding, f.Applied)
	m.arrive(at, f)
	m.decided = append(m.decided, decision{f, m.newcomers(f), m.left[f.Binding]})
	if len(f.Clusters) == 0 || m.dropped(f) > 0 && m.batch.let[f.Binding] {
		m.batch.forsaken[f.Binding] = true
	}
	capacity := byCapacity(f.Applied)
	for _, c := range f.Clusters {
		if !gains(f.Before, c) {
			continue
		}
		name := messages.ClusterName(c.Name)
		if others, some := m.gained[name]; capacity && (!some || others != nil) {
			m.gained[name] = append(others, f.Binding)
		} else {
			m.gained[name] = nil
		}
	}
}

// grownBy notes the regions to which a placement brings copies, perhaps from another.
func (m *Monitor) grownBy(s *store.Store, f *messages.Scheduled) {
	if m.settings.RegionBreakerShare == 0 {
		return
	}
	for _, c := range f.Clusters {
		if api.FindTarget(f.Before, c.Name) < 0 {
			delete(m.limits.counted, scope{region: regionOf(s, messages.ClusterName(c.Name))})
		}
	}
}

// dropped counts the clusters that a placement does without and that no task evicts from.
func (m *Monitor) dropped(f *messages.Scheduled) (n int) {
	for _, c := range f.Before {
		kept := api.FindTarget(f.Clusters, c.Name) >= 0
		if !kept && !m.begun[evictedFrom{f.Binding, messages.ClusterName(c.Name)}] {
			n++
		}
	}
	return n
}

// apply notes the placement that a binding goes by, where its tolerations count.
func (m *Monitor) apply(b messages.BindingName, p *api.Placement) {
	if m.settings.TolerationSource != messages.SourceAppliedPlacement {
		return
	}
	if old, known := m.applied[b]; !known || !reflect.DeepEqual(old, p) {
		m.applied[b], m.batch.reapplied[b] = p, true
	}
}

// cleared notes a placement that is void: its copies end, and what was asked for counts as applied.
func (m *Monitor) cleared(f *messages.ScheduleFailed) {
	if f.Cleared {
		m.limits.shrunk(len(f.Before))
		delete(m.applied, f.Binding)
		m.batch.reapplied[f.Binding] = true
	}
}

func gains(before []api.TargetCluster, c api.TargetCluster) bool {
	i := api.FindTarget(before, c.Name)
	return i < 0 || before[i].Replicas < c.Replicas
}

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
