package replay_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

var update = flag.Bool("update", false, "rewrite docs/differences.md")

const differences = "../../../docs/differences.md"

const differencesHead = `# Differences from Karmada

Each section is what Leeward does, and a file of scenarios. It shows the same incident in Karmada (profile
` + "`karmada`" + `), in Leeward (profile ` + "`leeward`" + `, the default), and in Karmada with nothing but the named
settings changed. Lines at time zero are omitted. [profiles.md](profiles.md) explains the settings.

This file is written by ` + "`go test ./runtime/scenario/replay -run Differences -update`" + `: a file of scenarios is a section
of it when scenarios of both profiles name, in their descriptions, a [known fault of Karmada](faults.md) (K1) or a row of
the project's table of features ([row 1](scenarios.md#what-descriptions-cite)). The contents list the settings and API fields
that they name beside it, and their values in the two profiles: as written counts where a manifest says so, in either profile,
and always is what a user sees in either.

In two cases profile ` + "`karmada`" + ` differs from Karmada on purpose:

- Aggregated, with more than 12 clusters to choose from: Karmada sorts them by capacity alone, with an algorithm that leaves clusters of
  equal capacity in no order that a user could name. Here such clusters come in the order in which they are chosen (those that run the
  workload, then by name), as in Karmada with 12 or fewer.
- A taint that an older ClusterTaintPolicy removes and a younger one adds in one step: Karmada gives it a new ` + "`timeAdded`" + ` each time
  a condition changes, so that tolerations start again. Here it keeps its time; its value is that of the younger policy, as in Karmada.

`

// The page of differences is told by the scenarios themselves, so that it cannot say what does not hold.
func TestTheDifferencesPageIsCurrent(t *testing.T) {
	page := pageOfDifferences(t)
	if *update {
		require.NoError(t, os.WriteFile(differences, page, 0o644))
	}
	recorded, err := os.ReadFile(differences)
	require.NoError(t, err)
	require.Empty(t, string(diff.Diff("recorded", recorded, "now", page)), "run: go test ./runtime/scenario/replay -run Differences -update")
}

func pageOfDifferences(t *testing.T) []byte {
	page := bytes.NewBufferString(differencesHead)
	sections := sectionsOfDifferences(t)
	writeContents(t, page, sections)
	theme := ""
	for _, s := range sections {
		if s.theme != theme {
			theme = s.theme
			fmt.Fprintf(page, "\n## %s\n", sentence(theme))
		}
		fmt.Fprintf(page, "\n### %s\n", s.sentence)
		for _, one := range s.scenarios {
			fmt.Fprintf(page, "\n**%s**: %s\n\n```text\n%s```\n", settingsOf(one), one.Description, told(t, one))
		}
	}
	return page.Bytes()
}

// section is a file that shows the same failover in Karmada and in Leeward.
type section struct {
	theme     string // its folder
	anchor    string // its name without the extension
	sentence  string
	scenarios []*scenario.Scenario // those that name a number, as written
}

// sectionsOfDifferences are in order of theme and name.
func sectionsOfDifferences(t *testing.T) (sections []section) {
	t.Helper()
	for _, s := range all(t) {
		if len(numbers(s)) == 0 {
			continue
		}
		theme, name := filepath.Base(filepath.Dir(s.File)), strings.TrimSuffix(filepath.Base(s.File), filepath.Ext(s.File))
		if n := len(sections); n == 0 || sections[n-1].theme != theme || sections[n-1].anchor != name {
			sections = append(sections, section{theme: theme, anchor: name, sentence: sentence(name)})
		}
		last := &sections[len(sections)-1]
		last.scenarios = append(last.scenarios, s)
	}
	sections = slices.DeleteFunc(sections, func(s section) bool { return !s.compares() })
	slices.SortStableFunc(sections, func(a, b section) int {
		return strings.Compare(a.theme+"/"+a.anchor, b.theme+"/"+b.anchor)
	})
	return sections
}

// compares reports whether Karmada and Leeward both have their say.
func (s section) compares() bool {
	said := map[bool]bool{}
	for _, one := range s.scenarios {
		said[isKarmada(one)] = true
	}
	return said[true] && said[false]
}

func isKarmada(s *scenario.Scenario) bool { return strings.HasPrefix(s.Profile, "karmada") }

// sentence reads a name as what it is.
func sentence(name string) string {
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "-", " ")
}

// switches let anything evict at all; they are not what a page is about.
var switches = []string{"failover", "enableNoExecuteTaintEviction", "allowNoExecuteTaintPolicy", "featureGates"}

// settingsOf names a scenario's profile, with the settings that it changes beside the switches.
func settingsOf(s *scenario.Scenario) string {
	profile := "leeward"
	if s.Profile != "" {
		profile = s.Profile
	}
	var set []string
	for _, o := range s.Config {
		if !slices.Contains(switches, o.Field) {
			set = append(set, fmt.Sprintf("%s: %v", o.Field, o.Value))
		}
	}
	if len(set) == 0 {
		return profile
	}
	return profile + " with " + strings.Join(set, ", ")
}

// told is the timeline of a run after its first instant.
func told(t *testing.T, s *scenario.Scenario) string {
	run := play(t, s, replay.Options{})
	later := slices.IndexFunc(run.Events, func(e journal.Entry) bool { return e.At.After(world.Start) })
	if later < 0 {
		later = 0
	}
	var one bytes.Buffer
	require.NoError(t, journal.WriteText(&one, world.Start, run.Events[later:], journal.Style{}))
	return one.String()
}
