// Package api holds the objects that users write and read: Karmada's Cluster, ClusterTaintPolicy,
// PropagationPolicy, OverridePolicy, FederatedResourceQuota, ResourceBinding, Work and WorkloadRebalancer with
// Karmada's groups, versions, field names and JSON, and the workloads they act on. Taint, Toleration and the workload
// kinds are k8s.io/api's own types; any other kind is an Unstructured resource.
//
// Objects and fields that Karmada does not have say "Leeward's own"; they are optional and a Karmada manifest
// means here what it means there. Source of the shapes: the Karmada API reference,
// cluster.karmada.io/v1alpha1, policy.karmada.io/v1alpha1, work.karmada.io/v1alpha2 and
// apps.karmada.io/v1alpha1.
package api

import (
	"embed"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Groups and versions of the objects.
const (
	ClusterGroupVersion = "cluster.karmada.io/v1alpha1"
	PolicyGroupVersion  = "policy.karmada.io/v1alpha1"
	WorkGroupVersion    = "work.karmada.io/v1alpha2"
	AppsGroupVersion    = "apps.karmada.io/v1alpha1"
	// WorkV1alpha1GroupVersion is that of Work, and of nothing else.
	WorkV1alpha1GroupVersion = "work.karmada.io/v1alpha1"
)

// Source holds the files of this package, for their comments are what "kubectl explain" says of the kinds.
//
//go:embed *.go
var Source embed.FS

// Object is any API object: typed or Unstructured.
type Object interface {
	metav1.Object
	runtime.Object
}

// Key names one object within a fleet.
type Key struct {
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
}

// KeyOf returns the key of an object.
func KeyOf(o Object) Key {
	if t, typed := o.GetObjectKind().(*metav1.TypeMeta); typed { // which has both as they are written
		return Key{APIVersion: t.APIVersion, Kind: t.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	}
	apiVersion, kind := o.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return Key{APIVersion: apiVersion, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// String returns "Kind namespace/name", or "Kind name" for a cluster-scoped object.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Kind + " " + k.Name
	}
	return k.Kind + " " + k.Namespace + "/" + k.Name
}
