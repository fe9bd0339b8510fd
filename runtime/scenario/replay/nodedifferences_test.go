package replay_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

const nodeDifferences = "../../../docs/nodes-differences.md"

const nodeDifferencesHead = `# Differences from Kubernetes

Each section is a fault of the timers and limits of Kubernetes that Leeward cures, and a file of scenarios. It shows the same incident in
Kubernetes (profile ` + "`kubernetes`" + `), in Kubernetes with nothing but the named setting changed, and in Leeward (profile ` + "`leeward`" + `, the
default). Lines at time zero are omitted. [nodes.md](nodes.md) says what is run, and [profiles.md](profiles.md) explains the settings.

This file is written by ` + "`go test ./runtime/scenario/replay -run Differences -update`" + `.

| setting | kubernetes | leeward | shown by |
| --- | --- | --- | --- |
`

// The page of differences from Kubernetes is told by the scenarios themselves, too, and has every setting in which the profiles differ.
func TestTheNodeDifferencesPageIsCurrent(t *testing.T) {
	cures := curesOfNodes(t)
	page := bytes.NewBufferString(nodeDifferencesHead)
	kubernetes, leeward := profile(t, "kubernetes"), profile(t, "leeward")
	for _, field := range ofNodeTier() {
		was, is := config.String(&kubernetes, field), config.String(&leeward, field)
		if was == is {
			continue
		}
		i := slices.IndexFunc(cures, func(c cure) bool { return slices.Contains(c.fields, field) })
		require.GreaterOrEqual(t, i, 0, "no file of scenarios shows what %s: %s changes in profile kubernetes", field, is)
		fmt.Fprintf(page, "| `%s` | %s | %s | [%s](#%s) |\n", field, was, is, sentence(cures[i].name), cures[i].name)
	}
	for _, c := range cures {
		fmt.Fprintf(page, "\n## %s\n", sentence(c.name))
		for _, s := range c.scenarios {
			fmt.Fprintf(page, "\n**%s**: %s\n\n```text\n%s```\n", settingsOf(s), s.Description, told(t, s))
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(nodeDifferences, page.Bytes(), 0o644))
	}
	recorded, err := os.ReadFile(nodeDifferences)
	require.NoError(t, err)
	require.Empty(t, string(diff.Diff("recorded", recorded, "now", page.Bytes())), "run: go test ./runtime/scenario/replay -run Differences -update")
}

func profile(t *testing.T, name string) messages.Settings {
	t.Helper()
	settings, err := config.Profile(name)
	require.NoError(t, err)
	return settings
}

// ofNodeTier are the settings that concern nodes and pods.
func ofNodeTier() (names []string) {
	comments := config.Comments()
	for i, f := range config.Fields() {
		if strings.HasPrefix(comments[i], "Of the node tier.") {
			names = append(names, f.Name)
		}
	}
	return names
}

// cure is a file with the same incident in Kubernetes, and in Kubernetes with some settings of Leeward.
type cure struct {
	name      string
	fields    []string
	scenarios []*scenario.Scenario
}

// curesOfNodes are the files that show what one setting cures: what is expected of Kubernetes must not hold with it.
func curesOfNodes(t *testing.T) (cures []cure) {
	t.Helper()
	files := map[string][]*scenario.Scenario{}
	for _, s := range all(t) {
		if filepath.Base(filepath.Dir(s.File)) == "nodes" {
			files[s.File] = append(files[s.File], s)
		}
	}
	for file, scenarios := range files {
		plain := slices.IndexFunc(scenarios, func(s *scenario.Scenario) bool { return s.Profile == "kubernetes" })
		cured := slices.IndexFunc(scenarios, func(s *scenario.Scenario) bool { return strings.HasSuffix(s.Name, "-by-one-setting") })
		if cured < 0 {
			continue
		}
		require.GreaterOrEqual(t, plain, 0, file)
		c := cure{name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), scenarios: scenarios}
		for _, o := range scenarios[cured].Config {
			if !slices.ContainsFunc(scenarios[plain].Config, func(b config.Override) bool { return b.Field == o.Field }) {
				c.fields = append(c.fields, o.Field)
			}
		}
		require.NotEmpty(t, c.fields, scenarios[cured].Name)
		other := *scenarios[plain]
		other.Config = scenarios[cured].Config
		require.False(t, play(t, &other, replay.Options{}).Passed, "%s: what is expected of Kubernetes holds with the setting, too", file)
		cures = append(cures, c)
	}
	slices.SortFunc(cures, func(a, b cure) int { return strings.Compare(a.name, b.name) })
	return cures
}
