package member

import (
	"fmt"
	"slices"
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
	require.Equal(t, messages.BindingName("1"), s.take(1).binding)
	require.Equal(t, messages.BindingName("2"), s.take(2).binding)
	require.Len(t, slices.Collect(s.all()), 2*shelfRow-1, "gaps are passed over")
	require.Equal(t, 2, s.add(copyState{binding: "new"}), "the newest gap is filled first")
	require.Equal(t, 1, s.add(copyState{binding: "newer"}))
	require.Equal(t, 2*shelfRow+1, s.add(copyState{binding: "newest"}))
	require.Same(t, first, s.at(0), "copies stay where they are when others come and go")
	require.Len(t, slices.Collect(s.all()), 2*shelfRow+2)
	require.Len(t, s.rows, 3)
}
