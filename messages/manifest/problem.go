package manifest

import (
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"leeward/messages/lists"
)

// Problem is one thing that is wrong with a manifest, and where it is written.
type Problem struct {
	File string
	// Line and Column count from 1; 0 is unknown.
	Line, Column int
	// Object is "Deployment default/nginx"; empty where the document does not say.
	Object string
	// Field is a path as in "spec.template.spec.containers[0].resources"; empty for the object itself.
	Field string
	// Value is the value as written, text in quotes; empty where the message says enough.
	Value   string
	Message string
}

// Error returns "fleet.yaml:12: Deployment default/nginx: spec.replicas: "many": want an integer".
func (p *Problem) Error() string {
	at := p.File
	if p.Line > 0 {
		at += ":" + itoa(p.Line)
	}
	var parts []string
	for _, part := range []string{at, p.Object, p.Field, p.Value, p.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Problems are all that was found, in file order.
type Problems []*Problem

// Error returns one line for each problem.
func (ps Problems) Error() string {
	return strings.Join(lists.Of(ps, func(p *Problem) string { return p.Error() }), "\n")
}

// Place is where a value is written: its file, the object it belongs to and the path of its field.
type Place struct{ File, Object, Field string }

// joinField joins two paths: "items[3]" and "spec", "labels" and "[app]".
func joinField(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

func itoa(i int) string { return strconv.Itoa(i) }

// locate returns the node that a path leads to: a scalar itself, for a mapping or a list its key. It
// stops at the last node that exists.
func locate(root *yaml.Node, path string) *yaml.Node {
	var w walk
	at, here := root, root
	for _, name := range steps(path) {
		key, value := w.child(follow(here), name)
		if value == nil {
			return at
		}
		at, here = key, value
		if value.Kind == yaml.ScalarNode {
			at = value
		}
	}
	return at
}

// child returns the entry or item of a node by name, with the node that holds it in the file.
func (w *walk) child(n *yaml.Node, name string) (at, value *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for k, v := range pairs(w.entries(n)) {
			if follow(k).Value == name {
				return k, v
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
	}
	return nil, nil
}

// steps splits a path: "a.b[0].c[x.y/z]" is a, b, 0, c and x.y/z.
func steps(path string) []string {
	var names []string
	for path != "" {
		if rest, ok := strings.CutPrefix(path, "["); ok {
			name, after, _ := strings.Cut(rest, "]")
			names = append(names, name)
			path = strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(names, path)
		}
		names = append(names, path[:end])
		path = strings.TrimPrefix(path[end:], ".")
	}
	return names
}
