package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// forms are predictions that together have every part of the output.
var forms = map[string]string{
	"losses":  "--lose eu-1,eu-2 --lose provider=west@1h --samples 3 --by cluster -o wide",
	"apply":   "--apply docs/examples/fleet-policies.yaml --apply docs/examples/taint-policy.yaml --lose region=us@5m",
	"delete":  "--delete deployment/shop/cart --delete ClusterTaintPolicy/not-ready --lose eu-1@1m --by label:app",
	"scale":   "--scale shop/web=60 --scale data/report=1@10m",
	"nothing": "--taint eu-1=full:NoSchedule",
}

func TestTheTextOfWhatIfIsTheGolden(t *testing.T) {
	t.Chdir("../..")
	for name, args := range forms {
		t.Run(name, func(t *testing.T) {
			code := exitFailed
			if name == "nothing" {
				code = exitHeld
			}
			words := append([]string{"-f", weak}, strings.Fields(args)...)
			out, log := wondered(t, code, words...)
			require.Empty(t, log)
			again, _ := wondered(t, code, words...)
			require.Equal(t, out, again, "the same bytes")
			isGolden(t, "whatif/"+name+".golden", out)
		})
	}
}

// TestEveryLineOfWhatIfSaysThatItIsAPrediction, but for what was asked, the empty ones and the titles, which have no figure.
func TestEveryLineOfWhatIfSaysThatItIsAPrediction(t *testing.T) {
	t.Chdir("../..")
	titles := []string{
		"evictions", "placements in the end", "blocked evictions", "unschedulable", "unavailable in the end", "without an available replica for a while",
	}
	for name, args := range forms {
		words := append([]string{"-f", weak}, strings.Fields(args)...)
		code := exitFailed
		if name == "nothing" {
			code = exitHeld
		}
		for _, form := range []string{"text", "wide"} {
			out, _ := wondered(t, code, append(slices.Clone(words), "-o", form)...)
			predicted := 0
			for i, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
				switch {
				case strings.HasPrefix(line, "predicted: "):
					predicted++
				case line == "", slices.Contains(titles, line), strings.HasPrefix(line, "BY "), strings.HasPrefix(line, "CAPACITY "):
				case i == 0:
					require.Contains(t, line, "nothing is written")
				default:
					require.Regexp(t, "^change: --", line, "%s -o %s", name, form)
				}
			}
			require.Positive(t, predicted, name)
		}
		inJSON, _ := wondered(t, code, append(slices.Clone(words), "-o", "json")...)
		inYAML, _ := wondered(t, code, append(slices.Clone(words), "-o", "yaml")...)
		fromYAML, err := yaml.YAMLToJSON([]byte(inYAML))
		require.NoError(t, err)
		for _, text := range []string{inJSON, string(fromYAML)} {
			var all map[string]any
			require.NoError(t, json.Unmarshal([]byte(text), &all))
			require.Equal(t, true, all["prediction"], name)
		}
	}
}

func TestWhatIfHasItsListsInJSONAlsoWhereTheyAreEmpty(t *testing.T) {
	t.Chdir("../..")
	page, err := os.ReadFile("docs/what-if.md")
	require.NoError(t, err)
	documented := func(field string) bool { return strings.Contains(string(page), "| `"+field+"` |") }
	for name, args := range forms {
		code := exitFailed
		if name == "nothing" {
			code = exitHeld
		}
		out, _ := wondered(t, code, append([]string{"-f", weak, "-o", "json"}, strings.Fields(strings.TrimSuffix(args, "-o wide"))...)...)
		var all map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &all))
		for _, list := range []string{"changes", "evictions", "blocked", "unschedulable", "workloadsStay", "placements", "unavailable", "down", "capacity", "groups"} {
			require.IsType(t, []any{}, all[list], "%s: %s", name, list)
		}
		for _, field := range slices.Sorted(maps.Keys(all)) {
			require.True(t, documented(field), "docs/what-if.md has no row for %s", field)
		}
		for _, e := range all["evictions"].([]any) {
			require.IsType(t, []any{}, e.(map[string]any)["to"])
		}
		for _, m := range all["placements"].([]any) {
			require.IsType(t, []any{}, m.(map[string]any)["before"])
			require.IsType(t, []any{}, m.(map[string]any)["after"])
		}
	}
}

func TestWhatIfAppliesAFileAndADirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cordon.yaml")
	t.Chdir("../..")
	const evicts = "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterTaintPolicy\nmetadata: {name: all}\nspec:\n" +
		"  targetClusters: {clusterNames: [eu-1]}\n  addOnConditions: [{conditionType: Ready, operator: In, statusValues: [\"True\"]}]\n  taints: [{key: gone, effect: NoExecute}]\n"
	require.NoError(t, os.WriteFile(file, []byte(evicts), 0o600))
	for _, path := range []string{file, dir} {
		out, _ := wondered(t, exitFailed, "-f", weak, "--apply", path+"@2m")
		require.Contains(t, out, "predicted: 2 bindings would be evicted, in 2m0s\n")
		require.Contains(t, out, "predicted:   +2m shop/web-deployment evicted from eu-1 (4 replicas) to ")
		require.Contains(t, out, "policy all; condition Ready=True")
	}
	require.NoError(t, os.WriteFile(file, []byte(evicts+"  nosuch: 1\n"), 0o600))
	_, log := wondered(t, exitInvalid, "-f", weak, "--apply", file)
	require.Contains(t, log, file+`": file: `)
	require.Contains(t, log, "nosuch")
}

func TestWhatIfReadsAnOutageUnderWay(t *testing.T) {
	t.Chdir("../..")
	out, log := wondered(t, exitFailed, strings.Fields("-f "+dumpFile+" --drain member2 -o json")...)
	require.Empty(t, log)
	require.Contains(t, out, `"from": "member2"`)
}
