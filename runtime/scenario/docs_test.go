package scenario_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var example = regexp.MustCompile("(?s)\n```yaml\n(.*?)```\n")

// Every example of the documentation is right: the first as a file, the others as parts of its spec.
func TestTheExamplesOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/scenarios.md")
	require.NoError(t, err)
	examples := example.FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(examples), 20)
	whole := examples[0][1]
	s := schema(t)
	check := func(file string) {
		t.Helper()
		f := files{"s.yaml": file, "policies/p.yaml": strings.Replace(policy, "name: nginx}\nspec", "name: other}\nspec", 1)}
		scenarios, problems := f.decode("s.yaml")
		require.Empty(t, problems, file)
		require.Len(t, scenarios, 1)
		require.NoError(t, conforms(t, s, file), file)
	}
	check(whole)
	_, manifests, _ := strings.Cut(whole, "\n---\n")
	for _, part := range examples[1:] {
		spec := "  " + strings.ReplaceAll(strings.TrimSpace(part[1]), "\n", "\n  ") + "\n"
		if !strings.Contains(spec, "  fleet:") && !strings.Contains(spec, "  nodes:") {
			spec += "  fleet: [{name: 'member{1..3}', region: eu}]\n"
		}
		check(head + spec + "---\n" + manifests)
	}
}

// Every field of the language is in the documentation.
func TestTheDocumentationIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/scenarios.md")
	require.NoError(t, err)
	schema, err := os.ReadFile("../../docs/scenario.schema.json")
	require.NoError(t, err)
	var known struct {
		Definitions map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"definitions"`
	}
	require.NoError(t, json.Unmarshal(schema, &known))
	for name, definition := range known.Definitions {
		if name == "settings" { // docs/profiles.md has them
			continue
		}
		for field := range definition.Properties {
			shown := strings.Contains(string(text), "`"+field+"`") || strings.Contains(string(text), field+":")
			require.True(t, shown, "%s.%s", name, field)
		}
	}
}
