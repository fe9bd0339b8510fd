package fakemember

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
)

// work is one Work and the copy that it asks for.
type work struct {
	// object is as it was heard of last.
	object     *api.Work
	identifier api.ResourceIdentifier
	replicas   int32
	isWorkload bool
	requests   corev1.ResourceList
	// template is that of its pods, and revision counts how often it changed.
	template *corev1.PodTemplateSpec
	revision int32
	// custom is set of an object whose kind a definition must define, defines are the kinds that the manifest defines, and refused says why
	// the cluster does not take it.
	custom  bool
	defines map[schema.GroupVersionKind]string
	refused string
	// report is what the machine said last; removed is set once the copy is gone.
	report  *messages.CopyReported
	removed bool
}

func leaving(o *api.Work) bool { return o.DeletionTimestamp != nil }

func (w *work) leaving() bool { return leaving(w.object) }

func (w *work) preserved() bool { return isSet(w.object.Spec.PreserveResourcesOnDeletion) }

func isSet(b *bool) bool { return b != nil && *b }

// take takes over an object and returns what it asks of the machine; nil: nothing.
func (w *work) take(o *api.Work) messages.ToMember {
	first := w.object == nil
	w.object = o
	name := messages.BindingName(o.Name)
	if leaving(o) {
		w.defines = nil
		return &messages.RemoveCopy{Binding: name, Preserve: w.preserved()}
	}
	if len(o.Spec.Workload.Manifests) == 0 || isSet(o.Spec.SuspendDispatching) {
		return nil
	}
	w.read(o.Spec.Workload.Manifests[0].Raw)
	return &messages.RunCopy{
		Binding: name, Replicas: w.replicas, Revision: w.revision, Placement: o.Generation, Adopt: first && serves(o),
	}
}

// serves reports whether a Work says that its copy serves: an earlier agent had it running.
func serves(o *api.Work) bool {
	applied := meta.FindStatusCondition(o.Status.Conditions, api.ConditionApplied)
	return applied != nil && applied.Status == metav1.ConditionTrue && applied.ObservedGeneration == o.Generation &&
		len(o.Status.ManifestStatuses) > 0 && o.Status.ManifestStatuses[0].Health == api.Healthy
}

// read reads the manifest as far as a copy depends on it. Of a kind that is not known no more is read than its name.
func (w *work) read(manifest []byte) {
	var head struct {
		metav1.TypeMeta
		Metadata struct{ Namespace, Name string }
	}
	if json.Unmarshal(manifest, &head) != nil {
		return
	}
	kind := schema.FromAPIVersionAndKind(head.APIVersion, head.Kind)
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	w.identifier = api.ResourceIdentifier{
		Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Resource: plural.Resource,
		Namespace: head.Metadata.Namespace, Name: head.Metadata.Name,
	}
	r := catalog.Of(api.Key{APIVersion: head.APIVersion, Kind: head.Kind})
	if r == nil {
		return
	}
	if w.custom, w.defines = r.IsCustom(), nil; r == catalog.Definitions {
		w.defines = definedBy(manifest)
	}
	o := r.New()
	if json.Unmarshal(manifest, o) != nil {
		return
	}
	replicas, each, isWorkload := propagation.Requirements(o)
	if n, err := strconv.ParseInt(w.object.Annotations[api.AnnotationReplicas], 10, 32); err == nil && r.Untyped() {
		replicas, isWorkload = int32(n), true
	}
	w.replicas, w.isWorkload, w.requests = replicas, isWorkload, nil
	if each != nil {
		w.requests = each.ResourceRequest
	}
	if t := api.WorkloadOf(o).Template; isWorkload && !equality.Semantic.DeepEqual(t, w.template) {
		w.template = t
		w.revision++
	}
}

// patch is what the Work needs to say how its copy is, or to go once that is gone; nil: it needs nothing.
func (w *work) patch(now time.Time) *client.Patch {
	p := &client.Patch{Resource: catalog.Works, Namespace: w.object.Namespace, Name: w.object.Name}
	switch {
	case w.leaving() && w.removed:
		i := slices.Index(w.object.Finalizers, api.WorkFinalizer)
		if i < 0 {
			return nil
		}
		p.Body = map[string]any{"metadata": map[string]any{
			"finalizers": slices.Delete(slices.Clone(w.object.Finalizers), i, i+1), "resourceVersion": w.object.ResourceVersion,
		}}
	case w.leaving() || w.report == nil && w.refused == "":
		return nil
	default:
		status := w.status(now)
		if equality.Semantic.DeepEqual(status, w.object.Status) {
			return nil
		}
		p.Subresource, p.Body = "status", map[string]any{"status": status}
	}
	return p
}

