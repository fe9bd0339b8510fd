package world

import (
	schedulingv1 "k8s.io/api/scheduling/v1"

	"leeward/messages"
	"leeward/messages/api"
)

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
