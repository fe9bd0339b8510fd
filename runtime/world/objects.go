package world

import (
	"slices"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/store"
)

// isTemplate reports whether an object is something to propagate, not something that says how.
func isTemplate(k api.Key) bool {
	switch k.APIVersion {
	case api.ClusterGroupVersion, api.PolicyGroupVersion, api.WorkGroupVersion, api.AppsGroupVersion, api.LeewardGroupVersion:
		return false
	}
	return true
}

// workload is what propagation and placement need to know of a resource template.
func (w *World) workload(o api.Object) *messages.Workload {
	k := api.KeyOf(o)
	replicas, each, hasReplicas := propagation.Requirements(o)
	components, _ := propagation.Components(o, w.settings.ExactComponentSets) // validated where they count
	return &messages.Workload{
		Binding: bindingOf(k.Namespace, k.Kind, k.Name), APIVersion: k.APIVersion, Kind: k.Kind,
		Namespace: k.Namespace, Name: k.Name, UID: o.GetUID(), Labels: o.GetLabels(), Annotations: o.GetAnnotations(),
		Replicas: replicas, Requirements: each, HasReplicas: hasReplicas, Revision: propagation.Revision(o),
		Set: messages.NewComponentSet(components), Dependencies: dependencies(o),
	}
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

// templates are all resource templates, in order.
func (w *World) templates() []api.Object {
	return w.store.Select(isTemplate)
}

// selectable are the templates that a policy's selectors may select, in order; labels are not looked
// at, that is for the policy to do.
func (w *World) selectable(spec *api.PropagationSpec) []api.Object {
	if spec == nil {
		return nil
	}
	var found []api.Object
	for i := range spec.ResourceSelectors {
		s := &spec.ResourceSelectors[i]
		if s.Name != "" && s.Namespace != "" {
			if o := w.store.Get(selectedKey(s)); o != nil {
				found = append(found, o)
			}
			continue
		}
		for _, o := range w.store.List(s.Kind) {
			if k := api.KeyOf(o); k.APIVersion == s.APIVersion && (s.Name == "" || s.Name == k.Name) {
				found = append(found, o)
			}
		}
	}
	return found
}

// union returns the objects of two lists, each once, in the order of their keys.
func union(a, b []api.Object) []api.Object {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y api.Object) int { return store.CompareKeys(api.KeyOf(x), api.KeyOf(y)) })
	return slices.CompactFunc(all, func(x, y api.Object) bool { return api.KeyOf(x) == api.KeyOf(y) })
}
