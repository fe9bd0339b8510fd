package world

import (
	"maps"
	"slices"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/interpreter"
)

// misread is what a script failed to read of a workload.
type misread uint8

const (
	misreadReplicas misread = iota
	misreadDependencies
	misreadRevision
	misreadStatus
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
	w.noteMisread(name, misreadReplicas, err)
	if known {
		return replicas, each, true
	}
	return propagation.Requirements(o)
}

// noteMisread remembers whether a script failed to read a workload, and tells of a failure that is new.
func (w *World) noteMisread(name messages.BindingName, of misread, err error) {
	failed := w.misread[name]
	before := failed[of]
	switch {
	case err == nil && before == "":
		return
	case err == nil:
		failed[of] = ""
	default:
		failed[of] = err.Error()
	}
	if w.misread[name] = failed; failed == ([misreadKinds]string{}) {
		delete(w.misread, name)
	}
	if failed[of] != "" && failed[of] != before && !w.loading {
		w.Note(&messages.InterpretationFailed{Binding: name, Reason: failed[of]})
	}
}

// NoteUnadded remembers whether a script failed to add up what the copies of a workload report, and tells of a failure that is new.
func (w *World) NoteUnadded(name messages.BindingName, err error) {
	w.noteMisread(name, misreadStatus, err)
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
