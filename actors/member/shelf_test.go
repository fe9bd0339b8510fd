package member

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

func TestAShelfKeepsWhatItIsGiven(t *testing.T) {
	var s shelf
	for i := range 2*shelfRow + 1 {
		require.Equal(t, i, s.add(copyState{binding: messages.BindingName(fmt.Sprint(i))}))
	}
	first := s.at(0)
	c, moved := s.take(1)
	require.Equal(t, messages.BindingName("1"), c.binding)
	require.True(t, moved)
	require.Equal(t, messages.BindingName(fmt.Sprint(2*shelfRow)), s.at(1).binding, "the last one took the free place")
	c, moved = s.take(s.n - 1)
	require.Equal(t, messages.BindingName(fmt.Sprint(2*shelfRow-1)), c.binding)
	require.False(t, moved, "the last one leaves no gap")
	require.Equal(t, 2*shelfRow-1, s.add(copyState{binding: "new"}))
	require.Same(t, first, s.at(0), "copies stay where they are when others come")
	require.Len(t, s.rows, 3, "and rows are used again")
}
