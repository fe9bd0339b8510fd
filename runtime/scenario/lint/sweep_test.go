package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

const root = "../../.."

// swept is what lint finds in the files of the repository.
func swept(t *testing.T) *Report {
	t.Helper()
	var files []string
	for _, folder := range []string{"scenarios", "docs/examples"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, d os.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".yaml" && d.Name() != "leewardd.yaml" {
				files = append(files, path)
			}
			return err
		}))
	}
	fleets, _, problems := Read(scenario.Disk, files)
	require.Empty(t, problems)
	r, err := Run(fleets, Options{})
	require.NoError(t, err)
	require.Zero(t, r.Omitted)
	return r
}

// holds replays a witness: its expectations hold, so the fault shows.
func holds(t *testing.T, f *Finding) {
	t.Helper()
	name, text, err := f.Witness()
	require.NoError(t, err)
	scenarios, problems := scenario.Disk.Decode(name+".yaml", []byte(text))
	require.Empty(t, problems, text)
	require.Len(t, scenarios, 1, text)
	require.NotEmpty(t, scenarios[0].Expect, text)
	run, err := replay.Play(scenarios[0], replay.Options{Seed: 1})
	require.NoError(t, err, text)
	require.NoError(t, run.Err, text)
	for _, e := range run.Expectations {
		require.True(t, e.Passed, "%s: %s %s: %s\n%s\n%s", f.File, f.Rule, f.Name, e.Text, e.Reason, text)
	}
}

// The findings about the repository's own files are true: testdata/sweep.txt lists them by rule, and each has a witness that shows it.
func TestTheRepositorysOwnFilesHaveNoFindingsButThoseThatAreTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	r := swept(t)
	of := map[string][]string{}
	for _, f := range r.Findings {
		holds(t, f)
		path, err := filepath.Rel(root, f.File)
		require.NoError(t, err)
		id := f.Rule + " " + f.Name
		of[id] = append(of[id], fmt.Sprintf("  %s: %s", filepath.ToSlash(path), f.Object))
	}
	var out strings.Builder
	for _, id := range sortedNames(of) {
		fmt.Fprintf(&out, "%s\n%s\n", id, strings.Join(of[id], "\n"))
	}
	golden(t, "sweep.txt", out.String())
}

// golden compares with a file of testdata; UPDATE=1 writes it.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}
