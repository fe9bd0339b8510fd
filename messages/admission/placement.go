package admission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages"
	"leeward/messages/api"
)

const maxAffinityName = 32

var (
	spreadFields    = []api.SpreadField{api.SpreadByCluster, api.SpreadByRegion, api.SpreadByZone, api.SpreadByProvider}
	schedulingTypes = []api.ReplicaSchedulingType{api.Duplicated, api.Divided}
	divisions       = []api.ReplicaDivisionPreference{api.Aggregated, api.Weighted}
	dynamicWeights  = []string{api.DynamicByAvailableReplicas}
	selectorKeys    = []string{"provider", "region", "zone"}
	selectorOps     = []corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn}
)

func defaultPlacement(p *api.Placement, s *messages.Settings) {
	p.ClusterTolerations = defaultTolerations(p.ClusterTolerations, s)
	for i := range p.SpreadConstraints {
		c := &p.SpreadConstraints[i]
		if c.SpreadByLabel == "" {
			setDefault(&c.SpreadByField, api.SpreadByCluster)
		}
		if c.MinGroups == 0 { // of an object that is stored others read what is set
			c.MinGroups = 1
		}
	}
	defaultSchedulingType(p)
	if r := p.ReplicaScheduling; r != nil && r.ReplicaSchedulingType == api.Divided {
		setDefault(&r.ReplicaDivisionPreference, api.Weighted)
	}
}

func defaultSchedulingType(p *api.Placement) {
	if p.ReplicaScheduling != nil {
		setDefault(&p.ReplicaScheduling.ReplicaSchedulingType, api.Divided)
	}
}

func validatePlacement(p *api.Placement, s *messages.Settings, at *field.Path) (errs field.ErrorList) {
	if p.ClusterAffinity != nil && len(p.ClusterAffinities) > 0 {
		errs = append(errs, field.Forbidden(at.Child("clusterAffinities"), "clusterAffinity and clusterAffinities are mutually exclusive"))
	}
	return slices.Concat(errs,
		validateAffinity(p.ClusterAffinity, at.Child("clusterAffinity")),
		validateAffinities(p, at.Child("clusterAffinities")),
		validateClusterTolerations(p.ClusterTolerations, s, at.Child("clusterTolerations")),
		validateSpread(p.SpreadConstraints, at.Child("spreadConstraints")),
		validateScheduling(p.ReplicaScheduling, at.Child("replicaScheduling")),
		validateWorkloadAffinity(p.WorkloadAffinity, at.Child("workloadAffinity")),
	)
}

func validateAffinity(a *api.ClusterAffinity, at *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	errs := labelSelector(a.LabelSelector, at.Child("labelSelector"))
	if a.FieldSelector == nil {
		return errs
	}
	for i, e := range a.FieldSelector.MatchExpressions {
		path := at.Child("fieldSelector", "matchExpressions").Index(i)
		errs = append(errs, requiredOneOf(e.Key, selectorKeys, path.Child("key"))...)
		errs = append(errs, requiredOneOf(e.Operator, selectorOps, path.Child("operator"))...)
	}
	return errs
}

// validateAffinities wants each group of clusters to have a name of its own, overflow groups included.
func validateAffinities(p *api.Placement, path *field.Path) (errs field.ErrorList) {
	var names []string
	for i := range p.ClusterAffinities {
		term, at := &p.ClusterAffinities[i], path.Index(i)
		errs = append(errs, validateAffinityName(term.AffinityName, names, at.Child("affinityName"))...)
		errs = append(errs, validateAffinity(&term.ClusterAffinity, at)...)
		errs = append(errs, validateOverflow(term, p.ReplicaScheduling, at)...)
		names = append(names, term.AffinityName)
	}
	return errs
}

// validateAffinityName wants a name of 1 to 32 characters that is a label key and not among those taken.
func validateAffinityName(name string, taken []string, at *field.Path) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(at, "")}
	case slices.Contains(taken, name):
		return field.ErrorList{field.Duplicate(at, name)}
	case len(name) > maxAffinityName:
		return field.ErrorList{field.Invalid(at, name, validation.MaxLenError(maxAffinityName))}
	}
	return labelKey(name, at)
}

