package admission

import (
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
)

// clusterScoped are the well-known kinds that live in no namespace.
var clusterScoped = map[schema.GroupKind]bool{
	{Group: "", Kind: "Namespace"}:        true,
	{Group: "", Kind: "Node"}:             true,
	{Group: "", Kind: "PersistentVolume"}: true,

	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   true,
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:                 true,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                             true,
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}:                 true,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                       true,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}:       true,
	{Group: "networking.k8s.io", Kind: "IPAddress"}:                                   true,
	{Group: "networking.k8s.io", Kind: "IngressClass"}:                                true,
	{Group: "networking.k8s.io", Kind: "ServiceCIDR"}:                                 true,
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:                                      true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:                         true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}:                  true,
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:                               true,
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:                                      true,
	{Group: "storage.k8s.io", Kind: "CSINode"}:                                        true,
	{Group: "storage.k8s.io", Kind: "StorageClass"}:                                   true,
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:                               true,
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}:                          true,

	{Group: "config.karmada.io", Kind: "ResourceInterpreterCustomization"}:        true,
	{Group: "config.karmada.io", Kind: "ResourceInterpreterWebhookConfiguration"}: true,
	{Group: "remedy.karmada.io", Kind: "Remedy"}:                                  true,
}

// Namespaced reports whether an object lives in a namespace, as those of all kinds do that are not well
// known. Objects with a Go type need not say their kind.
func Namespaced(o api.Object) bool {
	switch o.(type) {
	case *api.Cluster, *api.ClusterTaintPolicy, *api.ClusterPropagationPolicy, *api.ClusterOverridePolicy,
		*api.ClusterResourceBinding, *api.WorkloadRebalancer, *api.Governor, *api.ClusterEvictionBudget, *api.ResourceInterpreterCustomization, *api.FailoverPreview, *corev1.Namespace, *corev1.Node, *certificatesv1.CertificateSigningRequest,
		*corev1.PersistentVolume, *networkingv1.IngressClass, *rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding, *schedulingv1.PriorityClass, *storagev1.StorageClass:
		return false
	}
	if u, untyped := o.(*unstructured.Unstructured); untyped && u.GetUID() != "" && u.GetNamespace() == "" {
		return false // a server stored it so
	}
	return !clusterScoped[o.GetObjectKind().GroupVersionKind().GroupKind()]
}

// namespacedGroups are the groups of Kubernetes whose kinds all live in namespaces, but for those in clusterScoped.
var namespacedGroups = []string{"", "apps", "autoscaling", "batch", "coordination.k8s.io", "networking.k8s.io", "policy", "rbac.authorization.k8s.io"}

// knownNamespaced reports whether objects of a kind are known to live in namespaces. Of a custom kind nothing is known.
func knownNamespaced(k schema.GroupKind) bool {
	return k.Kind != "" && slices.Contains(namespacedGroups, k.Group) && !clusterScoped[k]
}

// DefaultNamespace puts an object where kubectl and the API server would: in the namespace "default"
// unless it names one, in none if its kind has none.
func DefaultNamespace(o api.Object) {
	switch namespaced := Namespaced(o); {
	case !namespaced:
		o.SetNamespace("")
	case o.GetNamespace() == "":
		o.SetNamespace(metav1.NamespaceDefault)
	}
}
