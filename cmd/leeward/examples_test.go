package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/cmd/internal/examples"
)

func TestEveryExampleOfTheHelpParsesAndNamesFilesThatExist(t *testing.T) {
	examples.Check(t, rootCommand, "../..")
}

// The examples of the commands that predict, explain and compare run, but for those that need a server or the history of a repository.
func TestTheExamplesOfPredictionsRun(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"docs/examples", "scenarios"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, folder), os.DirFS("../../"+folder)))
	}
	t.Chdir(dir)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	ran := 0
	for _, c := range rootCommand().Commands() {
		if !slices.Contains([]string{"assess", "what-if", "explain", "lint", "diff", "init", "replay"}, c.Name()) {
			continue
		}
		for line := range strings.Lines(c.Example) {
			line, comment, _ := strings.Cut(line, " #")
			if strings.Contains(comment, "kubeconfig") || strings.Contains(line, "kubectl") || strings.Contains(line, "--context") || strings.Contains(line, " main") ||
				c.Name() == "replay" && !strings.Contains(line, "--sweep") && !strings.Contains(line, "--shrink") {
				continue
			}
			for part := range strings.SplitSeq(line, "&&") {
				words := strings.Fields(strings.Split(part, ">")[0])
				var out, log bytes.Buffer
				require.LessOrEqual(t, execute(words[1:], &out, &log), exitFailed, "%s: %s", line, log.String())
				ran++
			}
		}
	}
	require.Greater(t, ran, 35)
}
