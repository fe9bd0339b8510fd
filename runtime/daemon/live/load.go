package live

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/store"
)

// load takes over what the engine holds, as it holds it.
func (f *Fleet) load(ctx context.Context) error {
	reports := f.readReports()
	var objects, others []api.Object
	var rows []*engine.Row
	for _, r := range catalog.Kept() {
		if r.Numerous() {
			continue
		}
		err := f.loadAll(r, func(_ string, row *engine.Row, o engine.Object) {
			if belongs(r) {
				objects, rows = append(objects, o), append(rows, row)
			} else {
				others = append(others, o)
			}
		})
		if err != nil {
			return err
		}
	}
	for _, c := range f.forcedOut(objects) { // machines taint them, for nothing is known of them, which stores them again
		objects, rows = append(objects, c), append(rows, nil)
	}
	if f.rooms.reserved = f.config.Settings.CapacityReservation; f.rooms.reserved {
		store.WithoutOwn(objects)
	}
	f.world.Load(func(yield func(api.Object, store.Row) bool) {
		for i, o := range objects {
			if !yield(o, rowOf(rows[i])) {
				return
			}
		}
	})
	f.world.Store().EachBinding(func(b *store.Binding) { f.sums.put(b.Name()) }) // a crash may have left them behind
	f.loadOverrides()
	if err := f.loadTemplates(); err != nil {
		return err
	}
	f.world.Store().Track()
	f.observeLeases(others)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f.recover()
	f.world.ReleaseDependencies(f.endOrphans())
	select {
	case <-ctx.Done(): // what is read on is not used
		return context.Cause(ctx)
	case read := <-reports:
		if err := f.takeReports(read); err != nil {
			return err
		}
	}
	for _, o := range f.world.Store().List("Cluster") {
		f.joining = append(f.joining, messages.ClusterName(o.GetName()))
		f.reconcileDrain(o.(*api.Cluster))
		if joins(o) { // it was made while no daemon ran
			f.world.Store().Note(api.KeyOf(o))
		}
	}
	return nil
}

// forcedOut are clusters that are not stored though workloads are placed there, or are evicted from there: such a one was taken out of
// the store, and no daemon made it again. It is being deleted until they have left it.
func (f *Fleet) forcedOut(objects []api.Object) (forced []*api.Cluster) {
	stored, named := map[string]bool{}, map[string]bool{}
	for _, o := range objects {
		if c, is := o.(*api.Cluster); is {
			stored[c.Name] = true
		}
		b := store.AsBinding(o)
		if b == nil {
			continue
		}
		for name := range b.Copies() {
			named[string(name)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !stored[name] {
			now := metav1.Time{Time: f.world.Now()}
			c := &api.Cluster{ObjectMeta: metav1.ObjectMeta{
				Name: name, UID: uuid.NewUUID(), CreationTimestamp: now, DeletionTimestamp: &now, Generation: 1, Finalizers: []string{ClusterFinalizer},
			}}
			c.SetGroupVersionKind(catalog.Clusters.Kind)
			forced = append(forced, c)
		}
	}
	return forced
}

// recover brings the machines to life, and lets the invariants meet what they find.
func (f *Fleet) recover() {
	if f.following != nil {
		f.world.Recover()
		return
	}
	met := f.monitor()
	f.world.Recover()
	<-met
}

// monitor has the invariants meet the fleet as it is, on a goroutine of their own; what it returns is closed then.
func (f *Fleet) monitor() <-chan struct{} {
	met := make(chan struct{})
	if f.config.Unmonitored {
		close(met)
		return met
	}
	now := f.world.Now()
	f.invariants.monitor = invariant.Watch(f.config.Settings, now, f.world.Store())
	go func() {
		defer close(met)
		defer f.invariants.time(f.config.Clock)()
		f.invariants.monitor.Meet(now, f.world.Store())
	}()
	return met
}

// endOrphans ends the bindings whose workloads were deleted while no daemon ran, and returns them. That a policy made it for a workload says
// that there was one.
func (f *Fleet) endOrphans() (orphans []messages.BindingName) {
	f.world.Store().EachBinding(func(b *store.Binding) {
		of := b.Spec.Resource.Key()
		if r := catalog.Of(of); r != nil && r.Template() && b.Owner() != "" && !f.world.Store().Has(of) {
			orphans = append(orphans, b.Name())
		}
	})
	slices.Sort(orphans)
	for _, name := range orphans {
		f.world.End(name)
	}
	return orphans
}

// loadAll visits the objects of a resource, and notes that the world has heard of them.
func (f *Fleet) loadAll(r *catalog.Resource, visit func(place string, row *engine.Row, o engine.Object)) error {
	table := f.config.Engine.Table(r.Name())
	if table == nil {
		return nil
	}
	all := table.Snapshot()
	f.loaded[r] = all.Version
	return all.Read(visit)
}

func (f *Fleet) loadTemplates() error {
	for _, r := range catalog.Kept() {
		if !r.Template() {
			continue
		}
		err := f.loadAll(r, func(_ string, row *engine.Row, o engine.Object) { f.world.LoadTemplate(o, row) })
		if err != nil {
			return err
		}
	}
	return nil
}
