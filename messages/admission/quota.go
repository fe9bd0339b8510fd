package admission

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// validateQuota finds what Karmada refuses: limits that are none, and assignments that the limits do not
// cover.
func validateQuota(q *api.FederatedResourceQuotaSpec, spec *field.Path) field.ErrorList {
	overall := spec.Child("overall")
	errs := validateLimits(q.Overall, overall)
	for i, a := range q.StaticAssignments {
		errs = append(errs, validateAssignment(a, q.Overall, spec.Child("staticAssignments").Index(i))...)
	}
	for _, name := range slices.Sorted(maps.Keys(q.Overall)) {
		limit, sum := q.Overall[name], assigned(q, name)
		if sum.Sign() > 0 && limit.Cmp(sum) < 0 {
			errs = append(errs, field.Invalid(overall.Key(string(name)), limit.String(), "must be no less than the sum of staticAssignments, "+sum.String()))
		}
	}
	return errs
}

func validateAssignment(a api.StaticClusterAssignment, overall corev1.ResourceList, at *field.Path) field.ErrorList {
	hard := at.Child("hard")
	errs := append(invalid(a.ClusterName, clusterName(a.ClusterName, false), at.Child("clusterName")), validateLimits(a.Hard, hard)...)
	for _, name := range slices.Sorted(maps.Keys(a.Hard)) {
		if _, limited := overall[name]; !limited {
			errs = append(errs, field.Invalid(hard.Key(string(name)), name, "must be in overall, too"))
		}
	}
	return errs
}

// assigned is how much of a resource clusters are to enforce themselves.
func assigned(q *api.FederatedResourceQuotaSpec, name corev1.ResourceName) (sum resource.Quantity) {
	for i := range q.StaticAssignments {
		sum.Add(q.StaticAssignments[i].Hard[name])
	}
	return sum
}

func validateLimits(limits corev1.ResourceList, path *field.Path) (errs field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		limit, at := limits[name], path.Key(string(name))
		errs = append(errs, validateLimited(string(name), at)...)
		if limit.Sign() < 0 {
			errs = append(errs, field.Invalid(at, limit.String(), "must be 0 or more"))
		}
		if slices.Contains(counted, name) && limit.MilliValue()%1000 != 0 {
			errs = append(errs, field.Invalid(at, limit.String(), "must be a whole number"))
		}
	}
	return errs
}

// What a quota may limit without a domain before its name. Source: Kubernetes, ResourceQuota.
var (
	measured = []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsStorage, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
	}
	counted = []corev1.ResourceName{
		corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
		corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
		corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
	}
)

func validateLimited(name string, at *field.Path) field.ErrorList {
	if reasons := validation.IsQualifiedName(name); len(reasons) > 0 {
		return invalid(name, reasons, at)
	}
	r := corev1.ResourceName(name)
	hugePages := strings.HasPrefix(strings.TrimPrefix(name, "requests."), corev1.ResourceHugePagesPrefix)
	if strings.Contains(name, "/") || hugePages || slices.Contains(measured, r) || slices.Contains(counted, r) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, r, slices.Concat(measured, counted))}
}

// quotaName is short enough for the value of a label, where Karmada writes it.
func quotaName(name string, prefix bool) []string {
	reasons := apivalidation.NameIsDNSSubdomain(name, prefix)
	if len(name) > validation.LabelValueMaxLength {
		reasons = append(reasons, validation.MaxLenError(validation.LabelValueMaxLength))
	}
	return reasons
}
