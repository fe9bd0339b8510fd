// Package admission is what happens between a written object and a stored one: Default fills in what
// Karmada's webhooks and API server would, Validate finds what they would refuse. Both follow the
// settings, so that each profile admits what its system admits.
package admission

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages"
	"leeward/messages/api"
)

// Default completes an object in place, as of now. What is set stays; done twice it changes nothing more.
func Default(o api.Object, s *messages.Settings, now time.Time) {
	DefaultNamespace(o)
	switch o := o.(type) {
	case *api.Cluster:
		defaultCluster(o, s, now)
	case *api.PropagationPolicy:
		defaultSelectors(o.Spec.ResourceSelectors, o.Namespace)
		defaultPropagation(&o.Spec, s)
	case *api.ClusterPropagationPolicy:
		defaultPropagation(&o.Spec, s)
	case *api.OverridePolicy:
		defaultSelectors(o.Spec.ResourceSelectors, o.Namespace)
	case *api.ResourceBinding:
		defaultResource(&o.Spec.Resource, o.Namespace)
		defaultBinding(&o.Spec, s, now)
	case *api.ClusterResourceBinding:
		defaultBinding(&o.Spec, s, now)
	default:
		defaultWorkload(o)
	}
}

// Validate returns everything for which an object that went through Default would be refused. old is
// the object it replaces, nil for a new one; what replaces another keeps its status, but for a node in a scenario, and a new one may bring it along.
// Fields are named as in "spec.taints[0].effect".
func Validate(o, old api.Object, s *messages.Settings) field.ErrorList {
	spec := field.NewPath("spec")
	var status field.ErrorList
	if n, is := o.(*corev1.Node); old == nil || is && !equality.Semantic.DeepEqual(&n.Status, &old.(*corev1.Node).Status) {
		status = ValidateStatus(o)
	}
	return slices.Concat(
		apivalidation.ValidateObjectMetaAccessor(o, Namespaced(o), nameRule(o), field.NewPath("metadata")),
		validateSpec(o, s, spec),
		validateChange(o, old, s, spec),
		status,
	)
}

func validateSpec(o api.Object, s *messages.Settings, spec *field.Path) field.ErrorList {
	switch o := o.(type) {
	case *api.Cluster:
		return append(validateCluster(&o.Spec, s, spec), validateClusterHold(o.Annotations)...)
	case *api.ClusterTaintPolicy:
		return validateTaintPolicy(&o.Spec, s, spec)
	case *api.PropagationPolicy:
		return append(localSelectors(o.Spec.ResourceSelectors, o.Namespace, spec), validatePropagation(&o.Spec, s, spec)...)
	case *api.ClusterPropagationPolicy:
		return validatePropagation(&o.Spec, s, spec)
	case *api.OverridePolicy:
		return append(validateLocalOverride(&o.Spec, spec), validateOverride(&o.Spec, spec)...)
	case *api.ClusterOverridePolicy:
		return validateOverride(&o.Spec, spec)
	case *api.FederatedResourceQuota:
		return validateQuota(&o.Spec, spec)
	case *api.EvictionBudget:
		return validateBudget(&o.Spec, true, spec)
	case *api.ClusterEvictionBudget:
		return validateBudget(&o.Spec, false, spec)
	case *api.ResourceBinding:
		return slices.Concat(validateLocalBinding(o, spec), validateBinding(&o.Spec, s, spec), validateBindingHolds(o.Annotations))
	case *api.ClusterResourceBinding:
		return slices.Concat(validateClusterBinding(&o.Spec.Resource, spec.Child("resource")), validateBinding(&o.Spec, s, spec), validateBindingHolds(o.Annotations))
	case *api.Governor:
		return validateGovernor(&o.Spec, spec)
	case *api.ResourceInterpreterCustomization:
		return validateCustomization(&o.Spec, spec)
	case *api.WorkloadRebalancer:
		return validateRebalancer(&o.Spec, spec)
	case *corev1.Node:
		return validateNodeTaints(o.Spec.Taints, nodeTaints)
	case *unstructured.Unstructured:
		return validateMachineSet(o, spec)
	case *coordinationv1.Lease:
		return validateLease(&o.Spec, spec)
	case *policyv1.PodDisruptionBudget:
		return validatePodBudget(&o.Spec, spec)
	case *corev1.Event:
		return validateEvent(o)
	case *corev1.ServiceAccount:
		return validateServiceAccount(o)
	case *corev1.ConfigMap:
		return validateConfigMap(o)
	case *corev1.Secret:
		return validateSecretData(o)
	case *corev1.Service:
		return validateService(&o.Spec, spec)
	case *corev1.PersistentVolumeClaim:
		return localSource(&o.Spec, o.Namespace, spec)
	case *corev1.Pod:
		return nil // its tolerations are judged by those that it had: validateChange
	default:
		return slices.Concat(validateTemplate(o, spec), validateWorkload(o, s.NumericTolerations, spec), validateRestarts(o, spec), localClaims(o, spec))
	}
}

