package admission

import (
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// validateBudget finds budgets that bound nothing, or in two ways, and numbers that are none.
func validateBudget(b *api.EvictionBudgetSpec, namespaced bool, spec *field.Path) field.ErrorList {
	available, unavailable := spec.Child("minAvailable"), spec.Child("maxUnavailable")
	errs := slices.Concat(
		validateWorkloads(&b.Workloads, namespaced, spec.Child("workloads")),
		portion(b.MinAvailable, available),
		portion(b.MaxUnavailable, unavailable),
		validateMaxMoved(b.MaxMoved, spec.Child("maxMoved")),
	)
	switch {
	case b.MinAvailable != nil && b.MaxUnavailable != nil:
		errs = append(errs, field.Forbidden(unavailable, "may not be set together with minAvailable"))
	case b.MinAvailable == nil && b.MaxUnavailable == nil && b.MaxMoved == nil:
		errs = append(errs, field.Required(spec, "a budget needs minAvailable, maxUnavailable or maxMoved"))
	}
	return errs
}

func validateWorkloads(w *api.WorkloadSelector, namespaced bool, at *field.Path) field.ErrorList {
	errs := labelSelector(w.LabelSelector, at.Child("labelSelector"))
	namespaces := at.Child("namespaces")
	if namespaced && len(w.Namespaces) > 0 {
		errs = append(errs, field.Forbidden(namespaces, "an EvictionBudget is about its own namespace; a ClusterEvictionBudget may name others"))
	}
	for i, name := range w.Namespaces {
		errs = append(errs, invalid(name, apivalidation.ValidateNamespaceName(name, false), namespaces.Index(i))...)
	}
	if w.MinPriority != nil && w.MaxPriority != nil && *w.MinPriority > *w.MaxPriority {
		errs = append(errs, field.Invalid(at.Child("maxPriority"), *w.MaxPriority, "must be no less than minPriority"))
	}
	return errs
}

func validateMaxMoved(m *api.MaxMoved, at *field.Path) field.ErrorList {
	if m == nil {
		return nil
	}
	errs := portion(&m.Replicas, at.Child("replicas"))
	if m.WindowSeconds <= 0 {
		errs = append(errs, field.Invalid(at.Child("windowSeconds"), m.WindowSeconds, "must be more than 0"))
	}
	return errs
}

// portion wants a number of 0 or more, or a percentage from 0% to 100%, if there is one.
func portion(p *intstr.IntOrString, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	if p.Type == intstr.Int {
		return notNegative(int64(p.IntVal), at)
	}
	if reasons := validation.IsValidPercent(p.StrVal); len(reasons) > 0 {
		return invalid(p.StrVal, reasons, at)
	}
	if percent, err := intstr.GetScaledValueFromIntOrPercent(p, 100, true); err != nil || percent > 100 {
		return field.ErrorList{field.Invalid(at, p.StrVal, "must be no more than 100%")}
	}
	return nil
}

// validatePodBudget finds what an API server refuses of a PodDisruptionBudget. Source: ValidatePodDisruptionBudgetSpec of Kubernetes 1.37.
func validatePodBudget(b *policyv1.PodDisruptionBudgetSpec, spec *field.Path) field.ErrorList {
	errs := slices.Concat(
		portion(b.MinAvailable, spec.Child("minAvailable")),
		portion(b.MaxUnavailable, spec.Child("maxUnavailable")),
		labelSelector(b.Selector, spec.Child("selector")),
	)
	if b.MinAvailable != nil && b.MaxUnavailable != nil {
		errs = append(errs, field.Forbidden(spec.Child("maxUnavailable"), "minAvailable and maxUnavailable cannot be both set"))
	}
	if policy := b.UnhealthyPodEvictionPolicy; policy != nil {
		errs = append(errs, oneOf(*policy, []policyv1.UnhealthyPodEvictionPolicyType{policyv1.AlwaysAllow, policyv1.IfHealthyBudget}, spec.Child("unhealthyPodEvictionPolicy"))...)
	}
	return errs
}

// validateBindingHolds finds what is wrong with how people hold or release the evictions of a binding.
func validateBindingHolds(annotations map[string]string) field.ErrorList {
	return append(validateHold(annotations), validateReasonGiven(annotations, api.AnnotationRelease)...)
}

// validateClusterHold finds what is wrong with how people hold what leaves a cluster, or let it exceed budgets. A cluster cannot be
// released: its limits are those of the clusters that take over.
func validateClusterHold(annotations map[string]string) field.ErrorList {
	errs := append(validateHold(annotations), validateReasonGiven(annotations, api.AnnotationExceedBudget)...)
	if reason, given := annotations[api.AnnotationRelease]; given {
		errs = append(errs, field.Invalid(annotation(api.AnnotationRelease), reason, "is for bindings"))
	}
	return errs
}

func validateHold(annotations map[string]string) field.ErrorList {
	errs := validateReasonGiven(annotations, api.AnnotationHold)
	until, ends := annotations[api.AnnotationHoldUntil]
	if !ends {
		return errs
	}
	at := annotation(api.AnnotationHoldUntil)
	if _, held := annotations[api.AnnotationHold]; !held {
		errs = append(errs, field.Invalid(at, until, "goes with "+api.AnnotationHold))
	}
	if _, err := api.HoldIn(annotations); err != nil {
		errs = append(errs, field.Invalid(at, until, err.Error()))
	}
	return errs
}

func validateReasonGiven(annotations map[string]string, key string) field.ErrorList {
	if reason, given := annotations[key]; given && strings.TrimSpace(reason) == "" {
		return field.ErrorList{field.Required(annotation(key), "must say why")}
	}
	return nil
}

func annotation(key string) *field.Path { return field.NewPath("metadata", "annotations").Key(key) }

func validateGovernor(g *api.GovernorSpec, spec *field.Path) field.ErrorList {
	if g.Pause == nil || strings.TrimSpace(g.Pause.Reason) != "" {
		return nil
	}
	return field.ErrorList{field.Required(spec.Child("pause", "reason"), "must say why")}
}

func governorName(name string, _ bool) []string {
	if name != api.GovernorName {
		return []string{"there is one, " + api.GovernorName}
	}
	return nil
}
