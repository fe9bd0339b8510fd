package propagation

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
	"leeward/messages/lists"
)

// serviceImports are of the multi-cluster services API.
var serviceImports = schema.GroupVersionKind{Group: "multicluster.x-k8s.io", Version: "v1alpha1", Kind: "ServiceImport"}

// Dependencies returns what a resource refers to and is nothing without, each once, by kind and name: the
// ConfigMaps, Secrets, PersistentVolumeClaims and the ServiceAccount of a workload's pods, the Secrets of an
// Ingress, the Service that a ServiceImport means. The service account "default", which every namespace
// has, does not count, nor do claims that a StatefulSet makes from its templates, nor what only a label
// selects, such as EndpointSlices. Source: Karmada's default resource interpreter, InterpretDependency.
func Dependencies(o api.Object) []api.Key {
	var of references
	switch o := o.(type) {
	case *appsv1.Deployment, *appsv1.DaemonSet, *batchv1.Job, *batchv1.CronJob:
		of.pod(&api.WorkloadOf(o).Template.Spec)
	case *appsv1.StatefulSet:
		of.pod(&o.Spec.Template.Spec)
		of.without(o.Spec.VolumeClaimTemplates)
	case *corev1.Pod:
		of.pod(&o.Spec)
	case *networkingv1.Ingress:
		for i := range o.Spec.TLS {
			of.add("Secret", o.Spec.TLS[i].SecretName)
		}
	case *unstructured.Unstructured:
		if o.GroupVersionKind() == serviceImports {
			of.add("Service", "derived-"+o.GetName())
		}
	}
	return of.keys(o.GetNamespace())
}

// reference is the kind and the name of one object of the pod's namespace.
type reference struct{ kind, name string }

type references []reference

func (r *references) add(kind, name string) {
	if name != "" {
		*r = append(*r, reference{kind, name})
	}
}

// keys names each reference once.
func (r references) keys(namespace string) []api.Key {
	slices.SortFunc(r, func(a, b reference) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	keys := lists.Of(slices.Compact(r), func(ref reference) api.Key {
		return api.Key{APIVersion: "v1", Kind: ref.kind, Namespace: namespace, Name: ref.name}
	})
	return keys
}

func (r *references) without(templates []corev1.PersistentVolumeClaim) {
	*r = slices.DeleteFunc(*r, func(ref reference) bool {
		return ref.kind == "PersistentVolumeClaim" && slices.ContainsFunc(templates, func(c corev1.PersistentVolumeClaim) bool { return c.Name == ref.name })
	})
}

func (r *references) pod(s *corev1.PodSpec) {
	if s.ServiceAccountName != "default" {
		r.add("ServiceAccount", s.ServiceAccountName)
	}
	for i := range s.ImagePullSecrets {
		r.add("Secret", s.ImagePullSecrets[i].Name)
	}
	for i := range s.InitContainers {
		r.container(s.InitContainers[i].EnvFrom, s.InitContainers[i].Env)
	}
	for i := range s.Containers {
		r.container(s.Containers[i].EnvFrom, s.Containers[i].Env)
	}
	for i := range s.EphemeralContainers {
		r.container(s.EphemeralContainers[i].EnvFrom, s.EphemeralContainers[i].Env)
	}
	for i := range s.Volumes {
		r.volume(&s.Volumes[i].VolumeSource)
	}
}

func (r *references) container(from []corev1.EnvFromSource, env []corev1.EnvVar) {
	for i := range from {
		if c := from[i].ConfigMapRef; c != nil {
			r.add("ConfigMap", c.Name)
		}
		if s := from[i].SecretRef; s != nil {
			r.add("Secret", s.Name)
		}
	}
	for i := range env {
		if v := env[i].ValueFrom; v != nil {
			r.value(v)
		}
	}
}

func (r *references) value(v *corev1.EnvVarSource) {
	if v.ConfigMapKeyRef != nil {
		r.add("ConfigMap", v.ConfigMapKeyRef.Name)
	}
	if v.SecretKeyRef != nil {
		r.add("Secret", v.SecretKeyRef.Name)
	}
}

func (r *references) volume(v *corev1.VolumeSource) {
	switch {
	case v.ConfigMap != nil:
		r.add("ConfigMap", v.ConfigMap.Name)
	case v.Secret != nil:
		r.add("Secret", v.Secret.SecretName)
	case v.PersistentVolumeClaim != nil:
		r.add("PersistentVolumeClaim", v.PersistentVolumeClaim.ClaimName)
	case v.AzureFile != nil:
		r.add("Secret", v.AzureFile.SecretName)
	case v.Projected != nil:
		r.projected(v.Projected.Sources)
	default:
		if s := mountSecret(v); s != nil {
			r.add("Secret", s.Name)
		}
	}
}

// mountSecret is what a volume of some storage is mounted with, nil for nothing.
func mountSecret(v *corev1.VolumeSource) *corev1.LocalObjectReference {
	switch {
	case v.CSI != nil:
		return v.CSI.NodePublishSecretRef
	case v.CephFS != nil:
		return v.CephFS.SecretRef
	case v.Cinder != nil:
		return v.Cinder.SecretRef
	case v.FlexVolume != nil:
		return v.FlexVolume.SecretRef
	case v.ISCSI != nil:
		return v.ISCSI.SecretRef
	case v.RBD != nil:
		return v.RBD.SecretRef
	case v.ScaleIO != nil:
		return v.ScaleIO.SecretRef
	case v.StorageOS != nil:
		return v.StorageOS.SecretRef
	default:
		return nil
	}
}

func (r *references) projected(sources []corev1.VolumeProjection) {
	for i := range sources {
		if c := sources[i].ConfigMap; c != nil {
			r.add("ConfigMap", c.Name)
		}
		if s := sources[i].Secret; s != nil {
			r.add("Secret", s.Name)
		}
	}
}
