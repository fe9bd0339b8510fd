package store

import (
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
)

// descheduled lowers a cluster's share.
func (b *Binding) descheduled(at time.Time, f *messages.BindingDescheduled) bool {
	changed := b.waits(f.Waiting)
	if slices.Equal(b.Spec.Clusters, f.Clusters) {
		return changed
	}
	b.evictionsOutside(f.Clusters)
	b.Spec.Clusters = f.Clusters
	b.Meta.Generation++
	b.judgeFullyApplied(at)
	return true
}

// waits writes which replicas clusters cannot start.
func (b *Binding) waits(replicas []api.UnschedulableReplicas) bool {
	if slices.Equal(b.Status.Unschedulable, replicas) {
		return false
	}
	b.Status.Unschedulable = replicas
	return true
}
