package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// These tests run lanes in parallel. A hundred names spread over all of them, and an actor is never the
// neighbour of all that it speaks to.
const crowd = 100

func member(i int) messages.Address { return binding(fmt.Sprintf("b%02d", i)) }

// ring starts a crowd of which each passes on what it hears, and hop counts the times left.
func ring(l *lane, hops int) {
	left := make([]int, crowd)
	for i := range left {
		left[i] = hops
		next := member((i + 1) % crowd)
		l.start(member(i), func(_ time.Time, text string, out *actors.Outbox) {
			if left[i]--; left[i] >= 0 {
				tell(out, next, text)
				out.Record(said(text))
			}
		})
	}
}

func TestLanesHandleAllMailOfAnInstant(t *testing.T) {
	for _, lanes := range []int{1, 2, 3, 8} {
		l := newLane(t, kernel.Config{Lanes: lanes})
		ring(l, 50)
		for i := range crowd {
			l.post(member(i), "ball")
		}
		require.Len(t, l.run(0), crowd*50)
		require.EqualValues(t, crowd*51, l.Counters().Handled, "the last round is handled and not passed on")
	}
}

func TestLanesKeepTheOrderOfASender(t *testing.T) {
	const letters = 1000
	l := newLane(t, kernel.Config{Lanes: 4})
	heard := make([][]string, crowd)
	l.start(cluster("sender"), func(_ time.Time, _ string, out *actors.Outbox) {
		for n := range letters {
			tell(out, member(n%crowd), fmt.Sprintf("%04d", n))
		}
	})
	for i := range crowd {
		l.start(member(i), func(_ time.Time, text string, _ *actors.Outbox) { heard[i] = append(heard[i], text) })
	}
	l.post(cluster("sender"), "go")
	l.run(0)
	for i := range crowd {
		require.Len(t, heard[i], letters/crowd)
		require.True(t, slices.IsSorted(heard[i]), "%v", heard[i])
	}
}

func TestLanesWakeKindByKind(t *testing.T) {
	l := newLane(t, kernel.Config{Lanes: 4})
	wake := func(now time.Time, text string, out *actors.Outbox) {
		if text == "woken" {
			out.Record(said(text))
			return
		}
		out.WakeAt(now)
	}
	for i := range crowd {
		for _, a := range []messages.Address{member(i), cluster(member(i).Name)} {
			l.start(a, wake)
			l.post(a, "go")
		}
	}
	l.start(scheduler, wake)
	l.post(scheduler, "go")
	lines := l.run(0)
	require.Len(t, lines, 2*crowd+1)
	for i, line := range lines {
		kind := [...]string{"cluster", "binding", "scheduler"}[i/crowd]
		require.True(t, strings.HasPrefix(line, "0 "+kind), "line %d is %q", i, line)
	}
}

func TestTheNextDeadlineIsTheEarliestOfAllLanes(t *testing.T) {
	l := newLane(t, kernel.Config{Lanes: 4})
	for i := range crowd {
		l.start(member(i), sleeperScript)
		l.post(member(i), fmt.Sprintf("wake %d", 200-i))
	}
	l.run(0)
	next, pending := l.Next()
	require.True(t, pending)
	require.Equal(t, at(101), next)
}

func TestAFactMayActOnEveryLane(t *testing.T) {
	l := newLane(t, kernel.Config{Lanes: 4})
	for i := range crowd {
		l.start(member(i), echo)
		l.post(member(i), "go")
	}
	l.onFact = func(from messages.Address, _ messages.Fact) {
		if from.Kind == messages.KindBinding {
			l.start(cluster(from.Name), echo)
			l.post(cluster(from.Name), "made")
			l.Stop(from)
		}
	}
	require.Len(t, l.run(0), 2*crowd, "what a fact asks for happens at its instant")
	for i := range crowd {
		require.False(t, l.Has(member(i)))
		require.True(t, l.Has(cluster(member(i).Name)))
	}
}

func TestAPanicOnOneLaneLeavesTheOthersAlone(t *testing.T) {
	l := newLane(t, kernel.Config{Lanes: 4})
	ring(l, 50)
	l.start(cluster("bad"), fragile)
	l.post(cluster("bad"), "bad")
	for i := range crowd {
		l.post(member(i), "ball")
	}
	var p *kernel.MachinePanic
	require.ErrorAs(t, l.RunInstant(at(0)), &p)
	require.Equal(t, cluster("bad"), p.Address)
	require.NoError(t, l.Check(), "what lies in parcels when a lane ends is unpacked")
	require.NoError(t, l.RunInstant(at(0)))
	require.Len(t, l.lines, crowd*50, "the next call goes on where the lane ended")
}

func TestALivelockAcrossLanesEnds(t *testing.T) {
	l := newLane(t, kernel.Config{Lanes: 4, MaxPerInstant: 1000})
	for i := range crowd {
		next := member((i + 1) % crowd)
		l.start(member(i), func(_ time.Time, text string, out *actors.Outbox) { tell(out, next, text) })
	}
	l.post(member(0), "ball")
	var livelock *kernel.Livelock
	require.ErrorAs(t, l.RunInstant(at(0)), &livelock)
	require.NotEmpty(t, livelock.Busiest)
	for i := range crowd {
		l.Stop(member(i))
	}
	require.NoError(t, l.RunInstant(at(1)))
}

func TestSeveralLanesHaveNoOrderToRepeat(t *testing.T) {
	require.PanicsWithValue(t, "kernel: 2 lanes in an order other than FIFO", func() {
		kernel.New(kernel.Config{Lanes: 2, Order: kernel.Seeded})
	})
}

// BenchmarkLanes passes a thousand balls along a ring of 100,000 players whose neighbours are on any
// lane: the worst case, in which one message in two crosses over.
func BenchmarkLanes(b *testing.B) {
	const players, perInstant = 100_000, 300_000
	for _, lanes := range []int{1, 2} {
		b.Run(fmt.Sprint(lanes), func(b *testing.B) {
			k := kernel.New(kernel.Config{Lanes: lanes, MaxPerInstant: perInstant})
			b.Cleanup(k.Close)
			for i := range players {
				next := messages.BindingName(bindingAddress((i + 7919) % players).Name)
				require.NoError(b, host(k, bindingAddress(i), &player{next: next}))
			}
			for i := range 1000 {
				k.Post(bindingAddress(i*(players/1000)), &ball{})
			}
			before := k.Counters().Handled
			for b.Loop() {
				require.Error(b, k.RunInstant(epoch))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(k.Counters().Handled-before), "ns/message")
		})
	}
}
