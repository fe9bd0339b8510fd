package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario/lint"
)

// faults is the folder with one file for each rule, from the folder of the repository.
const faults = "runtime/scenario/lint/testdata/faults"

// lintedAs runs the command in the folder of the repository.
func lintedAs(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	require.Equal(t, code, execute(append([]string{"lint"}, args...), &out, &log), log.String())
	return out.String(), log.String()
}

func TestThePageOnLintHasEveryRule(t *testing.T) {
	page, err := os.ReadFile("../../docs/lint.md")
	require.NoError(t, err)
	var table strings.Builder
	for _, r := range lint.Rules() {
		needs, fixes := r.Needs, ""
		if needs == "" {
			needs = "-"
		}
		if r.Fixes {
			fixes = " `--fix` mends it."
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s.%s | %s |\n", r.ID, r.Name, r.Severity, strings.ToUpper(r.Finds[:1])+r.Finds[1:], fixes, needs)
	}
	require.Contains(t, string(page), "| --- |\n"+table.String()+"\n", "docs/lint.md has another table:\n"+table.String())
}

func TestSeverityDecidesTheExitCodeOfLint(t *testing.T) {
	t.Chdir("../..")
	for file, code := range map[string]int{
		faults + "/LW001.yaml": 1, faults + "/LW011.yaml": 1, // a warning, an error
		faults + "/LW005.yaml": 0, "docs/examples/taint-policy.yaml": 0, // an info, nothing
		"no-such-file.yaml": 2, "go.mod": 2,
	} {
		lintedAs(t, code, "-f", file)
	}
	_, log := lintedAs(t, 2)
	require.Contains(t, log, "name files with -f")
	lintedAs(t, 2, "-f", faults, "--profile", "none")
	lintedAs(t, 2, "-f", faults, "-o", "xml")
	lintedAs(t, 3, "-f", faults+"/LW001.yaml", "--witness", "go.mod/x")
}

func TestLintListsItsRulesAndCompletesItsWords(t *testing.T) {
	out, _ := lintedAs(t, 0, "--rules")
	require.Equal(t, len(lint.Rules()), strings.Count(out, "\n"))
	out, _ = lintedAs(t, 0, "--rules", "-o", "json")
	require.Equal(t, len(lint.Rules()), strings.Count(out, `"id": "LW`))
	lintedAs(t, 2, "--rules", "-o", "sarif")
	var offered bytes.Buffer
	require.Zero(t, execute([]string{"__complete", "lint", "-o", ""}, &offered, io.Discard))
	require.Equal(t, []string{"text", "json", "yaml", "sarif", "github", ":4"}, strings.Fields(offered.String()))
}

func TestLintWritesNothingButWitnesses(t *testing.T) {
	t.Chdir("../..")
	dir := t.TempDir()
	before := read(t, faults+"/LW011.yaml")
	out, _ := lintedAs(t, 1, "-f", faults+"/LW011.yaml", "--witness", dir)
	require.Contains(t, out, "+++ "+faults+"/LW011.yaml")
	require.Equal(t, before, read(t, faults+"/LW011.yaml"), "without --fix, it only says what it would change")
	files, err := filepath.Glob(dir + "/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 2)
	var replayed bytes.Buffer
	require.Zero(t, execute([]string{"replay", dir}, &replayed, io.Discard), replayed.String())
	for _, form := range []string{"json", "sarif"} {
		out, log := lintedAs(t, 1, "-f", faults+"/LW011.yaml", "-o", form)
		require.Empty(t, log)
		require.True(t, json.Valid([]byte(out)), form)
	}
}

func TestFixRewritesTheFileAndPrintsTheDifference(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(file, []byte(read(t, "../../"+faults+"/LW011.yaml")), 0o600))
	out, _ := lintedAs(t, 1, "-f", file, "--fix", "-o", "text")
	require.Contains(t, out, "-      tolerationSeconds: 60 # a comment that goes with its line\n")
	require.NotContains(t, read(t, file), "effect: NoSchedule, tolerationSeconds")
	require.Contains(t, read(t, file), "effect: NoSchedule # it stays\n")
	out, _ = lintedAs(t, 0, "-f", file, "--fix")
	require.NotContains(t, out, "+++")
}

func TestLintReadsADirectoryWithAConfigurationOfTheDaemon(t *testing.T) {
	t.Chdir("../..")
	out, _ := lintedAs(t, 1, "docs/examples") // of which dump.yaml has faults, for docs/from-a-dump.md
	require.Contains(t, out, "no errors, 2 warnings")
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}
