package store

import (
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
)

// returnAt notes when the resource returns to an earlier affinity group; zero: it does not.
func (b *Binding) returnAt(at time.Time) (changed bool) {
	changed = !instant(b.Status.ReturnAt).Equal(at)
	b.Status.ReturnAt = microTime(at)
	return changed
}

// failbackTargetsChanged notes what the resource's home is.
func (b *Binding) failbackTargetsChanged(f *messages.FailbackTargetsChanged) bool {
	had := len(b.Status.Home)
	b.Status.Home = nil
	for _, c := range f.Clusters {
		b.Status.Home = append(b.Status.Home, api.PreferredShare{TargetCluster: c})
	}
	return had+len(f.Clusters) > 0
}

// shareReturnsAt notes when a cluster has back what it ran before the eviction; zero: it does not.
func (b *Binding) shareReturnsAt(c messages.ClusterName, at time.Time) bool {
	i := slices.IndexFunc(b.Status.Home, func(h api.PreferredShare) bool { return h.Name == string(c) })
	if i < 0 || instant(b.Status.Home[i].ReturnAt).Equal(at) {
		return false
	}
	b.Status.Home = slices.Clone(b.Status.Home)
	b.Status.Home[i].ReturnAt = microTime(at)
	return true
}

// originalKept notes whether a cluster of home runs its old copy.
func (b *Binding) originalKept(c messages.ClusterName, kept bool) bool {
	i := slices.IndexFunc(b.Status.Home, func(h api.PreferredShare) bool { return h.Name == string(c) })
	if i < 0 || b.Status.Home[i].Kept == kept {
		return false
	}
	b.Status.Home = slices.Clone(b.Status.Home)
	b.Status.Home[i].Kept = kept
	return true
}

// failbackStarted ends the waits of what returns.
func (b *Binding) failbackStarted(f *messages.FailbackStarted) bool {
	changed := b.returnAt(time.Time{})
	for _, c := range f.Clusters {
		changed = b.shareReturnsAt(messages.ClusterName(c.Name), time.Time{}) || changed
		changed = b.originalKept(messages.ClusterName(c.Name), false) || changed
	}
	return changed
}

func (b *Binding) scaleDownEnded() (changed bool) {
	changed = b.Status.Shrinking != nil
	b.Status.Shrinking = nil
	return changed
}
