package admission

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages"
	"leeward/messages/api"
)

const conflictAbort = "Abort"

var (
	preemptions   = []api.PreemptionBehavior{api.PreemptAlways, api.PreemptNever}
	conflicts     = []string{conflictAbort, api.ConflictOverwrite}
	activations   = []api.Activation{api.ActivateLazily}
	priorityKinds = []string{"KubePriorityClass"}
)

// defaultSelectors puts the selectors of a policy that has a namespace into it.
func defaultSelectors(selectors []api.ResourceSelector, namespace string) {
	for i := range selectors {
		if r := &selectors[i]; r.Namespace == "" {
			r.Namespace = namespace
		}
	}
}

func defaultPropagation(p *api.PropagationSpec, s *messages.Settings) {
	p.Priority = orElse(p.Priority, 0)
	setDefault(&p.Preemption, api.PreemptNever)
	setDefault(&p.SchedulerName, api.DefaultScheduler)
	setDefault(&p.ConflictResolution, conflictAbort)
	if slices.ContainsFunc(p.ResourceSelectors, isServiceImport) {
		p.PropagateDeps = true
	}
	defaultPlacement(&p.Placement, s)
	defaultFailover(p.Failover)
	defaultGracePeriod(p.Failover)
}

// isServiceImport: a ServiceImport is nothing without the Service and EndpointSlices that depend on it.
func isServiceImport(r api.ResourceSelector) bool {
	return r.Kind == "ServiceImport" && r.APIVersion == "multicluster.x-k8s.io/v1alpha1"
}

func setDefault[T ~string](value *T, unset T) {
	if *value == "" {
		*value = unset
	}
}

// orElse returns the pointer, or one to the default if it is nil.
func orElse[T any](value *T, unset T) *T {
	if value == nil {
		return &unset
	}
	return value
}

func validatePropagation(p *api.PropagationSpec, s *messages.Settings, spec *field.Path) field.ErrorList {
	return slices.Concat(
		validateSelectors(p, spec.Child("resourceSelectors")),
		oneOf(p.Preemption, preemptions, spec.Child("preemption")),
		oneOf(p.ConflictResolution, conflicts, spec.Child("conflictResolution")),
		oneOf(p.ActivationPreference, activations, spec.Child("activationPreference")),
		validateDependencies(p, spec.Child("propagateDeps")),
		validatePlacement(&p.Placement, s, spec.Child("placement")),
		validateFailover(p.Failover, spec.Child("failover")),
		validateSuspension(p.Suspension, spec.Child("suspension")),
		validatePriority(p.SchedulePriority, spec.Child("schedulePriority")),
	)
}

// validateDependencies: an application that moves alone would start without its configuration.
func validateDependencies(p *api.PropagationSpec, at *field.Path) field.ErrorList {
	if p.Failover != nil && p.Failover.Application != nil && !p.PropagateDeps {
		return field.ErrorList{field.Invalid(at, false, "must be true when failover.application is set")}
	}
	return nil
}

func validatePriority(p *api.SchedulePriority, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	return slices.Concat(
		requiredOneOf(p.PriorityClassSource, priorityKinds, at.Child("priorityClassSource")),
		required(p.PriorityClassName, at.Child("priorityClassName")),
	)
}

func validateSelectors(p *api.PropagationSpec, path *field.Path) (errs field.ErrorList) {
	if len(p.ResourceSelectors) == 0 {
		errs = append(errs, field.Required(path, "at least one selector"))
	}
	for i := range p.ResourceSelectors {
		r, at := &p.ResourceSelectors[i], path.Index(i)
		errs = append(errs, validateSelector(r, at)...)
		if p.Preemption == api.PreemptAlways && r.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), "every selector must name its resource when preemption is Always"))
		}
	}
	return errs
}

func validateSelector(r *api.ResourceSelector, at *field.Path) field.ErrorList {
	return slices.Concat(
		required(r.APIVersion, at.Child("apiVersion")),
		required(r.Kind, at.Child("kind")),
		labelSelector(r.LabelSelector, at.Child("labelSelector")),
	)
}

func validateSuspension(s *api.Suspension, at *field.Path) field.ErrorList {
	if s == nil || s.Dispatching == nil || s.DispatchingOnClusters == nil {
		return nil
	}
	if *s.Dispatching && len(s.DispatchingOnClusters.ClusterNames) > 0 {
		return field.ErrorList{field.Invalid(at, "dispatching: true", "dispatching and dispatchingOnClusters are mutually exclusive")}
	}
	return nil
}
