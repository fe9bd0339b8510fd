package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

// workFinalizers hold a Work until its cluster's agent has removed them, once the copy is gone. All Works share them.
// Source: Karmada.
var workFinalizers = []string{api.WorkFinalizer}

// wish is what the Work of one copy is to become.
type wish struct {
	binding messages.BindingName
	cluster messages.ClusterName
	key     string
	// unwanted is set where the Work is to go, with the fact that says how.
	unwanted *messages.CopyUnwanted
	// wanted is what it is to ask for; nil: what it asks for now, of the newest template.
	wanted *messages.CopyWanted
	// found is set where a start asks for what it finds: nothing of the copy is new.
	found bool
}

// renews reports whether a Work is only to be what its template, and its overrides, make of it now.
func (w *wish) renews() bool { return w.wanted == nil && w.unwanted == nil }

func wishOf(f messages.Fact) wish {
	w := wish{}
	switch f := f.(type) {
	case *messages.CopyWanted:
		w.binding, w.cluster, w.wanted = f.Binding, f.Cluster, f
	case *messages.CopyUnwanted:
		w.binding, w.cluster, w.unwanted = f.Binding, f.Cluster, f
	}
	w.key = workKey(w.cluster, w.binding)
	return w
}

// workKey is where the Work of a copy lies.
func workKey(c messages.ClusterName, b messages.BindingName) string {
	return engine.Key(catalog.Works.Name(), workNamespace(c), workName(b))
}

func workNamespace(c messages.ClusterName) string { return api.WorkNamespacePrefix + string(c) }

// workName is the name of the workload with a hash, because the bindings of all namespaces share those of the clusters. Where an object was
// deleted in a member, Karmada's agents before 1.19 look for its Work by this name, and put it back. Source: Karmada, GenerateWorkName.
func workName(b messages.BindingName) string {
	namespace, name := b.Split()
	whole := name
	if namespace != "" {
		whole = namespace + "-" + name
	}
	h := fnv.New32a()
	h.Write([]byte(whole))
	if i := strings.LastIndexByte(name, '-'); i >= 0 { // the kind
		name = name[:i]
	}
	const longest = 253 - 11
	return fmt.Sprintf("%s-%s", name[:min(len(name), longest)], rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10)))
}

// workChanged tells the machine of a cluster's agent what became of a Work.
func (f *Fleet) workChanged(c *engine.Change) {
	before, known := c.Previous().(*api.Work)
	now, exists := c.Object.(*api.Work)
	if known && exists && edited(before, now) {
		f.workEdited(before, now)
		return
	}
	if exists {
		if cluster, says := observedOf(now); says != nil {
			f.world.TellAgent(cluster, says)
		}
		return
	}
	if cluster, binding, ours := observed.Copy(before); ours {
		f.world.TellAgent(cluster, &messages.WorkGone{Binding: binding})
		f.remainsToLeave(cluster)
	}
}

// edited reports whether what a Work asks for, or what it says of itself, is no longer as it was.
func edited(before, now *api.Work) bool {
	return !equality.Semantic.DeepEqual(before.Spec.Workload, now.Spec.Workload) || !maps.Equal(before.Annotations, now.Annotations)
}

// workEdited tells the machine whose Work it was before it was edited.
func (f *Fleet) workEdited(before, now *api.Work) {
	named := *now
	named.Annotations = before.Annotations
	if cluster, says := observedOf(&named); says != nil {
		says.Edited = true
		f.world.TellAgent(cluster, says)
	}
}

// renewWorks has the Works of a binding ask for its template as it is now, wherever it or what needs it runs. Nil has none.
func (f *Fleet) renewWorks(b *store.Binding) {
	if b == nil {
		return
	}
	for c := range b.Wanted() {
		f.renewWork(b, c)
	}
}

func (f *Fleet) renewWork(b *store.Binding, c messages.ClusterName) {
	f.wishes = append(f.wishes, wish{binding: b.Name(), cluster: c, key: workKey(c, b.Name())})
}

// renewParts has the Works of a Job whose replicas are divided follow its targets: the part of the completions that each
// has depends on all of them.
func (f *Fleet) renewParts(b *store.Binding) {
	if p := b.Spec.Placement; b.Spec.Resource.Kind == "Job" && len(b.Spec.Clusters) > 1 && p != nil && p.ReplicaScheduling.Divides() {
		f.renewWorks(b)
	}
}

