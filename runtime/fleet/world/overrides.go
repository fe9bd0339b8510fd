package world

import (
	"slices"

	"leeward/messages"
	"leeward/messages/api"
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
