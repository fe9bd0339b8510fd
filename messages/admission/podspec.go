package admission

import (
	"errors"
	"fmt"
	"iter"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

var (
	spreadWords = []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}
	policyWords = []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}
)

// validatePlacing finds what an API server refuses of what a pod says about where it runs, and of what it requests.
func validatePlacing(p *corev1.PodSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	if p.NodeName != "" {
		errs = append(errs, invalid(p.NodeName, validation.IsDNS1123Subdomain(p.NodeName), spec.Child("nodeName"))...)
	}
	errs = append(errs, metav1validation.ValidateLabels(p.NodeSelector, spec.Child("nodeSelector"))...)
	if p.Affinity != nil && p.Affinity.NodeAffinity != nil {
		errs = append(errs, validateNodeAffinity(p.Affinity.NodeAffinity, spec.Child("affinity", "nodeAffinity"))...)
	}
	for i := range p.TopologySpreadConstraints {
		errs = append(errs, validatePodSpread(p.TopologySpreadConstraints, i, spec.Child("topologySpreadConstraints"))...)
	}
	for _, all := range []struct {
		field      string
		containers []corev1.Container
	}{{"initContainers", p.InitContainers}, {"containers", p.Containers}} {
		for i := range all.containers {
			errs = append(errs, validateNeeds(&all.containers[i].Resources, spec.Child(all.field).Index(i).Child("resources"))...)
		}
	}
	return errs
}

func validateNodeAffinity(a *corev1.NodeAffinity, at *field.Path) (errs field.ErrorList) {
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		path := at.Child("requiredDuringSchedulingIgnoredDuringExecution")
		if len(required.NodeSelectorTerms) == 0 {
			errs = append(errs, field.Required(path.Child("nodeSelectorTerms"), "must have at least one node selector term"))
		}
		_, err := nodeaffinity.NewNodeSelector(required, field.WithPath(path))
		errs = append(errs, listed(err)...)
	}
	path := at.Child("preferredDuringSchedulingIgnoredDuringExecution")
	for i, term := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		if term.Weight < 1 || term.Weight > 100 {
			errs = append(errs, field.Invalid(path.Index(i).Child("weight"), term.Weight, "must be in the range 1-100"))
		}
	}
	_, err := nodeaffinity.NewPreferredSchedulingTerms(a.PreferredDuringSchedulingIgnoredDuringExecution, field.WithPath(path))
	return append(errs, listed(err)...)
}

// listed are the errors of fields that an error is made of.
func listed(err error) (errs field.ErrorList) {
	if several, is := errors.AsType[utilerrors.Aggregate](err); is {
		for _, one := range utilerrors.Flatten(several).Errors() {
			errs = append(errs, listed(one)...)
		}
		return errs
	}
	if one, is := errors.AsType[*field.Error](err); is {
		return field.ErrorList{one}
	}
	return nil
}

// validatePodSpread checks one of several topology spread constraints.
func validatePodSpread(all []corev1.TopologySpreadConstraint, i int, path *field.Path) (errs field.ErrorList) {
	c, at := &all[i], path.Index(i)
	if c.MaxSkew <= 0 {
		errs = append(errs, field.Invalid(at.Child("maxSkew"), c.MaxSkew, "must be greater than zero"))
	}
	if c.TopologyKey == "" {
		errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
	} else {
		errs = append(errs, labelKey(c.TopologyKey, at.Child("topologyKey"))...)
	}
	errs = append(errs, requiredOneOf(c.WhenUnsatisfiable, spreadWords, at.Child("whenUnsatisfiable"))...)
	for j := range all[:i] {
		if all[j].TopologyKey == c.TopologyKey && all[j].WhenUnsatisfiable == c.WhenUnsatisfiable {
			errs = append(errs, field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"), fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
	}
	if c.MinDomains != nil {
		switch domains := at.Child("minDomains"); {
		case *c.MinDomains <= 0:
			errs = append(errs, field.Invalid(domains, *c.MinDomains, "must be greater than zero"))
		case c.WhenUnsatisfiable != corev1.DoNotSchedule:
			errs = append(errs, field.Invalid(domains, *c.MinDomains, fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable)))
		}
	}
	for _, policy := range []struct {
		field string
		value *corev1.NodeInclusionPolicy
	}{{"nodeAffinityPolicy", c.NodeAffinityPolicy}, {"nodeTaintsPolicy", c.NodeTaintsPolicy}} {
		if policy.value != nil {
			errs = append(errs, requiredOneOf(*policy.value, policyWords, at.Child(policy.field))...)
		}
	}
	return append(errs, labelSelector(c.LabelSelector, at.Child("labelSelector"))...)
}

// validateNodeAmounts wants a node to have and to offer no negative amounts.
func validateNodeAmounts(s *corev1.NodeStatus) field.ErrorList {
	status := field.NewPath("status")
	return append(validateAmounts(s.Capacity, status.Child("capacity")), validateAmounts(s.Allocatable, status.Child("allocatable"))...)
}

// validateLease wants a Lease to last, and to count from 0.
func validateLease(l *coordinationv1.LeaseSpec, spec *field.Path) (errs field.ErrorList) {
	if d := l.LeaseDurationSeconds; d != nil && *d <= 0 {
		errs = append(errs, field.Invalid(spec.Child("leaseDurationSeconds"), *d, "must be greater than 0"))
	}
	if n := l.LeaseTransitions; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(spec.Child("leaseTransitions"), *n, "must be greater than or equal to 0"))
	}
	return errs
}

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