// work returns the write that a wish asks for; needed is false where the Work is as it should be, or there is none to
// change. The generation is that of the Work afterwards, if it is wanted and there is one.
func (f *Fleet) work(w *wish, now time.Time) (p pending, needed bool) {
	p = pending{key: w.key, wish: w}
	stored, version := f.config.Engine.Table(catalog.Works.Name()).Get(w.key)
	old, _ := stored.(*api.Work)
	if f.suspends(w) && old != nil && old.DeletionTimestamp == nil {
		needed = f.suspend(&p, old, version)
		return p, needed
	}
	if w.renews() {
		w.wanted = f.stuck[w.key]
	}
	delete(f.stuck, w.key)
	if w.unwanted != nil {
		return p, p.drop(old, version, now, f.world.Store().Stored(store.ClusterKey(w.cluster)) == nil)
	}
	if old == nil && w.wanted == nil || old != nil && old.DeletionTimestamp != nil {
		return p, false
	}
	if w.found && old != nil && f.keepsTemplate(w, old) {
		p.generation = old.Generation
		return p, false
	}
	m, err := f.manifestFor(w, old)
	if err == nil {
		m, err = f.overridden(w, m)
	}
	if err == nil {
		m, err = f.claimed(w, m, old)
	}
	if err != nil {
		f.config.Log.Warn().Str("binding", string(w.binding)).Str("cluster", string(w.cluster)).Err(err).Msg("work not written")
		return p, false
	}
	if old != nil && asksFor(old, m.raw) && isNoted(old, m.names) && old.Spec.SuspendDispatching == nil {
		p.generation = old.Generation
		return p, false
	}
	next := newWork(w, now, &m)
	if old != nil {
		next = rewritten(old, &m)
	}
	p.object, p.write, p.generation = next, engine.Update(w.key, next, version), next.Generation
	return p, true
}

// suspends reports whether a wish is for a copy on a cluster to which dispatching is suspended.
func (f *Fleet) suspends(w *wish) bool {
	b := f.world.Store().Binding(w.binding)
	return w.unwanted == nil && b != nil && b.Spec.Suspension.Dispatch(string(w.cluster))
}

// suspend has a Work stay as it is, and its agent leave the copy alone. What it was wanted to be is kept until dispatching is resumed. It
// reports whether that is a change.
func (f *Fleet) suspend(p *pending, old *api.Work, version int64) bool {
	if w := p.wish; w.wanted != nil {
		f.stuck[w.key] = w.wanted
		if w.found {
			p.generation = old.Generation // nothing of it is new
		}
	}
	if old.Spec.SuspendDispatching != nil && *old.Spec.SuspendDispatching {
		return false
	}
	next := api.Shallow(old).(*api.Work)
	next.Spec.SuspendDispatching = new(true)
	next.Generation++
	p.object, p.write = next, engine.Update(p.key, next, version)
	return true
}

// keepsTemplate reports whether a Work that a start finds is that of an old copy, which keeps the template that it has until it is
// removed: the newest one is for those that take over. One that asks for something else was edited while no daemon ran.
func (f *Fleet) keepsTemplate(w *wish, old *api.Work) bool {
	b, c := f.world.Store().Binding(w.binding), string(w.cluster)
	if b == nil ||
		slices.ContainsFunc(b.Spec.RequiredBy, func(s api.BindingSnapshot) bool { return api.FindTarget(s.Clusters, c) >= 0 }) ||
		b.Spec.TaskFrom(c) == nil {
		return false
	}
	return asksForA(old, b.Spec.Resource.Key()) && replicasOf(old) == w.wanted.Replicas
}

// asksForA reports whether a Work asks for a resource, in whatever state.
func asksForA(w *api.Work, r api.Key) bool {
	var asked struct {
		metav1.TypeMeta
		Metadata struct{ Namespace, Name string }
	}
	m := w.Spec.Workload.Manifests
	if len(m) != 1 || json.Unmarshal(m[0].Raw, &asked) != nil {
		return false
	}
	return api.Key{APIVersion: asked.APIVersion, Kind: asked.Kind, Namespace: asked.Metadata.Namespace, Name: asked.Metadata.Name} == r
}

