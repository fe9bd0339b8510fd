package kernel_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// ball is a message that is passed on for ever; embedding nothing but the interface makes it one.
type ball struct{ messages.ToBinding }

// player passes every ball on to the next player.
type player struct {
	next     messages.BindingName
	received int
}

func (p *player) Receive(_ time.Time, m messages.ToBinding, out *actors.Outbox) {
	p.received++
	out.TellBinding(p.next, m)
}

// start is one of the two ways to start an actor.
type start func(k *kernel.Kernel, a messages.Address, m *player) error

func spawn(k *kernel.Kernel, a messages.Address, m *player) error { return kernel.Spawn(k, a, m) }
func host(k *kernel.Kernel, a messages.Address, m *player) error  { return kernel.Host(k, a, m) }

func bindingAddress(i int) messages.Address {
	return messages.Address{Kind: messages.KindBinding, Name: fmt.Sprintf("namespace-%03d/app-%d", i%1000, i)}
}

// BenchmarkMessage passes balls among players who each throw to one other, far away in memory: what
// a message costs from Receive to Receive. The plain loop has no addresses, no actors and no order.
func BenchmarkMessage(b *testing.B) {
	b.Run("call", benchmarkCall)
	for _, players := range []int{10, 1_000, 100_000, 1_000_000} {
		for _, order := range []kernel.Order{kernel.FIFO, kernel.Seeded} {
			name := fmt.Sprintf("%d/%s", players, [...]string{"fifo", "seeded"}[order])
			b.Run("hosted/"+name, func(b *testing.B) { benchmarkMessage(b, host, order, players) })
			if players < 1_000_000 {
				b.Run("spawned/"+name, func(b *testing.B) { benchmarkMessage(b, spawn, order, players) })
			}
		}
	}
}

func benchmarkCall(b *testing.B) {
	players := []kernel.Machine[messages.ToBinding]{&player{next: "b"}, &player{next: "a"}}
	var out actors.Outbox
	m := messages.ToBinding(&ball{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		players[i&1].Receive(time.Time{}, m, &out)
		out.Reset()
	}
}

func benchmarkMessage(b *testing.B, start start, order kernel.Order, players int) {
	const perInstant = 300_000 // then a livelock, whose sample of 10,000 costs more, gives the turn back
	k := kernel.New(kernel.Config{Order: order, MaxPerInstant: perInstant})
	b.Cleanup(k.Close)
	at := make([]messages.Address, players)
	for i := range at {
		at[i] = bindingAddress(i)
	}
	for i := range at {
		// A step prime to the number of players makes one ring of them all.
		next := messages.BindingName(at[(i+7919)%players].Name)
		require.NoError(b, start(k, at[i], &player{next: next}))
	}
	balls := min(players, 1000)
	for i := range balls {
		k.Post(at[i*(players/balls)], &ball{})
	}
	now := time.Unix(0, 0)
	runtime.GC()
	b.ReportAllocs()
	before := k.Counters().Handled
	for b.Loop() {
		require.Error(b, k.RunInstant(now))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(k.Counters().Handled-before), "ns/message")
	require.NoError(b, k.Check())
}

// BenchmarkMillion hosts a million machines of 32 bytes, gives each a deadline, and fires them all.
// The bytes are the kernel's own, without the machines and their names.
func BenchmarkMillion(b *testing.B) {
	million := 1_000_000
	if testing.Short() {
		million /= 10
	}
	names := make([]messages.Address, million)
	sleepers := make([]sleeper, million)
	for i := range names {
		names[i] = bindingAddress(i)
	}
	for b.Loop() {
		before := heapBytes()
		k := kernel.New(kernel.Config{})
		measure(b, "ns/host", million, func() {
			for i := range sleepers {
				require.NoError(b, kernel.Host(k, names[i], &sleepers[i]))
			}
		})
		b.ReportMetric(float64(heapBytes()-before)/float64(million), "B/actor-idle")
		measure(b, "ns/post-and-arm", million, func() {
			for i := range names {
				k.Post(names[i], &messages.Woken{})
			}
			require.NoError(b, k.RunInstant(time.Unix(0, 0)))
		})
		measure(b, "ns/fire", million, func() {
			require.NoError(b, k.RunInstant(time.Unix(1000, 0)))
		})
		b.ReportMetric(float64(heapBytes()-before)/float64(million), "B/actor-after-storm")
		require.EqualValues(b, million, k.Counters().Woken)
		measure(b, "ns/close", million, k.Close)
	}
}

// sleeper asks once to be woken, at one of a thousand instants.
type sleeper struct{ _, woken, _, _ int64 }

func (s *sleeper) Receive(now time.Time, _ messages.ToBinding, out *actors.Outbox) {
	if s.woken++; s.woken%2 == 1 {
		out.WakeAt(now.Add(time.Duration(s.woken*7919%1000) * time.Second))
	}
}

func heapBytes() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// measure reports what one of n costs, of the last round.
func measure(b *testing.B, unit string, n int, run func()) {
	before := b.Elapsed()
	run()
	b.ReportMetric(float64((b.Elapsed()-before).Nanoseconds())/float64(n), unit)
}

// BenchmarkNew makes and closes a kernel, as a replay of hundreds of seeds does.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		kernel.New(kernel.Config{}).Close()
	}
}
