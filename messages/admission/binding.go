package admission

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// Bounds of a graceful eviction task, in characters.
const (
	maxEvictionReason  = 32
	maxEvictionMessage = 1024
)

var evictionReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// defaultBinding sets what the schema of a binding does. The rest comes from its policy.
func defaultBinding(b *api.BindingSpec) {
	setDefault(&b.SchedulerName, defaultScheduler)
	setDefault(&b.ConflictResolution, conflictAbort)
	if b.Placement != nil {
		defaultSchedulingType(b.Placement)
	}
	defaultFailover(b.Failover)
}

func validateBinding(b *api.BindingSpec, spec *field.Path) field.ErrorList {
	resource := spec.Child("resource")
	errs := required(b.Resource.APIVersion, resource.Child("apiVersion"))
	errs = append(errs, required(b.Resource.Kind, resource.Child("kind"))...)
	errs = append(errs, required(b.Resource.Name, resource.Child("name"))...)
	errs = append(errs, notNegative(int64(b.Replicas), spec.Child("replicas"))...)
	errs = append(errs, oneOf(b.ConflictResolution, conflicts, spec.Child("conflictResolution"))...)
	errs = append(errs, validateComponents(b.Components, spec.Child("components"))...)
	errs = append(errs, validateTargets(b.Clusters, spec.Child("clusters"))...)
	for i, task := range b.GracefulEvictionTasks {
		errs = append(errs, validateTask(task, spec.Child("gracefulEvictionTasks").Index(i))...)
	}
	return append(errs, validateSuspension(b.Suspension, spec.Child("suspension"))...)
}

// validateComponents wants a name of its own for each pod template of a workload that has several.
func validateComponents(components []api.Component, path *field.Path) (errs field.ErrorList) {
	taken := map[string]bool{}
	for i, c := range components {
		at := path.Index(i)
		errs = append(errs, notNegative(int64(c.Replicas), at.Child("replicas"))...)
		switch {
		case c.Name == "" && len(components) > 1:
			errs = append(errs, field.Required(at.Child("name"), "each of several components needs one"))
		case taken[c.Name]:
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		taken[c.Name] = c.Name != ""
	}
	return errs
}

func validateTargets(clusters []api.TargetCluster, path *field.Path) (errs field.ErrorList) {
	taken := map[string]bool{}
	for i, c := range clusters {
		at := path.Index(i)
		errs = append(errs, required(c.Name, at.Child("name"))...)
		errs = append(errs, notNegative(int64(c.Replicas), at.Child("replicas"))...)
		if taken[c.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		taken[c.Name] = c.Name != ""
	}
	return errs
}

// validateTask holds a task to the schema; no webhook looks further.
func validateTask(t api.GracefulEvictionTask, at *field.Path) field.ErrorList {
	errs := required(t.FromCluster, at.Child("fromCluster"))
	errs = append(errs, required(t.Producer, at.Child("producer"))...)
	errs = append(errs, oneOf(t.PurgeMode, applicationPurges, at.Child("purgeMode"))...)
	switch reason := at.Child("reason"); {
	case t.Reason == "":
		errs = append(errs, field.Required(reason, ""))
	case len(t.Reason) > maxEvictionReason:
		errs = append(errs, field.Invalid(reason, t.Reason, validation.MaxLenError(maxEvictionReason)))
	case !evictionReason.MatchString(t.Reason):
		errs = append(errs, field.Invalid(reason, t.Reason, "must be one word, as TaintUntolerated"))
	}
	if len(t.Message) > maxEvictionMessage {
		errs = append(errs, field.TooLong(at.Child("message"), "", maxEvictionMessage))
	}
	return errs
}

func validateRebalancer(r *api.WorkloadRebalancerSpec, spec *field.Path) (errs field.ErrorList) {
	path := spec.Child("workloads")
	if len(r.Workloads) == 0 {
		errs = append(errs, field.Required(path, "at least one workload"))
	}
	for i, w := range r.Workloads {
		at := path.Index(i)
		errs = append(errs, required(w.APIVersion, at.Child("apiVersion"))...)
		errs = append(errs, required(w.Kind, at.Child("kind"))...)
		errs = append(errs, required(w.Name, at.Child("name"))...)
	}
	if seconds := r.TTLSecondsAfterFinished; seconds != nil {
		errs = append(errs, notNegative(int64(*seconds), spec.Child("ttlSecondsAfterFinished"))...)
	}
	return errs
}