// status says how the copy is, and of which generation of the Work: of the one that serves, or, while none has, of
// the newest.
func (w *work) status(now time.Time) api.WorkStatus {
	applied := metav1.Condition{
		Type: api.ConditionApplied, Status: metav1.ConditionTrue, Reason: "AppliedSuccessful",
		Message: "Manifest has been successfully applied", ObservedGeneration: w.object.Generation, LastTransitionTime: metav1.Time{Time: now.Truncate(time.Second)},
	}
	s := api.WorkStatus{Conditions: slices.Clone(w.object.Status.Conditions)}
	if w.refused != "" {
		applied.Status, applied.Reason, applied.Message = metav1.ConditionFalse, "AppliedFailed", "Failed to apply all manifests (0/1): "+w.refused
		meta.SetStatusCondition(&s.Conditions, applied)
		s.ManifestStatuses = []api.ManifestStatus{{Identifier: w.identifier, Health: api.Unknown}}
		return s
	}
	generation := cmp.Or(w.report.ForPlacement, w.object.Generation)
	applied.ObservedGeneration = generation
	meta.SetStatusCondition(&s.Conditions, applied)
	s.ManifestStatuses = []api.ManifestStatus{{Identifier: w.identifier, Status: w.counts(generation), Health: w.report.Health}}
	return s
}

// counts is the status that the copy would have on its cluster; nil: its kind has no replicas.
func (w *work) counts(generation int64) *runtime.RawExtension {
	if !w.isWorkload {
		return nil
	}
	ready := w.report.Ready
	fields := map[string]int64{
		"replicas": int64(w.replicas), "readyReplicas": int64(ready), "availableReplicas": int64(ready),
		"updatedReplicas": int64(ready), "observedGeneration": generation,
	}
	if w.identifier.Kind == "Job" {
		fields = map[string]int64{"active": int64(w.replicas), "ready": int64(ready)}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err) // whole numbers
	}
	return &runtime.RawExtension{Raw: raw}
}

// definedBy are the kinds that a definition has a cluster serve, with the names of their resources.
func definedBy(manifest []byte) map[schema.GroupVersionKind]string {
	definition := &unstructured.Unstructured{}
	if json.Unmarshal(manifest, &definition.Object) != nil {
		return nil
	}
	r := catalog.Defined(definition)
	kinds := map[schema.GroupVersionKind]string{}
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		if of, is := v.(map[string]any); is && of["served"] == true {
			kinds[r.Kind.GroupKind().WithVersion(fmt.Sprint(of["name"]))] = r.Plural
		}
	}
	return kinds
}

// defined are the custom kinds that the cluster serves: those that Works define there. a.mu is held.
func (a *agent) defined() map[schema.GroupVersionKind]string {
	all := map[schema.GroupVersionKind]string{}
	for _, w := range a.works { // order-free: they are not alike
		maps.Copy(all, w.defines)
	}
	return all
}

// customEnablements are the custom kinds in the form of a cluster's status, in order.
func customEnablements(kinds map[schema.GroupVersionKind]string) (all []api.APIEnablement) {
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(x, y schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(x.GroupVersion().String(), y.GroupVersion().String()), cmp.Compare(x.Kind, y.Kind))
	}) {
		version := kind.GroupVersion().String()
		if n := len(all); n == 0 || all[n-1].GroupVersion != version {
			all = append(all, api.APIEnablement{GroupVersion: version})
		}
		last := &all[len(all)-1]
		last.Resources = append(last.Resources, api.APIResource{Name: kinds[kind], Kind: kind.Kind})
	}
	return all
}

// serveDefined has the Works of custom kinds go by the definitions that there are now: an object goes with the definition of its kind, and is
// applied when that is there.
func (a *agent) serveDefined() {
	kinds := a.defined()
	for _, name := range slices.Sorted(maps.Keys(a.works)) {
		if w := a.works[name]; !w.leaving() && w.custom && (w.refused == "") != w.served(kinds) {
			a.hear(w.object)
		}
	}
	a.fleet.todo.Add(job{cluster: a.cluster})
}

func (w *work) kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: w.identifier.Group, Version: w.identifier.Version, Kind: w.identifier.Kind}
}

// served reports whether a cluster that serves some custom kinds takes the manifest.
func (w *work) served(kinds map[schema.GroupVersionKind]string) bool {
	_, is := kinds[w.kind()]
	return is || !w.custom
}

// admit returns what the machine of a copy must hear, where a Work says m and the cluster serves some custom kinds: an object of another kind is
// refused, and its copy removed.
func (w *work) admit(m messages.ToMember, kinds map[schema.GroupVersionKind]string) messages.ToMember {
	if _, runs := m.(*messages.RunCopy); !runs {
		return m
	}
	if w.served(kinds) {
		w.refused, w.removed = "", false
		if plural := kinds[w.kind()]; plural != "" {
			w.identifier.Resource = plural
		}
		return m
	}
	w.refused = fmt.Sprintf("the member does not serve %s", w.kind())
	had := w.report != nil
	if w.report = nil; had {
		return &messages.RemoveCopy{Binding: messages.BindingName(w.object.Name)}
	}
	return nil
}