// validateOverflow: overflow takes the replicas for which a group has no capacity, so replicas must be
// divided by capacity, and the group must not be every cluster already.
func validateOverflow(term *api.ClusterAffinityTerm, r *api.ReplicaSchedulingStrategy, at *field.Path) (errs field.ErrorList) {
	if len(term.OverflowAffinities) == 0 {
		return nil
	}
	path := at.Child("overflowAffinities")
	if !dividesByCapacity(r) {
		errs = append(errs, field.Forbidden(path, "replicas must be Divided, and Aggregated or weighted by "+api.DynamicByAvailableReplicas))
	}
	if isUnbounded(&term.ClusterAffinity) {
		errs = append(errs, field.Required(at, "a group with overflow must select clusters"))
	}
	taken := []string{term.AffinityName}
	for i := range term.OverflowAffinities {
		o, item := &term.OverflowAffinities[i], path.Index(i)
		errs = append(errs, validateAffinityName(o.AffinityName, taken, item.Child("affinityName"))...)
		errs = append(errs, validateAffinity(&o.ClusterAffinity, item)...)
		taken = append(taken, o.AffinityName)
	}
	return errs
}

func dividesByCapacity(r *api.ReplicaSchedulingStrategy) bool {
	if r == nil || r.ReplicaSchedulingType != api.Divided {
		return false
	}
	return r.ReplicaDivisionPreference == api.Aggregated || r.WeightPreference != nil && r.WeightPreference.DynamicWeight != ""
}

func isUnbounded(a *api.ClusterAffinity) bool {
	return a.LabelSelector == nil && a.FieldSelector == nil && len(a.ClusterNames) == 0 && len(a.ExcludeClusters) == 0
}

func validateSpread(constraints []api.SpreadConstraint, path *field.Path) (errs field.ErrorList) {
	var fields []api.SpreadField
	for i, c := range constraints {
		at := path.Index(i)
		if c.SpreadByField != "" && c.SpreadByLabel != "" {
			errs = append(errs, field.Invalid(at.Child("spreadByLabel"), c.SpreadByLabel, "spreadByField and spreadByLabel are mutually exclusive"))
		}
		errs = append(errs, oneOf(c.SpreadByField, spreadFields, at.Child("spreadByField"))...)
		errs = append(errs, validateGroups(c, at)...)
		if c.SpreadByField == "" {
			continue
		}
		if slices.Contains(fields, c.SpreadByField) {
			errs = append(errs, field.Duplicate(at.Child("spreadByField"), c.SpreadByField))
		}
		fields = append(fields, c.SpreadByField)
	}
	if len(fields) > 0 && !slices.Contains(fields, api.SpreadByCluster) {
		errs = append(errs, field.Invalid(path, fields, "who spreads by field must also spread by cluster"))
	}
	return errs
}

func validateGroups(c api.SpreadConstraint, at *field.Path) field.ErrorList {
	errs := slices.Concat(
		notNegative(int64(c.MinGroups), at.Child("minGroups")),
		notNegative(int64(c.MaxGroups), at.Child("maxGroups")),
	)
	if c.MaxGroups > 0 && c.MaxGroups < c.MinGroups {
		errs = append(errs, field.Invalid(at.Child("maxGroups"), c.MaxGroups, "must not be less than minGroups; 0 sets no limit"))
	}
	return errs
}

func validateScheduling(r *api.ReplicaSchedulingStrategy, at *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	return slices.Concat(
		oneOf(r.ReplicaSchedulingType, schedulingTypes, at.Child("replicaSchedulingType")),
		oneOf(r.ReplicaDivisionPreference, divisions, at.Child("replicaDivisionPreference")),
		validateWeights(r.WeightPreference, at.Child("weightPreference")),
	)
}

func validateWeights(p *api.WeightPreference, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := oneOf(p.DynamicWeight, dynamicWeights, at.Child("dynamicWeight"))
	for i := range p.StaticWeightList {
		w, item := &p.StaticWeightList[i], at.Child("staticWeightList").Index(i)
		errs = append(errs, validateAffinity(&w.TargetCluster, item.Child("targetCluster"))...)
		if w.Weight < 1 {
			errs = append(errs, field.Invalid(item.Child("weight"), w.Weight, "must be 1 or more"))
		}
	}
	return errs
}

func validateWorkloadAffinity(w *api.WorkloadAffinity, at *field.Path) (errs field.ErrorList) {
	if w == nil {
		return nil
	}
	together, apart := at.Child("affinity", "groupByLabelKey"), at.Child("antiAffinity", "groupByLabelKey")
	if w.Affinity != nil {
		errs = append(errs, labelKey(w.Affinity.GroupByLabelKey, together)...)
	}
	if w.AntiAffinity != nil {
		errs = append(errs, labelKey(w.AntiAffinity.GroupByLabelKey, apart)...)
	}
	if w.Affinity != nil && w.AntiAffinity != nil && w.Affinity.GroupByLabelKey == w.AntiAffinity.GroupByLabelKey {
		errs = append(errs, field.Invalid(apart, w.AntiAffinity.GroupByLabelKey, "must differ from that of affinity"))
	}
	return errs
}
