package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"leeward/messages/api"
)

// The bounds of one Work. What exceeds them is refused whole, so that nothing of it is half applied.
const (
	// MostManifests is as many as the status of a Work may report.
	MostManifests = 100
	// LargestManifest is what etcd takes in one request unless it is configured otherwise.
	LargestManifest = 3 << 19
)

// manifestsOf reads the manifests of a Work. The error names the first that no member could apply.
func manifestsOf(w *api.Work) ([]*unstructured.Unstructured, error) {
	raw := w.Spec.Workload.Manifests
	if len(raw) > MostManifests {
		return nil, fmt.Errorf("spec.workload.manifests: %d manifests, the agent takes at most %d", len(raw), MostManifests)
	}
	all := make([]*unstructured.Unstructured, 0, len(raw))
	known := map[identity]int{}
	for i := range raw {
		field := fmt.Sprintf("spec.workload.manifests[%d]", i)
		if n := len(raw[i].Raw); n > LargestManifest {
			return nil, fmt.Errorf("%s: %d bytes, the agent takes at most %d", field, n, LargestManifest)
		}
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw[i].Raw, &o.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		if err := checkManifest(o); err != nil {
			return nil, fmt.Errorf("%s.%w", field, err)
		}
		id := identityOf(o)
		if first, twice := known[id]; twice {
			return nil, fmt.Errorf("%s: %s is manifests[%d], too", field, id, first)
		}
		known[id] = i
		all = append(all, o)
	}
	return all, nil
}

func checkManifest(o *unstructured.Unstructured) error {
	for _, required := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}} {
		name := required[len(required)-1]
		if name == "name" {
			name = "metadata.name"
		}
		switch text, found, err := unstructured.NestedString(o.Object, required...); {
		case err != nil:
			return fmt.Errorf("%s: must be a text", name)
		case !found || text == "":
			return fmt.Errorf("%s: required", name)
		}
	}
	if o.IsList() {
		return fmt.Errorf("kind: %s holds several objects, a manifest is one", o.GetKind())
	}
	return nil
}

// identity names one object of the member. Versions of one kind are the same object.
type identity struct{ group, kind, namespace, name string }

func identityOf(o *unstructured.Unstructured) identity {
	return identity{o.GroupVersionKind().Group, o.GetKind(), o.GetNamespace(), o.GetName()}
}

func (i identity) String() string {
	name := i.name
	if i.namespace != "" {
		name = i.namespace + "/" + name
	}
	return i.kind + " " + name
}

// Panic is a fault of the agent. It ends the agent, and nothing else of the process.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("the agent panicked: %v", p.Value) }

// Guard does one thing, and returns the panic that ended it; nil: none did.
func Guard(do func()) (p *Panic) {
	defer func() {
		if v := recover(); v != nil {
			p = &Panic{v, debug.Stack()}
		}
	}()
	do()
	return nil
}

// border keeps panics inside of one agent. All code of the agent that others call in goroutines of theirs goes through it.
type border struct {
	end context.CancelCauseFunc
}

// within does one thing. A panic ends the agent.
func (b *border) within(do func()) {
	if p := Guard(do); p != nil {
		b.end(p)
	}
}

// handlers tell the agent of objects.
func (b *border) handlers(added func(any), updated func(before, now any), deleted func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { b.within(func() { added(o) }) },
		UpdateFunc: func(before, now any) { b.within(func() { updated(before, now) }) },
		DeleteFunc: func(o any) { b.within(func() { deleted(o) }) },
	}
}

// lean is what informers keep of objects. What cannot be made lean is kept whole.
func (b *border) lean(o any) (kept any, err error) {
	kept = o
	b.within(func() { kept, err = lean(o) })
	return kept, err
}

// index is an index of an informer. What cannot be indexed is in none.
func (b *border) index(of func(any) []string) cache.IndexFunc {
	return func(o any) (keys []string, _ error) {
		b.within(func() { keys = of(o) })
		return keys, nil
	}
}

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

// mayTake reports whether a manifest may be applied over an object as the member has it. Nil: it has none. Own is the uid of the object that
// was applied before; empty: none was.
func mayTake(manifest, live *unstructured.Unstructured, w *api.Work, own types.UID) error {
	if live == nil || workOf(live, w.Namespace) == w.Name || strings.EqualFold(manifest.GetAnnotations()[api.AnnotationConflict], api.AnnotationOverwrites) {
		return nil
	}
	c := &Conflict{Object: identityOf(manifest)}
	switch a := live.GetAnnotations(); {
	case a[annotationWorkName] != "":
		c.Of = a[annotationWorkNamespace] + "/" + a[annotationWorkName]
	case own != "" && live.GetUID() == own:
		return nil // its marks were taken off: that is drift
	}
	return c
}
