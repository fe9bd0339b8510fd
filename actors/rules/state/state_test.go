package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/state"
	"leeward/messages/api"
)

const reported = `{"job":{"id":"42","rate":0.5,"events":1000000},"pods":[{"name":"a"},{"name":"b"}],"done":true,"a.b":"dotted","none":null}`

func TestExtract(t *testing.T) {
	for _, c := range []struct{ name, path, want, err string }{
		{"a text", "{.job.id}", "42", ""},
		{"from the root", "{$.job.id}", "42", ""},
		{"a number", "{.job.rate}", "0.5", ""},
		{"a large number, as Go writes a float", "{.job.events}", "1e+06", ""},
		{"a truth", "{.done}", "true", ""},
		{"an item", "{.pods[1].name}", "b", ""},
		{"a name with a dot", `{.a\.b}`, "dotted", ""},
		{"the last item", "{.pods[-1:].name}", "b", ""},
		{"the item that fits", `{.pods[?(@.name=="b")].name}`, "b", ""},
		{"a count", "{.readyReplicas}", "2", ""},
		{"replicas that are to run", " {.replicas} ", "3", ""},
		{"no braces", ".job.id", "", "want a path in braces, such as {.readyReplicas}"},
		{"a missing key", "{.job.name}", "", "name is not found"},
		{"a key of what has none", "{.done.at}", "", "at is not found"},
		{"an item that is not there", "{.pods[2].name}", "", "array index out of bounds: index 2, length 2"},
		{"an item of what is no list", "{.job[0]}", "", "map[string]interface {} is not array or slice"},
		{"an object", "{.job}", "", "leads to no single value"},
		{"null", "{.none}", "", "leads to no single value"},
		{"everything", "{}", "", "leads to no single value"},
		{"several items", "{.pods[*].name}", "", "leads to no single value"},
		{"every name", "{.*}", "", "leads to no single value"},
		{"two values", "{.done}{.job.id}", "", "leads to no single value"},
		{"a bracket that stays open", "{.pods[0}", "", "read the path: unterminated array"},
		{"a word", "{job}", "", "unrecognized identifier job"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := state.Of(reported, true, 2, 3)
			require.NoError(t, err)
			got, err := state.Extract(s, []api.StatePreservationRule{{AliasLabelName: "l", JSONPath: c.path}})
			if c.err != "" {
				require.EqualError(t, err, "label l: path "+c.path+": "+c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, map[string]string{"l": c.want}, got)
		})
	}
}

func TestUsable(t *testing.T) {
	for _, c := range []struct{ name, value, err string }{
		{"a word", "savepoint-17", ""},
		{"nothing", "", ""},
		{"as long as may be", strings.Repeat("a", 63), ""},
		{"longer", strings.Repeat("a", 64), "must be no more than 63 bytes"},
		{"a path", "s3://state/17", "a valid label must be an empty string or consist of alphanumeric characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := state.Usable(map[string]string{"a": "fine", "job": c.value, "z": "fine"})
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, fmt.Sprintf("label job: value %q: %s", c.value, c.err))
		})
	}
	require.ErrorContains(t, state.Usable(map[string]string{"b": "/", "a": "/"}), "label a", "the first by name")
}

func TestWhatHasNoReplicasHasNoCounts(t *testing.T) {
	s, err := state.Of("null", false, 0, 0)
	require.NoError(t, err)
	require.Empty(t, s)
	s, err = state.Of("null", true, 1, 2)
	require.NoError(t, err)
	require.Equal(t, 2.0, s["replicas"], "what reported nothing yet has its counts")
	labels, err := state.Extract(s, nil)
	require.NoError(t, err)
	require.Nil(t, labels)
	_, err = state.Of("[]", false, 0, 0)
	require.ErrorContains(t, err, "read the reported status")
}

func FuzzExtract(f *testing.F) {
	for _, path := range []string{"{.job.id}", "{.pods[0]['name']}", "{$", "{[']}", "{.}", "{[-1]}"} {
		f.Add(reported, path)
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		s, err := state.Of(text, true, 1, 1)
		if err != nil {
			return
		}
		labels, err := state.Extract(s, []api.StatePreservationRule{{AliasLabelName: "l", JSONPath: path}})
		require.Equal(t, err == nil, labels != nil)
	})
}
