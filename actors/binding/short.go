package binding

import (
	"fmt"
	"slices"

	"leeward/actors/rules/eviction"
	"leeward/messages"
)

// shortage says how many replicas have no place yet; empty: all have one. Until then nothing that runs
// elsewhere may go, where the last copy is kept (K2).
func (b *Binding) shortage() string {
	if b.spec.Placement == nil || !b.hasReplicas() || b.duplicated() {
		return ""
	}
	missing := b.spec.Replicas
	for i := range b.targets {
		missing -= b.targets[i].replicas
	}
	if missing <= 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d replicas have no other place", missing, b.spec.Replicas)
}

// purges reports whether the old copy on one of the clusters would go before its replacement stands.
func (b *Binding) purges(leaving []messages.ClusterName) bool {
	return slices.ContainsFunc(leaving, func(c messages.ClusterName) bool {
		k := b.newTask(b.target(c))
		return !eviction.KeepsCopy(&k)
	})
}
