package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exportedLines are lines as an export has them, of kinds with and without a Go type.
var exportedLines = []string{
	`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","resourceVersion":"7"},"spec":{"replicas":4,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b","resources":{"requests":{"cpu":"100m"}}}]}}}}`,
	`{"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{"name":"web-deployment","namespace":"shop"},"spec":{"replicas":4,"clusters":[{"name":"m1","replicas":4}],"resource":{"apiVersion":"apps/v1","kind":"Deployment","name":"web","namespace":"shop"}}}`,
	`{"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{"name":"web-1","namespace":"karmada-es-m1"},"spec":{"workload":{"manifests":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"n":"1"}}]}}}`,
	`{"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"shop","annotations":{"leeward.dev/expires":"2026-11-22T19:42:42.5Z"}},"count":1}`,
	`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"no-namespace"},"data":{"a":"b"}}`,
}

// TestALineIsReadQuicklyAsAManifestIs: what is read the short way is what is read the long way.
func TestALineIsReadQuicklyAsAManifestIs(t *testing.T) {
	for _, line := range exportedLines {
		in := importing{places: map[string]string{}}
		in.documents("long.jsonl", []byte(line), 0)
		require.Empty(t, in.problems)
		require.Len(t, in.records, 1)
		short := quickly([]byte(line))
		require.NotNil(t, short, line)
		require.Equal(t, in.records[0].Key, short.Key)
		require.Equal(t, in.records[0].Expires, short.Expires)
		require.JSONEq(t, string(in.records[0].Object), string(short.Object))
		require.Contains(t, string(short.Object), `"uid":"`, "the API patches no object without one")
	}
}

// TestALineWithAMistakeIsNotReadQuickly: what is wrong is said as of any manifest.
func TestALineWithAMistakeIsNotReadQuickly(t *testing.T) {
	for name, line := range map[string]string{
		"a field misspelt":      strings.Replace(exportedLines[0], `"replicas"`, `"replica"`, 1),
		"a field in other case": strings.Replace(exportedLines[0], `"replicas"`, `"Replicas"`, 1),
		"a field twice":         strings.Replace(exportedLines[2], `"data":{"n":"1"}`, `"data":{"n":"1","n":"2"}`, 1),
		"no name":               strings.Replace(exportedLines[4], `"name":"no-namespace"`, ``, 1),
		"a kind misspelt":       strings.Replace(exportedLines[0], `"Deployment"`, `"Deploymant"`, 1),
		"a kind twice":          strings.Replace(exportedLines[0], `"kind":"Deployment"`, `"kind":"Deployment","kind":"Work"`, 1),
		"a kind in other case":  strings.Replace(exportedLines[4], `"kind"`, `"Kind"`, 1),
		"a kind that is none":   strings.Replace(exportedLines[4], `"kind":"ConfigMap"`, `"kind":7`, 1),
		"half an object":        exportedLines[4][:40],
		"a list":                `["kind"]`,
		"two objects":           exportedLines[0] + exportedLines[1],
		"a wrong time":          strings.Replace(exportedLines[3], "2026-11-22T19:42:42.5Z", "soon", 1),
		"YAML":                  `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`,
		"nothing":               "",
	} {
		require.Nil(t, quickly([]byte(line)), name)
	}
}

// BenchmarkImport makes a store of 4 000 objects.
func BenchmarkImport(b *testing.B) {
	var text strings.Builder
	for n := range 1000 {
		for _, line := range exportedLines[:4] {
			fmt.Fprintln(&text, strings.Replace(line, `"name":"`, fmt.Sprintf(`"name":"n%d-`, n), 1))
		}
	}
	file := filepath.Join(b.TempDir(), "objects.jsonl")
	require.NoError(b, os.WriteFile(file, []byte(text.String()), 0o600))
	for b.Loop() {
		c := storeImportCommand()
		c.SetOut(&strings.Builder{})
		require.NoError(b, importStore(c, filepath.Join(b.TempDir(), "store"), []string{file}))
	}
}
