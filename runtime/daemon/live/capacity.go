package live

import (
	"maps"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

// rooms are the clusters of whose free capacity the scheduler must be told again. Where the scheduler reserves capacity for what
// is placed, for as long as that is placed (capacityReservation), it hears what agents report as taken without the copies that
// serve; where it does not, as they report it. It hears of them once in each second of the machines' time: a storm has many
// reports in one.
type rooms struct {
	stale map[messages.ClusterName]bool
	told  time.Time
	// reserved is whether the scheduler reserved capacity when they were told last.
	reserved bool
	// own is what copies take by the bindings of the store, of each resource as of a version; nil until it is asked for.
	own  store.ClusterUsage
	asOf map[*catalog.Resource]int64
}

// follow marks the clusters of copies that serve with more replicas, or fewer, by the change of a binding, and counts that unless
// it came before all were counted.
func (r *rooms) follow(now, before *store.Binding, counts bool) {
	if !r.reserved {
		return
	}
	for _, name := range store.TakenOn(now, before) {
		r.stale[name] = true
	}
	if r.own != nil && counts {
		r.own.Count(before, -1)
		r.own.Count(now, 1)
	}
}

// count counts what all copies take, once: what changes is followed from then on.
func (r *rooms) count(e *engine.Engine) {
	if r.own != nil {
		return
	}
	r.own, r.asOf = store.ClusterUsage{}, map[*catalog.Resource]int64{}
	for _, of := range [...]*catalog.Resource{catalog.Bindings, catalog.ClusterBindings} {
		if table := e.Table(of.Name()); table != nil {
			all := table.Snapshot()
			r.asOf[of] = all.Version
			for _, o := range all.Under("", "") {
				r.own.Count(store.AsBinding(o), 1)
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

// tellRooms tells clusters what is taken of them.
func (f *Fleet) tellRooms() {
	r := &f.rooms
	r.reserve(f.world)
	now := f.config.Clock.Now().UTC().Truncate(time.Second)
	if len(r.stale) == 0 || now.Before(r.due()) && !now.Before(r.told) {
		return
	}
	if r.reserved {
		r.count(f.config.Engine)
	}
	table := f.config.Engine.Table(catalog.Clusters.Name())
	for _, name := range slices.Sorted(maps.Keys(r.stale)) {
		if o, _ := table.Get(engine.Key(catalog.Clusters.Name(), "", string(name))); o != nil {
			f.world.TellCluster(name, &messages.ResourcesReported{Summary: r.own.Others(name, o.(*api.Cluster).Status.ResourceSummary)})
		}
	}
	clear(r.stale)
	r.told = now
}

// reserve has all capacity told again when the scheduler begins to reserve capacity, or ceases to.
func (r *rooms) reserve(w *world.World) {
	if reserves := w.Settings().CapacityReservation; reserves != r.reserved {
		r.reserved, r.own, r.asOf = reserves, nil, nil
		for _, o := range w.Store().List("Cluster") {
			r.stale[messages.ClusterName(o.GetName())] = true
		}
	}
}
