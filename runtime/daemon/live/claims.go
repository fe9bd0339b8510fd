package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// Karmada's agent finds in a manifest of which Work the object is, which leeward-agent writes there by itself, and which of the labels
// and annotations it is to remove from the object in the member once a later manifest lacks them. With the status of a workload it
// reports the generation that the manifest had, in the field generationReported. Source: Karmada.
const (
	labelManaged                 = "karmada.io/managed"
	annotationWorkName           = "work.karmada.io/name"
	annotationWorkNamespace      = "work.karmada.io/namespace"
	annotationManagedLabels      = "resourcetemplate.karmada.io/managed-labels"
	annotationManagedAnnotations = "resourcetemplate.karmada.io/managed-annotations"
	annotationGeneration         = "resourcetemplate.karmada.io/generation"
	generationReported           = "resourceTemplateGeneration"
)

// ofKarmada reports whether Karmada's own agent acts for a cluster.
func ofKarmada(c *api.Cluster) bool {
	return c != nil && c.Annotations[api.AnnotationAgent] == api.AgentOfKarmada
}

// claimed returns a manifest as the agent of a wish's cluster needs it, with the generation that the Work has with it; old is nil
// where there is no Work yet. Karmada has the generation of the template there. That of the Work says which manifest a report is
// about: without it, what the copy was before an update would count as what it is after.
func (f *Fleet) claimed(w *wish, m manifest, old *api.Work) (manifest, error) {
	if !ofKarmada(f.world.Store().Cluster(w.cluster)) {
		return m, nil
	}
	generation := int64(1)
	if old != nil {
		generation = old.Generation
	}
	raw, err := claim(m.raw, workNamespace(w.cluster), workName(w.binding), generation)
	if err == nil && old != nil && !asksFor(old, raw) {
		raw, err = claim(m.raw, workNamespace(w.cluster), workName(w.binding), generation+1)
	}
	if err != nil {
		return m, fmt.Errorf("claim for Karmada's agent: %w", err)
	}
	m.raw, m.list = raw, []api.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}
	return m, nil
}

// dated returns a report that says no generation with that of the manifest which the copy has, where it was noted in that.
func dated(says *messages.WorkReport) *messages.WorkReport {
	if says == nil || says.Generation != 0 || !strings.Contains(says.Status, generationReported) {
		return says
	}
	var reported struct {
		Generation int64 `json:"resourceTemplateGeneration"`
	}
	if json.Unmarshal([]byte(says.Status), &reported) != nil || reported.Generation <= 0 {
		return says
	}
	next := *says // others share the report
	next.Generation = reported.Generation
	return &next
}

// claim writes into a manifest of which Work it is, and of which generation of it. All but its metadata remains as it is written, so
// that no digit of a number is lost.
func claim(manifest []byte, namespace, work string, generation int64) ([]byte, error) {
	var object, metadata map[string]json.RawMessage
	if err := json.Unmarshal(manifest, &object); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(object["metadata"], &metadata); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	labels, annotations := map[string]string{}, map[string]string{}
	for name, into := range map[string]*map[string]string{"labels": &labels, "annotations": &annotations} { // order-free: two fields
		if text := metadata[name]; text != nil {
			if err := json.Unmarshal(text, into); err != nil {
				return nil, fmt.Errorf("metadata.%s: %w", name, err)
			}
		}
	}
	labels[labelManaged] = "true"
	annotations[annotationWorkName], annotations[annotationWorkNamespace] = work, namespace
	annotations[annotationGeneration] = strconv.FormatInt(generation, 10)
	annotations[annotationManagedLabels], annotations[annotationManagedAnnotations] = namesIn(labels), ""
	annotations[annotationManagedAnnotations] = namesIn(annotations)
	for name, of := range map[string]any{"labels": labels, "annotations": annotations} { // order-free: two fields
		text, err := json.Marshal(of)
		if err != nil {
			return nil, err
		}
		metadata[name] = text
	}
	text, err := json.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	object["metadata"] = text
	return json.Marshal(object)
}

func namesIn(m map[string]string) string { return strings.Join(slices.Sorted(maps.Keys(m)), ",") }

// namespaceSuffix ends the name of the Work of a namespace. No Work of a copy ends so: workName.
const namespaceSuffix = ".namespace"

// namespaceWork makes the Work by which Karmada's agent creates the namespace of a copy, where there is none yet. It has no finalizer: when
// it is deleted, nothing is deleted in the member.
func (f *Fleet) namespaceWork(w *wish, now time.Time) (p pending, needed bool) {
	namespace, _ := w.binding.Split()
	if namespace == "" || namespace == metav1.NamespaceDefault || w.unwanted != nil || !ofKarmada(f.world.Store().Cluster(w.cluster)) {
		return p, false
	}
	in, name := workNamespace(w.cluster), namespace+namespaceSuffix
	p.key = engine.Key(catalog.Works.Name(), in, name)
	if f.config.Engine.Table(catalog.Works.Name()).Version(p.key) != 0 {
		return p, false
	}
	raw, err := claim(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q,"annotations":{%q:%q}}}`,
		namespace, api.AnnotationConflict, api.AnnotationOverwrites), in, name, 1)
	if err != nil { // cannot be: it was just written
		panic(fmt.Sprintf("live: claim namespace %s: %v", namespace, err))
	}
	p.object = &api.Work{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.WorkV1alpha1GroupVersion, Kind: "Work"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: in, UID: uuid.NewUUID(), Generation: 1, CreationTimestamp: metav1.Time{Time: now}},
		Spec:       api.WorkSpec{Workload: api.WorkloadTemplate{Manifests: []api.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}}},
	}
	p.write = engine.Create(p.key, p.object)
	return p, true
}

// ofNamespace reports whether a Work is that of a namespace.
func ofNamespace(w engine.Object) bool { return strings.HasSuffix(w.GetName(), namespaceSuffix) }

// renewClaimed renews the Works of a cluster that another agent acts for now.
func (f *Fleet) renewClaimed(before, now *api.Cluster) {
	if ofKarmada(before) == ofKarmada(now) {
		return
	}
	for _, b := range f.world.Store().Bindings() {
		if b.WantedOn(messages.ClusterName(now.Name)) {
			f.renewWork(b, messages.ClusterName(now.Name))
		}
	}
}
