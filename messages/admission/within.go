package admission

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// The rules of this file keep an object within its namespace: a user who may write in one namespace only must not, by what
// he writes there, have the control plane read, ship, scale or follow the objects of another.

// within wants a namespace that a field names to be the object's own.
func within(named, own string, at *field.Path) field.ErrorList {
	if named == own {
		return nil
	}
	return field.ErrorList{field.Invalid(at, named, "must be the object's own namespace, "+own)}
}

// withinIfAny passes a field that names no namespace, too.
func withinIfAny(named, own string, at *field.Path) field.ErrorList {
	if named == "" {
		return nil
	}
	return within(named, own, at)
}

// localSelectors keeps a policy that has a namespace to the resources of it.
func localSelectors(selectors []api.ResourceSelector, own string, spec *field.Path) (errs field.ErrorList) {
	for i := range selectors {
		errs = append(errs, within(selectors[i].Namespace, own, spec.Child("resourceSelectors").Index(i).Child("namespace"))...)
	}
	return errs
}

// defaultResource puts the resource of a binding that has a namespace into it.
func defaultResource(r *api.ObjectReference, namespace string) {
	if !clusterScoped[groupKind(r)] {
		setDefault(&r.Namespace, namespace)
	}
}

func groupKind(r *api.ObjectReference) schema.GroupKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).GroupKind()
}

// validateLocalBinding keeps a ResourceBinding within its namespace: its resource, what its replicas need, the bindings
// that require it and the policy that claimed it.
func validateLocalBinding(b *api.ResourceBinding, spec *field.Path) field.ErrorList {
	resource := spec.Child("resource")
	errs := within(b.Spec.Resource.Namespace, b.Namespace, resource.Child("namespace"))
	if clusterScoped[groupKind(&b.Spec.Resource)] {
		errs = field.ErrorList{field.Invalid(resource.Child("kind"), b.Spec.Resource.Kind, "is cluster-scoped: write a ClusterResourceBinding")}
	}
	errs = append(errs, localRequirements(b.Spec.ReplicaRequirements, b.Namespace, spec.Child("replicaRequirements"))...)
	for i := range b.Spec.Components {
		at := spec.Child("components").Index(i).Child("replicaRequirements")
		errs = append(errs, localRequirements(b.Spec.Components[i].ReplicaRequirements, b.Namespace, at)...)
	}
	for i := range b.Spec.RequiredBy {
		errs = append(errs, within(b.Spec.RequiredBy[i].Namespace, b.Namespace, spec.Child("requiredBy").Index(i).Child("namespace"))...)
	}
	return append(errs, withinIfAny(b.Annotations[api.AnnotationPolicyNamespace], b.Namespace, annotation(api.AnnotationPolicyNamespace))...)
}

func localRequirements(r *api.ReplicaRequirements, own string, at *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	return withinIfAny(r.Namespace, own, at.Child("namespace"))
}

// validateClusterBinding wants the resource of a ClusterResourceBinding to be cluster-scoped.
func validateClusterBinding(r *api.ObjectReference, at *field.Path) field.ErrorList {
	switch {
	case r.Namespace != "":
		return field.ErrorList{field.Invalid(at.Child("namespace"), r.Namespace, "must be empty: a ClusterResourceBinding is for cluster-scoped resources")}
	case knownNamespaced(groupKind(r)):
		return field.ErrorList{field.Invalid(at.Child("kind"), r.Kind, "lives in a namespace: write a ResourceBinding there")}
	}
	return nil
}

// identityPaths are the fields by which an object is what it is. An OverridePolicy that changed them would write into
// other namespaces, or other kinds.
var identityPaths = []string{"", "/apiVersion", "/kind", "/metadata", "/metadata/name", "/metadata/namespace"}

