// Package examples holds what the help of a command shows to the command itself.
package examples

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// Check parses every line of the examples of a program and of all its commands: each command line must be one that the
// program takes, and each file that it reads must be in the repository, or be written by a line before. Commands
// keep flags that were given, so that every line gets a new program.
func Check(t *testing.T, program func() *cobra.Command, repository string) {
	t.Helper()
	for _, c := range all(program()) {
		t.Run(strings.ReplaceAll(c.CommandPath(), " ", "-"), func(t *testing.T) {
			written := map[string]bool{}
			for line := range strings.Lines(c.Example) {
				for _, words := range commandLines(strings.TrimSpace(line)) {
					words = redirected(words, written)
					if words[0] == c.Root().Name() {
						check(t, program(), words[1:], repository, written)
					}
				}
			}
		})
	}
}

// all are a command and those below it.
func all(c *cobra.Command) []*cobra.Command {
	commands := []*cobra.Command{c}
	for _, below := range c.Commands() {
		commands = append(commands, all(below)...)
	}
	return commands
}

// check holds one command line to the program, and notes what it writes.
func check(t *testing.T, program *cobra.Command, words []string, repository string, written map[string]bool) {
	t.Helper()
	line := strings.Join(words, " ")
	program.SetErr(io.Discard)
	c, args, err := program.Find(words)
	require.NoError(t, err, line)
	require.NoError(t, c.ParseFlags(args), line)
	require.NoError(t, c.ValidateRequiredFlags(), line)
	require.NoError(t, c.ValidateFlagGroups(), line)
	require.NoError(t, c.ValidateArgs(c.Flags().Args()), line)
	for _, file := range read(c, written) {
		if !written[file] && !isData(file) {
			_, err := os.Stat(filepath.Join(repository, file))
			require.NoError(t, err, line)
		}
	}
}

// read are the files that a command line reads: its arguments, where they are files, and those that flags name.
func read(c *cobra.Command, written map[string]bool) (files []string) {
	if strings.Contains(c.Use, "FILE") || strings.Contains(c.Use, "DIR") {
		files = c.Flags().Args()
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, several := f.Value.(pflag.SliceValue); several {
			values = list.GetSlice()
		}
		if f.Name == "with" { // which may name two sides, as a.yaml..b.yaml
			values = strings.Split(strings.Join(values, ".."), "..")
		}
		for _, value := range values {
			switch {
			case slices.Contains([]string{"html", "output", "out", "shrink"}, f.Name):
				written[value] = true
			case slices.Contains([]string{".yaml", ".yml", ".json", ".jsonl"}, filepath.Ext(value)):
				files = append(files, value)
			}
		}
	})
	return files
}

// isData reports whether a file is of a folder that a daemon makes, or of the machine itself.
func isData(file string) bool {
	return strings.HasPrefix(file, "/dev/") || filepath.Ext(strings.Split(file, "/")[0]) == ".data"
}

// commandLines splits a line of a shell into the words of its commands, without its comment. Of quotes it knows what
// examples need.
func commandLines(line string) (commands [][]string) {
	var words []string
	for line != "" {
		var word string
		word, line = next(line)
		switch word {
		case "#":
			line = ""
		case "|", "&&":
			commands, words = append(commands, words), nil
		default:
			words = append(words, word)
		}
	}
	return append(commands, words)
}

// next splits the first word off a line.
func next(line string) (word, rest string) {
	quote := rune(0)
	end := strings.IndexFunc(line, func(r rune) bool {
		switch {
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case r == quote:
			quote = 0
		}
		return quote == 0 && r == ' '
	})
	if end < 0 {
		end = len(line)
	}
	return strings.NewReplacer(`"`, "", "'", "").Replace(line[:end]), strings.TrimLeft(line[end:], " ")
}

// redirected takes a redirection off the words of a command, and notes the file that it writes.
func redirected(words []string, written map[string]bool) []string {
	i := slices.Index(words, ">")
	if i < 0 {
		return words
	}
	written[words[i+1]] = true
	return words[:i]
}
