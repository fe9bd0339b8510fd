package world

import (
	"slices"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
)

// dependencies are the bindings of what a workload refers to.
func (w *World) dependencies(name messages.BindingName, o api.Object) []messages.BindingName {
	keys, known, err := w.interpreters.Dependencies(o)
	w.noteMisread(name, misreadDependencies, err)
	if !known {
		keys = propagation.Dependencies(o)
	}
	var names []messages.BindingName
	for _, k := range keys {
		names = append(names, bindingOf(k.Namespace, k.Kind, k.Name))
	}
	return names
}

// noteDependencies remembers what a resource refers to, and lets those that refer to it tell it where they
// need it: they may have been there first.
func (w *World) noteDependencies(r *messages.Workload) {
	for _, d := range r.Dependencies {
		if i, known := slices.BinarySearch(w.dependants[d], r.Binding); !known {
			w.dependants[d] = slices.Insert(w.dependants[d], i, r.Binding)
		}
	}
	for _, owner := range w.dependants[r.Binding] {
		if w.kernel.Has(bindingAt(owner)) {
			w.kernel.Post(bindingAt(owner), &messages.DependencyApplied{Dependency: r.Binding})
		}
	}
}
