package admission

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Roles and their bindings are for the members: nothing here asks them. Source of this file: Kubernetes, pkg/apis/rbac, which no library
// offers.

const clusterRoleKind, roleKind = "ClusterRole", "Role"

// defaultRoleRef completes who gets a role, and which.
func defaultRoleRef(role *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	if role.APIGroup == "" {
		role.APIGroup = rbacv1.GroupName
	}
	for i := range subjects {
		if s := &subjects[i]; s.APIGroup == "" && s.Kind != rbacv1.ServiceAccountKind {
			s.APIGroup = rbacv1.GroupName
		}
	}
}

// validateRules wants rules to allow something: verbs on resources, or on paths where that is for the whole cluster.
func validateRules(rules []rbacv1.PolicyRule, namespaced bool) (errs field.ErrorList) {
	for i := range rules {
		r, at := &rules[i], field.NewPath("rules").Index(i)
		if len(r.Verbs) == 0 {
			errs = append(errs, field.Required(at.Child("verbs"), "at least one"))
		}
		paths := at.Child("nonResourceURLs")
		switch {
		case len(r.NonResourceURLs) == 0 && len(r.APIGroups) == 0:
			errs = append(errs, field.Required(at.Child("apiGroups"), `at least one; "" is the core group`))
		case len(r.NonResourceURLs) == 0 && len(r.Resources) == 0:
			errs = append(errs, field.Required(at.Child("resources"), "at least one"))
		case len(r.NonResourceURLs) == 0:
		case namespaced:
			errs = append(errs, field.Forbidden(paths, "only a ClusterRole allows paths"))
		case len(r.APIGroups)+len(r.Resources)+len(r.ResourceNames) > 0:
			errs = append(errs, field.Forbidden(paths, "a rule is for resources or for paths"))
		}
	}
	return errs
}

// validateClusterRole wants rules as others, and selectors that select roles.
func validateClusterRole(r *rbacv1.ClusterRole) field.ErrorList {
	errs := validateRules(r.Rules, false)
	if r.AggregationRule == nil {
		return errs
	}
	selectors := field.NewPath("aggregationRule", "clusterRoleSelectors")
	if len(r.AggregationRule.ClusterRoleSelectors) == 0 {
		errs = append(errs, field.Required(selectors, "at least one"))
	}
	return append(errs, each(r.AggregationRule.ClusterRoleSelectors, selectors, labelSelector)...)
}

var subjectKinds = []string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind}

// validateRoleRef wants a role of one of some kinds, and subjects that there can be.
func validateRoleRef(role *rbacv1.RoleRef, subjects []rbacv1.Subject, kinds ...string) field.ErrorList {
	at := field.NewPath("roleRef")
	errs := slices.Concat(
		requiredOneOf(role.APIGroup, []string{rbacv1.GroupName}, at.Child("apiGroup")), requiredOneOf(role.Kind, kinds, at.Child("kind")),
		required(role.Name, at.Child("name")), invalid(role.Name, content.IsPathSegmentName(role.Name), at.Child("name")),
	)
	for i := range subjects {
		s, at := &subjects[i], field.NewPath("subjects").Index(i)
		errs = slices.Concat(errs, required(s.Name, at.Child("name")), requiredOneOf(s.Kind, subjectKinds, at.Child("kind")))
		switch {
		case s.Kind != rbacv1.ServiceAccountKind:
			errs = append(errs, oneOf(s.APIGroup, []string{rbacv1.GroupName}, at.Child("apiGroup"))...)
		case s.APIGroup != "":
			errs = append(errs, field.Invalid(at.Child("apiGroup"), s.APIGroup, "must be empty for a ServiceAccount"))
		case !slices.Contains(kinds, roleKind):
			errs = append(errs, required(s.Namespace, at.Child("namespace"))...)
		}
	}
	return errs
}
