package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
	"leeward/messages/spelling"
)

// Kinds makes an empty object of each kind that has a Go type; any other kind is Unstructured.
type Kinds map[metav1.TypeMeta]func() api.Object

// FleetKinds returns the kinds that Leeward acts on, in a map of the caller's own.
func FleetKinds() Kinds {
	return Kinds{
		{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"}:                         object[api.Cluster],
		{APIVersion: api.PolicyGroupVersion, Kind: "ClusterTaintPolicy"}:               object[api.ClusterTaintPolicy],
		{APIVersion: api.PolicyGroupVersion, Kind: "PropagationPolicy"}:                object[api.PropagationPolicy],
		{APIVersion: api.PolicyGroupVersion, Kind: "ClusterPropagationPolicy"}:         object[api.ClusterPropagationPolicy],
		{APIVersion: api.PolicyGroupVersion, Kind: "OverridePolicy"}:                   object[api.OverridePolicy],
		{APIVersion: api.PolicyGroupVersion, Kind: "ClusterOverridePolicy"}:            object[api.ClusterOverridePolicy],
		{APIVersion: api.PolicyGroupVersion, Kind: "FederatedResourceQuota"}:           object[api.FederatedResourceQuota],
		{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding"}:                    object[api.ResourceBinding],
		{APIVersion: api.WorkGroupVersion, Kind: "ClusterResourceBinding"}:             object[api.ClusterResourceBinding],
		{APIVersion: api.AppsGroupVersion, Kind: "WorkloadRebalancer"}:                 object[api.WorkloadRebalancer],
		{APIVersion: api.ConfigGroupVersion, Kind: "ResourceInterpreterCustomization"}: object[api.ResourceInterpreterCustomization],
		{APIVersion: api.LeewardGroupVersion, Kind: "Governor"}:                        object[api.Governor],
		{APIVersion: api.LeewardGroupVersion, Kind: "EvictionBudget"}:                  object[api.EvictionBudget],
		{APIVersion: api.LeewardGroupVersion, Kind: "ClusterEvictionBudget"}:           object[api.ClusterEvictionBudget],
		{APIVersion: "apps/v1", Kind: "Deployment"}:                                    object[appsv1.Deployment],
		{APIVersion: "apps/v1", Kind: "StatefulSet"}:                                   object[appsv1.StatefulSet],
		{APIVersion: "apps/v1", Kind: "ReplicaSet"}:                                    object[appsv1.ReplicaSet],
		{APIVersion: "apps/v1", Kind: "DaemonSet"}:                                     object[appsv1.DaemonSet],
		{APIVersion: "batch/v1", Kind: "Job"}:                                          object[batchv1.Job],
		{APIVersion: "batch/v1", Kind: "CronJob"}:                                      object[batchv1.CronJob],
		{APIVersion: "autoscaling/v1", Kind: "HorizontalPodAutoscaler"}:                object[autoscalingv1.HorizontalPodAutoscaler],
		{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"}:                object[autoscalingv2.HorizontalPodAutoscaler],
		{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"}:                          object[networkingv1.Ingress],
		{APIVersion: "networking.k8s.io/v1", Kind: "IngressClass"}:                     object[networkingv1.IngressClass],
		{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}:                    object[networkingv1.NetworkPolicy],
		{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"}:                     object[rbacv1.Role],
		{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"}:              object[rbacv1.RoleBinding],
		{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"}:              object[rbacv1.ClusterRole],
		{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding"}:       object[rbacv1.ClusterRoleBinding],
		{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"}:                        object[storagev1.StorageClass],
		{APIVersion: "v1", Kind: "PersistentVolume"}:                                   object[corev1.PersistentVolume],
		{APIVersion: "v1", Kind: "ResourceQuota"}:                                      object[corev1.ResourceQuota],
		{APIVersion: "v1", Kind: "LimitRange"}:                                         object[corev1.LimitRange],
		{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"}:                    object[schedulingv1.PriorityClass],
		{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}:                         object[policyv1.PodDisruptionBudget],
		{APIVersion: "v1", Kind: "Node"}:                                               object[corev1.Node],
		{APIVersion: "v1", Kind: "Pod"}:                                                object[corev1.Pod],
	}
}

func object[T any, P interface {
	*T
	api.Object
}]() api.Object {
	return P(new(T))
}

func (k Kinds) new(t metav1.TypeMeta) api.Object {
	if make, ok := k[t]; ok {
		return make()
	}
	return &unstructured.Unstructured{}
}

// doubt says why a kind that would be Unstructured is more likely a slip: it has a Go type in another
// version, or is one letter or two away from one that does. Empty: no doubt.
func (k Kinds) doubt(t metav1.TypeMeta) string {
	if _, known := k[t]; known || t.Kind == "" {
		return ""
	}
	if _, err := schema.ParseGroupVersion(t.APIVersion); err != nil {
		return fmt.Sprintf("%q is no group and version", t.APIVersion)
	}
	siblings := k.group(groupOf(t.APIVersion))
	names := make([]string, len(siblings))
	for i, other := range siblings {
		if other.Kind == t.Kind {
			return fmt.Sprintf("%s is not known in %s; want %s", t.Kind, t.APIVersion, other.APIVersion)
		}
		names[i] = other.Kind
	}
	if meant := spelling.Slip(t.Kind, names, min(2, len(t.Kind)/3)); meant != "" {
		return fmt.Sprintf("%s is not known in %s; did you mean %s?", t.Kind, t.APIVersion, meant)
	}
	return ""
}

// group returns the kinds of one group, in order.
func (k Kinds) group(name string) []metav1.TypeMeta {
	var kinds []metav1.TypeMeta
	for t := range k { // order-free: sorted below
		if groupOf(t.APIVersion) == name {
			kinds = append(kinds, t)
		}
	}
	slices.SortFunc(kinds, func(a, b metav1.TypeMeta) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	return kinds
}

func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}
