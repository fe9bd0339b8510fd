// Package karmada answers what machines ask where Karmada has a way of its own: its taint manager's re-lists, its timers and
// whole seconds, where it takes tolerations from, what it preserves, how its policies and its placement act. The machines know
// the questions only; which settings they depend on, and what Karmada does, is here.
package karmada

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/eviction"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// Ways are Karmada's ways, as far as the settings have them.
type Ways struct{ settings *messages.Settings }

// Of returns the ways of some settings.
func Of(s *messages.Settings) Ways { return Ways{s} }

// Time is the time of a taint or of an eviction task that is written now. Karmada writes whole seconds.
func (w Ways) Time(now time.Time) time.Time {
	if w.settings.WholeSecondTaintTimes {
		return now.Truncate(time.Second)
	}
	return now
}

// Relists reports whether tainted clusters are looked at from time to time, and changes beside their taints noticed only
// then, as Karmada's taint manager does.
func (w Ways) Relists() bool { return w.settings.TaintRelistPeriod > 0 }

// Noticed is when Karmada's taint manager acts on a deadline. One that moved closer, or is new, it notices when the
// cluster, listed since some time, is looked at again, or when its timer of the old deadline fires. News of taints is
// noticed immediately, and a deadline that moved away by the timer. A zero deadline or timer is none.
func (w Ways) Noticed(now, deadline, timer, listed time.Time, news bool) time.Time {
	if news || deadline.IsZero() || !timer.IsZero() && !deadline.Before(timer) {
		return deadline
	}
	look := taint.NextRelist(listed, w.settings.TaintRelistPeriod, now)
	if !timer.IsZero() && (look.IsZero() || timer.Before(look)) {
		look = timer
	}
	if look.After(deadline) {
		return look
	}
	return deadline
}

// Tolerations are those that count for evictions, and whether they are known at all. Karmada takes those of the placement
// that the scheduler applied last, and knows none before that (K24).
func (w Ways) Tolerations(wanted, applied *api.Placement) (tolerations []corev1.Toleration, known bool) {
	source := wanted
	if w.settings.TolerationSource == messages.SourceAppliedPlacement {
		source = applied
	}
	if source == nil {
		return nil, w.settings.TolerationSource == messages.SourcePlacement
	}
	return source.ClusterTolerations, true
}

// Rule is how tolerations match taints.
func (w Ways) Rule() taint.Rule {
	return taint.Rule{Match: w.settings.TolerationMatch, Numeric: w.settings.NumericTolerations}
}

// PersistentTimers reports whether application failover counts from the stored time of the first report that a copy was
// unhealthy. Karmada counts from when it first saw so since it started, and evicts when it looks (K15).
func (w Ways) PersistentTimers() bool { return w.settings.PersistentFailoverTimers }

// Unhealthy decides, at an instant, about a copy that counts as unhealthy since then, and was first reported so at seen:
// evict, or look again at recheck, where time alone changes anything.
func (w Ways) Unhealthy(since, seen time.Time, tolerationSeconds int32, now time.Time) (evict bool, recheck time.Time) {
	exact := w.settings.PersistentFailoverTimers || since.After(now)
	if !exact && !now.After(seen) {
		since = time.Time{} // first sight, which lasts for its instant
	}
	return eviction.Unhealthy(since, tolerationSeconds, now, exact)
}

// PreservesState reports whether a copy inherits the state of one that was evicted in a purge mode. Karmada hands it over
// only where the old copy goes first.
func (w Ways) PreservesState(mode api.PurgeMode) bool {
	return mode == api.PurgeDirectly || w.settings.StateForAnyPurgeMode
}

// PreservesEvicted reports whether preserveResourcesOnDeletion keeps copies on clusters that are evicted from, too, as in Karmada.
func (w Ways) PreservesEvicted() bool { return !w.settings.PreserveOnlyDeleted }

// ReturnsInNoTime reports whether the scheduler may bring a binding back to a cluster that it must leave, and that is noticed
// in the same instant.
func (w Ways) ReturnsInNoTime() bool {
	return !w.settings.PlacementHonoursDeadlines && !w.Relists()
}

// KeepsLastCopy reports whether the last healthy copy stays until another one is. Karmada removes it when its time is over (K1).
func (w Ways) KeepsLastCopy() bool { return w.settings.KeepLastCopy }

// EvictsToNowhere reports whether an eviction begins although no cluster would take the workload, as in Karmada (K1).
func (w Ways) EvictsToNowhere() bool { return !w.settings.EvictionNeedsDestination }

// WaitsForState reports whether application failover waits while the state that it is to take along cannot be read, as in Karmada (K25).
func (w Ways) WaitsForState() bool { return w.settings.EvictionNeedsState }

// ChoosesUntold reports whether a cluster is a destination although its Work is not dispatched, as in Karmada.
func (w Ways) ChoosesUntold() bool { return !w.settings.DestinationsMustHear }

// DependenciesStay reports whether what a workload refers to remains on a cluster for as long as its old copy. Karmada removes
// it when the eviction starts (K4).
func (w Ways) DependenciesStay() bool { return w.settings.DependenciesStay }

// HandoverHealth is which reports count as healthy in a handover. In Karmada any does (K3).
func (w Ways) HandoverHealth() string { return w.settings.HandoverHealth }

// WithdrawsOnRecovery reports whether an eviction is taken back when its taint goes before the handover is done. Karmada goes
// on with it (K7).
func (w Ways) WithdrawsOnRecovery() bool { return w.settings.WithdrawOnRecovery }