// validateLocalOverride has the resources that an OverridePolicy overrides stay what they are. Selectors of other namespaces
// pass: they select nothing, as in Karmada.
func validateLocalOverride(o *api.OverrideSpec, spec *field.Path) field.ErrorList {
	errs := keepsIdentity(&o.Overriders, spec.Child("overriders"))
	for i := range o.OverrideRules {
		errs = append(errs, keepsIdentity(&o.OverrideRules[i].Overriders, spec.Child("overrideRules").Index(i).Child("overriders"))...)
	}
	return errs
}

func keepsIdentity(o *api.Overriders, at *field.Path) (errs field.ErrorList) {
	refuse := func(path string, at *field.Path) {
		if slices.Contains(identityPaths, path) {
			errs = append(errs, field.Invalid(at, path, "an OverridePolicy may not change which object it overrides"))
		}
	}
	for i := range o.Plaintext {
		refuse(o.Plaintext[i].Path, at.Child("plaintext").Index(i).Child("path"))
	}
	for i := range o.FieldOverrider {
		refuse(o.FieldOverrider[i].FieldPath, at.Child("fieldOverrider").Index(i).Child("fieldPath"))
	}
	return errs
}

// eventNamespaces hold the Events about cluster-scoped objects. Source: Kubernetes.
var eventNamespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem}

// validateEvent wants an Event to be about an object of its namespace.
func validateEvent(e *corev1.Event) (errs field.ErrorList) {
	about := field.NewPath("involvedObject", "namespace")
	switch named := e.InvolvedObject.Namespace; {
	case named == "" && !slices.Contains(eventNamespaces, e.Namespace):
		errs = append(errs, field.Required(about, "Events about cluster-scoped objects are in the namespace default"))
	case named != "":
		errs = append(errs, within(named, e.Namespace, about)...)
	}
	if e.Related != nil {
		errs = append(errs, withinIfAny(e.Related.Namespace, e.Namespace, field.NewPath("related", "namespace"))...)
	}
	return errs
}

func validateServiceAccount(a *corev1.ServiceAccount) (errs field.ErrorList) {
	for i := range a.Secrets {
		errs = append(errs, withinIfAny(a.Secrets[i].Namespace, a.Namespace, field.NewPath("secrets").Index(i).Child("namespace"))...)
	}
	return errs
}

// localSource wants a claim to be filled from its own namespace.
func localSource(c *corev1.PersistentVolumeClaimSpec, own string, spec *field.Path) field.ErrorList {
	if c.DataSourceRef == nil || c.DataSourceRef.Namespace == nil {
		return nil
	}
	return withinIfAny(*c.DataSourceRef.Namespace, own, spec.Child("dataSourceRef", "namespace"))
}

// localClaims wants the claims that a workload makes for its pods to be filled from its own namespace.
func localClaims(o api.Object, spec *field.Path) (errs field.ErrorList) {
	if s, ok := o.(*appsv1.StatefulSet); ok {
		for i := range s.Spec.VolumeClaimTemplates {
			errs = append(errs, localSource(&s.Spec.VolumeClaimTemplates[i].Spec, s.Namespace, spec.Child("volumeClaimTemplates").Index(i).Child("spec"))...)
		}
	}
	template, at := podTemplate(o, spec)
	if template == nil {
		return errs
	}
	for i := range template.Spec.Volumes {
		if e := template.Spec.Volumes[i].Ephemeral; e != nil && e.VolumeClaimTemplate != nil {
			claim := at.Child("spec", "volumes").Index(i).Child("ephemeral", "volumeClaimTemplate", "spec")
			errs = append(errs, localSource(&e.VolumeClaimTemplate.Spec, o.GetNamespace(), claim)...)
		}
	}
	return errs
}

// podTemplate is that of a workload, and where it is; nil where its kind has none.
func podTemplate(o api.Object, spec *field.Path) (*corev1.PodTemplateSpec, *field.Path) {
	if _, is := o.(*batchv1.CronJob); is {
		spec = spec.Child("jobTemplate", "spec")
	}
	return api.WorkloadOf(o).Template, spec.Child("template")
}
