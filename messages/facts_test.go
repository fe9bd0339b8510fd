package messages_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

// TestFactsHasEveryFact of this package, once.
func TestFactsHasEveryFact(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var declared, listed []string
	for _, name := range files {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, kind := range regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)\) Kind\(\) string`).FindAllSubmatch(source, -1) {
			declared = append(declared, string(kind[1]))
		}
	}
	for _, f := range messages.Facts() {
		listed = append(listed, f.Kind())
	}
	slices.Sort(declared)
	slices.Sort(listed)
	require.NotEmpty(t, declared)
	require.Equal(t, declared, listed)
}
