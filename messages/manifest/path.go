package manifest

import (
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

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
