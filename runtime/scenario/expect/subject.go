package expect

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// aboutOf is the object that something expected is about; the zero key: none, or any. Of several pods, it is one that is not as
// expected.
func aboutOf(s Subject, o *objects) api.Key {
	switch s := s.(type) {
	case *Event:
		return s.about()
	case *Pods:
		return s.example(o)
	case State: // of alternatives, the one object of all
		return s.ObjectKey()
	}
	return api.Key{}
}

// about is the object that an event is about: the one that is named most closely.
func (e *Event) about() api.Key {
	field := func(name string) string {
		text, _ := e.Fields[name].(string)
		return text
	}
	return mostly(messages.PodName(field("pod")), messages.NodeName(field("node")), messages.HoldScope{Binding: e.Binding, Cluster: e.Cluster})
}

// aboutFact is the object that a fact is about.
func aboutFact(f messages.Fact) api.Key {
	var pod messages.PodName
	var node messages.NodeName
	if f, ok := f.(messages.AboutPod); ok {
		pod = f.AboutPod()
	}
	if f, ok := f.(messages.AboutNode); ok {
		node = f.AboutNode()
	}
	return mostly(pod, node, about(f))
}

// mostly is the first of a pod, a node, a binding and a cluster that is named.
func mostly(pod messages.PodName, node messages.NodeName, of messages.HoldScope) api.Key {
	switch {
	case pod != "":
		return PodKey(pod)
	case node != "":
		return NodeKey(node)
	case of.Binding != "":
		return store.BindingKey(of.Binding)
	case of.Cluster != "":
		return store.ClusterKey(of.Cluster)
	}
	return api.Key{}
}

// example is a pod that is not as expected: of too many in a state one of those, of too few another one; the first by name.
func (p *Pods) example(o *objects) api.Key {
	if o.nodes == nil {
		return api.Key{}
	}
	counts := p.count(o)
	var wrong *PodNumber
	for i := range p.Wants {
		if w := &p.Wants[i]; wrong == nil && !w.Bounds.Holds(counts[w.Of]) {
			wrong = w
		}
	}
	if wrong == nil {
		return api.Key{}
	}
	tooMany := counts[wrong.Of] > wrong.Bounds.Max
	var found *corev1.Pod
	o.nodes.EachPod(func(pod *corev1.Pod, owner messages.OwnerName) bool {
		fits := p.owns(pod, owner) && tooMany == (p.on(pod) && states(pod)[wrong.Of])
		if fits && (found == nil || cmp.Or(cmp.Compare(pod.Namespace, found.Namespace), cmp.Compare(pod.Name, found.Name)) < 0) {
			found = pod
		}
		return true
	})
	if found == nil {
		return api.Key{}
	}
	name := messages.NamePod(found.Namespace, found.Name)
	if cluster, _, of := strings.Cut(found.Spec.NodeName, "/"); of { // in a fleet whose clusters have nodes
		name = messages.PodName(cluster) + "/" + name
	}
	return PodKey(name)
}

// Object expects an object to have the fields of Want, a tree as JSON has it; other fields do not
// matter.
type Object struct {
	Key  api.Key
	Want map[string]any
}

func (*Object) subject() {}

// ObjectKey is the key of the object that Want describes.
func (o *Object) ObjectKey() api.Key { return o.Key }

// String returns "Cluster member2 matches {...}".
func (o *Object) String() string { return o.Key.String() + " matches " + compact(o.fields()) }

// fields are those of Want but apiVersion and kind, by which the object was found: one of a node tier does not say them.
func (o *Object) fields() map[string]any {
	want := make(map[string]any, len(o.Want))
	for field, value := range o.Want { // order-free: a field each
		if field != "apiVersion" && field != "kind" {
			want[field] = value
		}
	}
	return want
}

func (o *Object) judge(all *objects) (holds bool, seen string) {
	got := all.get(o.Key)
	if got == nil {
		return false, "there is no " + o.Key.String()
	}
	fields, err := tree(got)
	if err != nil {
		return false, "it has no JSON form: " + err.Error()
	}
	if said := mismatch("", o.fields(), fields); said != "" {
		return false, said
	}
	return true, "it does"
}
