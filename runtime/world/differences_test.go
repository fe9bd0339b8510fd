package world_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/journal"
	"leeward/runtime/scenario"
	"leeward/runtime/world"
)

var update = flag.Bool("update", false, "rewrite docs/differences.md")

const differences = "../../docs/differences.md"

const differencesHead = `# Differences from Karmada

Each heading is what Leeward does, and a file of scenarios/profiles. Below it the same outage stands as it goes in Karmada
(profile ` + "`karmada`" + `), in Leeward (profile ` + "`leeward`" + `, the default), and in Karmada with nothing but the
named settings changed. Lines at time zero are left out. [profiles.md](profiles.md) explains the settings.

This file is written by ` + "`go test ./runtime/world -run Differences -update`" + `.
`

// The page of differences is told by the scenarios themselves, so that it cannot say what does not hold.
func TestTheDifferencesPageIsCurrent(t *testing.T) {
	page := pageOfDifferences(t)
	if *update {
		require.NoError(t, os.WriteFile(differences, page, 0o644))
	}
	recorded, err := os.ReadFile(differences)
	require.NoError(t, err)
	require.Equal(t, string(recorded), string(page), "run: go test ./runtime/world -run Differences -update")
}

func pageOfDifferences(t *testing.T) []byte {
	scenarios, problems := scenario.Load("../../scenarios/profiles")
	require.Empty(t, problems)
	page := bytes.NewBufferString(differencesHead)
	file := ""
	for _, s := range scenarios {
		if s.File != file {
			file = s.File
			fmt.Fprintf(page, "\n## %s\n", sentence(file))
		}
		fmt.Fprintf(page, "\n**%s**: %s\n\n```text\n%s```\n", settingsOf(s), s.Description, told(t, s))
	}
	return page.Bytes()
}

// sentence reads a file's name as what it is.
func sentence(file string) string {
	words := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// settingsOf names a scenario's profile, with the settings that it changes beside the switches that
// let anything evict at all.
func settingsOf(s *scenario.Scenario) string {
	profile := "leeward"
	if s.Profile != "" {
		profile = s.Profile
	}
	var set []string
	for _, o := range s.Config {
		if !slices.Contains([]string{"enableNoExecuteTaintEviction", "allowNoExecuteTaintPolicy", "featureGates"}, o.Field) {
			set = append(set, fmt.Sprintf("%s: %v", o.Field, o.Value))
		}
	}
	if len(set) == 0 {
		return profile
	}
	return profile + " with " + strings.Join(set, ", ")
}

// told is the story of a run after its first instant.
func told(t *testing.T, s *scenario.Scenario) string {
	run := replay(t, s, world.Options{})
	later := slices.IndexFunc(run.Events, func(e journal.Entry) bool { return e.At.After(world.Start) })
	if later < 0 {
		later = 0
	}
	var story bytes.Buffer
	require.NoError(t, journal.WriteText(&story, world.Start, run.Events[later:], journal.Style{}))
	return story.String()
}
