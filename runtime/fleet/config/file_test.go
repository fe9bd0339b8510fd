package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/config"
)

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "leewardd.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestAFileSetsFieldsInItsOrder(t *testing.T) {
	fields, problems := config.ReadFile(write(t, "# ours\nsecurePort: 8443\n\ngracefulEvictionTimeout: 5m\nfeatureGates: {Failover: true}\ntlsHost: [a, b]\n"))
	require.Empty(t, problems)
	require.Equal(t, []config.Override{
		{Field: "securePort", Value: 8443, Source: "leewardd.yaml:2"},
		{Field: "gracefulEvictionTimeout", Value: "5m", Source: "leewardd.yaml:4"},
		{Field: "featureGates", Value: map[string]any{"Failover": true}, Source: "leewardd.yaml:5"},
		{Field: "tlsHost", Value: []any{"a", "b"}, Source: "leewardd.yaml:6"},
	}, fields)
}

func TestAFileThatCannotBeReadSaysWhere(t *testing.T) {
	for name, c := range map[string]struct{ text, problem string }{
		"a list":          {"- a\n", "leewardd.yaml:1: not a mapping from fields to values"},
		"two of one name": {"a: 1\nb: 2\na: 3\n", "leewardd.yaml:3: a: given at leewardd.yaml:1 before"},
		"two documents":   {"a: 1\n---\nb: 2\n", "leewardd.yaml: more than one document"},
		"no YAML":         {"a: [1\n", "leewardd.yaml: not YAML: line 1: did not find expected ',' or ']'"},
		"a wrong tag":     {"a: !!int x\n", "leewardd.yaml:1: a: yaml: cannot decode !!str `x` as a !!int"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := config.ReadFile(write(t, c.text))
			require.Len(t, problems, 1)
			require.EqualError(t, problems[0], c.problem)
		})
	}
	_, problems := config.ReadFile("nowhere.yaml")
	require.Len(t, problems, 1)
	require.ErrorIs(t, problems[0], os.ErrNotExist)
}

func TestAnEmptyFileSetsNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		fields, problems := config.ReadFile(write(t, text))
		require.Empty(t, fields)
		require.Empty(t, problems)
	}
}

func TestFieldsAreKnownByName(t *testing.T) {
	require.True(t, config.Known("gracefulEvictionTimeout"))
	require.True(t, config.Known("featureGates"))
	require.False(t, config.Known("securePort"))
}

func FuzzReadFile(f *testing.F) {
	for _, text := range []string{"a: 1\n", "- a", "a: {b: [c]}\n---\n", "a: &x 1\nb: *x", "<<: {a: 1}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fields, problems := config.ReadFile(write(t, text))
		for _, o := range fields {
			require.NotEmpty(t, o.Source)
		}
		for _, problem := range problems {
			require.ErrorContains(t, problem, "leewardd.yaml")
		}
	})
}
