package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/descheduling"
	"leeward/messages"
	"leeward/messages/api"
)

// unschedulable are the replicas that members cannot start. Most bindings never have any: nil.
type unschedulable struct {
	// waiting are in order of time.
	waiting []api.UnschedulableReplicas
}

func (u *unschedulable) list() []api.UnschedulableReplicas {
	if u == nil {
		return nil
	}
	return u.waiting
}

// count notes how many replicas wait on a cluster.
func (u *unschedulable) count(v *view, now time.Time, cluster messages.ClusterName, replicas int32, out *actors.Outbox) {
	u.waiting = descheduling.Counted(u.waiting, string(cluster), replicas, now)
	out.Record(&messages.UnschedulableChanged{Binding: v.name, Cluster: cluster, Replicas: replicas, Waiting: u.waiting})
}

// deadline is when the first replicas that wait are given up; zero: none will be.
func (u *unschedulable) deadline(v *view) (first time.Time) {
	if u == nil || len(u.waiting) == 0 || !v.descheduled() {
		return time.Time{}
	}
	for i := range u.waiting {
		if w := &u.waiting[i]; v.targets.of(messages.ClusterName(w.ClusterName)) != nil {
			first = actors.Earlier(first, v.sweep(w))
		}
	}
	return first
}

// descheduled reports whether replicas that cannot start are given up at all: there must be a cluster to
// place them elsewhere.
func (v *view) descheduled() bool {
	return v.settings.EnableDescheduler && v.schedulable() && descheduling.Concerns(&v.spec.Resource, v.spec.Placement)
}

func (d *declared) sweep(w *api.UnschedulableReplicas) time.Time {
	return descheduling.Sweep(w.Since.Time, d.settings.UnschedulableThreshold, d.settings.DeschedulingInterval)
}

// due takes what has waited for too long on a cluster off what waits, and reports how much that is, and since when. What
// was due is due no more, whether or not something came of it.
func (u *unschedulable) due(v *view, now time.Time, cluster string) (replicas int32, since time.Time) {
	u.waiting = slices.DeleteFunc(slices.Clone(u.waiting), func(w api.UnschedulableReplicas) bool {
		if w.ClusterName != cluster || v.sweep(&w).After(now) {
			return false
		}
		replicas, since = replicas+w.Replicas, actors.Earlier(since, w.Since.Time)
		return true
	})
	return replicas, since
}
