package store

import (
	"slices"

	"leeward/messages"
	"leeward/messages/api"
)

// evictionHeld notes why a cluster is not left yet, in place of what was noted before. Clusters stand in order
// of their names.
func (b *Binding) evictionHeld(f *messages.EvictionHeld) bool {
	h := api.HeldEviction{Cluster: string(f.Cluster), Reason: f.Reason, Message: f.Message, Until: microTime(f.Until)}
	held, _ := without(b.Status.HeldEvictions, heldOn(f.Cluster))
	i := slices.IndexFunc(held, func(o api.HeldEviction) bool { return o.Cluster > h.Cluster })
	if i < 0 {
		i = len(held)
	}
	b.Status.HeldEvictions = slices.Insert(slices.Clone(held), i, h)
	return true
}

// holdEnded forgets what was noted, because the cluster is left, or need not be.
func (b *Binding) holdEnded(cluster messages.ClusterName) (changed bool) {
	b.Status.HeldEvictions, changed = without(b.Status.HeldEvictions, heldOn(cluster))
	return changed
}

// holdsOutside forgets what was noted of clusters that are off the result.
func (b *Binding) holdsOutside(clusters []api.TargetCluster) {
	for _, h := range b.Status.HeldEvictions {
		if api.FindTarget(clusters, h.Cluster) < 0 {
			b.holdEnded(messages.ClusterName(h.Cluster))
		}
	}
}

func heldOn(cluster messages.ClusterName) func(api.HeldEviction) bool {
	return func(h api.HeldEviction) bool { return h.Cluster == string(cluster) }
}
