package admission

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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
