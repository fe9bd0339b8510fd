package admission

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// What an application's failover does unless told otherwise, in seconds.
const (
	defaultUnhealthySeconds = 300
	defaultGraceSeconds     = 600
)

var (
	applicationPurges = []api.PurgeMode{api.PurgeDirectly, api.PurgeGracefully, api.PurgeNever}
	clusterPurges     = []api.PurgeMode{api.PurgeDirectly, api.PurgeGracefully}
)

// defaultFailover sets what the schema of policies and bindings does.
func defaultFailover(f *api.FailoverBehavior) {
	if f == nil {
		return
	}
	if a := f.Application; a != nil {
		a.DecisionConditions.TolerationSeconds = orElse(a.DecisionConditions.TolerationSeconds, defaultUnhealthySeconds)
		setDefault(&a.PurgeMode, api.PurgeGracefully)
	}
	if c := f.Cluster; c != nil {
		setDefault(&c.PurgeMode, api.PurgeGracefully)
	}
}

// defaultGracePeriod sets what only the webhook of policies does.
func defaultGracePeriod(f *api.FailoverBehavior) {
	if f != nil && f.Application != nil && f.Application.PurgeMode == api.PurgeGracefully {
		f.Application.GracePeriodSeconds = orElse(f.Application.GracePeriodSeconds, defaultGraceSeconds)
	}
}

func validateFailover(f *api.FailoverBehavior, at *field.Path) (errs field.ErrorList) {
	if f == nil {
		return nil
	}
	if a := f.Application; a != nil {
		errs = append(errs, validateApplication(a, at.Child("application"))...)
	}
	if c := f.Cluster; c != nil {
		errs = append(errs, oneOf(c.PurgeMode, clusterPurges, at.Child("cluster", "purgeMode"))...)
		errs = append(errs, validatePreservation(c.StatePreservation, at.Child("cluster", "statePreservation"))...)
	}
	return errs
}

func validateApplication(a *api.ApplicationFailover, at *field.Path) (errs field.ErrorList) {
	if seconds := a.DecisionConditions.TolerationSeconds; seconds != nil {
		errs = append(errs, notNegative(int64(*seconds), at.Child("decisionConditions", "tolerationSeconds"))...)
	}
	errs = append(errs, oneOf(a.PurgeMode, applicationPurges, at.Child("purgeMode"))...)
	switch grace := at.Child("gracePeriodSeconds"); {
	case a.GracePeriodSeconds == nil:
	case a.PurgeMode != api.PurgeGracefully:
		errs = append(errs, field.Invalid(grace, *a.GracePeriodSeconds, "only with purgeMode Gracefully"))
	case *a.GracePeriodSeconds <= 0:
		errs = append(errs, field.Invalid(grace, *a.GracePeriodSeconds, "must be more than 0"))
	}
	return append(errs, validatePreservation(a.StatePreservation, at.Child("statePreservation"))...)
}

func validatePreservation(s *api.StatePreservation, at *field.Path) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	for i, r := range s.Rules {
		rule := at.Child("rules").Index(i)
		errs = append(errs, labelKey(r.AliasLabelName, rule.Child("aliasLabelName"))...)
		errs = append(errs, required(r.JSONPath, rule.Child("jsonPath"))...)
	}
	return errs
}
