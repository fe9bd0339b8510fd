package invariant

import (
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// scaledToZero asks that nothing remains of a workload that is to run no replicas: no target, no task, no copy. Clusters
// that cannot be reached hear of it later, and a person who suppresses a deletion keeps that copy.
func (m *Monitor) scaledToZero(now time.Time, s *store.Store, b *store.Binding) {
	if !asksForNothing(b) || !m.placedByUs(b) {
		return
	}
	for i := range b.Spec.Clusters {
		t := &b.Spec.Clusters[i]
		v := Violation{At: now, Binding: b.Name(), Cluster: messages.ClusterName(t.Name)}
		m.check(ScaledToZero, t.Replicas == 0, v, "%d replicas are placed", t.Replicas)
	}
	for i := range b.Spec.GracefulEvictionTasks {
		k := &b.Spec.GracefulEvictionTasks[i]
		v := Violation{At: now, Binding: b.Name(), Cluster: messages.ClusterName(k.FromCluster)}
		m.check(ScaledToZero, k.Replicas == nil || k.SuppressDeletion != nil, v, "an eviction task remains")
	}
	for _, k := range m.copies.of[b.Name()] {
		if k.runs && k.replicas > 0 && m.hears(now, k.cluster) && s.Cluster(k.cluster) != nil && !kept(b, string(k.cluster)) {
			m.check(ScaledToZero, false, Violation{At: now, Binding: b.Name(), Cluster: k.cluster}, "%d replicas run", k.replicas)
		}
	}
}

// asksForNothing reports whether a binding asks for no replicas. What has none by its kind asks for none either: it has
// targets and copies without replicas, which are not what this is about.
func asksForNothing(b *store.Binding) bool {
	return b.Spec.Replicas == 0 && !slices.ContainsFunc(b.Spec.Components, func(c api.Component) bool { return c.Replicas > 0 })
}

// placedByUs reports whether the scheduler has placed a binding as it is now, or can whatever clusters there are.
func (m *Monitor) placedByUs(b *store.Binding) bool {
	if b.Owner() == "" || b.Spec.Placement == nil || len(b.Spec.RequiredBy) > 0 {
		return false
	}
	suspended := b.Spec.Suspension != nil && b.Spec.Suspension.Scheduling != nil && *b.Spec.Suspension.Scheduling
	ours := b.Spec.SchedulerName == "" || b.Spec.SchedulerName == api.DefaultScheduler
	return ours && !suspended && (m.settings.ZeroReplicasNeedNoCluster || settled(b))
}

// kept reports whether a person has a task keep the old copy on a cluster.
func kept(b *store.Binding, cluster string) bool {
	return slices.ContainsFunc(b.Spec.GracefulEvictionTasks, func(k api.GracefulEvictionTask) bool {
		return k.FromCluster == cluster && k.SuppressDeletion != nil && *k.SuppressDeletion
	})
}
