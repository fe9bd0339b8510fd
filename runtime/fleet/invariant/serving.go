package invariant

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"leeward/actors/rules/budget"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// take notes what an eviction takes away directly.
func (m *Monitor) take(s *store.Store, f *messages.EvictionStarted) {
	b, k := s.Binding(f.Binding), m.copies.find(f.Binding, f.Cluster)
	if b == nil || k == nil || !purged(f.Task) {
		return
	}
	n := min(k.ready, k.replicas)
	if b.Spec.Replicas == 0 && len(b.Spec.Components) == 0 && k.health == api.Healthy {
		n = 1 // as the copy of a resource without replicas counts
	}
	m.budgeted.took[evictedFrom{f.Binding, f.Cluster}] = n
}

// lose notes what ceases to serve otherwise.
func (m *Monitor) lose(b messages.BindingName, c messages.ClusterName, ready int32) {
	_, taken := m.budgeted.took[evictedFrom{b, c}]
	if k := m.copies.find(b, c); k != nil && !taken {
		m.budgeted.lost += int64(max(0, served(k)-ready))
	}
}

// served is how many replicas of a copy serve at the most.
func served(k *copyOf) int32 {
	if k.health == api.Healthy {
		return max(1, k.ready)
	}
	return k.ready
}

// servingKept asks a budget whether, after the evictions of the instant, enough replicas serve. Whatever else ceased to
// serve in it did so after them, for all that is known.
func (m *Monitor) servingKept(s *store.Store, g *messages.Budget) {
	if g.Spec.MinAvailable == nil && g.Spec.MaxUnavailable == nil || len(m.edited) > 0 || m.budgeted.fewer || m.limits.gone >= endless {
		return
	}
	asked := map[account]bool{}
	for _, e := range m.batch.started {
		f := e.fact
		of, d := accountOf(g, f.Binding), evictedFrom{f.Binding, f.Cluster}
		if asked[of] || m.budgeted.exceeded[d] || !m.bounds(s, g, f) || !m.minds(s, f) {
			continue
		}
		asked[of] = true
		expected, serve := int64(0), m.budgeted.lost
		m.eachIn(s, g, of, func(b *store.Binding) {
			expected += m.least(b)
			serve += min(m.serving(s, b), replicas(b))
		})
		desired := budget.Desired(g.Spec, expected)
		m.check(BudgetsKept, serve >= desired, Violation{At: e.at, Binding: f.Binding, Cluster: f.Cluster}, "budget %s: %d replicas serve and %d have to", g.Name, serve, desired)
	}
}

// minds reports whether an eviction certainly took replicas away that served: more are wanted than serve without them.
func (m *Monitor) minds(s *store.Store, f *messages.EvictionStarted) bool {
	b := s.Binding(f.Binding)
	took := m.budgeted.took[evictedFrom{f.Binding, f.Cluster}] > 0 && isReady(s, f.Cluster) && !m.judged[f.Cluster]
	return took && m.serving(s, b)+m.budgeted.lost < m.least(b)
}

// serving is how many replicas of a binding serve at the most, without those that are taken away directly.
func (m *Monitor) serving(s *store.Store, b *store.Binding) (sum int64) {
	for i := range m.copies.of[b.Name()] {
		k := &m.copies.of[b.Name()][i]
		if _, taken := m.budgeted.took[evictedFrom{b.Name(), k.cluster}]; taken || purges(b, k.cluster) {
			continue
		}
		if isReady(s, k.cluster) || m.judged[k.cluster] {
			sum += int64(served(k))
		}
	}
	return sum
}

// purges reports whether a binding leaves a cluster directly.
func purges(b *store.Binding, c messages.ClusterName) bool {
	k := b.Spec.TaskFrom(string(c))
	return k != nil && purged(*k)
}

func isReady(s *store.Store, name messages.ClusterName) bool {
	c := s.Cluster(name)
	return c != nil && meta.IsStatusConditionTrue(c.Status.Conditions, api.ConditionReady)
}

// least is how many replicas a binding certainly was to have before the instant: those asked for, or, where every
// cluster runs all of them, those on the clusters that it has kept.
func (m *Monitor) least(b *store.Binding) (sum int64) {
	if divides(b) && len(b.Spec.Components) <= 1 {
		return int64(b.Spec.Replicas)
	}
	for _, t := range b.Spec.Clusters {
		if _, came := m.gained[messages.ClusterName(t.Name)]; !came {
			sum += int64(max(1, t.Pods()))
		}
	}
	return sum
}
