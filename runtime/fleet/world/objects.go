package world

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
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
	w.workloads[name] = &messages.Workload{
		Binding: name, APIVersion: k.APIVersion, Kind: k.Kind,
		Namespace: k.Namespace, Name: k.Name, UID: o.GetUID(), Labels: o.GetLabels(), Annotations: o.GetAnnotations(),
		Replicas: replicas, Requirements: w.needs.shared(each), HasReplicas: hasReplicas, Revision: propagation.Revision(o),
		Set: messages.NewComponentSet(w.components(name, o)), Dependencies: w.dependencies(name, o),
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
	return lists.Of(objects, func(o api.Object) messages.ClusterName { return messages.ClusterName(o.GetName()) })
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

// priorityClass is the key of a Kubernetes PriorityClass.
func priorityClass(name string) api.Key {
	return api.Key{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass", Name: name}
}

// prioritized returns a policy's spec with the value of the PriorityClass that it names. A class that is
// not there yet leaves the priority as it is, zero that is, unless the policy gives one. Source: Karmada's
// "Priority-based Scheduling", spec.schedulePriority.
func (w *World) prioritized(spec *api.PropagationSpec) *api.PropagationSpec {
	if spec.SchedulePriority == nil {
		return spec
	}
	class, ok := w.store.Get(priorityClass(spec.SchedulePriority.PriorityClassName)).(*schedulingv1.PriorityClass)
	if !ok {
		return spec
	}
	next, priority := *spec, *spec.SchedulePriority
	priority.Priority = class.Value
	next.SchedulePriority = &priority
	return &next
}

// admitPriorityClass lets the policies that name a class say its value.
func (w *World) admitPriorityClass(name string) {
	w.eachPropagation(func(policy messages.PropagationName, spec *api.PropagationSpec) {
		if p := spec.SchedulePriority; p != nil && p.PriorityClassName == name {
			w.admitPropagation(policy, spec)
		}
	})
}

// admitQuota tells the scheduler what a namespace may use. What clusters say of the parts that they were
// assigned stays.
func (w *World) admitQuota(o *api.FederatedResourceQuota, old api.Object) {
	if old != nil {
		o.Status = old.(*api.FederatedResourceQuota).Status
	}
	w.store.Put(o)
	w.tellQuota(o)
}

func (w *World) tellQuota(o *api.FederatedResourceQuota) {
	w.kernel.Post(schedulerAt, &messages.QuotaApplied{Namespace: o.Namespace, Name: o.Name, Limits: o.Spec.Overall})
}

// generationAfter is the generation of an object that takes the place of an older one. As with an API server it
// rises when what the object asks for changes, not with its metadata or status.
func generationAfter(o, old api.Object) int64 {
	if asksTheSame(o, old) {
		return old.GetGeneration()
	}
	return old.GetGeneration() + 1
}

// asksTheSame compares two objects of one kind without their metadata and status.
func asksTheSame(o, old api.Object) bool {
	a, b := reflect.ValueOf(o), reflect.ValueOf(old)
	if _, any := o.(*unstructured.Unstructured); any || a.Type() != b.Type() {
		return equality.Semantic.DeepEqual(wishes(o), wishes(old))
	}
	for i := range a.Elem().NumField() {
		switch a.Elem().Type().Field(i).Name {
		case "TypeMeta", "ObjectMeta", "Status":
		default:
			if !equality.Semantic.DeepEqual(a.Elem().Field(i).Interface(), b.Elem().Field(i).Interface()) {
				return false
			}
		}
	}
	return true
}

// wishes are the fields of an object besides its metadata and status.
func wishes(o api.Object) map[string]any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(fmt.Sprintf("world: %s was decoded but has no fields: %v", api.KeyOf(o), err))
	}
	rest := maps.Clone(fields)
	delete(rest, "metadata")
	delete(rest, "status")
	return rest
}
