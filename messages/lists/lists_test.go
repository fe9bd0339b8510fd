package lists_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/lists"
)

func TestOfKeepsOrderAndWhetherThereIsAList(t *testing.T) {
	require.Equal(t, []string{"2", "1"}, lists.Of([]int{2, 1}, strconv.Itoa))
	require.Equal(t, []string{}, lists.Of([]int{}, strconv.Itoa), "an empty list is [] in JSON")
	require.Nil(t, lists.Of(nil, strconv.Itoa))
}
