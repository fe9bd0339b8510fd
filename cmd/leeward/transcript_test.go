package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario"
)

func TestTranscriptsLieBesideTheirScenarios(t *testing.T) {
	beside := transcriptsBeside([]*scenario.Scenario{
		{Name: "calm", File: "dir.d/first.yaml"}, {Name: "a", File: "two.yml"}, {Name: "b", File: "two.yml"},
	})
	require.Len(t, beside, 2)
	require.Equal(t, "dir.d/first.golden", beside["dir.d/first.yaml"].name)
	require.Equal(t, "two.golden", beside["two.yml"].name)
	require.Equal(t, []string{"a", "b"}, beside["two.yml"].scenarios)
}

func TestTranscriptsAreReadAsTheyWereWritten(t *testing.T) {
	for _, c := range []struct {
		name      string
		scenarios []string
		recorded  map[string]string
		text      string
	}{
		{"one story stands alone", []string{"calm"}, map[string]string{"calm": "calm  profile leeward\n"}, "calm  profile leeward\n"},
		{"several are sections in the order of the scenarios", []string{"b", "a"}, map[string]string{"a": "one\n", "b": "two\n"}, "-- b --\ntwo\n-- a --\none\n"},
		{"what was not run yet has no section", []string{"a", "b"}, map[string]string{"b": "two\n"}, "-- b --\ntwo\n"},
		{"a scenario that is gone leaves no section", []string{"a", "b"}, map[string]string{"a": "one\n", "old": "three\n"}, "-- a --\none\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "first.golden")
			written := &transcripts{name: file, scenarios: c.scenarios}
			require.NoError(t, written.read(), "a file that is not there holds no story")
			for name, transcript := range c.recorded {
				written.record(name, []byte(transcript))
			}
			require.NoError(t, written.write(io.Discard))
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, c.text, string(text))

			read := &transcripts{name: file, scenarios: c.scenarios}
			require.NoError(t, read.read())
			require.Equal(t, c.text, string(read.text()))
			require.NoError(t, os.Remove(file))
			require.NoError(t, read.write(io.Discard))
			require.NoFileExists(t, file, "what did not change is not written")
		})
	}
}
