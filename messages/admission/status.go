package admission

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// Bounds of what one report may say. Each is many times what a large cluster has; without them one agent could keep the
// machines busy with what it reports.
const (
	maxConditions       = 100
	maxConditionType    = 316 // a qualified name. Source: metav1.Condition
	maxConditionReason  = 1024
	maxConditionMessage = 32768
	maxEnablements      = 2000
	maxEnabledKinds     = 10000
	maxGrades           = 100
	maxRemedies         = 100
	maxZones            = 100
	maxManifestStatuses = 100
	maxManifestStatus   = 256 << 10
	maxStatus           = 1 << 20
)

var healths = []api.ResourceHealth{api.Healthy, api.Unhealthy, api.Unknown}

// ValidateStatus finds what is wrong with the status of an object: values that no cluster can have, and more than is taken.
func ValidateStatus(o api.Object) field.ErrorList {
	at := field.NewPath("status")
	switch o := o.(type) {
	case *api.Cluster:
		return append(validateClusterStatus(&o.Status, at), bounded(&o.Status, at)...)
	case *api.Work:
		return append(validateWorkStatus(o, at), bounded(&o.Status, at)...)
	case *api.ResourceBinding:
		return append(validateBindingStatus(&o.Status, at), bounded(&o.Status, at)...)
	case *api.ClusterResourceBinding:
		return append(validateBindingStatus(&o.Status, at), bounded(&o.Status, at)...)
	case *corev1.Node:
		return slices.Concat(validateNodeAmounts(&o.Status), atMostItems(maxConditions, len(o.Status.Conditions), at.Child("conditions")), bounded(&o.Status, at))
	case *corev1.Pod:
		return append(atMostItems(maxConditions, len(o.Status.Conditions), at.Child("conditions")), bounded(&o.Status, at)...)
	case *policyv1.PodDisruptionBudget:
		return append(atMostItems(maxConditions, len(o.Status.Conditions), at.Child("conditions")), bounded(&o.Status, at)...)
	}
	return nil
}

func validateClusterStatus(s *api.ClusterStatus, at *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateReported(s.Conditions, at.Child("conditions")),
		validateEnablements(s.APIEnablements, at.Child("apiEnablements")),
		validateSummary(s.ResourceSummary, at.Child("resourceSummary")),
		atMostItems(maxRemedies, len(s.RemedyActions), at.Child("remedyActions")),
	)
	if n := s.NodeSummary; n != nil {
		nodes := at.Child("nodeSummary")
		errs = append(errs, notNegative(int64(n.TotalNum), nodes.Child("totalNum"))...)
		errs = append(errs, notNegative(int64(n.ReadyNum), nodes.Child("readyNum"))...)
	}
	if n := s.NodeTopology; n != nil {
		errs = append(errs, validateTopology(n, at.Child("nodeTopology"))...)
	}
	return errs
}

func validateTopology(n *api.NodeTopology, at *field.Path) field.ErrorList {
	errs := append(labelValue(n.Region, at.Child("region")), atMostItems(maxZones, len(n.Zones), at.Child("zones"))...)
	for i, zone := range n.Zones[:min(len(n.Zones), maxZones)] {
		errs = append(errs, labelValue(zone, at.Child("zones").Index(i))...)
	}
	return errs
}

// validateReported wants conditions that say something, each type once.
func validateReported(conditions []metav1.Condition, path *field.Path) field.ErrorList {
	if errs := atMostItems(maxConditions, len(conditions), path); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	taken := make(map[string]bool, len(conditions))
	for i := range conditions {
		c, at := &conditions[i], path.Index(i)
		errs = slices.Concat(errs,
			required(c.Type, at.Child("type")),
			atMost(maxConditionType, c.Type, at.Child("type")),
			requiredOneOf(c.Status, conditionStatuses, at.Child("status")),
			atMost(maxConditionReason, c.Reason, at.Child("reason")),
			atMost(maxConditionMessage, c.Message, at.Child("message")),
		)
		if taken[c.Type] {
			errs = append(errs, field.Duplicate(at.Child("type"), c.Type))
		}
		taken[c.Type] = true
	}
	return errs
}

