package manifest

import (
	yaml "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// generic reads a node that is no alias as Unstructured objects hold it: map[string]any, []any,
// string, bool, int64, float64 or nil.
func (w *walk) generic(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		return w.genericMap(n)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			w.push(step{index: i, kind: stepItem})
			list[i] = w.genericValue(item)
			w.pop()
		}
		return list
	}
	value, err := scalar(n)
	if err != nil {
		w.wrong(n, "a number that JSON can hold")
		return nil
	}
	if u, ok := value.(uint64); ok {
		return float64(u)
	}
	return value
}

func (w *walk) genericValue(n *yaml.Node) (value any) {
	if target, ok := w.enter(n); ok {
		value = w.generic(target)
	}
	w.leave(n)
	return value
}

func (w *walk) genericMap(n *yaml.Node) map[string]any {
	entries := w.entries(n)
	made := make(map[string]any, len(entries)/2)
	for k, item := range pairs(entries) {
		name, ok := w.key(k)
		if !ok {
			continue
		}
		w.push(step{name: name, kind: keyKind(name)})
		if _, twice := made[name]; twice {
			w.duplicate(k, entries)
		}
		made[name] = w.genericValue(item)
		w.pop()
	}
	return made
}

// keyKind writes keys that would not read as a field, such as app.kubernetes.io/name, in brackets.
func keyKind(name string) stepKind {
	for _, c := range name {
		if c == '.' || c == '/' || c == '[' {
			return stepKey
		}
	}
	return stepField
}

// shared makes a place for each field that objects of every kind have.
var shared = map[string]func() any{
	"apiVersion": func() any { return new(string) },
	"kind":       func() any { return new(string) },
	"metadata":   func() any { return new(metav1.ObjectMeta) },
}

// unstructured reads an object of any kind. What all objects share must still be of the right type.
func (w *walk) unstructured(root *yaml.Node) map[string]any {
	for k, v := range pairs(new(walk).entries(root)) {
		if place := shared[k.Value]; place != nil && !isNull(follow(v)) {
			w.push(step{name: k.Value})
			w.into(v, place())
			w.pop()
		}
	}
	w.again = true
	defer func() { w.again = false }()
	return w.genericMap(root)
}
