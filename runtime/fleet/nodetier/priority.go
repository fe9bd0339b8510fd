package nodetier

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// systemClasses are the PriorityClasses that every cluster has.
func systemClasses() map[string]*schedulingv1.PriorityClass {
	all := map[string]*schedulingv1.PriorityClass{}
	for name, value := range map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000} {
		all[name] = &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
	}
	return all
}

// prioritize gives a pod the priority of the class that it names, or of the class that is the default. Source: the admission plugin Priority.
func (t *Tier) prioritize(p *corev1.Pod) {
	if p.Spec.Priority != nil {
		return
	}
	class := t.classes[p.Spec.PriorityClassName]
	if p.Spec.PriorityClassName == "" {
		class = t.defaultClass()
	}
	if class == nil {
		return
	}
	value := class.Value
	p.Spec.PriorityClassName, p.Spec.Priority = class.Name, &value
	if p.Spec.PreemptionPolicy == nil {
		p.Spec.PreemptionPolicy = class.PreemptionPolicy
	}
}

// defaultClass is the class of pods that name none: of several the one with the lowest value, then by name; nil: there is none.
func (t *Tier) defaultClass() (lowest *schedulingv1.PriorityClass) {
	for _, c := range t.classes { // order-free: the lowest
		if c.GlobalDefault && (lowest == nil || c.Value < lowest.Value || c.Value == lowest.Value && c.Name < lowest.Name) {
			lowest = c
		}
	}
	return lowest
}