// namespaceFor makes the namespace of a cluster's Works, if it is not there.
func (f *Fleet) namespaceFor(c messages.ClusterName, now time.Time) (p pending, needed bool) {
	p.key = engine.Key(catalog.Namespaces.Name(), "", workNamespace(c))
	if there, _ := f.config.Engine.Table(catalog.Namespaces.Name()).Get(p.key); there != nil {
		return p, false
	}
	p.object = &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: workNamespace(c), UID: uuid.NewUUID(), CreationTimestamp: metav1.Time{Time: now}},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
	p.write = engine.Create(p.key, p.object)
	return p, true
}

// rewritten is a Work that asks for a manifest now, and says by which overrides.
func rewritten(old *api.Work, m *manifest) *api.Work {
	next := api.Shallow(old).(*api.Work)
	if !asksFor(old, m.raw) || old.Spec.SuspendDispatching != nil {
		next.Spec.Workload.Manifests, next.Spec.SuspendDispatching = m.list, nil
		next.Generation++
	}
	if !isNoted(old, m.names) {
		next.Annotations = renoted(old, m.names)
	}
	return next
}

func newWork(w *wish, now time.Time, m *manifest) *api.Work {
	return &api.Work{
		TypeMeta: metav1.TypeMeta{APIVersion: api.WorkV1alpha1GroupVersion, Kind: "Work"},
		ObjectMeta: metav1.ObjectMeta{
			Name: workName(w.binding), Namespace: workNamespace(w.cluster), UID: uuid.NewUUID(), Generation: 1,
			CreationTimestamp: metav1.Time{Time: now}, Finalizers: workFinalizers, Annotations: m.names,
		},
		Spec: api.WorkSpec{Workload: api.WorkloadTemplate{Manifests: m.list}},
	}
}

// drop has a Work go, if there is one: its agent takes the copy down and lets it go, unless no agent remains to, or its cluster is
// gone. It reports whether that is a change.
func (p *pending) drop(old *api.Work, version int64, now time.Time, gone bool) bool {
	switch {
	case old == nil:
		return false
	case len(old.Finalizers) == 0 || gone:
		p.write = engine.Delete(p.key, version)
		return true
	case old.DeletionTimestamp != nil:
		return false
	}
	next := api.Shallow(old).(*api.Work)
	next.DeletionTimestamp, next.DeletionGracePeriodSeconds = &metav1.Time{Time: now}, new(int64)
	next.Generation++ // as Kubernetes' API server does: Karmada's agent looks at no other change
	if p.wish.unwanted.Preserved {
		next.Spec.PreserveResourcesOnDeletion = new(true)
	}
	p.object, p.write = next, engine.Update(p.key, next, version)
	return true
}

// asksFor reports whether a Work asks for one manifest, in whatever order that has its fields: who exports and imports a fleet may
// have sorted them, and its Works are no others for that.
func asksFor(w *api.Work, raw []byte) bool {
	m := w.Spec.Workload.Manifests
	return len(m) == 1 && (string(m[0].Raw) == string(raw) || sameJSON(m[0].Raw, raw))
}

// sameJSON reports whether two texts say the same. Numbers are compared as they are written: no digit of a large one is lost.
func sameJSON(a, b []byte) bool {
	was, err := exactJSON(a)
	if err != nil {
		return false
	}
	is, err := exactJSON(b)
	return err == nil && reflect.DeepEqual(was, is)
}

func exactJSON(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value, d.Decode(&value)
}

// manifests are what was last rendered for each binding in one flush, in which no template changes: most copies of one are alike,
// and share it.
type manifests map[messages.BindingName]manifest

type manifest struct {
	replicas int32
	// scales is set where the template has replicas, which are the copy's part of them.
	scales bool
	// whole is set where the copy runs all components of the template, as that has them.
	whole  bool
	labels map[string]string
	// completions are the copy's part of those of a Job; nil: as the template has them.
	completions *int32
	// overwrites is set where the policy takes over what the cluster has already.
	overwrites bool

	raw   []byte
	list  []api.Manifest // with raw alone
	names map[string]string
}

// alike reports whether two manifests are made of the same.
func (m *manifest) alike(other *manifest) bool {
	return m.replicas == other.replicas && m.scales == other.scales && m.overwrites == other.overwrites && maps.Equal(m.labels, other.labels) && ptr.Equal(m.completions, other.completions)
}

