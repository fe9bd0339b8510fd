package simulation

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	yaml "go.yaml.in/yaml/v3"
)

// What a case is decoded from is what a parser makes of the file that people get of it.
func TestACaseIsDecodedAsItIsWritten(t *testing.T) {
	for seed := range uint64(300) {
		c := Draw(seed)
		written := yaml.NewDecoder(bytes.NewReader(c.YAML("drawn")))
		for _, document := range c.documents("drawn") {
			var parsed yaml.Node
			require.NoError(t, written.Decode(&parsed))
			require.Equal(t, bare(parsed.Content[0]), bare(node(document)), "seed %d", seed)
		}
	}
}

// bare is a node without its place and how it is written.
func bare(n *yaml.Node) any {
	if n.Kind == yaml.ScalarNode {
		return n.Tag + " " + n.Value
	}
	all := []any{n.Tag}
	for _, inside := range n.Content {
		all = append(all, bare(inside))
	}
	if n.Kind == yaml.SequenceNode {
		return all
	}
	entries := map[any]any{}
	for i := 1; i < len(all); i += 2 {
		entries[all[i]] = all[i+1]
	}
	return entries
}
