package admission

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages"
	"leeward/messages/api"
)

// defaultTolerations gives every policy the tolerations of the era that had them, unless it has its own
// for the same key. Source: Karmada v1.3 to v1.14.
func defaultTolerations(tolerations []corev1.Toleration, s *messages.Settings) []corev1.Toleration {
	for _, d := range []struct {
		key     string
		seconds int64
	}{
		{api.TaintNotReady, s.DefaultNotReadyTolerationSeconds},
		{api.TaintUnreachable, s.DefaultUnreachableTolerationSeconds},
	} {
		wanted := corev1.Toleration{
			Key: d.key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &d.seconds,
		}
		same := func(t corev1.Toleration) bool { return t.MatchToleration(&wanted) }
		if d.seconds >= 0 && !slices.ContainsFunc(tolerations, same) {
			tolerations = append(tolerations, wanted)
		}
	}
	return tolerations
}

// validateClusterTolerations finds what Karmada refuses in a policy, which is only the numeric
// operators; with ValidateTolerations all that Kubernetes refuses in a pod.
func validateClusterTolerations(tolerations []corev1.Toleration, s *messages.Settings, path *field.Path) (errs field.ErrorList) {
	if s.ValidateTolerations {
		return validateTolerations(tolerations, s.NumericTolerations, path)
	}
	for i, t := range tolerations {
		if isNumeric(t.Operator) && !s.NumericTolerations {
			errs = append(errs, field.NotSupported(path.Index(i).Child("operator"), t.Operator, tolerationOperators(false)))
		}
	}
	return errs
}

// validateTolerations is Kubernetes' own validation of a pod's tolerations.
func validateTolerations(tolerations []corev1.Toleration, numeric bool, path *field.Path) (errs field.ErrorList) {
	for i, t := range tolerations {
		at := path.Index(i)
		errs = append(errs, slices.Concat(
			validateKey(t, at),
			validateOperator(t, numeric, at),
			oneOf(t.Effect, nodeEffects, at.Child("effect")),
			validateSeconds(t, at),
		)...)
	}
	return errs
}

func validateKey(t corev1.Toleration, at *field.Path) field.ErrorList {
	switch {
	case t.Key != "":
		return labelKey(t.Key, at.Child("key"))
	case t.Operator != corev1.TolerationOpExists:
		return field.ErrorList{field.Invalid(at.Child("operator"), t.Operator, "must be Exists when key is empty, which means all keys")}
	}
	return nil
}

func validateSeconds(t corev1.Toleration, at *field.Path) field.ErrorList {
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		return field.ErrorList{field.Invalid(at.Child("effect"), t.Effect, "must be NoExecute when tolerationSeconds is set")}
	}
	return nil
}

func validateOperator(t corev1.Toleration, numeric bool, at *field.Path) field.ErrorList {
	switch operator := at.Child("operator"); {
	case t.Operator == "" || t.Operator == corev1.TolerationOpEqual:
		return labelValue(t.Value, at.Child("value"))
	case t.Operator == corev1.TolerationOpExists && t.Value != "":
		return field.ErrorList{field.Invalid(operator, t.Operator, "value must be empty when operator is Exists")}
	case t.Operator == corev1.TolerationOpExists:
		return nil
	case isNumeric(t.Operator) && numeric:
		return validateNumber(t.Value, at.Child("value"))
	default:
		return field.ErrorList{field.NotSupported(operator, t.Operator, tolerationOperators(numeric))}
	}
}

// validateNumber wants a decimal of 64 bits as it is written: no sign but a minus, no leading zeros.
func validateNumber(value string, at *field.Path) field.ErrorList {
	if i, err := strconv.ParseInt(value, 10, 64); err != nil || strconv.FormatInt(i, 10) != value {
		return field.ErrorList{field.Invalid(at, value, "must be an integer of 64 bits without leading zeros when operator is Lt or Gt")}
	}
	return nil
}

func isNumeric(o corev1.TolerationOperator) bool {
	return o == corev1.TolerationOpLt || o == corev1.TolerationOpGt
}

func tolerationOperators(numeric bool) []corev1.TolerationOperator {
	operators := []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}
	if numeric {
		operators = append(operators, corev1.TolerationOpLt, corev1.TolerationOpGt)
	}
	return operators
}
