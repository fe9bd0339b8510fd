package kernel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// fragile panics on "bad" after it has asked for all that a machine can ask for.
func fragile(now time.Time, text string, out *actors.Outbox) {
	out.Record(said(text))
	if text == "bad" {
		tell(out, cluster("other"), "unsent")
		out.WakeAt(now)
		panic("no such replica")
	}
}

func TestAPanicOfAMachine(t *testing.T) {
	for _, a := range []messages.Address{cluster("a"), binding("a")} {
		t.Run(a.Kind.String(), func(t *testing.T) {
			l := newLane(t, kernel.Config{})
			l.start(a, fragile)
			l.start(cluster("other"), echo)
			for _, text := range []string{"good", "bad", "unread", "unread"} {
				l.post(a, text)
			}

			err := l.RunInstant(at(7))
			var p *kernel.MachinePanic
			require.ErrorAs(t, err, &p)
			require.ErrorContains(t, err, a.String()+" panicked on *kernel_test.noteTo")
			require.Equal(t, a, p.Address)
			require.Equal(t, "bad", textOf(p.Message))
			require.Equal(t, "no such replica", p.Value)
			require.Contains(t, string(p.Stack), "fragile")

			require.Equal(t, []string{"7 " + a.String() + " good"}, l.lines, "the outbox of the panic is not carried out")
			require.Equal(t, kernel.Counters{Posted: 4, Handled: 1, Facts: 1, DroppedByPanic: 3}, l.Counters())
			require.False(t, l.Has(a))

			l.post(a, "late")
			l.post(cluster("other"), "still here")
			require.Equal(t, []string{"7 cluster/other still here"}, l.run(7), "the others go on")
			require.EqualValues(t, 1, l.Counters().DeadLettered)

			l.start(a, echo)
			l.post(a, "hello")
			require.Equal(t, []string{"8 " + a.String() + " hello"}, l.run(8), "another may take its place")
		})
	}
}

func TestAPanicLeavesTheRestOfTheInstantToTheNextCall(t *testing.T) {
	for seed := range uint64(20) {
		l := newLane(t, kernel.Config{Order: kernel.Seeded, Seed: seed})
		for _, a := range []messages.Address{cluster("a"), binding("b"), binding("c")} {
			l.start(a, fragile)
			l.post(a, "good")
		}
		l.post(binding("b"), "bad")
		require.Error(t, l.RunInstant(epoch))
		require.NoError(t, l.RunInstant(epoch))
		require.EqualValues(t, 3, l.Counters().Handled)
	}
}

func TestAPanicOfAnActorThatIsBeingStopped(t *testing.T) {
	for _, a := range []messages.Address{cluster("a"), binding("a")} {
		l := newLane(t, kernel.Config{})
		l.start(a, fragile)
		l.post(a, "bad")
		l.post(a, "unread")
		l.Stop(a)
		l.start(a, echo)
		require.Error(t, l.RunInstant(epoch))
		require.True(t, l.Has(a), "its successor is unharmed")
		l.post(a, "hello")
		require.Equal(t, []string{"1 " + a.String() + " hello"}, l.run(1))
	}
}

func TestAMessageThatTheMachineDoesNotTake(t *testing.T) {
	l := newLane(t, kernel.Config{})
	require.NoError(t, kernel.Host(l.Kernel, binding("a"), &rally{}))
	l.Post(binding("a"), note(cluster(""), "astray"))
	require.EqualError(t, l.RunInstant(epoch),
		"binding/a panicked on *kernel_test.noteToCluster: kernel: the machine takes messages.ToBinding, not *kernel_test.noteToCluster")
}

func TestAPanicOfTheRecorderIsNotTheMachines(t *testing.T) {
	k := kernel.New(kernel.Config{Record: func(time.Time, messages.Address, messages.Fact) { panic("disk full") }})
	defer k.Close()
	require.NoError(t, kernel.Host(k, binding("a"), script(echo)))
	k.Post(binding("a"), note(binding("a"), "go"))
	require.PanicsWithValue(t, "disk full", func() { _ = k.RunInstant(epoch) })
}

func TestLivelock(t *testing.T) {
	l := newLane(t, kernel.Config{MaxPerInstant: 1000})
	pass := func(to messages.Address) script {
		return func(_ time.Time, text string, out *actors.Outbox) { tell(out, to, text) }
	}
	l.start(cluster("ping"), pass(binding("pong")))
	l.start(binding("pong"), pass(cluster("ping")))
	l.start(governor, echo)
	l.post(cluster("ping"), "ball")
	l.post(governor, "hello")

	err := l.RunInstant(at(3))
	var livelock *kernel.Livelock
	require.ErrorAs(t, err, &livelock)
	require.Equal(t, at(3), livelock.At)
	require.Equal(t, []kernel.BusyActor{{Address: cluster("ping"), Handled: 5000}, {Address: binding("pong"), Handled: 5000}}, livelock.Busiest)
	require.EqualError(t, err, "livelock: the instant 2026-01-01T00:00:03Z has not ended after 11000 messages; busiest: cluster/ping (5000) binding/pong (5000)")

	again := l.RunInstant(at(4))
	require.ErrorContains(t, again, "after 11000 messages; busiest: cluster/ping (5000) binding/pong (5000)", "each instant has its own sample")

	l.Stop(cluster("ping"))
	l.run(5)
	require.EqualValues(t, 1, l.Counters().DeadLettered)
}

func TestAnAlarmForNowOverAndOverIsALivelock(t *testing.T) {
	l := newLane(t, kernel.Config{MaxPerInstant: 1000})
	l.start(governor, func(now time.Time, _ string, out *actors.Outbox) { out.WakeAt(now) })
	l.post(governor, "go")
	require.ErrorContains(t, l.RunInstant(epoch), "busiest: governor (")
	l.Stop(governor)
}

func TestALongInstantIsNoLivelock(t *testing.T) {
	l := newLane(t, kernel.Config{MaxPerInstant: 10})
	l.start(cluster("a"), echo)
	for range 1000 {
		l.post(cluster("a"), "hello")
	}
	require.Len(t, l.run(0), 1000)
}
