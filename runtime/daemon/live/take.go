package live

import (
	"errors"
	"maps"
	"reflect"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/eviction"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

// takeIn hands a change that another writer made to the machines.
func (f *Fleet) takeIn(r *catalog.Resource, c *engine.Change) {
	if r == catalog.Events {
		return // no machine looks at them, and there are many
	}
	if c.Version <= f.loaded[r] {
		return
	}
	f.stats.Taken++
	f.quarantine.follow(c)
	if belongs(r) {
		f.world.Store().Heard(keyOf(c), rowOf(c.Row()))
	}
	if f.following != nil {
		f.following.take(c, f.config.Clock.Now())
	}
	switch r.Kind.Kind {
	case "Namespace":
	case "Work":
		f.workChanged(c)
		f.workHeard(c)
	case "Lease":
		if l, ok := c.Object.(*coordinationv1.Lease); ok { // renewed when it is heard of: agents need not agree with us on the time of day
			f.renewed(l, f.config.Clock.Now().UTC())
		}
	case "Cluster":
		f.clusterChanged(c)
	case "ResourceInterpreterCustomization":
		f.objectChanged(r, c)
		f.renewInterpreted(c)
	case "OverridePolicy", "ClusterOverridePolicy":
		f.overrideChanged(r, c)
	case "ResourceBinding", "ClusterResourceBinding":
		f.rooms.follow(store.AsBinding(c.Object), store.AsBinding(c.Previous()), c.Version > f.rooms.asOf[r])
		if f.following != nil {
			f.following.heard[keyOf(c)] = true
		} else {
			f.objectChanged(r, c)
		}
	default:
		f.objectChanged(r, c)
	}
	if c.Object == nil {
		delete(f.ended, bindingOf(api.KeyOf(c.Previous())))
	}
}

// rowOf is a row of the engine as the world's store rests on it.
func rowOf(r *engine.Row) store.Row {
	if r == nil {
		return nil
	}
	return r
}

// keyOf is the key of what has changed.
func keyOf(c *engine.Change) api.Key {
	if c.Object == nil {
		return api.KeyOf(c.Previous())
	}
	return api.KeyOf(c.Object)
}

// belongs reports whether the objects of a resource are the world's, and not only the API's.
func belongs(r *catalog.Resource) bool {
	switch r {
	case catalog.Events, catalog.Namespaces, catalog.Leases, catalog.Works:
		return false
	}
	return true
}

// objectChanged applies or deletes an object that people write.
func (f *Fleet) objectChanged(r *catalog.Resource, c *engine.Change) {
	if c.Object == nil {
		f.world.Delete(api.KeyOf(c.Previous()))
		return
	}
	o := api.Shallow(c.Object)
	if edited := store.AsBinding(o); edited != nil {
		if !c.New() && f.ends(edited.Name()) { // it goes as it was edited
			return
		}
		f.rebaseBinding(edited, store.AsBinding(c.Previous()))
	}
	f.refused(o, f.world.Replace(o))
	if r.Template() {
		key := api.KeyOf(c.Object)
		f.world.Store().Committed(key, c.Row(), f.world.Store().Version(key))
		name := world.BindingOf(o)
		f.renewWorks(f.world.Store().Binding(name))
		f.sums.put(name) // of its new generation, and whatever was written into its status
	}
}

// renewInterpreted has the Works of the kind of a customization ask for what its scripts make of their templates now, and its copies be
// added up again.
func (f *Fleet) renewInterpreted(c *engine.Change) {
	for _, o := range [...]api.Object{c.Object, c.Previous()} {
		of, is := o.(*api.ResourceInterpreterCustomization)
		if !is {
			continue
		}
		target := of.Spec.Target
		for _, k := range f.world.Store().KeysOf(target.Kind, func(k api.Key) bool { return k.APIVersion == target.APIVersion }) { // order-free: each by itself
			if b := f.world.Store().Binding(bindingNameOf(k)); b != nil {
				f.renewWorks(b)
				f.sums.put(b.Name())
			}
		}
	}
}

// bindingNameOf names the binding of a template.
func bindingNameOf(k api.Key) messages.BindingName {
	return messages.NameBinding(k.Namespace, propagation.BindingName(k.Kind, k.Name))
}

// ends reports whether machines have ended a binding that the engine still has, or are about to.
func (f *Fleet) ends(name messages.BindingName) bool {
	b, ends := f.world.Binding(name)
	return b == nil && (ends || f.ended[name])
}

// refused tells of an object that is stored and that the world does not admit: it goes on as if the object had not
// changed.
func (f *Fleet) refused(o api.Object, err error) {
	if err == nil {
		return
	}
	f.stats.Refused++
	if rejected, is := errors.AsType[*world.Rejected](err); is {
		err = rejected.Problems.ToAggregate()
	}
	f.config.Log.Warn().Str("object", api.KeyOf(o).String()).Err(err).Msg("object refused")
	f.warn(api.KeyOf(o), "Refused", err.Error())
}

// rebaseBinding gives a binding that was edited the fields that the edit did not touch as the world has them now.
func (f *Fleet) rebaseBinding(edited, before *store.Binding) {
	ours, _ := f.world.Binding(edited.Name())
	if ours == nil {
		return
	}
	if before == nil { // a client made it just when the world did
		before = &store.Binding{Meta: &metav1.ObjectMeta{}, Spec: ours.Spec}
	}
	edited.Meta.Annotations = merged(edited.Meta.Annotations, before.Meta.Annotations, ours.Meta.Annotations)
	rebase(reflect.ValueOf(edited.Spec).Elem(), reflect.ValueOf(before.Spec).Elem(), reflect.ValueOf(ours.Spec).Elem())
}

// rebase sets the fields of a struct that are as before to ours.
func rebase(edited, before, ours reflect.Value) {
	for i := range edited.NumField() {
		if equality.Semantic.DeepEqual(edited.Field(i).Interface(), before.Field(i).Interface()) {
			edited.Field(i).Set(ours.Field(i))
		}
	}
}

// merged returns our annotations with what was done to theirs. Those of Karmada's own that were taken away
// stay: they say what the machines have decided.
func merged(edited, before, ours map[string]string) map[string]string {
	all := maps.Clone(ours)
	maps.DeleteFunc(all, func(key, _ string) bool {
		_, had := before[key]
		_, has := edited[key]
		return had && !has && !strings.Contains(key, "karmada.io/")
	})
	for key, value := range edited { // order-free: each key once
		if was, had := before[key]; !had || was != value {
			if all == nil {
				all = map[string]string{}
			}
			all[key] = value
		}
	}
	return all
}

// byPrefix are the resources by what the keys of their objects begin with.
var byPrefix = func() map[string]*catalog.Resource {
	index := map[string]*catalog.Resource{}
	for _, r := range catalog.Kept() {
		index[engine.Prefix(r.Name())] = r
	}
	return index
}()

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
	return b != nil && b.Spec.TaskFrom(from) != nil
}
