package agent

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages/api"
)

// labelKeepReplicas has a copy keep the replicas that the member gave it. Source: Karmada.
const labelKeepReplicas = "resourcetemplate.karmada.io/retain-replicas"

// autoscaler is who sets replicas for a HorizontalPodAutoscaler: it writes the subresource scale.
const autoscaler = "kube-controller-manager"

// controlPlaneFields say what an object was in the control plane, which means nothing in the member.
var controlPlaneFields = [][]string{
	{"status"}, {"metadata", "managedFields"}, {"metadata", "resourceVersion"}, {"metadata", "uid"}, {"metadata", "generation"},
	{"metadata", "creationTimestamp"}, {"metadata", "ownerReferences"}, {"metadata", "selfLink"}, {"metadata", "finalizers"},
	{"metadata", "deletionTimestamp"}, {"metadata", "deletionGracePeriodSeconds"},
}

// keepMembers takes out of a manifest what is the member's, or has it as the member has it. Live is the object as the member has
// it, nil if it has none. Source: Karmada's default interpreter, but for replicas: where server-side apply tells that an
// autoscaler sets them, no label is needed.
func keepMembers(manifest, live *unstructured.Unstructured) {
	for _, field := range controlPlaneFields {
		unstructured.RemoveNestedField(manifest.Object, field...)
	}
	switch id := identityOf(manifest); (identity{group: id.group, kind: id.kind}) {
	case identity{group: "apps", kind: "Deployment"}, identity{group: "apps", kind: "StatefulSet"}, identity{group: "apps", kind: "ReplicaSet"}:
		keepReplicas(manifest, live)
	case identity{kind: "Service"}:
		keepService(manifest, live)
	case identity{group: "batch", kind: "Job"}:
		keepJob(manifest)
	case identity{kind: "PersistentVolumeClaim"}:
		copyField(manifest, live, "spec", "volumeName")
	case identity{kind: "PersistentVolume"}:
		copyField(manifest, live, "spec", "claimRef")
	case identity{group: "rbac.authorization.k8s.io", kind: "ClusterRole"}:
		if _, aggregates := manifest.Object["aggregationRule"]; aggregates {
			unstructured.RemoveNestedField(manifest.Object, "rules") // those of the roles that it selects in the member
		}
	case identity{kind: "ServiceAccount"}:
		unstructured.RemoveNestedField(manifest.Object, "secrets") // each cluster has its own
	case identity{kind: "Secret"}:
		if kind, _, _ := unstructured.NestedString(manifest.Object, "type"); kind == "kubernetes.io/service-account-token" {
			unstructured.RemoveNestedField(manifest.Object, "data")
		}
	}
}

// copyField has a manifest say what the member says, where it says something.
func copyField(manifest, live *unstructured.Unstructured, field ...string) {
	if live == nil {
		return
	}
	if value, found, err := unstructured.NestedFieldCopy(live.Object, field...); err == nil && found {
		_ = unstructured.SetNestedField(manifest.Object, value, field...) // a manifest whose spec is no object is refused by the member
	}
}

func keepReplicas(manifest, live *unstructured.Unstructured) {
	switch {
	case live == nil:
	case scaled(live):
		unstructured.RemoveNestedField(manifest.Object, "spec", "replicas")
	case manifest.GetLabels()[labelKeepReplicas] == "true":
		copyField(manifest, live, "spec", "replicas")
	}
}

// scaled reports whether an autoscaler of the member sets the replicas of an object.
func scaled(live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(live.GetManagedFields(), byAutoscaler)
}

func byAutoscaler(e metav1.ManagedFieldsEntry) bool {
	return e.Subresource == "scale" && e.Manager == autoscaler
}