// validateTemplate checks what is propagated and runs nothing.
func validateTemplate(o api.Object, spec *field.Path) field.ErrorList {
	switch o := o.(type) {
	case *autoscalingv2.HorizontalPodAutoscaler:
		return validateAutoscaler(&o.Spec, spec)
	case *networkingv1.Ingress:
		return validateIngress(&o.Spec, spec)
	case *networkingv1.NetworkPolicy:
		return validateNetworkPolicy(&o.Spec, spec)
	case *rbacv1.Role:
		return validateRules(o.Rules, true)
	case *rbacv1.ClusterRole:
		return validateClusterRole(o)
	case *rbacv1.RoleBinding:
		return validateRoleRef(&o.RoleRef, o.Subjects, roleKind, clusterRoleKind)
	case *rbacv1.ClusterRoleBinding:
		return validateRoleRef(&o.RoleRef, o.Subjects, clusterRoleKind)
	case *corev1.ResourceQuota:
		return validateHard(&o.Spec, spec)
	case *corev1.LimitRange:
		return validateLimitRange(&o.Spec, spec)
	case *storagev1.StorageClass:
		return validateStorageClass(o)
	case *corev1.PersistentVolume:
		return validateVolume(&o.Spec, spec)
	}
	return nil
}

// validateChange wants the fields that may never change to be as they were.
func validateChange(o, old api.Object, s *messages.Settings, spec *field.Path) field.ErrorList {
	if p, ok := o.(*corev1.Pod); ok {
		return validatePod(p, old, s, spec)
	}
	value, at := fixed(o, spec)
	before, was := fixed(old, spec)
	if at == nil || was == nil {
		return validateImmutable(o, old)
	}
	return apivalidation.ValidateImmutableField(value, before, at)
}

// fixed returns the field of an object that may never change, nil where there is none.
func fixed(o api.Object, spec *field.Path) (any, *field.Path) {
	switch o := o.(type) {
	case *api.PropagationPolicy:
		return o.Spec.SchedulerName, spec.Child("schedulerName")
	case *api.ClusterPropagationPolicy:
		return o.Spec.SchedulerName, spec.Child("schedulerName")
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.ReplicaSet, *appsv1.DaemonSet:
		return *api.WorkloadOf(o).Selector, spec.Child("selector")
	case *rbacv1.RoleBinding:
		return o.RoleRef, field.NewPath("roleRef")
	case *rbacv1.ClusterRoleBinding:
		return o.RoleRef, field.NewPath("roleRef")
	case *networkingv1.IngressClass:
		return o.Spec.Controller, spec.Child("controller")
	case *storagev1.StorageClass:
		return o.Provisioner, field.NewPath("provisioner")
	}
	return nil, nil
}

// pathSegment holds a name to what a URL can carry.
func pathSegment(name string, _ bool) []string { return content.IsPathSegmentName(name) }

// nameRule returns how objects of a kind may be named. What a kind without a Go type asks for is not
// known; its name must at least fit in a URL.
func nameRule(o api.Object) apivalidation.ValidateNameFunc {
	switch o.(type) {
	case *api.Cluster:
		return clusterName
	case *api.FederatedResourceQuota:
		return quotaName
	case *api.Governor:
		return governorName
	case *unstructured.Unstructured, *rbacv1.Role, *rbacv1.RoleBinding, *rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding:
		return pathSegment
	}
	return apivalidation.NameIsDNSSubdomain
}
