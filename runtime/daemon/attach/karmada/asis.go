package karmada

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// roles say what the twin acts as. Where there are any it has the fleet as it is at the server: the taints of clusters, by any writer,
// and of bindings all that Karmada's detector writes. Nothing is hidden from its machines but the answers about bindings that it does
// not act on.
type roles struct {
	// schedulers are the schedulerNames of the bindings that it acts on.
	schedulers []string
	// graceful has it end graceful evictions, applications decide application failovers of them.
	graceful, applications bool
}

// acts reports whether the twin's decisions on a binding are written.
func (t *twin) acts(b *store.Binding) bool {
	return t.roles != nil && b != nil && slices.Contains(t.roles.schedulers, cmp.Or(b.Spec.SchedulerName, api.DefaultScheduler))
}

// actsOn is acts of a binding by its name.
func (t *twin) actsOn(name messages.BindingName) bool {
	return t.roles != nil && t.acts(store.AsBinding(t.seen[store.BindingKey(name)]))
}

// given is a binding as the machines of a twin are given it: others act as what it does not, and a task without a time, as
// Karmada's controllers write them, begins now.
func (t *twin) given(o api.Object) api.Object {
	o = api.Shallow(o)
	b := store.AsBinding(o)
	if t.acts(b) {
		if f := b.Spec.Failover; f != nil && f.Application != nil && !t.roles.applications {
			others := *f
			others.Application = nil
			b.Spec.Failover = &others
		}
		b.Spec.SchedulerName = "" // to the machines, it is theirs
	}
	tasks := b.Spec.GracefulEvictionTasks
	if slices.ContainsFunc(tasks, isNew) {
		tasks = slices.Clone(tasks)
		for i := range tasks {
			if isNew(tasks[i]) {
				tasks[i].CreationTimestamp = &metav1.Time{Time: t.world.Now()}
			}
		}
		b.Spec.GracefulEvictionTasks = tasks
	}
	return o
}

func isNew(k api.GracefulEvictionTask) bool { return k.CreationTimestamp.IsZero() }

// takenOver is an object as the machines take it over: a binding with what Leeward remembers of it.
func (t *twin) takenOver(o api.Object) api.Object {
	o = api.Shallow(o)
	if t.roles == nil || store.AsBinding(o) == nil {
		return o
	}
	if err := remember(store.AsBinding(o)); err != nil {
		t.refused(api.KeyOf(o), err)
	}
	return t.given(o)
}

// conflict is that others wrote what Leeward decides of a binding that it acts on.
type conflict struct {
	binding     messages.BindingName
	by          string
	before, now *store.Binding
	since       time.Time
}

// over reports whether it was Leeward that had written what others wrote over.
func (c *conflict) over() bool {
	if c.before == nil {
		return false
	}
	for _, field := range []string{fieldClusters, fieldTasks} {
		if w := writerOf(c.before, field); w != nil && w.Manager == userAgent {
			return true
		}
	}
	return false
}

// ends reports whether others ended an eviction that Leeward goes on with.
func (c *conflict) ends() bool {
	return c.before != nil && slices.ContainsFunc(c.before.Spec.GracefulEvictionTasks, func(k api.GracefulEvictionTask) bool { return c.now.Spec.TaskFrom(k.FromCluster) == nil })
}

// ownChanged takes in a version of a binding that the twin acts on. Its decisions stay, unless others wrote them: then what they wrote counts.
func (t *twin) ownChanged(o api.Object, before, now, ours *store.Binding) {
	wrote := t.wrote[now.Name()]
	switch {
	case t.follows && decided(before, now):
		t.follow(o)
	case before != nil && sameDecision(before.Spec, now.Spec), sameDecision(ours.Spec, now.Spec), wrote != nil && sameDecision(wrote, now.Spec):
		if before == nil || orders(before) != orders(now) || wishChanged(before, now) {
			t.renew(o, ours)
		}
	case before != nil && !t.roles.graceful && sameDecision(withoutEnded(before.Spec, now.Spec), now.Spec): // it was Karmada's to end
		t.apply(withoutWriters(t.given(o)))
	default:
		t.conflicts = append(t.conflicts, conflict{binding: now.Name(), by: decidedBy(before, now), before: before, now: now})
		t.apply(withoutWriters(t.given(o)))
		t.keeps(now.Name(), now.Spec.Clusters)
	}
	if wrote != nil && sameDecision(wrote, now.Spec) {
		delete(t.wrote, now.Name())
	}
}

