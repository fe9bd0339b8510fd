package world

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/actors/rules/division"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/interpreter"
	"leeward/runtime/fleet/store"
)

// misread is what a script failed to read of a workload.
type misread uint8

const (
	misreadReplicas misread = iota
	misreadDependencies
	misreadRevision
	misreadComponents
	misreadStatus
	misreadCopy
	misreadKinds
)

// Interpreters are the scripts by which templates are read; nil has none.
func (w *World) Interpreters() *interpreter.Set { return w.interpreters }

// readScripts takes over the customizations that are stored.
func (w *World) readScripts() {
	var all []*api.ResourceInterpreterCustomization
	for _, o := range w.store.List("ResourceInterpreterCustomization") {
		if c, is := o.(*api.ResourceInterpreterCustomization); is {
			all = append(all, c)
		}
	}
	w.interpreters = interpreter.New(all)
}

// interpret reads the templates of the kinds of a customization again, which took the place of another one. Nil is none.
func (w *World) interpret(now, before api.Object) {
	w.readScripts()
	targets := map[api.CustomizationTarget]bool{}
	for _, o := range [...]api.Object{now, before} {
		if c, is := o.(*api.ResourceInterpreterCustomization); is && c != nil {
			targets[c.Spec.Target] = true
		}
	}
	for _, k := range w.templates() {
		if targets[api.CustomizationTarget{APIVersion: k.APIVersion, Kind: k.Kind}] {
			w.AdmitWorkload(w.workload(w.store.Get(k)))
		}
	}
}

// Scales reports whether a template has replicas, as it was read last.
func (w *World) Scales(template api.Object) bool {
	r := w.workloads[BindingOf(template)]
	return r != nil && r.HasReplicas
}

// requirements are how many replicas a template has, and what each needs: by a script, or else by the rules of its kind.
func (w *World) requirements(name messages.BindingName, o api.Object) (replicas int32, each *api.ReplicaRequirements, has bool) {
	replicas, each, known, err := w.interpreters.Replicas(o)
	w.noteMisread(name, misreadReplicas, reasonOf(err))
	if known {
		return replicas, each, true
	}
	return propagation.Requirements(o)
}

// reasonOf says that a script failed, and what is used in its place; nil: it did not.
func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error() + "; the rules of its kind are used"
}

// components are the pod templates of a workload that has several: by a script, or else by the rules of its kind.
func (w *World) components(name messages.BindingName, o api.Object) []api.Component {
	components, known, err := w.interpreters.Components(o)
	w.noteMisread(name, misreadComponents, reasonOf(err))
	if !known {
		components, _ = propagation.Components(o, w.settings.ExactComponentSets) // validated where they count
	}
	return components
}

// noteMisread remembers why a script failed to read a workload, or with no reason that it did not, and tells of a failure that is new.
func (w *World) noteMisread(name messages.BindingName, of misread, reason string) {
	failed := w.misread[name]
	before := failed[of]
	if reason == before {
		return
	}
	failed[of] = reason
	if w.misread[name] = failed; failed == ([misreadKinds]string{}) {
		delete(w.misread, name)
	}
	if reason != "" && !w.loading {
		w.Note(&messages.InterpretationFailed{Binding: name, Reason: reason})
	}
}

// NoteUnadded remembers whether a script failed to add up what the copies of a workload report, and tells of a failure that is new.
func (w *World) NoteUnadded(name messages.BindingName, err error) {
	w.noteMisread(name, misreadStatus, reasonOf(err))
}

// ReadStatus is what a simulated member reports of a copy whose status, a JSON object, is given: scripts of its kind read it, as an agent has
// them do, and say whether the copy is healthy.
func (w *World) ReadStatus(name messages.BindingName, status string) *messages.StatusForced {
	m := &messages.StatusForced{Binding: name, Status: status}
	copied := w.copyWith(name, status)
	if copied == nil {
		return m
	}
	healthy, judged, problem := w.interpreters.Health(copied)
	switch {
	case healthy:
		m.Health = api.Healthy
	case judged:
		m.Health = api.Unhealthy
	}
	reported, reflected, unread := w.interpreters.Reflect(copied)
	if reflected {
		text, err := json.Marshal(reported)
		must(err) // it was read off a script
		m.Status = string(text)
	}
	w.noteMisread(name, misreadCopy, reasonOf(errors.Join(problem, unread)))
	return m
}

// copyWith is a workload's template with a status, as its copies are; nil if it is not there.
func (w *World) copyWith(name messages.BindingName, status string) *unstructured.Unstructured {
	b := w.store.Binding(name)
	if b == nil || !w.store.Has(b.Spec.Resource.Key()) {
		return nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.store.Get(b.Spec.Resource.Key()))
	must(err)
	var said map[string]any
	must(json.Unmarshal([]byte(status), &said)) // a scenario was read with it
	fields["status"] = said
	return &unstructured.Unstructured{Object: fields}
}

// tellMisread tells of what failed while the stored templates were read.
func (w *World) tellMisread() {
	if !w.loading {
		return
	}
	w.loading = false
	for _, name := range slices.Sorted(maps.Keys(w.misread)) {
		for _, reason := range w.misread[name] {
			if reason != "" {
				w.Note(&messages.InterpretationFailed{Binding: name, Reason: reason})
			}
		}
	}
}

// needs are what replicas of workloads need, by how it reads: most need what those of many others do, and it is held once.
type needs map[string]*api.ReplicaRequirements

// mostNeeds bounds what is remembered.
const mostNeeds = 4096

// shared returns the needs of a workload, or the equal ones of another.
func (n needs) shared(each *api.ReplicaRequirements) *api.ReplicaRequirements {
	if each == nil || each.NodeClaim != nil {
		return each
	}
	text := []byte(each.Namespace + "/" + each.PriorityClassName)
	for _, name := range slices.Sorted(maps.Keys(each.ResourceRequest)) {
		quantity := each.ResourceRequest[name]
		text = append(append(append(append(text, ' '), name...), '='), quantity.String()...)
	}
	if known := n[string(text)]; known != nil {
		return known
	}
	if len(n) == mostNeeds {
		clear(n)
	}
	n[string(text)] = each
	return each
}

// Completions is a cluster's part of the completions of a Job whose replicas are divided: in proportion to these, by
// the method that divides them. It is nil where a copy has those of its template: the Job has none, its replicas are
// not divided, or the cluster is no target. Source: Karmada's binding controller.
func (w *World) Completions(template api.Object, b *store.Binding, c messages.ClusterName) *int32 {
	job, ok := template.(*batchv1.Job)
	if !ok || job.Spec.Completions == nil || b.Spec.Placement == nil || !b.Spec.Placement.ReplicaScheduling.Divides() {
		return nil
	}
	targets := slices.SortedFunc(slices.Values(b.Spec.Clusters), func(x, y api.TargetCluster) int { return cmp.Compare(x.Name, y.Name) })
	shares := make([]division.Candidate, len(targets))
	for i, t := range targets {
		shares[i] = division.Candidate{Rank: int32(i), Weight: int64(t.Replicas)}
	}
	at := api.FindTarget(targets, string(c))
	if at < 0 {
		return nil
	}
	divider := division.Divider{Method: w.settings.DivisionMethod, Seed: w.config.Seed}
	divider.Static(division.Demand{Replicas: *job.Spec.Completions, UID: string(job.UID)}, shares)
	return &shares[at].Seats
}
