package store

import (
	"slices"

	"leeward/messages"
)

// dispatchSuspended notes a cluster that is not told what its copy must be, in the order of the names.
func (b *Binding) dispatchSuspended(cluster messages.ClusterName) bool {
	i, known := slices.BinarySearch(b.Status.DispatchSuspended, string(cluster))
	if known {
		return false
	}
	b.Status.DispatchSuspended = slices.Insert(slices.Clone(b.Status.DispatchSuspended), i, string(cluster))
	return true
}

func (b *Binding) dispatchResumed(cluster messages.ClusterName) (changed bool) {
	b.Status.DispatchSuspended, changed = without(b.Status.DispatchSuspended, func(c string) bool { return c == string(cluster) })
	return changed
}