// withoutEnded is a version of a binding without the graceful evictions that another version does not have.
func withoutEnded(before, now *api.BindingSpec) *api.BindingSpec {
	rest := *before
	rest.GracefulEvictionTasks = slices.DeleteFunc(slices.Clone(before.GracefulEvictionTasks), func(k api.GracefulEvictionTask) bool {
		return !slices.ContainsFunc(now.GracefulEvictionTasks, fromTheSame(&k))
	})
	return &rest
}

// renew has a binding be as the server has it, with what the machines decided of it.
func (t *twin) renew(o api.Object, ours *store.Binding) {
	next := t.given(o)
	b := store.AsBinding(next)
	b.Spec.Clusters, b.Spec.GracefulEvictionTasks = ours.Spec.Clusters, ours.Spec.GracefulEvictionTasks
	decided := store.AsBinding(t.world.Store().Get(api.KeyOf(o))) // the annotation shows what was applied
	if text := decided.Meta.Annotations[api.AnnotationAppliedPlacement]; text != "" {
		annotations := map[string]string{}
		maps.Copy(annotations, b.Meta.Annotations)
		annotations[api.AnnotationAppliedPlacement] = text
		b.Meta.Annotations = annotations
	}
	t.apply(withoutWriters(next))
}

func withoutWriters(o api.Object) api.Object {
	o.SetManagedFields(nil)
	return o
}

// The fields of a binding that say who decides it, as managedFields name them, and what is kept of an entry that has them.
const (
	fieldClusters = `"f:clusters"`
	fieldTasks    = `"f:gracefulEvictionTasks"`
)

var (
	hasClusters = metav1.NewFieldsV1(`{"f:spec":{` + fieldClusters + `:{}}}`)
	hasTasks    = metav1.NewFieldsV1(`{"f:spec":{` + fieldTasks + `:{}}}`)
	hasBoth     = metav1.NewFieldsV1(`{"f:spec":{` + fieldClusters + `:{},` + fieldTasks + `:{}}}`)
)

// leanFields is what is kept of the fields of an entry; nil: none that count.
func leanFields(w *metav1.ManagedFieldsEntry) *metav1.FieldsV1 {
	if w.FieldsV1 == nil || w.Subresource != "" {
		return nil
	}
	text := w.FieldsV1.GetRawString()
	switch clusters, tasks := strings.Contains(text, fieldClusters), strings.Contains(text, fieldTasks); {
	case clusters && tasks:
		return hasBoth
	case clusters:
		return hasClusters
	case tasks:
		return hasTasks
	}
	return nil
}

// writerOf is the last of those that wrote a field of a binding; nil: that is not known.
func writerOf(b *store.Binding, field string) (last *metav1.ManagedFieldsEntry) {
	for i := range b.Meta.ManagedFields {
		w := &b.Meta.ManagedFields[i]
		if w.FieldsV1 != nil && w.Time != nil && strings.Contains(w.FieldsV1.GetRawString(), field) && (last == nil || w.Time.After(last.Time.Time)) {
			last = w
		}
	}
	return last
}

// decidedBy names who made one version of a binding another: a list is written whole, so who wrote it has it alone.
func decidedBy(before, now *store.Binding) string {
	field := fieldClusters
	if before != nil && len(clusterOps(before.Spec.Clusters, now.Spec.Clusters)) == 0 {
		field = fieldTasks
	}
	if w := writerOf(now, field); w != nil {
		return w.Manager
	}
	if before != nil {
		if by := managers(before.Meta.ManagedFields, now.Meta.ManagedFields); len(by) == 1 {
			return by[0]
		}
	}
	return unknownWriter
}

// unknownWriter is who wrote what the server does not say the writer of.
const unknownWriter = "an unknown writer"

// timeTaints gives NoExecute taints without a time, as kubectl taint writes them, that at which the taints of their cluster were last written,
// as far as the server says so: then a restart moves no deadline. It is never before a taint was added.
func timeTaints(c *api.Cluster) {
	var written *metav1.Time
	for i := range c.ManagedFields {
		w := &c.ManagedFields[i]
		if w.FieldsV1 != nil && w.Time != nil && strings.Contains(w.FieldsV1.GetRawString(), `"f:taints"`) && (written == nil || w.Time.After(written.Time)) {
			written = w.Time
		}
	}
	for i := range c.Spec.Taints {
		if k := &c.Spec.Taints[i]; k.TimeAdded == nil && k.Effect == corev1.TaintEffectNoExecute {
			k.TimeAdded = written
		}
	}
}
