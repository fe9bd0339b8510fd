package live

import (
	"errors"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

// takeIn hands a change that somebody else made to the machines. Changes of the world's own come back too, and
// those that a conflict made it hear of earlier.
func (f *Fleet) takeIn(r *catalog.Resource, c *engine.Change) {
	if r == catalog.Events {
		return // no machine looks at them, and there are many
	}
	if f.dropped[c.Key] {
		if c.Object == nil {
			delete(f.dropped, c.Key)
			delete(f.seen, c.Key)
		}
		return
	}
	if c.Version <= f.seen[c.Key] {
		return
	}
	f.seen[c.Key] = c.Version
	f.stats.Taken++
	f.quarantine.follow(c)
	switch r.Kind.Kind {
	case "Namespace":
	case "Work":
		f.workChanged(c)
	case "Lease":
		f.leaseChanged(c)
	case "Cluster":
		f.clusterChanged(c)
	case "OverridePolicy", "ClusterOverridePolicy":
		f.overrideChanged(r, c)
	default:
		f.objectChanged(r, c)
	}
	if c.Object == nil {
		delete(f.seen, c.Key)
		delete(f.ended, bindingOf(api.KeyOf(c.Previous())))
	}
}

// belongs reports whether an object is one of the world's, and not only of the API's.
func belongs(o api.Object) bool {
	switch o.GetObjectKind().GroupVersionKind().Kind {
	case "Event", "Namespace", "Lease", "Work":
		return false
	}
	return true
}

func belonging(objects []api.Object) []api.Object {
	var own []api.Object
	for _, o := range objects {
		if belongs(o) {
			own = append(own, o)
		}
	}
	return own
}

// objectChanged applies or deletes an object that people write.
func (f *Fleet) objectChanged(r *catalog.Resource, c *engine.Change) {
	if c.Object == nil {
		f.world.Delete(api.KeyOf(c.Previous()))
		return
	}
	o := api.Shallow(c.Object)
	if edited := store.AsBinding(o); edited != nil {
		if !c.New() && f.ends(edited.Name()) {
			f.world.Store().Note(api.KeyOf(o)) // it goes as it was edited
			return
		}
		f.rebaseBinding(edited, store.AsBinding(c.Previous()))
	}
	err := f.world.Replace(o)
	if f.refused(o, err); err != nil {
		f.world.Store().Hold(api.KeyOf(o)) // what the engine has now is something else
	}
	if r.Template() {
		f.lend(c.Key, c.Object)
		name := world.BindingOf(o)
		f.renewWorks(f.world.Store().Binding(name))
		f.sums.put(name) // of its new generation, and whatever was written into its status
	}
}

// ends reports whether machines have ended a binding that the engine still has, or are about to.
func (f *Fleet) ends(name messages.BindingName) bool {
	b, ends := f.world.Binding(name)
	return b == nil && (ends || f.ended[name])
}

// lend has the world ask the engine for a template in place of holding a copy: there may be as many as bindings. It is
// not lent where the world has made something else of it; of what it has on loan already, it has not.
func (f *Fleet) lend(place string, template api.Object) {
	if key, of := api.KeyOf(template), f.world.Store(); of.Lent(key) || alike(of.Get(key), template) {
		of.Lend(key, f.kept(place, template))
	}
}

// kept returns a template as the engine keeps it.
func (f *Fleet) kept(place string, template api.Object) func() api.Object {
	kept := f.config.Engine.Table(catalog.Of(api.KeyOf(template)).Name()).Kept(place, f.seen[place])
	if kept == nil { // it has changed since: the news is on its way
		return func() api.Object { return template }
	}
	return func() api.Object { return kept.Object() }
}

// alike reports whether the world's template, if it has one, is the engine's but for its status, which no machine looks
// at, and how often it has changed.
func alike(ours, template api.Object) bool {
	if ours == nil {
		return false
	}
	ours = api.Shallow(ours)
	ours.SetResourceVersion(template.GetResourceVersion())
	if status := statusOf(ours); status.IsValid() {
		status.Set(statusOf(template))
	}
	return equality.Semantic.DeepEqual(ours, template)
}

// refused tells of an object that is stored and that the world does not admit: it goes on as if the object had not
// changed.
func (f *Fleet) refused(o api.Object, err error) {
	if err == nil {
		return
	}
	f.stats.Refused++
	var rejected *world.Rejected
	if errors.As(err, &rejected) {
		err = rejected.Problems.ToAggregate()
	}
	f.config.Log.Warn().Str("object", api.KeyOf(o).String()).Err(err).Msg("object refused")
	f.warn(api.KeyOf(o), "Refused", err.Error())
}

// rebaseBinding gives a binding that somebody edited the fields that they left alone as the world has them now.
func (f *Fleet) rebaseBinding(edited, before *store.Binding) {
	ours, _ := f.world.Binding(edited.Name())
	if ours == nil {
		return
	}
	if before == nil { // somebody made it just when the world did
		before = &store.Binding{Meta: &metav1.ObjectMeta{}, Spec: ours.Spec}
	}
	edited.Meta.Labels = merged(edited.Meta.Labels, before.Meta.Labels, ours.Meta.Labels)
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

// merged returns our labels, or annotations, with what was done to theirs. Those of Karmada's own that somebody took away
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
