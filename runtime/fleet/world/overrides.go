package world

import (
	"slices"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
)

// overrideOf is the key of an override that a policy names: of its own namespace, or, for a
// ClusterPropagationPolicy, a ClusterOverridePolicy.
func overrideOf(namespace, name string) api.Key {
	kind := "OverridePolicy"
	if namespace == "" {
		kind = "ClusterOverridePolicy"
	}
	return api.Key{APIVersion: api.PolicyGroupVersion, Kind: kind, Namespace: namespace, Name: name}
}

// absentOverrides are those of a policy's dependentOverrides that do not exist.
func (w *World) absentOverrides(namespace string, spec *api.PropagationSpec) (absent []string) {
	for _, name := range spec.DependentOverrides {
		if key := overrideOf(namespace, name); w.store.Get(key) == nil {
			absent = append(absent, key.String())
		}
	}
	return absent
}

// noteOverride lets the policies that depend on an override hear that it came or went.
func (w *World) noteOverride(key api.Key) {
	if key != overrideOf(key.Namespace, key.Name) {
		return
	}
	w.eachPropagation(func(policy messages.PropagationName, spec *api.PropagationSpec) {
		if policy.Namespace() == key.Namespace && slices.Contains(spec.DependentOverrides, key.Name) {
			w.admitPropagation(policy, spec)
		}
	})
}

// dependencies are the bindings of what a workload refers to.
func (w *World) dependencies(name messages.BindingName, o api.Object) []messages.BindingName {
	keys, known, err := w.interpreters.Dependencies(o)
	w.noteMisread(name, misreadDependencies, err)
	if !known {
		keys = propagation.Dependencies(o)
	}
	return lists.Of(keys, func(k api.Key) messages.BindingName { return bindingOf(k.Namespace, k.Kind, k.Name) })
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
