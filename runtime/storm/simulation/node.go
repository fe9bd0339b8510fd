package simulation

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	yaml "go.yaml.in/yaml/v3"
)

// node is what a parser makes of a value that was written as YAML, but for its place. Keys are in order.
func node(v any) *yaml.Node {
	n := new(yaml.Node)
	put(n, v)
	return n
}

// put makes a node that of a value.
func put(n *yaml.Node, v any) {
	switch v := v.(type) {
	case mapping:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		keys := slices.Sorted(maps.Keys(v))
		within(n, 2*len(keys))
		for i, key := range keys {
			put(n.Content[2*i], key)
			put(n.Content[2*i+1], v[key])
		}
	case []any:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		within(n, len(v))
		for i := range v {
			put(n.Content[i], v[i])
		}
	default:
		n.Kind = yaml.ScalarNode
		scalar(n, v)
	}
}

// within gives a node others inside.
func within(n *yaml.Node, count int) {
	inside := make([]yaml.Node, count)
	n.Content = make([]*yaml.Node, count)
	for i := range inside {
		n.Content[i] = &inside[i]
	}
}

// scalar fills in the node of a text, which is quoted, so that it is one whatever it says, of a number, or of a truth value.
func scalar(n *yaml.Node, v any) {
	switch v := v.(type) {
	case string:
		n.Tag, n.Value, n.Style = "!!str", v, yaml.DoubleQuotedStyle
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	case int:
		n.Tag, n.Value = "!!int", strconv.Itoa(v)
	case uint64:
		n.Tag, n.Value = "!!int", strconv.FormatUint(v, 10)
	case float64:
		n.Tag, n.Value = "!!float", strconv.FormatFloat(v, 'g', -1, 64)
		if v == math.Trunc(v) {
			n.Tag = "!!int" // as 10 is not written with a point
		}
	default:
		panic(fmt.Sprintf("simulation: nothing that is drawn is a %T", v))
	}
}
