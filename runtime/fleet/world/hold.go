package world

import (
	"fmt"
	"slices"

	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// orders are what people said of evictions, as the engine was told last.
type orders struct {
	holds    map[messages.HoldScope]messages.HoldChanged
	releases map[messages.BindingName]string
	// exceeding is why what leaves a cluster may exceed budgets.
	exceeding map[messages.ClusterName]string
}

func newOrders() orders {
	return orders{
		holds: map[messages.HoldScope]messages.HoldChanged{}, releases: map[messages.BindingName]string{},
		exceeding: map[messages.ClusterName]string{},
	}
}

// Hold has evictions within a scope wait, or, without a hold, no longer. The error names a binding or cluster
// that there is not, or is a *Rejected.
func (w *World) Hold(of messages.HoldScope, h *api.Hold) error {
	if of == (messages.HoldScope{}) {
		w.store.SetPause(h)
		w.noteHold(of, h)
		return nil
	}
	key := heldObject(of)
	o := w.store.Get(key)
	if o == nil {
		return fmt.Errorf("hold evictions of %s: there is no such object", key)
	}
	return w.annotate(o, h.Annotate(o.GetAnnotations()))
}

// Release has evictions of a binding wait for nothing, or, without a reason, for permits again. The error names a
// binding that there is not, or is a *Rejected.
func (w *World) Release(name messages.BindingName, reason string) error {
	key := store.BindingKey(name)
	o := w.store.Get(key)
	if o == nil {
		return fmt.Errorf("release %s: there is no such object", key)
	}
	annotations := kept(o.GetAnnotations(), map[string]string{api.AnnotationRelease: reason})
	if reason == "" {
		delete(annotations, api.AnnotationRelease)
	}
	return w.annotate(o, annotations)
}

// annotate gives an object other annotations, as kubectl annotate does, and tells whom that concerns.
func (w *World) annotate(o api.Object, annotations map[string]string) error {
	key := api.KeyOf(o)
	next := api.Copy(o)
	next.SetAnnotations(annotations)
	if problems := admission.Validate(next, o, w.settings); len(problems) > 0 {
		return &Rejected{Object: key, Problems: problems}
	}
	w.store.Annotate(key, annotations)
	w.noteOrders(key, annotations)
	return nil
}

// Holds reports whether people have evictions of a binding from a cluster wait, for all that the world has heard.
func (w *World) Holds(name messages.BindingName, from messages.ClusterName) bool {
	if len(w.orders.holds) == 0 || w.orders.releases[name] != "" {
		return false
	}
	for _, of := range [...]messages.HoldScope{{}, {Cluster: from}, {Binding: name}} {
		if h, held := w.orders.holds[of]; held && (h.Until.IsZero() || h.Until.After(w.now)) {
			return true
		}
	}
	return false
}

// TakeBack has a binding withdraw an eviction that it decided on and that is not stored.
func (w *World) TakeBack(name messages.BindingName, from messages.ClusterName) {
	w.kernel.Post(bindingAt(name), &messages.TakeEvictionBack{Cluster: from})
}

func heldObject(of messages.HoldScope) api.Key {
	if of.Binding != "" {
		return store.BindingKey(of.Binding)
	}
	return store.ClusterKey(of.Cluster)
}

// noteOrders tells the governor what the annotations of a cluster or a binding ask for.
func (w *World) noteOrders(key api.Key, annotations map[string]string) {
	h, _ := api.HoldIn(annotations) // admitted
	if key.Kind == "Cluster" {
		cluster := messages.ClusterName(key.Name)
		w.noteHold(messages.HoldScope{Cluster: cluster}, h)
		if reason := annotations[api.AnnotationExceedBudget]; w.orders.exceeding[cluster] != reason {
			w.orders.exceeding[cluster] = reason
			w.kernel.Post(governorAt, &messages.ExceedingAllowed{Cluster: cluster, Reason: reason})
		}
		return
	}
	name := messages.NameBinding(key.Namespace, key.Name)
	w.noteHold(messages.HoldScope{Binding: name}, h)
	if reason := annotations[api.AnnotationRelease]; w.orders.releases[name] != reason {
		w.orders.releases[name] = reason
		w.kernel.Post(governorAt, &messages.ReleaseChanged{Binding: name, Reason: reason})
	}
}

// noteHold tells the governor of a hold, where that is news, and every binding whether there is any. One that is
// over is none.
func (w *World) noteHold(of messages.HoldScope, h *api.Hold) {
	m := messages.HoldChanged{HoldScope: of}
	if h != nil && (h.Until == nil || h.Until.After(w.now)) {
		m.Reason = h.Reason
		if h.Until != nil {
			m.Until = h.Until.UTC()
		}
	}
	before := len(w.orders.holds)
	if old, held := w.orders.holds[of]; old == m || !held && m.Reason == "" {
		return
	}
	w.orders.holds[of] = m
	if m.Reason == "" {
		delete(w.orders.holds, of)
	}
	w.kernel.Post(governorAt, &m)
	if any := len(w.orders.holds) > 0; any != (before > 0) {
		w.kernel.PostAll(messages.KindBinding, &messages.HoldsAnnounced{Held: any})
	}
}

// dropOrders forgets what was said of a binding or a cluster that is gone.
func (w *World) dropOrders(key api.Key) {
	if len(w.orders.holds)+len(w.orders.releases)+len(w.orders.exceeding) > 0 {
		w.noteOrders(key, nil)
	}
}

// recoverOrders tells the engine after a restart what people said, and what they took back.
func (w *World) recoverOrders() {
	if g, ok := w.store.Get(store.GovernorKey).(*api.Governor); ok {
		w.noteHold(messages.HoldScope{}, g.Spec.Pause)
	}
	for _, c := range w.clusters() {
		w.noteOrders(store.ClusterKey(c), w.store.Cluster(c).Annotations)
	}
	for _, name := range w.ordered() {
		w.noteOrders(store.BindingKey(name), w.store.Binding(name).Meta.Annotations)
	}
	w.endOrders()
}

// ordered are the bindings of which people said something, in order.
func (w *World) ordered() []messages.BindingName {
	var found []messages.BindingName
	w.store.EachBinding(func(b *store.Binding) {
		if _, held := b.Meta.Annotations[api.AnnotationHold]; held || b.Meta.Annotations[api.AnnotationRelease] != "" {
			found = append(found, b.Name())
		}
	})
	slices.Sort(found)
	return found
}

// endOrders tells the governor, which goes by its status after a restart, what people took back and it never heard of. What
// time ended it ends by itself.
func (w *World) endOrders() {
	status := w.store.Governor()
	for i := range status.Holds {
		h := &status.Holds[i]
		of := messages.HoldScope{Binding: messages.BindingName(h.Binding), Cluster: messages.ClusterName(h.Cluster)}
		if _, held := w.orders.holds[of]; !held && (h.Until == nil || h.Until.After(w.now)) {
			w.kernel.Post(governorAt, &messages.HoldChanged{HoldScope: of})
		}
	}
	for i := range status.Releases {
		if of := messages.BindingName(status.Releases[i].Binding); w.orders.releases[of] == "" {
			w.kernel.Post(governorAt, &messages.ReleaseChanged{Binding: of})
		}
	}
}

// governs reports whether a status says how the fleet is, and is not that of an object that people wrote.
func governs(s *api.GovernorStatus) bool {
	return s.State != "" || s.Regions != nil || s.Priorities != nil || s.Permits != nil || s.Starts != nil
}

// admitGovernor takes what people ask of the governor and, where an object says that, how the fleet was.
func (w *World) admitGovernor(o *api.Governor) {
	governed := governs(&o.Status)
	if !governed {
		o.Status = w.store.Governor()
	}
	ours := w.store.Governor() // which machines run is not for others to say
	o.Status.Quarantined, o.Status.QuarantinedCount = ours.Quarantined, ours.QuarantinedCount
	w.store.Put(o)
	if governed {
		w.recoverGovernor()
	}
	w.noteHold(messages.HoldScope{}, o.Spec.Pause)
}

// admitBudget has everybody know a budget. What the engine wrote of one that was there stays.
func (w *World) admitBudget(o, old api.Object) {
	switch o := o.(type) {
	case *api.EvictionBudget:
		if old != nil {
			o.Status = old.(*api.EvictionBudget).Status
		}
	case *api.ClusterEvictionBudget:
		if old != nil {
			o.Status = old.(*api.ClusterEvictionBudget).Status
		}
	}
	w.store.Put(o)
	w.tellBudgets()
}

// tellBudgets tells the governor and every binding which budgets there are.
func (w *World) tellBudgets() {
	w.budgets = &messages.BudgetsSet{Budgets: w.store.Budgets()}
	w.kernel.Post(governorAt, w.budgets)
	w.kernel.PostAll(messages.KindBinding, w.budgets)
}

// recoverBudgets tells a new governor of the budgets. Bindings hear of them when they are hosted.
func (w *World) recoverBudgets() {
	if all := w.store.Budgets(); w.budgets != nil || len(all) > 0 { // which Load may have brought
		w.budgets = &messages.BudgetsSet{Budgets: all}
		w.kernel.Post(governorAt, w.budgets)
	}
}
