package world

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/interpreter"
	"leeward/runtime/fleet/store"
)

// following are the dependencies of a workload that a script selects by labels.
type following struct {
	workload   api.Key
	named      []messages.BindingName
	selections []interpreter.Selection
	// selected are the bindings of all objects that have the labels, in order.
	selected []messages.BindingName
}

// followed is where objects are that a selection may select: the key of one without its name.
func followed(k api.Key) api.Key {
	k.Name = ""
	return k
}

// dependencies are the bindings of what a workload refers to.
func (w *World) dependencies(name messages.BindingName, o api.Object) []messages.BindingName {
	found, known, err := w.interpreters.Dependencies(o)
	if !known {
		found = interpreter.References{Named: propagation.Dependencies(o)}
	}
	named := lists.Of(found.Named, func(k api.Key) messages.BindingName { return bindingOf(k.Namespace, k.Kind, k.Name) })
	w.unfollow(name)
	if len(found.Selected) == 0 {
		w.noteMisread(name, misreadDependencies, reasonOf(err))
		return named
	}
	return w.follow(name, &following{workload: api.KeyOf(o), named: named, selections: found.Selected})
}

// follow begins to follow what a workload selects, and returns its dependencies.
func (w *World) follow(name messages.BindingName, f *following) []messages.BindingName {
	w.following[name] = f
	for _, s := range f.selections {
		if at, is := slices.BinarySearch(w.followers[s.Of], name); !is {
			w.followers[s.Of] = slices.Insert(w.followers[s.Of], at, name)
		}
		for _, k := range w.store.KeysOf(s.Of.Kind, func(k api.Key) bool { return followed(k) == s.Of && k != f.workload && isTemplate(k) }) {
			if s.Labels.Matches(labels.Set(w.labelsOf(k))) {
				f.selected = append(f.selected, bindingOf(k.Namespace, k.Kind, k.Name))
			}
		}
	}
	slices.Sort(f.selected)
	f.selected = slices.Compact(f.selected)
	return w.followedBy(name, f)
}

// labelsOf are the labels of a template; it need not be decoded where they are remembered.
func (w *World) labelsOf(k api.Key) map[string]string {
	if r := w.workloads[bindingOf(k.Namespace, k.Kind, k.Name)]; r != nil && templateOf(r) == k {
		return r.Labels
	}
	return w.store.Get(k).GetLabels()
}

// followedBy are the dependencies of a workload, each once. Of more selected objects than are followed, the first by their names count, so
// that one more takes none of those away that its copies have.
func (w *World) followedBy(name messages.BindingName, f *following) []messages.BindingName {
	selected, problem := f.selected, ""
	if most := interpreter.MostDependencies; len(selected) > most {
		selected = selected[:most]
		problem = fmt.Sprintf("dependencyInterpretation selects more than %d objects by labels; the first %d by their names are followed", most, most)
	}
	w.noteMisread(name, misreadDependencies, problem)
	all := slices.Concat(f.named, selected)
	slices.Sort(all)
	return slices.Compact(all)
}

// unfollow ends what follow began.
func (w *World) unfollow(name messages.BindingName) {
	f := w.following[name]
	if f == nil {
		return
	}
	delete(w.following, name)
	for _, s := range f.selections {
		if w.followers[s.Of] = slices.DeleteFunc(w.followers[s.Of], func(n messages.BindingName) bool { return n == name }); len(w.followers[s.Of]) == 0 {
			delete(w.followers, s.Of)
		}
	}
}

// noteSelected tells the workloads that select a template by labels, or did, that it is there as it is now, or is not there any more.
func (w *World) noteSelected(template api.Key, has map[string]string, gone bool) {
	name := bindingOf(template.Namespace, template.Kind, template.Name)
	for _, follower := range slices.Clone(w.followers[followed(template)]) {
		f := w.following[follower]
		wanted := !gone && f.workload != template && slices.ContainsFunc(f.selections, func(s interpreter.Selection) bool {
			return s.Of == followed(template) && s.Labels.Matches(labels.Set(has))
		})
		at, was := slices.BinarySearch(f.selected, name)
		switch {
		case wanted == was:
			continue
		case wanted:
			f.selected = slices.Insert(f.selected, at, name)
		default:
			f.selected = slices.Delete(f.selected, at, at+1)
		}
		next := *w.workloadAt(f.workload)
		next.Dependencies = w.followedBy(follower, w.following[follower])
		w.workloads[follower] = &next
		if w.kernel.Has(bindingAt(follower)) {
			w.kernel.Post(bindingAt(follower), &messages.DependenciesChanged{Dependencies: next.Dependencies})
		}
	}
}

// ReleaseDependencies tells resources, after Recover, which workloads that required them when they were stored do so no longer: these
// refer to something else since, or are among those that ended, in order.
func (w *World) ReleaseDependencies(ended []messages.BindingName) {
	var required []*store.Binding
	w.store.EachBinding(func(b *store.Binding) {
		if len(b.Spec.RequiredBy) > 0 {
			required = append(required, b)
		}
	})
	slices.SortFunc(required, func(a, b *store.Binding) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, b := range required {
		for _, s := range b.Spec.RequiredBy {
			by := messages.NameBinding(s.Namespace, s.Name)
			_, gone := slices.BinarySearch(ended, by)
			if r := w.workloads[by]; gone || r != nil && !slices.Contains(r.Dependencies, b.Name()) {
				w.kernel.Post(bindingAt(b.Name()), &messages.DependencyRequired{By: by})
			}
		}
	}
}

// noteDependencies remembers what a resource refers to, and lets those that refer to it tell it where they
// need it: they may have been there first.
func (w *World) noteDependencies(r *messages.Workload) {
	for _, d := range r.Dependencies {
		if i, known := slices.BinarySearch(w.dependants[d], r.Binding); !known {
			w.dependants[d] = slices.Insert(w.dependants[d], i, r.Binding)
		}
	}
	w.noteSelected(templateOf(r), r.Labels, false)
	for _, owner := range w.dependants[r.Binding] {
		if w.kernel.Has(bindingAt(owner)) {
			w.kernel.Post(bindingAt(owner), &messages.DependencyApplied{Dependency: r.Binding})
		}
	}
}
