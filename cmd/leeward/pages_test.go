package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updatePages = flag.Bool("update-pages", false, "write the outputs that pages begin with")

// showsItsOutputs holds a page to the outputs that it shows: blocks that begin with a command, and have all that it prints.
func showsItsOutputs(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	whole, shown := "", 0
	for rest := string(text); rest != ""; {
		before, after, found := strings.Cut(rest, "\n    $ leeward ")
		whole += before
		if !found {
			break
		}
		command, after, _ := strings.Cut(after, "\n")
		for strings.HasPrefix(after, "    ") || strings.HasPrefix(after, "\n    ") && !strings.HasPrefix(after, "\n    $ ") {
			_, after, _ = strings.Cut(after, "\n")
		}
		var out, log bytes.Buffer
		require.LessOrEqual(t, execute(strings.Fields(command), &out, &log), exitFailed, log.String())
		whole += "\n    $ leeward " + command + "\n" + indented(out.String())
		rest, shown = after, shown+1
	}
	require.Positive(t, shown, page)
	if *updatePages && whole != string(text) {
		require.NoError(t, os.WriteFile(page, []byte(whole), 0o600))
		return
	}
	require.Equal(t, string(text), whole, "%s shows another output: go test ./cmd/leeward -run Page -update-pages", page)
}

// indented is an output as a page shows it.
func indented(output string) string {
	var block strings.Builder
	for line := range strings.Lines(output) {
		if line != "\n" {
			line = "    " + line
		}
		block.WriteString(line)
	}
	return block.String()
}

func TestEachPageOfACommandShowsItsRealOutput(t *testing.T) {
	t.Chdir("../..")
	for _, page := range []string{"assess", "what-if", "explain", "lint", "diff", "sweep", "from-a-dump"} {
		showsItsOutputs(t, "docs/"+page+".md")
	}
}

func TestThePageOnShrinkingBeginsWithItsRealOutput(t *testing.T) {
	t.Chdir("../..")
	t.Cleanup(func() { _, _ = os.Remove("small.yaml"), os.Remove("small.jsonl") })
	showsItsOutputs(t, "docs/shrink.md")
	small, err := os.ReadFile("small.yaml")
	require.NoError(t, err)
	page, err := os.ReadFile("docs/shrink.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "```yaml\n"+string(small)+"```\n")
	var out, log bytes.Buffer
	require.Equal(t, exitFailed, execute([]string{"replay", "small.yaml"}, &out, &log), log.String())
}

func TestThePageOnInitBeginsWithItsRealOutput(t *testing.T) {
	t.Chdir("../..")
	t.Cleanup(func() { _ = os.Remove("first.yaml") })
	showsItsOutputs(t, "docs/init.md")
	written, err := os.ReadFile("first.yaml")
	require.NoError(t, err)
	page, err := os.ReadFile("docs/init.md")
	require.NoError(t, err)
	_, shown, _ := strings.Cut(string(page), "```yaml\n")
	shown, _, _ = strings.Cut(shown, "```")
	require.NotEmpty(t, shown)
	require.True(t, strings.HasPrefix(string(written), shown), "docs/init.md shows another file")
	var out, log bytes.Buffer
	require.Equal(t, exitHeld, execute([]string{"replay", "first.yaml"}, &out, &log), log.String())
	require.Contains(t, out.String(), "all held")
	require.Equal(t, exitHeld, execute([]string{"validate", "first.yaml"}, &out, &log), log.String())
}
