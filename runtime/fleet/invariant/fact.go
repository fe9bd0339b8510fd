package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// neverEarly holds an eviction to its reason: the deadline has come, and follows from the taint and the
// toleration; without a toleration none covers the taint.
func (m *Monitor) neverEarly(now time.Time, s *store.Store, f *messages.EvictionStarted) {
	g := &f.Grounds
	if g.Reason != api.EvictionReasonTaintUntolerated || g.Taint == nil {
		return
	}
	v := Violation{At: now, Binding: f.Binding, Cluster: f.Cluster}
	m.check(NeverEarly, !now.Before(g.Deadline), v, "the deadline is %s later", g.Deadline.Sub(now))
	added := m.added(s, f.Cluster, g.Taint)
	m.check(NeverEarly, added != nil, v, "the cluster has no taint %s:%s", g.Taint.Key, g.Taint.Effect)
	if t := g.Toleration; t != nil && t.TolerationSeconds != nil && added != nil && !added.IsZero() {
		at := added.Add(actors.Seconds(*t.TolerationSeconds))
		m.check(NeverEarly, !now.Before(at), v, "the taint is tolerated for another %s", at.Sub(now))
		return
	}
	b := s.Binding(f.Binding)
	if b == nil || m.edited[f.Binding] || m.batch.reapplied[f.Binding] {
		return // the tolerations that it left by are no longer known
	}
	tolerations, _ := m.tolerations(b)
	for i := range tolerations {
		covers := tolerations[i].TolerationSeconds == nil && taint.Tolerates(&tolerations[i], g.Taint, m.settings.NumericTolerations)
		m.check(NeverEarly, !covers, v, "the taint %s is tolerated for good", g.Taint.Key)
	}
}

// added is when a cluster got a taint that it has, or lost in this instant; nil: it has none.
func (m *Monitor) added(s *store.Store, name messages.ClusterName, t *corev1.Taint) *time.Time {
	c := s.Cluster(name)
	if c == nil {
		return &time.Time{} // it left in this instant
	}
	taints := append(slices.Clip(c.Spec.Taints), m.batch.untainted[name]...)
	i := taint.Find(taints, t.Key, t.Effect)
	switch {
	case i < 0:
		return nil
	case taints[i].TimeAdded == nil:
		return &time.Time{}
	default:
		return &taints[i].TimeAdded.Time
	}
}

// leftByTask asks for a task wherever a decision does without a cluster that is still there.
func (m *Monitor) leftByTask(now time.Time, s *store.Store, f *messages.Scheduled) {
	if !m.settings.GracefulMoves || len(f.Clusters) == 0 {
		return
	}
	for _, c := range f.Before {
		name := messages.ClusterName(c.Name)
		if s.Cluster(name) == nil || api.FindTarget(f.Clusters, c.Name) >= 0 {
			continue
		}
		m.check(RemovedByTask, m.begun[evictedFrom{f.Binding, name}], Violation{At: now, Binding: f.Binding, Cluster: name}, "another placement drops the cluster, because %s", f.Trigger)
	}
}

// lastCopyKept asks for another copy that can serve when an old one is let go. Who leaves directly has
// chosen to have none for a while, and who is scaled to nothing for good. Whether another did is not known where a later
// placement of the instant has ended that, too.
func (m *Monitor) lastCopyKept(now time.Time, s *store.Store, f *messages.EvictionEnded) {
	b := s.Binding(f.Binding)
	if b == nil || !m.settings.KeepLastCopy || f.Reason != messages.EndedHealthy && f.Reason != messages.EndedTimeout {
		return
	}
	if m.batch.forsaken[f.Binding] || slices.ContainsFunc(b.Spec.GracefulEvictionTasks, purged) {
		return
	}
	m.check(LastCopyKept, m.anotherServes(now, b, f.Cluster), Violation{At: now, Binding: f.Binding, Cluster: f.Cluster}, "the old copy goes (%s) and no other can serve", f.Reason)
}

// anotherServes reports whether a copy on another cluster than the one that is evicted from can serve.
func (m *Monitor) anotherServes(now time.Time, b *store.Binding, left messages.ClusterName) bool {
	if m.real {
		return slices.ContainsFunc(b.Status.AggregatedStatus, func(r api.AggregatedStatusItem) bool {
			return r.ClusterName != string(left) && r.Health == api.Healthy
		})
	}
	return slices.ContainsFunc(m.copies.of[b.Name()], func(k copyOf) bool { return k.runs && m.serves(now, &k) })
}
