package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var updateGoldens = flag.Bool("update", false, "rewrite the golden outputs below testdata, but not those that pages show")

// isGolden holds an output to a file of testdata, for a test that runs in the folder of the repository.
func isGolden(t *testing.T, name, output string) {
	t.Helper()
	file := filepath.Join("cmd", "leeward", "testdata", name)
	if *updateGoldens {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(output), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), output, "%s: go test ./cmd/leeward -run '%s' -update", name, t.Name())
}
