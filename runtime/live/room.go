package live

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/catalog"
	"leeward/runtime/engine"
	"leeward/runtime/store"
)

// rooms are the clusters of which the room is to be told anew. The world reserves room for what it places for as long
// as that is placed, so that what agents report as taken is told to it without the copies that serve. They are counted
// once in each second of the machines' time: a storm has many reports in one.
type rooms struct {
	stale map[messages.ClusterName]bool
	told  time.Time
}

// hear marks the cluster of a copy that serves with more replicas, or fewer.
func (r *rooms) hear(fact messages.Fact) {
	switch fact := fact.(type) {
	case *messages.HealthChanged:
		r.stale[fact.Cluster] = true
	case *messages.HealthForgotten:
		r.stale[fact.Cluster] = true
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
	own := usage{}
	f.world.Store().EachBinding(func(b *store.Binding) { own.count(b, f.rooms.stale) })
	table := f.config.Engine.Table(catalog.Clusters.Name())
	for _, name := range slices.Sorted(maps.Keys(f.rooms.stale)) {
		if o, _ := table.Get(engine.Key(catalog.Clusters.Name(), "", string(name))); o != nil {
			f.world.TellCluster(name, &messages.ResourcesReported{Summary: own.others(name, o.(*api.Cluster).Status.ResourceSummary)})
		}
	}
	clear(f.rooms.stale)
	f.rooms.told = now
}

// usage is what copies that serve take of each cluster: cpu in thousandths, all else in whole units.
type usage map[messages.ClusterName]map[corev1.ResourceName]int64

// count adds the copies of a binding on some clusters. Those of several components report no replicas of each.
func (u usage) count(b *store.Binding, on map[messages.ClusterName]bool) {
	for i := range b.Status.AggregatedStatus {
		item := &b.Status.AggregatedStatus[i]
		name := messages.ClusterName(item.ClusterName)
		if item.ReadyReplicas <= 0 || len(b.Spec.Components) > 0 || on != nil && !on[name] {
			continue
		}
		if u[name] == nil {
			u[name] = map[corev1.ResourceName]int64{}
		}
		u[name][corev1.ResourcePods] += int64(item.ReadyReplicas)
		if b.Spec.ReplicaRequirements == nil {
			continue
		}
		for what, each := range b.Spec.ReplicaRequirements.ResourceRequest { // order-free: sums
			u[name][what] += int64(item.ReadyReplicas) * api.Units(what, each)
		}
	}
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
		if b := store.AsBinding(o); b != nil {
			own.count(b, nil)
		}
	}
	for i, o := range objects {
		if c, is := o.(*api.Cluster); is {
			others := *c
			others.Status.ResourceSummary = own.others(messages.ClusterName(c.Name), c.Status.ResourceSummary)
			objects[i] = &others
		}
	}
}
