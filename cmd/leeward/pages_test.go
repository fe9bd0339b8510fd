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

// beginsWithItsOutput holds a page to what its first block shows: a command, and all that it prints. It returns what the command
// printed.
func beginsWithItsOutput(t *testing.T, page string, code int) (stdout string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	title, rest, _ := strings.Cut(string(text), "\n\n")
	_, body, found := strings.Cut(rest, "\n\n")
	require.True(t, found, page)
	for strings.HasPrefix(body, "    ") { // the block has empty lines
		_, body, _ = strings.Cut(body, "\n\n")
	}
	command, _, _ := strings.Cut(rest, "\n")
	words := strings.Fields(command)
	require.Equal(t, []string{"$", "leeward"}, words[:2], page)
	var out, log bytes.Buffer
	require.Equal(t, code, execute(words[2:], &out, &log), log.String())
	var block strings.Builder
	for line := range strings.Lines(strings.TrimSpace(command) + "\n" + out.String()) {
		if line != "\n" {
			line = "    " + line
		}
		block.WriteString(line)
	}
	whole := title + "\n\n" + block.String() + "\n" + body
	if *updatePages && whole != string(text) {
		require.NoError(t, os.WriteFile(page, []byte(whole), 0o600))
	}
	require.Equal(t, string(text), whole, "%s shows another output: go test ./cmd/leeward -run Page -update-pages", page)
	return out.String()
}

func TestThePageOnSweepsBeginsWithItsRealOutput(t *testing.T) {
	t.Chdir("../..")
	beginsWithItsOutput(t, "docs/sweep.md", exitFailed)
}

func TestThePageOnShrinkingBeginsWithItsRealOutput(t *testing.T) {
	t.Chdir("../..")
	t.Cleanup(func() { _ = os.Remove("small.yaml") })
	beginsWithItsOutput(t, "docs/shrink.md", exitFailed)
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
	beginsWithItsOutput(t, "docs/init.md", exitHeld)
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
