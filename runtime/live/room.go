package live

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/catalog"
	"leeward/runtime/engine"
	"leeward/runtime/store"
)

// rooms are the clusters of which the room is to be told anew. The world reserves room for what it places for as long
// as that is placed, so that what agents report as taken is told to it without the copies that serve. They are told
// once in each second of the machines' time: a storm has many reports in one.
type rooms struct {
	stale map[messages.ClusterName]bool
	told  time.Time
	// own is what copies take by the bindings of the store, of each resource as of a version; nil until somebody asks.
	own  usage
	asOf map[*catalog.Resource]int64
}

// follow marks the clusters of copies that serve with more replicas, or fewer, by the change of a binding.
func (r *rooms) follow(of *catalog.Resource, c *engine.Change) {
	if of != catalog.Bindings && of != catalog.ClusterBindings {
		return
	}
	now, before := store.AsBinding(c.Object), store.AsBinding(c.Previous())
	if takeAlike(now, before) {
		return
	}
	for _, b := range [...]*store.Binding{now, before} {
		for _, item := range itemsOf(b) {
			r.stale[messages.ClusterName(item.ClusterName)] = true
		}
	}
	if r.own != nil && c.Version > r.asOf[of] {
		r.own.count(before, -1)
		r.own.count(now, 1)
	}
}

// count counts what all copies take, once: what changes is followed from then on.
func (r *rooms) count(e *engine.Engine) {
	if r.own != nil {
		return
	}
	r.own, r.asOf = usage{}, map[*catalog.Resource]int64{}
	for _, of := range [...]*catalog.Resource{catalog.Bindings, catalog.ClusterBindings} {
		if table := e.Table(of.Name()); table != nil {
			all := table.Snapshot()
			r.asOf[of] = all.Version
			for _, o := range all.Under("", "") {
				r.own.count(store.AsBinding(o), 1)
			}
		}
	}
}

// due is when the rooms are told next; zero: none is stale.
func (r *rooms) due() time.Time {
	if len(r.stale) == 0 {
		return time.Time{}
	}
	return r.told.Add(time.Second)
}

// tellRooms tells clusters what others than Leeward's copies take of them.
func (f *Fleet) tellRooms() {
	now := f.config.Clock.Now().UTC().Truncate(time.Second)
	if len(f.rooms.stale) == 0 || now.Before(f.rooms.due()) && !now.Before(f.rooms.told) {
		return
	}
	f.rooms.count(f.config.Engine)
	table := f.config.Engine.Table(catalog.Clusters.Name())
	for _, name := range slices.Sorted(maps.Keys(f.rooms.stale)) {
		if o, _ := table.Get(engine.Key(catalog.Clusters.Name(), "", string(name))); o != nil {
			f.world.TellCluster(name, &messages.ResourcesReported{Summary: f.rooms.own.others(name, o.(*api.Cluster).Status.ResourceSummary)})
		}
	}
	clear(f.rooms.stale)
	f.rooms.told = now
}

// usage is what copies that serve take of each cluster: cpu in thousandths, all else in whole units.
type usage map[messages.ClusterName]map[corev1.ResourceName]int64

// count adds the copies of a binding so many times; nil has none. Those of several components report no replicas of each.
func (u usage) count(b *store.Binding, times int64) {
	for _, item := range itemsOf(b) {
		name, ready := messages.ClusterName(item.ClusterName), times*int64(store.ReadyReplicas(&item))
		if ready == 0 || len(b.Spec.Components) > 0 {
			continue
		}
		if u[name] == nil {
			u[name] = map[corev1.ResourceName]int64{}
		}
		u[name][corev1.ResourcePods] += ready
		if b.Spec.ReplicaRequirements == nil {
			continue
		}
		for what, each := range b.Spec.ReplicaRequirements.ResourceRequest { // order-free: sums
			u[name][what] += ready * api.Units(what, each)
		}
	}
}

func itemsOf(b *store.Binding) []api.AggregatedStatusItem {
	if b == nil {
		return nil
	}
	return b.Status.AggregatedStatus
}

// takeAlike reports whether the copies of a binding take what they took before.
func takeAlike(now, before *store.Binding) bool {
	return now != nil && before != nil && len(now.Spec.Components) == len(before.Spec.Components) &&
		(now.Spec.ReplicaRequirements == before.Spec.ReplicaRequirements || equality.Semantic.DeepEqual(now.Spec.ReplicaRequirements, before.Spec.ReplicaRequirements)) &&
		slices.EqualFunc(now.Status.AggregatedStatus, before.Status.AggregatedStatus, serveAlike)
}

func serveAlike(a, b api.AggregatedStatusItem) bool {
	return a.ClusterName == b.ClusterName && (a.Status == b.Status && a.ReadyReplicas == b.ReadyReplicas || store.ReadyReplicas(&a) == store.ReadyReplicas(&b))
}

// others is what a cluster reports, without what Leeward's own copies take of it.
func (u usage) others(name messages.ClusterName, reported *api.ResourceSummary) *api.ResourceSummary {
	if reported == nil || len(reported.Allocated) == 0 || len(u[name]) == 0 {
		return reported
	}
	rest := *reported
	rest.Allocated = maps.Clone(reported.Allocated)
	for what, taken := range reported.Allocated { // order-free: each by itself
		left := max(0, api.Units(what, taken)-u[name][what])
		if what == corev1.ResourceCPU {
			rest.Allocated[what] = *resource.NewMilliQuantity(left, taken.Format)
		} else {
			rest.Allocated[what] = *resource.NewQuantity(left, taken.Format)
		}
	}
	return &rest
}

// withoutOwn has clusters that are loaded say what others take of them, as far as bindings that are loaded tell.
func withoutOwn(objects []api.Object) {
	own := usage{}
	for _, o := range objects {
		own.count(store.AsBinding(o), 1)
	}
	for i, o := range objects {
		if c, is := o.(*api.Cluster); is {
			others := *c
			others.Status.ResourceSummary = own.others(messages.ClusterName(c.Name), c.Status.ResourceSummary)
			objects[i] = &others
		}
	}
}
