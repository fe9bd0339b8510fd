package invariant

import (
	"reflect"
	"time"

	"leeward/messages"
	"leeward/messages/api"
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
