package recorder

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/scenario/incident"
)

// chosen is what a selector has chosen so far: workloads that it fits, and their bindings.
type chosen struct {
	workloads map[api.Key]bool
	bindings  map[messages.BindingName]bool
	// early are new bindings and Works of which it is not known that they are wanted. Each kind has its own watch: of a new
	// workload, that of its binding may be ahead.
	early []early
}

type early struct {
	of     *followed
	kind   incident.Type
	object *object
}

// mostEarly is how many are kept: others' workloads come, too, and those are never wanted.
const mostEarly = 1000

// wants reports whether an object must be recorded: all but bindings and Works of what is omitted. One that is new is
// kept for when that is known.
func (f *followed) wants(kind incident.Type, o *object) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	wanted := f.Selector == ""
	switch o.GetKind() {
	case "Work":
		of := observed.Binding(o.GetAnnotations())
		if f.Namespace != "" && of.Namespace() != f.Namespace {
			return false
		}
		wanted = wanted || f.chosen.bindings[of]
	case "ResourceBinding", "ClusterResourceBinding":
		resource, _, _ := unstructured.NestedStringMap(o.Object, "spec", "resource")
		key := api.Key{APIVersion: resource["apiVersion"], Kind: resource["kind"], Namespace: resource["namespace"], Name: resource["name"]}
		wanted = wanted || f.chosen.workloads[key]
	default:
		return true
	}
	if !wanted {
		f.keepEarly(kind, o)
	}
	return wanted
}

// keepEarly keeps a new object, or what has become of one.
func (f *followed) keepEarly(kind incident.Type, o *object) {
	c, key := &f.chosen, api.KeyOf(o)
	before := len(c.early)
	c.early = slices.DeleteFunc(c.early, func(e early) bool { return api.KeyOf(e.object) == key })
	if kind != incident.Added && (kind != incident.Modified || len(c.early) == before) {
		return
	}
	c.early = append(c.early, early{f, incident.Added, o})
	c.early = c.early[max(0, len(c.early)-mostEarly):]
}

// choose notes a workload or a binding that was recorded, where only some are, and returns what came early: some of it may
// be wanted now.
func (f *followed) choose(o *object) []early {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch kind := o.GetKind(); {
	case f.Selector == "":
		return nil
	case kind == "ResourceBinding", kind == "ClusterResourceBinding":
		f.chosen.bindings[messages.NameBinding(o.GetNamespace(), o.GetName())] = true
	case f.resource.Template():
		f.chosen.workloads[api.KeyOf(o)] = true
	default:
		return nil
	}
	waiting := f.chosen.early
	f.chosen.early = nil
	return waiting
}
