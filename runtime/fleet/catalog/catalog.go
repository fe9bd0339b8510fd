// Package catalog lists the kinds of objects that the daemon holds, with the names of their resources.
package catalog

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
)

// EventLife is how long an Event is kept. Source: kube-apiserver --event-ttl.
const EventLife = time.Hour

// AsJSON are options for reading objects as encoding/json does, twice as fast and without its look at the whole text before any is decoded: what
// cannot be read must be thrown away. The library is what encoding/json will become.
var AsJSON = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))

// Resource is one kind of objects.
type Resource struct {
	Kind schema.GroupVersionKind
	// Plural is the name of the resource: "resourcebindings".
	Plural string
	// ClusterScoped is set where its objects have no namespace.
	ClusterScoped bool
	// New returns an empty object without apiVersion and kind.
	New func() api.Object
	// custom is set of a kind that a CustomResourceDefinition defines.
	custom bool
}

// Name is the resource as keys and tables have it: that of a custom kind is a part of the table of Customs.
func (r *Resource) Name() schema.GroupResource {
	if r.custom {
		return schema.GroupResource{Group: Customs.Kind.Group, Resource: Customs.Plural + "/" + r.Kind.Group + "/" + r.Kind.Kind}
	}
	return schema.GroupResource{Group: r.Kind.Group, Resource: r.Plural}
}

