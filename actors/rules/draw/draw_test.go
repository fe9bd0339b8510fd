package draw_test

import (
	"hash/fnv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/draw"
)

// TestHashIsFNV of the string, where there is no seed.
func TestHashIsFNV(t *testing.T) {
	for _, s := range []string{"", "a", "shop/web"} {
		h := fnv.New64a()
		_, _ = h.Write([]byte(s))
		require.Equal(t, h.Sum64(), draw.Hash(0, s))
		require.NotEqual(t, draw.Hash(1, s), draw.Hash(2, s))
	}
}

// TestMixIsThatOfSplitmix64, by the first numbers of its reference with seed 0.
func TestMixIsThatOfSplitmix64(t *testing.T) {
	const golden = uint64(0x9e3779b97f4a7c15)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		require.Equal(t, want, draw.Mix(golden*uint64(i+1)))
	}
}

func TestASpanIsBetweenItsBounds(t *testing.T) {
	least, most := 1500*time.Microsecond, 4*time.Millisecond
	seen := map[time.Duration]bool{}
	for i := range uint64(100) {
		span := draw.Between(draw.Mix(i), least, most)
		require.True(t, span >= least && span <= most && (span-least)%time.Millisecond == 0, span)
		seen[span] = true
	}
	require.Len(t, seen, 3)
	require.Equal(t, least, draw.Between(7, least, least))
}
