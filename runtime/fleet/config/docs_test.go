package config_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/config"
)

var update = flag.Bool("update", false, "rewrite docs/profiles.md")

const docs = "../../../docs/profiles.md"

// docs/profiles.md is written from the table of fields.
func TestTheDocumentationIsCurrent(t *testing.T) {
	want := documentation(t)
	if *update {
		require.NoError(t, os.WriteFile(docs, []byte(want), 0o644))
	}
	got, err := os.ReadFile(docs)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "run: go test ./runtime/fleet/config -update")
}

const introduction = `# Profiles and settings

A profile is a named set of settings, nothing more. A scenario names one with ` + "`spec.profile`" + ` and sets
single fields in ` + "`spec.config`" + `; on the command line ` + "`--set field=value`" + ` overrides a field, and
the timeline action ` + "`config`" + ` changes one during the run. The daemon has both in [its configuration](operations.md#configure).

- **karmada-legacy**: Karmada up to 1.13. A cluster that stays not Ready gets a NoExecute taint by itself,
  every policy tolerates that for five minutes, and evictions have no rate.
- **karmada**: Karmada since 1.16 with the defaults of its flags, faults included.
- **leeward**, the default: Karmada's API with failover on, exact timers, and an old copy that is
  removed only when the new one is healthy.

A field has the name of Karmada's flag in camelCase, if there is one. Durations are written as ` + "`90s`, `10m`" + `
or ` + "`1d`" + `. Feature gates are fields too, and the field ` + "`featureGates`" + ` takes them as Karmada's flag does
(` + "`\"Failover=true,GracefulEviction=true\"`" + `) or as a map (` + "`{Failover: true}`" + `).

The last column has the numbers of [Karmada's known faults](faults.md) that a field cures. Karmada evicts only if the gate and the
flag are both set, which its users miss (K40). So ` + "`enableNoExecuteTaintEviction: true`" + ` also turns the gate ` + "`failover`" + `
on. A gate that is set explicitly, as in ` + "`failover: false`" + `, keeps its value.

This file is written by ` + "`go test ./runtime/fleet/config -update`" + `.
`

func documentation(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(introduction)
	b.WriteString("\n## Where the profiles differ\n\n")
	writeDifferences(t, &b)
	b.WriteString("\n## Every field\n\n")
	writeFields(t, &b)
	return b.String()
}

func writeDifferences(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("| field | " + strings.Join(config.Profiles(), " | ") + " | cures |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range config.Fields() {
		if values := valuesOf(t, f); len(slices.Compact(slices.Clone(values))) > 1 {
			fmt.Fprintf(b, "| %s | %s | %s |\n", f.Name, strings.Join(values, " | "), strings.Join(f.Cures, ", "))
		}
	}
}

func writeFields(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("| field | values | default | meaning | zero, false or empty | Karmada's flag | cures |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	byDefault := slices.Index(config.Profiles(), config.Default)
	comments := config.Comments()
	for i, f := range config.Fields() {
		meaning, zero, _ := strings.Cut(comments[i], " Zero: ")
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", f.Name, f.Type(), valuesOf(t, f)[byDefault],
			meaning, zero, code(f.Flag), strings.Join(f.Cures, ", "))
	}
}

func valuesOf(t *testing.T, f config.Field) (values []string) {
	t.Helper()
	for _, profile := range config.Profiles() {
		s := resolved(t, profile, []config.Override(nil))
		values = append(values, shown(f, &s))
	}
	return values
}

func shown(f config.Field, s *messages.Settings) string {
	if v := f.Of(s); v != "" {
		return v
	}
	return `""`
}

// code sets a flag in code, and leaves a remark in brackets outside.
func code(flag string) string {
	if flag == "" {
		return ""
	}
	name, remark, _ := strings.Cut(flag, " ")
	return strings.TrimSpace("`" + name + "` " + remark)
}

func TestEveryFaultIsExplainedOnce(t *testing.T) {
	text, err := os.ReadFile("../../../docs/faults.md")
	require.NoError(t, err)
	explained := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (K\d+) \|`).FindAllStringSubmatch(string(text), -1) {
		require.False(t, explained[row[1]], row[1])
		explained[row[1]] = true
	}
	for _, f := range config.Fields() {
		for _, id := range f.Cures {
			require.True(t, explained[id], "%s of %s", id, f.Name)
		}
	}
}