// Key is the key of one of its objects.
func (r *Resource) Key(namespace, name string) api.Key {
	apiVersion, kind := r.Kind.ToAPIVersionAndKind()
	return api.Key{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
}

// Untyped reports whether its objects have no Go type.
func (r *Resource) Untyped() bool { return r.custom || r == Customs || r == Definitions }

// Template reports whether its objects are what policies propagate, or what such objects refer to.
func (r *Resource) Template() bool {
	if r.Untyped() {
		return true
	}
	switch r.Kind.Group {
	case "apps", "autoscaling", "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "storage.k8s.io":
		return true
	}
	switch r.Kind.Kind {
	case "ConfigMap", "Secret", "Service", "ServiceAccount", "PersistentVolume", "PersistentVolumeClaim", "LimitRange", "ResourceQuota":
		return true
	}
	return false
}

// Numerous reports whether there are as many of its objects as workloads, or more, and they are seldom looked at.
// Bindings are looked at all the time.
func (r *Resource) Numerous() bool {
	return r.Template() || r.Kind.Kind == "Work" || r.Kind.Kind == "Event"
}

// All are the resources of the daemon, in an order in which each finds what it refers to.
var All = []Resource{
	cluster("", "v1", "Namespace", "namespaces", func() api.Object { return &corev1.Namespace{} }),
	cluster("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", func() api.Object { return &schedulingv1.PriorityClass{} }),
	cluster("cluster.karmada.io", "v1alpha1", "Cluster", "clusters", func() api.Object { return &api.Cluster{} }),
	cluster("policy.karmada.io", "v1alpha1", "ClusterTaintPolicy", "clustertaintpolicies", func() api.Object { return &api.ClusterTaintPolicy{} }),
	cluster("policy.karmada.io", "v1alpha1", "ClusterOverridePolicy", "clusteroverridepolicies", func() api.Object { return &api.ClusterOverridePolicy{} }),
	namespaced("policy.karmada.io", "v1alpha1", "OverridePolicy", "overridepolicies", func() api.Object { return &api.OverridePolicy{} }),
	cluster("policy.karmada.io", "v1alpha1", "ClusterPropagationPolicy", "clusterpropagationpolicies", func() api.Object { return &api.ClusterPropagationPolicy{} }),
	namespaced("policy.karmada.io", "v1alpha1", "PropagationPolicy", "propagationpolicies", func() api.Object { return &api.PropagationPolicy{} }),
	namespaced("policy.karmada.io", "v1alpha1", "FederatedResourceQuota", "federatedresourcequotas", func() api.Object { return &api.FederatedResourceQuota{} }),
	cluster("config.karmada.io", "v1alpha1", "ResourceInterpreterCustomization", "resourceinterpretercustomizations", func() api.Object { return &api.ResourceInterpreterCustomization{} }),
	namespaced("leeward.dev", "v1alpha1", "EvictionBudget", "evictionbudgets", func() api.Object { return &api.EvictionBudget{} }),
	cluster("leeward.dev", "v1alpha1", "ClusterEvictionBudget", "clusterevictionbudgets", func() api.Object { return &api.ClusterEvictionBudget{} }),
	cluster("leeward.dev", "v1alpha1", "Governor", "governors", func() api.Object { return &api.Governor{} }),

	namespaced("", "v1", "ConfigMap", "configmaps", func() api.Object { return &corev1.ConfigMap{} }),
	namespaced("", "v1", "Secret", "secrets", func() api.Object { return &corev1.Secret{} }),
	namespaced("", "v1", "Service", "services", func() api.Object { return &corev1.Service{} }),
	namespaced("", "v1", "ServiceAccount", "serviceaccounts", func() api.Object { return &corev1.ServiceAccount{} }),
	namespaced("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", func() api.Object { return &corev1.PersistentVolumeClaim{} }),
	cluster("", "v1", "PersistentVolume", "persistentvolumes", func() api.Object { return &corev1.PersistentVolume{} }),
	namespaced("", "v1", "ResourceQuota", "resourcequotas", func() api.Object { return &corev1.ResourceQuota{} }),
	namespaced("", "v1", "LimitRange", "limitranges", func() api.Object { return &corev1.LimitRange{} }),
	namespaced("apps", "v1", "Deployment", "deployments", func() api.Object { return &appsv1.Deployment{} }),
	namespaced("apps", "v1", "StatefulSet", "statefulsets", func() api.Object { return &appsv1.StatefulSet{} }),
	namespaced("apps", "v1", "DaemonSet", "daemonsets", func() api.Object { return &appsv1.DaemonSet{} }),
	namespaced("apps", "v1", "ReplicaSet", "replicasets", func() api.Object { return &appsv1.ReplicaSet{} }),
	namespaced("batch", "v1", "Job", "jobs", func() api.Object { return &batchv1.Job{} }),
	namespaced("batch", "v1", "CronJob", "cronjobs", func() api.Object { return &batchv1.CronJob{} }),
	namespaced("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", func() api.Object { return &autoscalingv2.HorizontalPodAutoscaler{} }),
	namespaced("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", func() api.Object { return &policyv1.PodDisruptionBudget{} }),
	namespaced("networking.k8s.io", "v1", "Ingress", "ingresses", func() api.Object { return &networkingv1.Ingress{} }),
	cluster("networking.k8s.io", "v1", "IngressClass", "ingressclasses", func() api.Object { return &networkingv1.IngressClass{} }),
	namespaced("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", func() api.Object { return &networkingv1.NetworkPolicy{} }),
	namespaced("rbac.authorization.k8s.io", "v1", "Role", "roles", func() api.Object { return &rbacv1.Role{} }),
	namespaced("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", func() api.Object { return &rbacv1.RoleBinding{} }),
	cluster("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", func() api.Object { return &rbacv1.ClusterRole{} }),
	cluster("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", func() api.Object { return &rbacv1.ClusterRoleBinding{} }),
	cluster("storage.k8s.io", "v1", "StorageClass", "storageclasses", func() api.Object { return &storagev1.StorageClass{} }),

	namespaced("work.karmada.io", "v1alpha2", "ResourceBinding", "resourcebindings", func() api.Object { return &api.ResourceBinding{} }),
	cluster("work.karmada.io", "v1alpha2", "ClusterResourceBinding", "clusterresourcebindings", func() api.Object { return &api.ClusterResourceBinding{} }),
	cluster("apps.karmada.io", "v1alpha1", "WorkloadRebalancer", "workloadrebalancers", func() api.Object { return &api.WorkloadRebalancer{} }),
	namespaced("work.karmada.io", "v1alpha1", "Work", "works", func() api.Object { return &api.Work{} }),
	namespaced("coordination.k8s.io", "v1", "Lease", "leases", func() api.Object { return &coordinationv1.Lease{} }),
	namespaced("", "v1", "Event", "events", func() api.Object { return &corev1.Event{} }),
}

// Resources that are asked for by name.
var (
	Namespaces = named("v1", "Namespace")
	Events     = named("v1", "Event")
	Secrets    = named("v1", "Secret")
	Leases     = named("coordination.k8s.io/v1", "Lease")
	// PodBudgets are PodDisruptionBudgets: templates, and with --nodes those of the cluster that the nodes are of.
	PodBudgets      = named("policy/v1", "PodDisruptionBudget")
	PriorityClasses = named("scheduling.k8s.io/v1", "PriorityClass")
	Clusters        = named(api.ClusterGroupVersion, "Cluster")
	Governors       = named(api.LeewardGroupVersion, "Governor")
	Bindings        = named(api.WorkGroupVersion, "ResourceBinding")
	ClusterBindings = named(api.WorkGroupVersion, "ClusterResourceBinding")
	Works           = named(api.WorkV1alpha1GroupVersion, "Work")
)

// Previews are answered and not stored: no engine has a table of them.
var Previews = &Resource{
	Kind: schema.FromAPIVersionAndKind(api.LeewardGroupVersion, "FailoverPreview"), Plural: "failoverpreviews", ClusterScoped: true,
	New: func() api.Object { return &api.FailoverPreview{} },
}

// CertificateRequests are how Karmada's agents ask for client certificates. They are kept for minutes, and are not in All: no machine,
// tool or recording looks at them.
var CertificateRequests = &Resource{
	Kind: certificatesv1.SchemeGroupVersion.WithKind("CertificateSigningRequest"), Plural: "certificatesigningrequests", ClusterScoped: true,
	New: func() api.Object { return &certificatesv1.CertificateSigningRequest{} },
}

// Nodes and Pods are those of one Kubernetes cluster: the daemon holds them only where it is told to. They are not in All, and Of
// does not find them.
var (
	Nodes = &Resource{Kind: corev1.SchemeGroupVersion.WithKind("Node"), Plural: "nodes", ClusterScoped: true, New: func() api.Object { return &corev1.Node{} }}
	Pods  = &Resource{Kind: corev1.SchemeGroupVersion.WithKind("Pod"), Plural: "pods", New: func() api.Object { return &corev1.Pod{} }}
)

// Definitions are CustomResourceDefinitions, and Customs the objects of all kinds that they define. Both are templates. Their objects have
// no Go type; those of Customs say by themselves of which kind they are.
var (
	Definitions = &Resource{
		Kind:   schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		Plural: "customresourcedefinitions", ClusterScoped: true, New: untyped,
	}
	Customs = &Resource{Kind: schema.GroupVersionKind{Group: "custom"}, Plural: "objects", New: untyped}
)

func untyped() api.Object { return &unstructured.Unstructured{} }

// Kept are all resources that every engine has a table of, in an order in which each finds what it refers to.
func Kept() []*Resource {
	all := make([]*Resource, 0, len(All)+2)
	for i := range All {
		if &All[i] == Bindings {
			all = append(all, Definitions, Customs)
		}
		all = append(all, &All[i])
	}
	return all
}

// OfNodes are the resources that a daemon holds with --nodes beside All.
var OfNodes = []*Resource{Nodes, Pods}

func named(apiVersion, kind string) *Resource { return Of(api.Key{APIVersion: apiVersion, Kind: kind}) }

func namespaced(group, version, kind, plural string, empty func() api.Object) Resource {
	return Resource{Kind: schema.GroupVersionKind{Group: group, Version: version, Kind: kind}, Plural: plural, New: empty}
}

func cluster(group, version, kind, plural string, empty func() api.Object) Resource {
	r := namespaced(group, version, kind, plural, empty)
	r.ClusterScoped = true
	return r
}

// byKind finds a resource by the apiVersion and kind of its objects.
var byKind = func() map[api.Key]*Resource {
	index := make(map[api.Key]*Resource, len(All)+2)
	for i := range All {
		index[All[i].Key("", "")] = &All[i]
	}
	index[Definitions.Key("", "")] = Definitions
	index[CertificateRequests.Key("", "")] = CertificateRequests
	return index
}()

// Of returns the resource of an object by its key, or nil if the daemon does not hold it. A kind in a group that definitions may
// define kinds of counts as a custom one, whether or not there is a definition.
func Of(k api.Key) *Resource {
	if r := byKind[api.Key{APIVersion: k.APIVersion, Kind: k.Kind}]; r != nil {
		return r
	}
	gv, err := schema.ParseGroupVersion(k.APIVersion)
	if err != nil || Reserved(gv.Group) || k.Kind == "" || strings.Contains(k.Kind, "/") {
		return nil
	}
	return Custom(gv.WithKind(k.Kind))
}

// Custom returns the resource of a custom kind.
func Custom(kind schema.GroupVersionKind) *Resource {
	return &Resource{Kind: kind, New: untyped, custom: true}
}

// Defined returns the custom kind that a definition defines. Its version is that in which its objects are stored.
func Defined(definition *unstructured.Unstructured) *Resource {
	text := func(fields map[string]any, path ...string) string {
		s, _, _ := unstructured.NestedString(fields, path...)
		return s
	}
	spec, _, _ := unstructured.NestedMap(definition.Object, "spec")
	kind := schema.GroupVersionKind{Group: text(spec, "group"), Kind: text(spec, "names", "kind")}
	versions, _, _ := unstructured.NestedSlice(spec, "versions")
	for _, v := range versions {
		if of, is := v.(map[string]any); is && of["storage"] == true {
			kind.Version = text(of, "name")
		}
	}
	r := Custom(kind)
	r.Plural, r.ClusterScoped = text(spec, "names", "plural"), text(spec, "scope") == "Cluster"
	return r
}

// IsCustom reports whether only a definition can say whether the objects of a resource are served.
func (r *Resource) IsCustom() bool { return r.custom }

// Reserved reports whether a group is Karmada's, Leeward's, or holds kinds that Kubernetes has built in: definitions define no kinds of it.
// All built-in groups but some of k8s.io have no dot, and a definition needs one.
func Reserved(group string) bool {
	return !strings.Contains(group, ".") || within(group, "karmada.io") || within(group, "leeward.dev") || builtIn[group]
}

func within(group, domain string) bool {
	return group == domain || strings.HasSuffix(group, "."+domain)
}

// builtIn are the groups of kinds that are served without a definition.
var builtIn = func() map[string]bool {
	groups := map[string]bool{Definitions.Kind.Group: true, CertificateRequests.Kind.Group: true, "authentication.k8s.io": true, "authorization.k8s.io": true, "events.k8s.io": true}
	for i := range All {
		groups[All[i].Kind.Group] = true
	}
	return groups
}()
