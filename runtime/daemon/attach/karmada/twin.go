package karmada

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

// twin is the fleet as it would be if Leeward decided: machines that hear the inputs of the server, and whose decisions nothing but a
// comparison reads. It does no I/O and reads no clock, and belongs to one goroutine.
type twin struct {
	world *world.World
	// hear hears every fact. refused hears of objects of the server that the machines do not admit.
	hear    func(time.Time, messages.Fact)
	refused func(api.Key, error)
	// seen are the objects of the server as they were heard last, works what is kept of its Works.
	seen    map[api.Key]api.Object
	works   map[place]*work
	authors observed.Authors
	// leases are the renewals last heard of.
	leases map[messages.ClusterName]time.Time
	// own is what copies take of clusters by the server's bindings, reserves whether clusters are told what is taken without them.
	own      store.ClusterUsage
	reserves bool
	stale    map[messages.ClusterName]bool
	// wishes are the copies that the machines want, each until its Work is the server's; unwanted those that they do not want any more.
	wishes   map[place]*messages.CopyWanted
	asked    []place
	unwanted []place
	// leaving are the copies that must go and whose Works are still there, of bindings that are acted on.
	leaving map[place]bool
	// roles say what the twin acts as; nil: nothing, it is in shadow. Follows is set while another Leeward does.
	roles   *roles
	follows bool
	// wrote is what was last asked to be written of bindings, each until it is seen, conflicts are what others wrote over that since they
	// were last taken.
	wrote     map[messages.BindingName]*api.BindingSpec
	conflicts []conflict
	// changed are the bindings that the other control plane changed since they were last taken.
	changed []change
	// tainted are the taints of clusters that it added and removed since they were last taken.
	tainted []tainted
	// acting are its components that were seen to write bindings and clusters, seenActing those of which it is yet to be told.
	acting     map[string]bool
	seenActing []string
}

// change is what the other control plane made of a binding; nil: there was none, there is none.
type change struct{ before, now *store.Binding }

func newTwin(s *messages.Settings, r *roles, start time.Time, hear func(time.Time, messages.Fact), refused func(api.Key, error)) *twin {
	t := &twin{
		hear: hear, refused: refused, seen: map[api.Key]api.Object{}, works: map[place]*work{}, authors: observed.Authors{Policies: map[string]*api.ClusterTaintPolicy{}},
		leases: map[messages.ClusterName]time.Time{}, own: store.ClusterUsage{}, reserves: s.CapacityReservation, stale: map[messages.ClusterName]bool{},
		wishes: map[place]*messages.CopyWanted{}, acting: map[string]bool{}, roles: r, leaving: map[place]bool{}, wrote: map[messages.BindingName]*api.BindingSpec{},
	}
	t.world = world.New(world.Config{Settings: *s, Seed: world.DaemonSeed, Start: start, Agents: true, Hear: t.heard})
	return t
}

// heard takes a fact of the machines.
func (t *twin) heard(at time.Time, f messages.Fact) {
	switch f := f.(type) {
	case *messages.CopyWanted:
		p := place{f.Binding, f.Cluster}
		t.wishes[p] = f
		t.asked = append(t.asked, p)
		return
	case *messages.CopyUnwanted:
		p := place{f.Binding, f.Cluster}
		delete(t.wishes, p)
		t.unwanted = append(t.unwanted, p)
		return
	case *messages.Scheduled:
		t.keeps(f.Binding, f.Clusters)
	case *messages.EvictionWithdrawn:
		t.keeps(f.Binding, f.Clusters)
	}
	t.hear(at, f)
}