// keepService keeps the addresses that the member allocated; those of another cluster mean nothing in it.
func keepService(manifest, live *unstructured.Unstructured) {
	if ip, _, _ := unstructured.NestedString(manifest.Object, "spec", "clusterIP"); ip != "None" {
		unstructured.RemoveNestedField(manifest.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(manifest.Object, "spec", "clusterIPs")
		copyField(manifest, live, "spec", "clusterIP")
		copyField(manifest, live, "spec", "clusterIPs")
	}
	copyField(manifest, live, "spec", "healthCheckNodePort")
	if live == nil {
		return
	}
	allocated := map[string]any{}
	for _, p := range portsOf(live) {
		if n := p["nodePort"]; n != nil {
			allocated[portKey(p)] = n
		}
	}
	ports := portsOf(manifest)
	for _, p := range ports {
		if n := allocated[portKey(p)]; n != nil {
			p["nodePort"] = n
		}
	}
}

// portsOf are the ports of a Service, to read and to change.
func portsOf(o *unstructured.Unstructured) (all []map[string]any) {
	spec, _ := o.Object["spec"].(map[string]any)
	items, _ := spec["ports"].([]any)
	for _, i := range items {
		if p, is := i.(map[string]any); is {
			all = append(all, p)
		}
	}
	return all
}

// portKey is what a Service has one port of.
func portKey(p map[string]any) string {
	protocol := p["protocol"]
	if protocol == nil {
		protocol = "TCP"
	}
	return fmt.Sprint(protocol, " ", p["port"])
}

// jobLabels are set on the pods of a Job by the cluster that runs it.
var jobLabels = []string{"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"}

// keepJob leaves the selector of a Job to the member, unless its user set it.
func keepJob(manifest *unstructured.Unstructured) {
	if manual, _, _ := unstructured.NestedBool(manifest.Object, "spec", "manualSelector"); manual {
		return
	}
	unstructured.RemoveNestedField(manifest.Object, "spec", "selector")
	for _, label := range jobLabels {
		unstructured.RemoveNestedField(manifest.Object, "spec", "template", "metadata", "labels", label)
	}
}

// The marks of an object that an agent applied: they say of which Work it is. Source: Karmada.
const (
	labelManaged            = "karmada.io/managed"
	annotationWorkName      = "work.karmada.io/name"
	annotationWorkNamespace = "work.karmada.io/namespace"
)

// mark claims a manifest for a Work.
func mark(o *unstructured.Unstructured, w *api.Work) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[labelManaged] = "true"
	annotations[annotationWorkName], annotations[annotationWorkNamespace] = w.Name, w.Namespace
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}

// unmark is the merge patch that ends the claim.
func unmark() []byte {
	return []byte(`{"metadata":{"labels":{"` + labelManaged + `":null},"annotations":{"` + annotationWorkName + `":null,"` + annotationWorkNamespace + `":null}}}`)
}

// workOf is the name of the Work in a namespace that an object is of; empty: of none there.
func workOf(o *unstructured.Unstructured, namespace string) string {
	a := o.GetAnnotations()
	if a[annotationWorkNamespace] != namespace {
		return ""
	}
	return a[annotationWorkName]
}

// Conflict is an object that exists and that a manifest may not take over.
type Conflict struct {
	Object identity
	// Of is the Work that it is of; empty: of none.
	Of string
}

func (c *Conflict) Error() string {
	if c.Of != "" {
		return fmt.Sprintf("%s exists, and is of the Work %s", c.Object, c.Of)
	}
	return fmt.Sprintf("%s exists, and no Work applied it: conflictResolution: %s in its policy, or the annotation %s: %s, takes it over", c.Object, api.ConflictOverwrite, api.AnnotationConflict, api.AnnotationOverwrites)
}

// mayTake reports whether a manifest may be applied over an object as the member has it. Nil: it has none.
func mayTake(manifest, live *unstructured.Unstructured, w *api.Work) error {
	if live == nil || workOf(live, w.Namespace) == w.Name || strings.EqualFold(manifest.GetAnnotations()[api.AnnotationConflict], api.AnnotationOverwrites) {
		return nil
	}
	c := &Conflict{Object: identityOf(manifest)}
	if a := live.GetAnnotations(); a[annotationWorkName] != "" {
		c.Of = a[annotationWorkNamespace] + "/" + a[annotationWorkName]
	}
	return c
}
