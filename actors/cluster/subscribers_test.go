package cluster

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

func TestSubscribersAreKnownOnce(t *testing.T) {
	s := newSubscribers()
	for _, b := range []messages.BindingName{"a", "b", "c", "b"} {
		s.add(b)
	}
	s.remove("a")
	s.remove("nobody")
	require.Equal(t, []messages.BindingName{"b", "c"}, slices.Collect(s.all()))
	require.Equal(t, 2, s.len())
	s.add("d")
	s.add("e")
	require.Equal(t, []messages.BindingName{"d", "b", "c", "e"}, slices.Collect(s.all()), "the gap is filled first")
	s.remove("c")
	s.add("c")
	require.Len(t, s.bindings, 4, "nobody leaves a gap for good")
	for b := range s.all() {
		require.Equal(t, messages.BindingName("d"), b)
		break
	}
}