// load takes over a fleet as it is, with what the other control plane has decided so far.
func (t *twin) load(all []news) {
	var objects []api.Object
	for _, n := range all {
		t.seen[n.key] = n.object
		t.authors.Note(nil, n.object)
		switch o := n.object.(type) {
		case *work:
			if o.ours {
				t.works[o.of] = o
			}
			continue
		case *coordinationv1.Lease:
			continue
		}
		t.own.Count(store.AsBinding(n.object), 1)
		objects = append(objects, t.takenOver(n.object))
	}
	if t.reserves {
		store.WithoutOwn(objects)
	}
	t.world.Load(store.WithoutRows(objects))
	for _, n := range all {
		switch o := n.object.(type) {
		case *work:
			if o.ours {
				t.tellWork(o)
			}
		case *coordinationv1.Lease:
			t.renewed(o, actors.Earlier(renewal(o), t.world.Now()))
		}
	}
	t.world.Recover()
	for _, n := range all {
		if c, is := n.object.(*api.Cluster); is {
			t.drains(c)
		}
	}
}

// drains tells the machine of a cluster that is taken over of a drain that only its annotation knows.
func (t *twin) drains(c *api.Cluster) {
	if d := observed.DrainOf(c); d.Wanted && c.Status.Drain == nil {
		t.world.TellCluster(messages.ClusterName(c.Name), d.Message())
	}
}

// take takes in what has changed at the server, in the order in which it was heard.
func (t *twin) take(now time.Time, all []news) {
	t.arrive(now)
	for _, n := range all {
		before := t.seen[n.key]
		if n.object == nil {
			delete(t.seen, n.key)
		} else {
			t.seen[n.key] = n.object
		}
		t.takeOne(before, n)
	}
}

func (t *twin) takeOne(before api.Object, n news) {
	t.authors.Note(before, n.object)
	switch n.key.Kind {
	case catalog.Clusters.Kind.Kind:
		t.clusterChanged(n.key, before, n.object)
	case "ResourceBinding", "ClusterResourceBinding":
		t.bindingChanged(n.key, before, n.object)
	case catalog.Works.Kind.Kind:
		t.workChanged(before, n.object)
	case catalog.Leases.Kind.Kind:
		if l, is := n.object.(*coordinationv1.Lease); is { // renewed when it is heard of: agents need not agree with us on the time of day
			t.renewed(l, t.world.Now())
		}
	default:
		t.objectChanged(n.key, before, n.object)
	}
}

// objectChanged applies or deletes what people write.
func (t *twin) objectChanged(key api.Key, before, now api.Object) {
	was, is := observed.Written(before), observed.Written(now)
	switch {
	case is == nil && was == nil:
	case is == nil:
		t.world.Delete(key)
	case t.follows && key == store.GovernorKey:
		t.followGovernor(now.(*api.Governor))
	case was == nil || !equality.Semantic.DeepEqual(was, is):
		t.apply(is)
	}
}

func (t *twin) apply(o api.Object) { t.admitted(o, t.world.Replace(o)) }

// admitted notes whether the machines admit an object.
func (t *twin) admitted(o api.Object, err error) {
	if err != nil {
		var rejected *world.Rejected
		if errors.As(err, &rejected) {
			err = rejected.Problems.ToAggregate()
		}
		t.refused(api.KeyOf(o), err)
	}
}

// clusterChanged tells a cluster what users did with it and what its agent says, and not what the other control plane made of that.
func (t *twin) clusterChanged(key api.Key, old, o api.Object) {
	now, _ := o.(*api.Cluster)
	before, known := old.(*api.Cluster)
	name := messages.ClusterName(key.Name)
	switch {
	case now == nil || now.DeletionTimestamp != nil:
		if known && before.DeletionTimestamp == nil {
			t.world.Delete(key)
		}
	case !known || t.world.Store().Cluster(name) == nil:
		joining := *now
		if t.roles == nil {
			joining.Spec.Taints = t.authors.Users(managers(nil, now.ManagedFields), nil, now)
		}
		joining.Status.Conditions = slices.DeleteFunc(slices.Clone(now.Status.Conditions), t.decided(name))
		t.apply(observed.WrittenCluster(&joining))
		t.drains(&joining)
	default:
		t.edited(name, before, now)
		t.reported(name, before, now)
	}
}

