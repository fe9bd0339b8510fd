package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLint: whatever the bytes are, lint ends in findings or problems, each finding can be written in every form, and what it
// mends decodes as before.
func FuzzLint(f *testing.F) {
	faults, err := filepath.Glob(filepath.Join("testdata", "faults", "*.yaml"))
	require.NoError(f, err)
	for _, file := range faults {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text, "")
	}
	f.Add([]byte(sound+cluster3), "karmada")
	f.Fuzz(func(t *testing.T, data []byte, profile string) {
		source, files := memory([]string{string(data)})
		fleets, _, problems := Read(source, files)
		if len(problems) > 0 {
			return
		}
		r, err := Run(fleets, Options{Profile: profile})
		if err != nil {
			return
		}
		for _, finding := range r.Findings {
			require.NotEmpty(t, finding.Why)
			_, _, err := finding.Witness()
			require.NoError(t, err)
		}
		var out bytes.Buffer
		require.NoError(t, WriteText(&out, r))
		require.NoError(t, WriteSARIF(&out, r))
		require.NoError(t, WriteGitHub(&out, r))
		mended, changes := Mend(data, r.Findings)
		if len(changes) == 0 {
			require.Equal(t, data, mended)
			return
		}
		source, files = memory([]string{string(mended)})
		_, _, problems = Read(source, files)
		require.Empty(t, problems, "%s", mended)
	})
}