// manifestFor renders the template of a wish's binding as the cluster is to have it.
func (f *Fleet) manifestFor(w *wish, old *api.Work) (m manifest, err error) {
	b := f.world.Store().Binding(w.binding)
	if b == nil {
		return m, fmt.Errorf("binding %s is gone", w.binding)
	}
	key := b.Spec.Resource.Key()
	if key.Namespace != b.Meta.Namespace { // admission refuses it, and who wrote past that must not ship what is not his
		return m, fmt.Errorf("%s is not of the namespace of binding %s", key, w.binding)
	}
	template := f.world.Store().Get(key)
	if template == nil {
		return m, fmt.Errorf("%s is gone", key)
	}
	if w.wanted != nil {
		m.replicas, m.labels = w.wanted.Replicas, w.wanted.Labels
	} else {
		m.replicas = replicasOf(old)
	}
	m.scales = f.world.Scales(template)
	n := len(b.Spec.Components)
	m.whole = n > 1 || n == 1 && !m.scales
	m.completions, m.overwrites = f.world.Completions(template, b, w.cluster), b.Spec.ConflictResolution == api.ConflictOverwrite
	last := f.manifests[w.binding]
	if last.raw != nil && last.alike(&m) {
		return last, nil
	}
	if m.raw, err = m.render(f.world, template); err != nil {
		return m, fmt.Errorf("render %s: %w", key, err)
	}
	if m.names = last.names; m.names == nil || m.names[api.AnnotationReplicas] != "" {
		m.names = observed.Names(w.binding)
	}
	if _, untyped := template.(*unstructured.Unstructured); untyped && m.scales { // only its script can read them off the manifest
		m.names = maps.Clone(m.names)
		m.names[api.AnnotationReplicas] = strconv.Itoa(int(m.replicas))
	}
	m.list = []api.Manifest{{RawExtension: runtime.RawExtension{Raw: m.raw}}}
	f.manifests[w.binding] = m
	return m, nil
}

// render writes a template without what only the control plane has: its identity, its status and its bookkeeping.
func (m *manifest) render(w *world.World, template api.Object) ([]byte, error) {
	o := api.Shallow(template)
	if !m.whole && (m.scales || m.replicas > 0) {
		if scaled, err := w.WithReplicas(o, m.replicas); err == nil {
			o = scaled
		}
	}
	if job, ok := o.(*batchv1.Job); ok && m.completions != nil {
		job.Spec.Completions = m.completions
	}
	o.SetUID("")
	o.SetResourceVersion("")
	o.SetGeneration(0)
	o.SetCreationTimestamp(metav1.Time{})
	o.SetManagedFields(nil)
	o.SetFinalizers(nil)
	o.SetOwnerReferences(nil)
	if len(m.labels) > 0 {
		all := maps.Clone(m.labels)
		maps.Copy(all, o.GetLabels())
		maps.Copy(all, m.labels)
		o.SetLabels(all)
	}
	if _, says := o.GetAnnotations()[api.AnnotationConflict]; m.overwrites && !says {
		all := map[string]string{api.AnnotationConflict: api.AnnotationOverwrites}
		maps.Copy(all, o.GetAnnotations())
		o.SetAnnotations(all)
	}
	if u, untyped := o.(*unstructured.Unstructured); untyped {
		delete(u.Object, "status")
		unstructured.RemoveNestedField(u.Object, "metadata", "generation")
	} else if status := statusOf(o); status.IsValid() {
		status.SetZero()
	}
	return json.Marshal(o)
}

// statusOf is the status of an object; not valid where its kind has none.
func statusOf(o api.Object) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName("Status") }

// replicasOf is how many replicas a Work asks for, whatever overrides or scripts make of them.
func replicasOf(w *api.Work) int32 {
	if n, err := strconv.ParseInt(w.Annotations[api.AnnotationReplicas], 10, 32); err == nil {
		return int32(n)
	}
	var asked struct {
		Spec struct{ Replicas, Parallelism *int32 }
	}
	if len(w.Spec.Workload.Manifests) == 0 || json.Unmarshal(w.Spec.Workload.Manifests[0].Raw, &asked) != nil {
		return 0
	}
	switch {
	case asked.Spec.Replicas != nil:
		return *asked.Spec.Replicas
	case asked.Spec.Parallelism != nil:
		return *asked.Spec.Parallelism
	}
	return 0
}
