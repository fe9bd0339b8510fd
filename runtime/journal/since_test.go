package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/journal"
)

func TestSinceReturnsWhatCameAfter(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	j := journal.New(start)
	require.Empty(t, j.Since(0))
	for range 2500 {
		j.Append(start, messages.Address{}, &messages.Restarted{})
	}
	for _, n := range []int{0, 1, 1023, 1024, 1025, 2499} {
		rest := j.Since(n)
		require.Len(t, rest, 2500-n)
		require.Equal(t, uint64(n+1), rest[0].Seq)
	}
	require.Empty(t, j.Since(2500))
}
