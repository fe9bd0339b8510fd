package karmada

import (
	"container/heap"
	"maps"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

// The machines of a standby hear what those of the leader hear, and decide the same, a moment earlier or later. What the leader has written
// counts: they take it over as it is. What they have decided and the leader has not written they keep, for the leader may be gone.

// writesWithin is how long the leader may take to write what the machines of a standby have decided. Then they take over what the server has,
// and decide again.
const writesWithin = 2 * time.Minute

// ahead are the bindings that machines have decided otherwise than the leader so far, since when, and when each is given up.
type ahead struct {
	of  map[messages.BindingName]time.Time
	due agenda
}

// note notes whether a binding is otherwise than at the server.
func (a *ahead) note(name messages.BindingName, differs bool, now time.Time) {
	switch _, was := a.of[name]; {
	case !differs:
		delete(a.of, name)
	case !was:
		a.of[name] = now
		heap.Push(&a.due, appointment{now.Add(writesWithin), name})
	}
}

// expired takes the bindings that have been otherwise for too long.
func (a *ahead) expired(now time.Time) (all []messages.BindingName) {
	for len(a.due) > 0 && !a.due[0].at.After(now) {
		k := heap.Pop(&a.due).(appointment)
		if since, is := a.of[k.name]; is && k.at.Equal(since.Add(writesWithin)) {
			delete(a.of, k.name)
			all = append(all, k.name)
		}
	}
	return all
}

// next is when the next is given up; zero: there is none.
func (a *ahead) next() time.Time {
	if len(a.due) == 0 {
		return time.Time{}
	}
	return a.due[0].at
}

// follow compares what the machines decided with what the leader has written.
func (a *acting) follow(now time.Time) {
	a.twin.conflicts = nil // between the leader and others: the leader steps back for them
	a.look()
	for _, name := range slices.Sorted(maps.Keys(a.touched)) {
		ours, _, e := a.edit(name)
		a.ahead.note(name, e != nil && !e.none(), now)
		if _, differs := a.ahead.of[name]; !differs && (ours == nil || len(ours.Status.Evictions) == 0) {
			delete(a.unsaid, name)
		}
	}
	clear(a.touched)
	for _, name := range a.ahead.expired(now) {
		delete(a.unsaid, name)
		if o := a.twin.seen[store.BindingKey(name)]; o != nil {
			a.twin.follow(o)
			a.touched[name] = true
		}
	}
}

// unsaid is what machines have said, while they follow, of bindings whose decisions are not written, or are yet to come: the leader tells of
// all else. Its bounds are those of Events.
type unsaid map[messages.BindingName][]*heard

func (u unsaid) keep(h *heard) {
	name := h.fact.(messages.AboutBinding).AboutBinding()
	all := u[name]
	switch {
	case len(all) == 0 && len(u) >= mostTold:
		return
	case len(all) >= mostOfOne:
		all = all[1:]
	}
	u[name] = append(all, h)
}

// all is all of it, in the order of time, and of names.
func (u unsaid) all() (all []*heard) {
	for _, name := range slices.Sorted(maps.Keys(u)) {
		all = append(all, u[name]...)
	}
	slices.SortStableFunc(all, func(a, b *heard) int { return a.at.Compare(b.at) })
	return all
}

// follow has the machines take over a binding as the leader has written it, which keeps to itself what evictions wait for.
func (t *twin) follow(o api.Object) {
	next := withoutWriters(t.takenOver(o))
	if ours := t.world.Store().Binding(store.AsBinding(o).Name()); ours != nil {
		store.AsBinding(next).Status.Evictions = ours.Status.Evictions
	}
	t.admitted(o, t.world.Adopt(next))
	t.keeps(store.AsBinding(o).Name(), store.AsBinding(o).Spec.Clusters)
}

// followGovernor has the machines take over what the rates and breakers of the leader have counted.
func (t *twin) followGovernor(g *api.Governor) {
	next := observed.Written(g).(*api.Governor)
	next.Status = g.Status
	t.apply(next)
}

// decided reports whether the leader may have made one version of a binding another.
func decided(before, now *store.Binding) bool {
	return before == nil || !sameDecision(before.Spec, now.Spec) || before.Meta.Annotations[api.AnnotationState] != now.Meta.Annotations[api.AnnotationState] ||
		!before.Status.LastScheduledTime.Equal(now.Status.LastScheduledTime)
}
