package rehearsal

import (
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

// Departures tells when bindings would be evicted from a cluster for what is written of it, in order: those that are not evicted
// as it is now, or later. It asks the rule of tolerations and nothing else, which takes milliseconds in the largest fleet: what
// else may keep them, and who takes them over, is for a rehearsal.
func Departures(of iter.Seq[*store.Binding], before, after *api.Cluster, s *messages.Settings, now time.Time) []time.Time {
	if !s.Evicts() {
		return nil
	}
	was, is := taintsAt(before, now), taintsAt(after, now)
	var at []time.Time
	for b := range of {
		if b.Spec.Placement == nil || !slices.ContainsFunc(b.Spec.Clusters, func(t api.TargetCluster) bool { return t.Name == after.Name }) {
			continue
		}
		stays, ends := stay(was, b, s, now)
		if leaves, sooner := stay(is, b, s, now); sooner && (!ends || leaves.Before(stays)) {
			at = append(at, leaves)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	return at
}

// taintsAt are those of a cluster as machines would have them: one that is drained has more.
func taintsAt(c *api.Cluster, now time.Time) []corev1.Taint {
	taints := c.Spec.Taints
	if observed.DrainOf(c).Wanted {
		for _, swap := range taint.Draining(true) {
			taints, _ = swap.Apply(taints, now)
		}
	}
	return taints
}

// stay is until when a binding tolerates taints; false: for good.
func stay(taints []corev1.Taint, b *store.Binding, s *messages.Settings, now time.Time) (until time.Time, ends bool) {
	v := taint.Deadline(taints, b.Spec.Placement.ClusterTolerations, taint.Rule{Match: s.TolerationMatch, Numeric: s.NumericTolerations})
	if v.Outcome == taint.Untolerated {
		return now, true
	}
	return v.At, v.Outcome == taint.Until
}
