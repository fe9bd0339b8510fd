package journal

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// replaced are words that docs/glossary.md has another word for, as they would stand in a line about a fleet.
var replaced = regexp.MustCompile(`(?i)\b(leaves|left|will leave|may stay|hand-over|hand over|homeless|unplaced|at home|way home|bears|at once|nobody|whoever|is to|grounds|foresight)\b`)

func TestFactsAreToldInTheWordsOfTheGlossary(t *testing.T) {
	for _, c := range told {
		line := strings.ReplaceAll(c.words, "|", " ")
		require.Empty(t, replaced.FindString(line), "%s: %s", c.name, line)
	}
}
