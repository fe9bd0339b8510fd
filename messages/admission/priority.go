package admission

import (
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// systemClasses are the PriorityClasses that every cluster has.
var systemClasses = map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

// Prioritize gives a new pod the priority of the class that it names, or of that of the pods which name none: of several the lowest, then by name. It
// is an error if there is no class of the name. Source: the admission plugin Priority.
func Prioritize(p *corev1.Pod, classes iter.Seq[*schedulingv1.PriorityClass]) error {
	if p.Spec.Priority != nil {
		return nil
	}
	name := p.Spec.PriorityClassName
	if value, is := systemClasses[name]; is {
		p.Spec.Priority = &value
		return nil
	}
	var class *schedulingv1.PriorityClass
	for c := range classes {
		if c.Name == name || name == "" && c.GlobalDefault && (class == nil || c.Value < class.Value || c.Value == class.Value && c.Name < class.Name) {
			class = c
		}
	}
	switch {
	case class == nil && name == "":
		return nil
	case class == nil:
		return fmt.Errorf("no PriorityClass with name %s was found", name)
	}
	value := class.Value
	p.Spec.PriorityClassName, p.Spec.Priority = class.Name, &value
	if p.Spec.PreemptionPolicy == nil {
		p.Spec.PreemptionPolicy = class.PreemptionPolicy
	}
	return nil
}
