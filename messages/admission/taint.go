package admission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages"
	"leeward/messages/api"
)

// A cluster takes no PreferNoSchedule, unless settings say so; a node and a toleration know all three effects.
var (
	clusterEffects = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute}
	nodeEffects    = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
)

// taintID is what makes two taints the same.
type taintID struct {
	key    string
	effect corev1.TaintEffect
}

func effectsOfClusters(s *messages.Settings) []corev1.TaintEffect {
	if s.PreferNoSchedule {
		return nodeEffects
	}
	return clusterEffects
}

// ValidateClusterTaints finds what an API server would refuse of the taints of a cluster, as Validate does of
// the whole cluster; empty: they pass. Who writes taints himself asks beforehand.
func ValidateClusterTaints(taints []corev1.Taint, s *messages.Settings) field.ErrorList {
	return validateTaints(taints, effectsOfClusters(s), field.NewPath("spec", "taints"))
}

// validateTaints is for the taints of a cluster or a node.
func validateTaints(taints []corev1.Taint, effects []corev1.TaintEffect, path *field.Path) (errs field.ErrorList) {
	ids := make([]taintID, len(taints))
	for i, t := range taints {
		ids[i] = taintID{t.Key, t.Effect}
		errs = append(errs, validateTaint(t, effects, path.Index(i))...)
	}
	return append(errs, uniqueTaints(ids, path)...)
}

func validateTaint(t corev1.Taint, effects []corev1.TaintEffect, at *field.Path) field.ErrorList {
	return slices.Concat(
		labelKey(t.Key, at.Child("key")),
		labelValue(t.Value, at.Child("value")),
		requiredOneOf(t.Effect, effects, at.Child("effect")),
	)
}

func uniqueTaints(ids []taintID, path *field.Path) (errs field.ErrorList) {
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			twice := field.Duplicate(path.Index(i), id.key+":"+string(id.effect))
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
	}
	return errs
}

var (
	matchOperators    = []api.MatchOperator{api.MatchIn, api.MatchNotIn}
	cleanupModes      = []api.CleanupMode{api.CleanupNever, api.CleanupOnDelete, api.CleanupOnChange}
	conditionStatuses = []metav1.ConditionStatus{"True", "False", "Unknown"}
)

// validateTaintPolicy finds what Karmada refuses: NoExecute without its setting, and twins. With
// ValidateTolerations also what Karmada admits although it can never take effect.
func validateTaintPolicy(p *api.ClusterTaintPolicySpec, s *messages.Settings, spec *field.Path) field.ErrorList {
	errs := slices.Concat(
		validatePolicyTaints(p, s, spec.Child("taints")),
		oneOf(p.Cleanup, cleanupModes, spec.Child("cleanup")),
		validateConditions(p.AddOnConditions, s, spec.Child("addOnConditions")),
		validateConditions(p.RemoveOnConditions, s, spec.Child("removeOnConditions")),
	)
	if s.ValidateTolerations {
		errs = append(errs, validateAffinity(p.TargetClusters, spec.Child("targetClusters"))...)
	}
	return errs
}

func validatePolicyTaints(p *api.ClusterTaintPolicySpec, s *messages.Settings, path *field.Path) (errs field.ErrorList) {
	taints := p.Taints
	if len(taints) == 0 {
		errs = append(errs, field.Required(path, "at least one taint"))
	}
	ids := make([]taintID, len(taints))
	for i, t := range taints {
		ids[i] = taintID{t.Key, t.Effect}
		errs = append(errs, validatePolicyTaint(t, p.ReportOnly, s, path.Index(i))...)
	}
	return append(errs, uniqueTaints(ids, path)...)
}

// validatePolicyTaint admits a NoExecute taint of a policy that only reports: it evicts nothing.
func validatePolicyTaint(t api.PolicyTaint, reportOnly bool, s *messages.Settings, at *field.Path) (errs field.ErrorList) {
	if t.Effect == corev1.TaintEffectNoExecute && !reportOnly && !s.AllowNoExecuteTaintPolicy {
		errs = append(errs, field.Forbidden(at, "a NoExecute taint evicts every workload that does not tolerate it; "+
			"to allow it in policies, set allowNoExecuteTaintPolicy: true in the configuration of leewardd (or Karmada's --allow-no-execute-taint-policy), "+
			"in spec.config of a Scenario, or by --set allowNoExecuteTaintPolicy=true of leeward"))
	}
	if s.ValidateTolerations {
		return append(errs, validateTaint(corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}, effectsOfClusters(s), at)...)
	}
	return slices.Concat(errs, required(t.Key, at.Child("key")), required(string(t.Effect), at.Child("effect")))
}

func validateConditions(conditions []api.MatchCondition, s *messages.Settings, path *field.Path) (errs field.ErrorList) {
	for i, c := range conditions {
		at := path.Index(i)
		errs = append(errs, required(c.ConditionType, at.Child("conditionType"))...)
		errs = append(errs, required(string(c.Operator), at.Child("operator"))...)
		if c.StatusValues == nil {
			errs = append(errs, field.Required(at.Child("statusValues"), ""))
		}
		errs = append(errs, oneOf(c.DefaultStatus, conditionStatuses, at.Child("defaultStatus"))...)
		if c.For != nil && c.For.Duration < 0 {
			errs = append(errs, field.Invalid(at.Child("for"), c.For.Duration.String(), "must be 0 or more"))
		}
		if !s.ValidateTolerations {
			continue
		}
		errs = append(errs, oneOf(c.Operator, matchOperators, at.Child("operator"))...)
		for j, status := range c.StatusValues {
			errs = append(errs, requiredOneOf(status, conditionStatuses, at.Child("statusValues").Index(j))...)
		}
	}
	return errs
}
