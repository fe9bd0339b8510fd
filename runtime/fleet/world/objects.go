package world

import (
	"slices"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// isTemplate reports whether an object is something to propagate, not something that says how.
func isTemplate(k api.Key) bool {
	switch k.APIVersion {
	case api.ClusterGroupVersion, api.PolicyGroupVersion, api.WorkGroupVersion, api.AppsGroupVersion, api.LeewardGroupVersion, api.ConfigGroupVersion:
		return false
	}
	return true
}

// workloadAt is what propagation and placement need to know of a resource template that is there. It is remembered: the
// template may have to be decoded.
func (w *World) workloadAt(k api.Key) *messages.Workload {
	if r := w.workloads[bindingOf(k.Namespace, k.Kind, k.Name)]; r != nil && templateOf(r) == k {
		return r
	}
	return w.workload(w.store.Get(k))
}

func templateOf(r *messages.Workload) api.Key {
	return api.Key{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// workload is what propagation and placement need to know of a resource template, as it is now.
func (w *World) workload(o api.Object) *messages.Workload {
	k := api.KeyOf(o)
	name := bindingOf(k.Namespace, k.Kind, k.Name)
	if b := w.store.Binding(name); b != nil {
		name = b.Name() // the same, and held once
	}
	replicas, each, hasReplicas := w.requirements(name, o)
	components, _ := propagation.Components(o, w.settings.ExactComponentSets) // validated where they count
	w.workloads[name] = &messages.Workload{
		Binding: name, APIVersion: k.APIVersion, Kind: k.Kind,
		Namespace: k.Namespace, Name: k.Name, UID: o.GetUID(), Labels: o.GetLabels(), Annotations: o.GetAnnotations(),
		Replicas: replicas, Requirements: w.needs.shared(each), HasReplicas: hasReplicas, Revision: propagation.Revision(o),
		Set: messages.NewComponentSet(components), Dependencies: w.dependencies(name, o),
	}
	return w.workloads[name]
}

// bindingOf names the binding of a resource; an empty namespace makes it a ClusterResourceBinding.
func bindingOf(namespace, kind, name string) messages.BindingName {
	return messages.NameBinding(namespace, propagation.BindingName(kind, name))
}

// BindingOf names the binding of a resource template.
func BindingOf(template api.Object) messages.BindingName {
	k := api.KeyOf(template)
	return bindingOf(k.Namespace, k.Kind, k.Name)
}

// clusters are the names of all clusters, in order.
func (w *World) clusters() []messages.ClusterName {
	objects := w.store.List("Cluster")
	names := make([]messages.ClusterName, len(objects))
	for i, o := range objects {
		names[i] = messages.ClusterName(o.GetName())
	}
	return names
}

// templates are the keys of all resource templates, in order.
func (w *World) templates() []api.Key { return w.store.Keys(isTemplate) }

// selectable are the templates that a policy's selectors may select; labels are not looked at, that is for the policy
// to do.
func (w *World) selectable(spec *api.PropagationSpec) []api.Key {
	if spec == nil {
		return nil
	}
	var found []api.Key
	for i := range spec.ResourceSelectors {
		s := &spec.ResourceSelectors[i]
		if s.Name != "" && s.Namespace != "" {
			if k := selectedKey(s); w.store.Has(k) {
				found = append(found, k)
			}
			continue
		}
		found = append(found, w.store.KeysOf(s.Kind, func(k api.Key) bool {
			return k.APIVersion == s.APIVersion && (s.Name == "" || s.Name == k.Name)
		})...)
	}
	return found
}

// union returns the keys of two lists, each once, in order.
func union(a, b []api.Key) []api.Key {
	all := slices.Concat(a, b)
	slices.SortFunc(all, store.CompareKeys)
	return slices.Compact(all)
}
