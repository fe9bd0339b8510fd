package taint

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// WithDefaults returns the tolerations with those that every policy gets: the NoExecute twins of
// not-ready and unreachable, each for so many seconds, negative for none. One that is there already, of
// the same key, operator and effect, keeps its own seconds. Source: Karmada up to 1.14,
// --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds.
func WithDefaults(tolerations []corev1.Toleration, notReady, unreachable int64) []corev1.Toleration {
	after := withDefault(slices.Clip(tolerations), api.TaintNotReady, notReady)
	return withDefault(after, api.TaintUnreachable, unreachable)
}

func withDefault(tolerations []corev1.Toleration, key string, seconds int64) []corev1.Toleration {
	d := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
	same := func(t corev1.Toleration) bool { return d.MatchToleration(&t) }
	if seconds < 0 || slices.ContainsFunc(tolerations, same) {
		return tolerations
	}
	d.TolerationSeconds = &seconds
	return append(tolerations, d)
}

// ValidateTolerations returns every reason for which Kubernetes would refuse the tolerations; path is where they
// stand. Karmada admits all of them, and acts on what it cannot mean (K22). Source: the validation of
// pods in Kubernetes.
func ValidateTolerations(tolerations []corev1.Toleration, numeric bool, path *field.Path) field.ErrorList {
	var all field.ErrorList
	for i := range tolerations {
		t, at := &tolerations[i], path.Index(i)
		all = append(all, validateKey(t, at)...)
		all = append(all, validateOperator(t, numeric, at)...)
		all = append(all, validateEffect(t, at)...)
	}
	return all
}

func validateKey(t *corev1.Toleration, at *field.Path) (bad field.ErrorList) {
	if t.Key == "" && t.Operator != corev1.TolerationOpExists {
		return field.ErrorList{field.Invalid(at.Child("operator"), t.Operator, "without a key it must be Exists, which covers every key")}
	}
	if t.Key != "" {
		for _, reason := range validation.IsQualifiedName(t.Key) {
			bad = append(bad, field.Invalid(at.Child("key"), t.Key, reason))
		}
	}
	return bad
}

func validateOperator(t *corev1.Toleration, numeric bool, at *field.Path) (bad field.ErrorList) {
	switch t.Operator {
	case "", corev1.TolerationOpEqual:
		for _, reason := range validation.IsValidLabelValue(t.Value) {
			bad = append(bad, field.Invalid(at.Child("value"), t.Value, reason))
		}
		return bad
	case corev1.TolerationOpExists:
		if t.Value != "" {
			return field.ErrorList{field.Invalid(at.Child("value"), t.Value, "must be empty where the operator is Exists")}
		}
		return nil
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		if numeric {
			return validateNumber(t, at)
		}
	}
	return field.ErrorList{field.NotSupported(at.Child("operator"), t.Operator, operators(numeric))}
}

func validateNumber(t *corev1.Toleration, at *field.Path) field.ErrorList {
	if _, ok := decimal(t.Value); ok {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("value"), t.Value, "must be a decimal of 64 bits without leading zeros")}
}

func operators(numeric bool) []corev1.TolerationOperator {
	known := []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}
	if numeric {
		known = append(known, corev1.TolerationOpLt, corev1.TolerationOpGt)
	}
	return known
}

func validateEffect(t *corev1.Toleration, at *field.Path) (bad field.ErrorList) {
	if t.Effect != "" && !slices.Contains(effects, t.Effect) {
		bad = append(bad, field.NotSupported(at.Child("effect"), t.Effect, effects))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		bad = append(bad, field.Invalid(at.Child("effect"), t.Effect, "must be NoExecute where tolerationSeconds is set"))
	}
	return bad
}
