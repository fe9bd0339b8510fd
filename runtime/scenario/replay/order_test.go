package replay_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario/replay"
)

func TestResultsComeInOrderHoweverManyRunTogether(t *testing.T) {
	for _, jobs := range []int{1, 2, 16} {
		var running, most atomic.Int64
		var got []uint64
		err := replay.InOrder(jobs, 200, func(i int) *replay.Run {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			return &replay.Run{Seed: uint64(i)}
		}, func(i int, r *replay.Run) error {
			require.Equal(t, uint64(i), r.Seed)
			got = append(got, r.Seed)
			return nil
		})
		require.NoError(t, err)
		require.Len(t, got, 200)
		require.LessOrEqual(t, most.Load(), int64(jobs))
	}
}

func TestTheFirstErrorEndsTheWork(t *testing.T) {
	var done atomic.Int64
	stop := errors.New("enough")
	err := replay.InOrder(2, 1_000_000, func(i int) *replay.Run {
		done.Add(1)
		return &replay.Run{}
	}, func(i int, _ *replay.Run) error {
		if i == 3 {
			return stop
		}
		return nil
	})
	require.ErrorIs(t, err, stop)
	require.Less(t, done.Load(), int64(100))
}

func TestNoWorkIsNoError(t *testing.T) {
	require.NoError(t, replay.InOrder[*replay.Run](4, 0, nil, nil))
}
