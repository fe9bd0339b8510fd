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

// What was tried beside an earlier candidate that is kept counts for nothing.
func TestWhatIsTriedAtTheSameTimeChangesNoResult(t *testing.T) {
	reduced := func(parallel, most int) (list []any, tries []int) {
		for i := range 40 {
			list = append(list, map[string]any{"name": "x", "n": i, "more": []any{i, "two"}})
		}
		r := &reducing{most: most, parallel: parallel, tried: func(n int) { tries = append(tries, n) }}
		r.begin = func() func() bool {
			n, two := 0, 0
			for _, v := range list {
				m := v.(map[string]any)
				inner, _ := m["more"].([]any)
				if value, is := m["n"].(int); is && value%7 == 0 {
					n++
				}
				two += len(inner)
			}
			return func() bool { return n >= 3 && two >= 2 }
		}
		r.reduce([]*[]any{&list})
		return list, tries
	}
	for _, most := range []int{5, 31, 10_000} {
		want, tries := reduced(1, most)
		for _, parallel := range []int{2, 3, 8} {
			got, others := reduced(parallel, most)
			require.Equal(t, want, got)
			require.Equal(t, tries, others)
			require.LessOrEqual(t, len(tries), most)
		}
	}
}