// edited tells of labels, taints, holds and drains, and of where a cluster lies.
func (t *twin) edited(name messages.ClusterName, before, now *api.Cluster) {
	was, is := before.Spec, now.Spec
	was.Taints, is.Taints = nil, nil
	if !equality.Semantic.DeepEqual(was, is) || !maps.Equal(before.Labels, now.Labels) || !maps.Equal(before.Annotations, now.Annotations) {
		o := api.Shallow(now).(*api.Cluster)
		o.Spec.Taints = t.world.Store().Cluster(name).Spec.Taints
		t.apply(o)
	}
	by := managers(before.ManagedFields, now.ManagedFields)
	t.act(by)
	var edits []messages.TaintEdit
	for _, e := range observed.TaintEdits(before, now) {
		switch {
		case t.roles != nil: // as it is, by any writer
			if len(by) == 1 {
				e.Cause.User = by[0]
			}
			edits = append(edits, e)
		case t.authors.ByUser(by, &e, before, now):
			edits = append(edits, e)
		case e.Remove || taint.Find(before.Spec.Taints, e.Taint.Key, e.Taint.Effect) < 0:
			t.tainted = append(t.tainted, tainted{name, e.Taint.Key, e.Taint.Effect, e.Remove})
		}
	}
	if len(edits) > 0 {
		t.world.TellCluster(name, &messages.TaintsEdited{Edits: edits})
	}
	if d := observed.DrainOf(now); d != observed.DrainOf(before) {
		t.world.TellCluster(name, d.Message())
	}
}

// managers are those that wrote a version of an object itself, and not its status; none: that is not known.
func managers(before, now []metav1.ManagedFieldsEntry) (by []string) {
	for _, w := range now {
		same := func(b metav1.ManagedFieldsEntry) bool {
			return b.Manager == w.Manager && b.Subresource == w.Subresource && b.Time.Equal(w.Time)
		}
		if w.Subresource == "" && !slices.ContainsFunc(before, same) {
			by = append(by, w.Manager)
		}
	}
	return by
}

// act notes which components of the other control plane write.
func (t *twin) act(by []string) {
	for _, name := range by {
		if observed.ControlPlane(name) && !t.acting[name] {
			t.acting[name] = true
			t.seenActing = append(t.seenActing, name)
		}
	}
}

// decided tells what the other control plane made of the silence of an agent: where its lease is followed, the machines see that.
func (t *twin) decided(name messages.ClusterName) func(metav1.Condition) bool {
	return func(k metav1.Condition) bool { return observed.OfSilence(k) && !t.leases[name].IsZero() }
}

// reported tells of conditions and resources.
func (t *twin) reported(name messages.ClusterName, before, now *api.Cluster) {
	var said []*messages.ConditionReported
	decided := t.decided(name)
	for _, m := range observed.Conditions(&before.Status, &now.Status) {
		if !decided(metav1.Condition{Type: m.Type, Status: m.Status, Reason: m.Reason}) {
			said = append(said, m)
		}
	}
	if len(said) > 0 {
		t.world.TellCluster(name, &messages.ConditionsReported{Reports: said})
	}
	if !equality.Semantic.DeepEqual(before.Status.ResourceSummary, now.Status.ResourceSummary) {
		t.stale[name] = true
	}
	if !equality.Semantic.DeepEqual(before.Status.APIEnablements, now.Status.APIEnablements) {
		t.world.TellCluster(name, &messages.EnablementsReported{APIs: now.Status.APIEnablements})
	}
}

// tellRooms tells clusters what is taken of them, where the scheduler reserves capacity without the copies of the server's bindings.
func (t *twin) tellRooms() {
	for _, name := range slices.Sorted(maps.Keys(t.stale)) {
		if c, is := t.seen[store.ClusterKey(name)].(*api.Cluster); is {
			summary := c.Status.ResourceSummary
			if t.reserves {
				summary = t.own.Others(name, summary)
			}
			t.world.TellCluster(name, &messages.ResourcesReported{Summary: summary})
		}
	}
	clear(t.stale)
}

