package admission

import (
	"slices"

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
	handovers         = []api.Handover{api.HandoverWhole, api.HandoverGradual}
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

func validateFailover(f *api.FailoverBehavior, at *field.Path) field.ErrorList {
	if f == nil {
		return nil
	}
	return slices.Concat(
		validateApplication(f.Application, at.Child("application")),
		validateClusterFailover(f.Cluster, at.Child("cluster")),
	)
}

func validateApplication(a *api.ApplicationFailover, at *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	return slices.Concat(
		count(a.DecisionConditions.TolerationSeconds, at.Child("decisionConditions", "tolerationSeconds")),
		count(a.DecisionConditions.StartupSeconds, at.Child("decisionConditions", "startupSeconds")),
		oneOf(a.PurgeMode, applicationPurges, at.Child("purgeMode")),
		validateGrace(a.GracePeriodSeconds, a.PurgeMode, at.Child("gracePeriodSeconds")),
		validateHandover(a.Handover, a.PurgeMode, at.Child("handover")),
		validatePreservation(a.StatePreservation, at.Child("statePreservation")),
		validatePace(a.Pace, at.Child("pace")),
	)
}

// mostFailovers is as many as a binding's history keeps.
const mostFailovers = 16

func validatePace(p *api.FailoverPace, at *field.Path) (errs field.ErrorList) {
	if p == nil {
		return nil
	}
	if p.MaxFailovers != nil && *p.MaxFailovers > mostFailovers {
		errs = append(errs, field.Invalid(at.Child("maxFailovers"), *p.MaxFailovers, "must be 16 or less"))
	}
	return slices.Concat(
		errs,
		count(p.MaxFailovers, at.Child("maxFailovers")),
		count(p.WindowSeconds, at.Child("windowSeconds")),
		count(p.CooldownSeconds, at.Child("cooldownSeconds")),
	)
}

func validateGrace(seconds *int32, mode api.PurgeMode, at *field.Path) field.ErrorList {
	switch {
	case seconds == nil:
		return nil
	case mode != api.PurgeGracefully:
		return field.ErrorList{field.Invalid(at, *seconds, "only with purgeMode Gracefully")}
	case *seconds <= 0:
		return field.ErrorList{field.Invalid(at, *seconds, "must be more than 0")}
	}
	return nil
}

func validateHandover(h api.Handover, mode api.PurgeMode, at *field.Path) field.ErrorList {
	if h == api.HandoverGradual && mode != api.PurgeGracefully {
		return field.ErrorList{field.Invalid(at, h, "only with purgeMode Gracefully")}
	}
	return oneOf(h, handovers, at)
}

func validateClusterFailover(c *api.ClusterFailover, at *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	return slices.Concat(
		oneOf(c.PurgeMode, clusterPurges, at.Child("purgeMode")),
		validateGrace(c.GracePeriodSeconds, c.PurgeMode, at.Child("gracePeriodSeconds")),
		validateHandover(c.Handover, c.PurgeMode, at.Child("handover")),
		validatePreservation(c.StatePreservation, at.Child("statePreservation")),
		validateFailback(c.Failback, at.Child("failback")),
		oneOf(c.Reconnect, reconnects, at.Child("reconnect")),
	)
}

var reconnects = []api.ReconnectStrategy{
	api.ReconnectKeepReplacement, api.ReconnectKeepOriginal, api.ReconnectKeepHealthiest,
}

func validateFailback(f *api.Failback, at *field.Path) field.ErrorList {
	if f == nil {
		return nil
	}
	return slices.Concat(
		oneOf(f.Mode, []api.FailbackMode{api.FailbackNever, api.FailbackAutomatic}, at.Child("mode")),
		count(f.StabilizationSeconds, at.Child("stabilizationSeconds")),
	)
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
