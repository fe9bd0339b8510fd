package shrink

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReduceLeavesWhatFails(t *testing.T) {
	list := []any{}
	for i := range 100 {
		list = append(list, map[string]any{"name": "x", "n": i + 10, "more": []any{1, "two", map[string]any{"deep": true}}})
	}
	other := []any{"a", "b"}
	tries := Reduce([]*[]any{&list, &other}, 10_000, func() bool {
		return slices.ContainsFunc(list, func(v any) bool {
			m := v.(map[string]any)
			n, _ := m["n"].(int)
			inner, _ := m["more"].([]any)
			return n >= 42 && len(inner) > 0
		})
	})
	require.Len(t, list, 1)
	require.Equal(t, 42, list[0].(map[string]any)["n"])
	require.Len(t, list[0].(map[string]any)["more"], 1)
	require.Empty(t, other)
	require.Less(t, tries, 120, "halves first")
}

func TestReduceIsBounded(t *testing.T) {
	list := make([]any, 1000)
	asked := 0
	tries := Reduce([]*[]any{&list}, 7, func() bool { asked++; return false })
	require.Equal(t, 7, tries)
	require.Equal(t, 7, asked)
	require.Len(t, list, 1000, "what does not fail is undone")
	require.Zero(t, Reduce([]*[]any{&list}, 0, func() bool { panic("asked") }))
}

func TestReduceUndoesWhatDoesNotFail(t *testing.T) {
	list := []any{map[string]any{"a": 3, "b": []any{"x", "y"}}, 7}
	Reduce([]*[]any{&list}, 1000, func() bool { return false })
	require.Equal(t, []any{map[string]any{"a": 3, "b": []any{"x", "y"}}, 7}, list)
}
