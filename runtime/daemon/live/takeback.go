package live

import (
	"slices"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// takeBack has a binding withdraw the evictions that were decided on before people held them and that are not committed, and
// reports whether there were any: it is written once they are withdrawn. So no eviction begins when the Governor's status shows
// a hold.
func (f *Fleet) takeBack(key api.Key) (took bool) {
	b := f.world.Store().Binding(bindingOf(key))
	if b == nil {
		return false
	}
	for i := range b.Spec.GracefulEvictionTasks {
		k := &b.Spec.GracefulEvictionTasks[i]
		from := messages.ClusterName(k.FromCluster)
		if eviction.Holdable(k.Reason) && f.world.Holds(b.Name(), from) && !f.stores(key, k.FromCluster) {
			f.world.TakeBack(b.Name(), from)
			took = true
		}
	}
	return took
}

// stores reports whether the engine has the eviction task of a binding for a cluster.
func (f *Fleet) stores(key api.Key, from string) bool {
	o, _ := f.stored(key)
	b := store.AsBinding(o)
	return b != nil && slices.ContainsFunc(b.Spec.GracefulEvictionTasks, func(k api.GracefulEvictionTask) bool { return k.FromCluster == from })
}
