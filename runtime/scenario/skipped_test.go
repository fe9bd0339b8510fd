package scenario_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario"
)

const calm = "apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: calm}\nspec: {fleet: [{name: m1}]}\n"

// folder holds one good scenario beside other files.
func folder(t *testing.T, others map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range others {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "calm.yaml"), []byte(calm), 0o600))
	return dir
}

func TestWhatIsSkippedUnderADirectoryIsToldWithItsReason(t *testing.T) {
	for name, c := range map[string]struct{ text, reason string }{
		"another kind":  {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nkind: Secret\n", "holds no Scenario, but ConfigMap, Secret"},
		"no kind":       {"a: b\n", "has no kind"},
		"a list":        {"- a\n", "has no kind"},
		"nothing":       {"", "is empty"},
		"comments":      {"# kind\n", "is empty"},
		"a picture":     {"\x89PNG\x00kind: thing", "is binary"},
		"no text":       {"kind: \xff\xfe", "is binary"},
		"not YAML":      {"a: [b\n", "is not YAML: line 1: did not find expected ',' or ']'"},
		"another group": {"apiVersion: leeward.dev/v1alpha1\nkind: Governor\nmetadata: {name: fleet}\n", "holds no Scenario, but Governor"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"other.yaml": c.text, "notes.md": "kind: nothing"})
			scenarios, skipped, problems := scenario.Find(dir)
			require.Empty(t, problems)
			require.Len(t, scenarios, 1)
			require.Equal(t, []scenario.Skipped{{File: filepath.Join(dir, "other.yaml"), Reason: c.reason}}, skipped)
		})
	}
}

func TestAScenarioThatIsMisspeltIsAnError(t *testing.T) {
	for name, c := range map[string]struct{ text, problem string }{
		"its kind":                 {"apiVersion: leeward.dev/v1alpha1\nkind: Scenaro\nmetadata: {name: a}\nspec: {}\n", "Scenaro is not known in leeward.dev/v1alpha1; did you mean Scenario?"},
		"its case":                 {"apiVersion: leeward.dev/v1alpha1\nkind: scenario\nmetadata: {name: a}\nspec: {}\n", "did you mean Scenario"},
		"its plural":               {"apiVersion: example.org/v1\nkind: Scenarios\nmetadata: {name: a}\nspec: {}\n", "kind: Scenarios of example.org/v1 is not known; did you mean Scenario of leeward.dev/v1alpha1?"},
		"its kind beyond guessing": {"apiVersion: leeward.dev/v1alpha1\nkind: Story\nmetadata: {name: a}\nspec: {}\n", "kind: Story of leeward.dev/v1alpha1 is not known; did you mean Scenario"},
		"its group":                {"apiVersion: leward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\nspec: {}\n", "apiVersion: want leeward.dev/v1alpha1"},
		"its version":              {"apiVersion: leeward.dev/v1\nkind: Scenario\nmetadata: {name: a}\nspec: {}\n", "want leeward.dev/v1alpha1"},
		"the name of its kind":     {"apiVersion: leeward.dev/v1alpha1\nknd: Scenario\nmetadata: {name: a}\nspec: {fleet: [{name: m1}]}\n", "kind: required"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, problems := scenario.Find(folder(t, map[string]string{"other.yaml": c.text}))
			require.ErrorContains(t, problems, c.problem)
			require.ErrorContains(t, problems, "other.yaml")
		})
	}
}

func TestManifestsThatAScenarioIncludesAreNotSkipped(t *testing.T) {
	dir := folder(t, map[string]string{
		"used.yaml":  "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: m9}\n",
		"other.yaml": "apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: other}\nspec: {include: [used.yaml]}\n",
	})
	scenarios, skipped, problems := scenario.Find(dir)
	require.Empty(t, problems)
	require.Len(t, scenarios, 2)
	require.Empty(t, skipped)
}