func validateEnablements(apis []api.APIEnablement, path *field.Path) field.ErrorList {
	errs := atMostItems(maxEnablements, len(apis), path)
	if len(errs) > 0 {
		return errs
	}
	kinds := 0
	for i := range apis {
		errs = append(errs, required(apis[i].GroupVersion, path.Index(i).Child("groupVersion"))...)
		if kinds += len(apis[i].Resources); kinds > maxEnabledKinds {
			return append(errs, field.TooMany(path.Index(i).Child("resources"), kinds, maxEnabledKinds))
		}
	}
	return errs
}

func validateSummary(s *api.ResourceSummary, at *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	models := at.Child("allocatableModelings")
	errs := slices.Concat(
		validateAmounts(s.Allocatable, at.Child("allocatable")),
		validateAmounts(s.Allocating, at.Child("allocating")),
		validateAmounts(s.Allocated, at.Child("allocated")),
		atMostItems(maxGrades, len(s.AllocatableModelings), models),
	)
	for i, m := range s.AllocatableModelings[:min(len(s.AllocatableModelings), maxGrades)] {
		errs = append(errs, notNegative(int64(m.Count), models.Index(i).Child("count"))...)
	}
	return errs
}

func validateWorkStatus(w *api.Work, at *field.Path) field.ErrorList {
	errs := validateReported(w.Status.Conditions, at.Child("conditions"))
	for i := range w.Status.Conditions[:min(len(w.Status.Conditions), maxConditions)] {
		if n := w.Status.Conditions[i].ObservedGeneration; n < 0 || n > w.Generation {
			errs = append(errs, field.Invalid(at.Child("conditions").Index(i).Child("observedGeneration"), n, "must be a generation that the Work has had"))
		}
	}
	statuses := at.Child("manifestStatuses")
	errs = append(errs, atMostItems(maxManifestStatuses, len(w.Status.ManifestStatuses), statuses)...)
	for i := range w.Status.ManifestStatuses[:min(len(w.Status.ManifestStatuses), maxManifestStatuses)] {
		s, at := &w.Status.ManifestStatuses[i], statuses.Index(i)
		errs = append(errs, notNegative(int64(s.Identifier.Ordinal), at.Child("identifier", "ordinal"))...)
		errs = append(errs, oneOf(s.Health, healths, at.Child("health"))...)
		if s.Status != nil && len(s.Status.Raw) > maxManifestStatus {
			errs = append(errs, field.TooLong(at.Child("status"), "", maxManifestStatus))
		}
	}
	return errs
}

func validateBindingStatus(s *api.BindingStatus, at *field.Path) field.ErrorList {
	errs := validateReported(s.Conditions, at.Child("conditions"))
	for i := range s.AggregatedStatus {
		item, at := &s.AggregatedStatus[i], at.Child("aggregatedStatus").Index(i)
		errs = append(errs, required(item.ClusterName, at.Child("clusterName"))...)
		errs = append(errs, oneOf(item.Health, healths, at.Child("health"))...)
		errs = append(errs, notNegative(int64(item.ReadyReplicas), at.Child("readyReplicas"))...)
	}
	return errs
}

func atMostItems(most, n int, at *field.Path) field.ErrorList {
	if n > most {
		return field.ErrorList{field.TooMany(at, n, most)}
	}
	return nil
}

// bounded wants a status to be no larger, as JSON, than maxStatus.
func bounded(status any, at *field.Path) field.ErrorList {
	text, err := json.Marshal(status)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(at, "", err.Error())}
	case len(text) > maxStatus:
		return field.ErrorList{field.TooLong(at, "", maxStatus)}
	}
	return nil
}