// bindingChanged keeps what the other control plane decided of a binding, and passes on what users did with it.
func (t *twin) bindingChanged(key api.Key, old, o api.Object) {
	before, now := store.AsBinding(old), store.AsBinding(o)
	t.own.Count(before, -1)
	t.own.Count(now, 1)
	if t.reserves {
		for _, name := range store.TakenOn(now, before) {
			t.stale[name] = true
		}
	}
	if !t.acts(now) && !t.acts(before) {
		t.changed = append(t.changed, change{before, now})
	}
	if before != nil && now != nil {
		t.act(managers(before.Meta.ManagedFields, now.Meta.ManagedFields))
	}
	name := messages.NameBinding(key.Namespace, key.Name)
	ours := t.world.Store().Binding(name)
	switch {
	case now == nil && ours != nil && !t.world.Store().Has(ours.Spec.Resource.Key()):
		delete(t.wrote, name)
		t.world.End(name)
	case now == nil || now.Meta.DeletionTimestamp != nil:
	case ours == nil && t.acts(now):
		t.apply(withoutWriters(t.takenOver(o)))
	case t.acts(now):
		t.ownChanged(o, before, now, ours)
	case ours == nil && t.seen[now.Spec.Resource.Key()] == nil:
		t.applyBinding(o, nil, nil)
	case ours != nil && (orders(before) != orders(now) || t.seen[now.Spec.Resource.Key()] == nil && wishChanged(before, now)):
		t.applyBinding(o, ours.Spec.Clusters, ours.Spec.GracefulEvictionTasks)
	}
}

// orders are the annotations by which users hold and release evictions.
func orders(b *store.Binding) [2]string {
	if b == nil {
		return [2]string{}
	}
	return [2]string{b.Meta.Annotations[api.AnnotationHold], b.Meta.Annotations[api.AnnotationRelease]}
}

// wishChanged reports whether what must run changed, and not only where.
func wishChanged(before, now *store.Binding) bool {
	if before == nil {
		return true
	}
	was, is := *before.Spec, *now.Spec
	was.Clusters, was.GracefulEvictionTasks, is.Clusters, is.GracefulEvictionTasks = nil, nil, nil, nil
	return !equality.Semantic.DeepEqual(was, is)
}

// applyBinding has a binding be as the server has it, but for where it runs and what evicts it.
func (t *twin) applyBinding(o api.Object, clusters []api.TargetCluster, tasks []api.GracefulEvictionTask) {
	next := api.Shallow(o)
	b := store.AsBinding(next)
	b.Spec.Clusters, b.Spec.GracefulEvictionTasks = clusters, tasks
	next.SetManagedFields(nil)
	t.apply(next)
}

// adopt has the machines take over where a binding really runs, and what really evicts it.
func (t *twin) adopt(name messages.BindingName) {
	key := store.BindingKey(name)
	theirs, ours := store.AsBinding(t.seen[key]), t.world.Store().Get(key)
	if theirs == nil || ours == nil {
		return
	}
	t.applyBinding(ours, theirs.Spec.Clusters, theirs.Spec.GracefulEvictionTasks)
}

// arrive moves the machines to the present, or to what is due before that.
func (t *twin) arrive(now time.Time) {
	if next, due := t.world.Next(); due {
		now = actors.Earlier(now, next)
	}
	t.world.Enter(actors.Later(now, t.world.Now()))
}

// settle lets the machines act at all instants that are due up to now, and at now.
func (t *twin) settle(now time.Time) error {
	t.tellRooms()
	for {
		at := actors.Later(now, t.world.Now())
		if next, due := t.world.Next(); due {
			at = actors.Later(actors.Earlier(next, at), t.world.Now())
		}
		if err := t.world.Settle(at); err != nil {
			return fmt.Errorf("decide: %w", err)
		}
		t.answer()
		if next, due := t.world.Next(); !t.world.Unread() && !at.Before(now) && (!due || next.After(at)) {
			return nil
		}
	}
}
