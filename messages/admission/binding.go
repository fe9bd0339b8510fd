package admission

import (
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages"
	"leeward/messages/api"
)

// Bounds of a graceful eviction task, in characters.
const (
	maxEvictionReason  = 32
	maxEvictionMessage = 1024
)

var evictionReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// defaultBinding sets what the schema of a binding does, and dates its tasks, as Karmada's graceful eviction
// controller does when it sees them. The rest comes from its policy.
func defaultBinding(b *api.BindingSpec, s *messages.Settings, now time.Time) {
	setDefault(&b.SchedulerName, api.DefaultScheduler)
	setDefault(&b.ConflictResolution, conflictAbort)
	if b.Placement != nil {
		defaultSchedulingType(b.Placement)
	}
	defaultFailover(b.Failover)
	for i := range b.GracefulEvictionTasks {
		if t := &b.GracefulEvictionTasks[i]; t.CreationTimestamp == nil {
			t.CreationTimestamp = stamp(s, now)
		}
	}
}

// validateBinding holds a binding to its schema, and its placement and failover to the rules of the
// policies that they are taken from.
func validateBinding(b *api.BindingSpec, s *messages.Settings, spec *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateReference(b.Resource.APIVersion, b.Resource.Kind, b.Resource.Name, spec.Child("resource")),
		notNegative(int64(b.Replicas), spec.Child("replicas")),
		oneOf(b.ConflictResolution, conflicts, spec.Child("conflictResolution")),
		ValidateComponents(b.Components, spec.Child("components")),
		validateTargets(b.Clusters, spec.Child("clusters")),
		validateFailover(b.Failover, spec.Child("failover")),
		validateSuspension(b.Suspension, spec.Child("suspension")),
	)
	if b.Placement != nil {
		errs = append(errs, validatePlacement(b.Placement, s, spec.Child("placement"))...)
	}
	return append(errs, each(b.GracefulEvictionTasks, spec.Child("gracefulEvictionTasks"), validateTask)...)
}

// validateReference wants all that names an object.
func validateReference(apiVersion, kind, name string, at *field.Path) field.ErrorList {
	return slices.Concat(
		required(apiVersion, at.Child("apiVersion")),
		required(kind, at.Child("kind")),
		required(name, at.Child("name")),
	)
}

// ValidateComponents wants a name of its own for each pod template of a workload that has several.
func ValidateComponents(components []api.Component, path *field.Path) (errs field.ErrorList) {
	taken := map[string]bool{}
	for i, c := range components {
		at := path.Index(i)
		errs = append(errs, notNegative(int64(c.Replicas), at.Child("replicas"))...)
		if c.ReplicaRequirements != nil {
			errs = append(errs, validateAmounts(c.ReplicaRequirements.ResourceRequest, at.Child("replicaRequirements", "resourceRequest"))...)
		}
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
		errs = append(errs, validateShare(c.Name, c.Replicas, taken, at)...)
		if c.Components != nil {
			errs = append(errs, validateTargetComponents(*c.Components, at.Child("components"))...)
		}
	}
	return errs
}

func validateTargetComponents(components api.TargetComponents, path *field.Path) (errs field.ErrorList) {
	taken := map[string]bool{}
	for i, c := range components {
		errs = append(errs, validateShare(c.Name, c.Replicas, taken, path.Index(i))...)
	}
	return errs
}

// validateShare wants a name that is not taken yet, which it then is, and replicas of zero or more.
func validateShare(name string, replicas int32, taken map[string]bool, at *field.Path) field.ErrorList {
	errs := append(required(name, at.Child("name")), notNegative(int64(replicas), at.Child("replicas"))...)
	if taken[name] {
		errs = append(errs, field.Duplicate(at.Child("name"), name))
	}
	taken[name] = name != ""
	return errs
}

// validateTask holds a task to the schema; no webhook looks further.
func validateTask(t *api.GracefulEvictionTask, at *field.Path) field.ErrorList {
	return slices.Concat(
		required(t.FromCluster, at.Child("fromCluster")),
		required(t.Producer, at.Child("producer")),
		oneOf(t.PurgeMode, applicationPurges, at.Child("purgeMode")),
		oneOf(t.Handover, handovers, at.Child("handover")),
		validateReason(t.Reason, at.Child("reason")),
		atMost(maxEvictionMessage, t.Message, at.Child("message")),
	)
}

func validateReason(reason string, at *field.Path) field.ErrorList {
	switch {
	case reason == "":
		return field.ErrorList{field.Required(at, "")}
	case len(reason) > maxEvictionReason:
		return field.ErrorList{field.Invalid(at, reason, validation.MaxLenError(maxEvictionReason))}
	case !evictionReason.MatchString(reason):
		return field.ErrorList{field.Invalid(at, reason, "must be one word, as TaintUntolerated")}
	}
	return nil
}

func validateRebalancer(r *api.WorkloadRebalancerSpec, spec *field.Path) (errs field.ErrorList) {
	path := spec.Child("workloads")
	if len(r.Workloads) == 0 {
		errs = append(errs, field.Required(path, "at least one workload"))
	}
	for i, w := range r.Workloads {
		errs = append(errs, validateReference(w.APIVersion, w.Kind, w.Name, path.Index(i))...)
	}
	return append(errs, count(r.TTLSecondsAfterFinished, spec.Child("ttlSecondsAfterFinished"))...)
}
