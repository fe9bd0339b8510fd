package kernel_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/kernel"
)

func TestEveryFactIsObservedOnItsLane(t *testing.T) {
	for _, lanes := range []int{1, 4} {
		observed := make([]int, lanes) // without a lock: each lane has its own
		l := newLane(t, kernel.Config{Lanes: lanes, Observe: func(from kernel.Seat, now time.Time, f messages.Fact) {
			if now.Equal(at(0)) && f.Kind() != "" {
				observed[from.Lane]++
			}
		}})
		ring(l, 50)
		for i := range crowd {
			l.post(member(i), "ball")
		}
		l.run(0)
		sum := 0
		for _, n := range observed {
			require.Positive(t, n)
			sum += n
		}
		require.Equal(t, crowd*50, sum)
	}
}

func TestTimeIsSpentByKind(t *testing.T) {
	var ticks, readings time.Duration // a turn takes a tick for each fact that it records
	l := newLane(t, kernel.Config{
		Clock:   func() time.Duration { readings++; return ticks },
		Observe: func(kernel.Seat, time.Time, messages.Fact) { ticks++ },
	})
	ring(l, 5)
	l.start(cluster("c"), echo)
	l.post(cluster("c"), "go")
	for i := range crowd {
		l.post(member(i), "ball")
	}
	l.run(0)
	spent := l.Spent()
	require.Equal(t, kernel.Spent{Messages: 6 * crowd, Time: 5 * crowd}, spent[messages.KindBinding])
	require.Equal(t, kernel.Spent{Messages: 1, Time: 1}, spent[messages.KindCluster])
	require.Zero(t, spent[messages.KindScheduler])
	require.LessOrEqual(t, readings, time.Duration(5), "the clock is read once for turns of one kind in a row")
}

func TestWithoutAClockNothingIsTimed(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(cluster("c"), echo)
	l.post(cluster("c"), "go")
	l.run(0)
	require.Equal(t, kernel.Spent{Messages: 1}, l.Spent()[messages.KindCluster])
}

func TestAnInterruptLeavesWorkAndLosesNone(t *testing.T) {
	for _, lanes := range []int{1, 4} {
		var k *kernel.Kernel
		var facts atomic.Int64
		l := newLane(t, kernel.Config{Lanes: lanes, Observe: func(kernel.Seat, time.Time, messages.Fact) {
			if facts.Add(1) == 1000 {
				k.Interrupt()
			}
		}})
		k = l.Kernel
		ring(l, 10_000)
		for i := range crowd {
			l.post(member(i), "ball")
		}
		require.ErrorIs(t, l.RunInstant(at(0)), kernel.ErrInterrupted)
		require.NoError(t, l.Check())
		require.Less(t, facts.Load(), int64(crowd*10_000))
		require.Positive(t, l.Backlog())
		require.Equal(t, l.Counters().Queued, l.Backlog())
	}
}
