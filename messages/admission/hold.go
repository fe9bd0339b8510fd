package admission

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

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
