package kernel_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// The tests speak to four kinds of actors. Clusters and the singletons are spawned, bindings hosted.
var (
	governor  = messages.Address{Kind: messages.KindGovernor}
	scheduler = messages.Address{Kind: messages.KindScheduler}
)

func cluster(name string) messages.Address {
	return messages.Address{Kind: messages.KindCluster, Name: name}
}

func binding(name string) messages.Address {
	return messages.Address{Kind: messages.KindBinding, Name: name}
}

// A note is a message that says something; embedding the sealed interface makes it one of a kind.
type (
	noteToCluster struct {
		messages.ToCluster
		text string
	}
	noteToBinding struct {
		messages.ToBinding
		text string
	}
	noteToGovernor struct {
		messages.ToGovernor
		text string
	}
	noteToScheduler struct {
		messages.ToScheduler
		text string
	}
)

func note(to messages.Address, text string) messages.Message {
	switch to.Kind {
	case messages.KindCluster:
		return &noteToCluster{text: text}
	case messages.KindBinding:
		return &noteToBinding{text: text}
	case messages.KindGovernor:
		return &noteToGovernor{text: text}
	default:
		return &noteToScheduler{text: text}
	}
}

func textOf(m messages.Message) string {
	switch m := m.(type) {
	case *noteToCluster:
		return m.text
	case *noteToBinding:
		return m.text
	case *noteToGovernor:
		return m.text
	case *noteToScheduler:
		return m.text
	case *messages.Woken:
		return "woken"
	default:
		return fmt.Sprintf("%T", m)
	}
}

func tell(out *actors.Outbox, to messages.Address, text string) {
	switch m := note(to, text).(type) {
	case *noteToCluster:
		out.TellCluster(messages.ClusterName(to.Name), m)
	case *noteToBinding:
		out.TellBinding(messages.BindingName(to.Name), m)
	case *noteToGovernor:
		out.TellGovernor(m)
	case *noteToScheduler:
		out.TellScheduler(m)
	}
}

// said is the fact that the tests' machines record.
type said string

func (said) Kind() string { return "Said" }

// script is a machine without state of its own.
type script func(now time.Time, text string, out *actors.Outbox)

func (s script) Receive(now time.Time, m messages.Message, out *actors.Outbox) {
	s(now, textOf(m), out)
}

// echo records what it hears.
func echo(_ time.Time, text string, out *actors.Outbox) { out.Record(said(text)) }

// lane is a kernel whose facts the test reads as lines, "seconds address text", and which is held to
// account for every message when the test ends.
type lane struct {
	*kernel.Kernel
	t      *testing.T
	lines  []string
	onFact func(from messages.Address, f messages.Fact)
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

func newLane(t *testing.T, config kernel.Config) *lane {
	l := &lane{t: t}
	config.Record = func(at time.Time, from messages.Address, f messages.Fact) {
		l.lines = append(l.lines, fmt.Sprintf("%d %s %s", int(at.Sub(epoch).Seconds()), from, f))
		if l.onFact != nil {
			l.onFact(from, f)
		}
	}
	l.Kernel = kernel.New(config)
	t.Cleanup(func() {
		require.NoError(t, l.Check())
		l.Close()
		require.NoError(t, l.Check())
		require.Zero(t, l.Counters().Queued)
	})
	return l
}

// start spawns or hosts s, as its kind asks for.
func (l *lane) start(a messages.Address, s script) {
	l.t.Helper()
	if a.Kind == messages.KindBinding {
		require.NoError(l.t, kernel.Host(l.Kernel, a, s))
	} else {
		require.NoError(l.t, kernel.Spawn(l.Kernel, a, s))
	}
}

func (l *lane) post(to messages.Address, text string) { l.Post(to, note(to, text)) }

// run runs the instant and returns what was recorded since the last one.
func (l *lane) run(seconds int) []string {
	l.t.Helper()
	l.lines = nil
	require.NoError(l.t, l.RunInstant(at(seconds)))
	require.Zero(l.t, l.Counters().Queued, "an instant ends when no message is left")
	return l.lines
}

func TestMessages(t *testing.T) {
	for _, a := range []messages.Address{cluster("a"), binding("a"), scheduler} {
		t.Run("reach a "+a.Kind.String(), func(t *testing.T) {
			l := newLane(t, kernel.Config{})
			l.start(a, echo)
			l.post(a, "one")
			l.post(a, "two")
			require.Equal(t, []string{"5 " + a.String() + " one", "5 " + a.String() + " two"}, l.run(5))
			require.Equal(t, kernel.Counters{Posted: 2, Handled: 2, Facts: 2}, l.Counters())
		})
	}
}

func TestFactsThenMailThenAlarm(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(binding("a"), func(now time.Time, text string, out *actors.Outbox) {
		if text == "go" {
			out.WakeAt(now)
			tell(out, cluster("b"), "hello")
		}
		out.Record(said(text))
	})
	l.start(cluster("b"), echo)
	l.post(binding("a"), "go")
	require.Equal(t, []string{"0 binding/a go", "0 cluster/b hello", "0 binding/a woken"}, l.run(0))
}

func TestInputsAreNumbered(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(cluster("a"), echo)
	require.EqualValues(t, 1, l.Post(cluster("a"), note(cluster("a"), "one")))
	require.EqualValues(t, 2, l.Post(cluster("nobody"), note(cluster("nobody"), "two")))
	require.EqualValues(t, 3, l.Post(cluster("a"), note(cluster("a"), "three")))
	l.run(0)
	require.EqualValues(t, 1, l.Counters().DeadLettered)
}

func TestAMessageToAllOfAKindReachesThoseThatThereAre(t *testing.T) {
	for _, lanes := range []int{1, 3} {
		l := newLane(t, kernel.Config{Lanes: lanes})
		for i := range crowd {
			l.start(member(i), echo)
		}
		l.start(cluster("a"), echo)
		l.post(member(0), "before")
		l.Stop(member(1))
		l.Stop(member(2))
		l.start(member(2), echo)
		l.PostAll(messages.KindBinding, note(member(0), "all"))
		heard := l.run(0)
		require.Len(t, heard, crowd)
		for i := range crowd {
			require.Equal(t, i != 1, slices.Contains(heard, fmt.Sprintf("0 %s all", member(i))), i)
		}
		require.Less(t, slices.Index(heard, "0 "+member(0).String()+" before"), slices.Index(heard, "0 "+member(0).String()+" all"))
		require.EqualValues(t, crowd, l.Counters().Posted)
		require.PanicsWithValue(t, "kernel: nil message to binding", func() { l.PostAll(messages.KindBinding, nil) })
	}
}

func TestAnActorMayWriteToItself(t *testing.T) {
	for _, a := range []messages.Address{cluster("a"), binding("a")} {
		l := newLane(t, kernel.Config{})
		l.start(a, func(_ time.Time, text string, out *actors.Outbox) {
			if len(text) < 3 {
				tell(out, a, text+"!")
				tell(out, a, text+"?")
			}
			out.Record(said(text))
		})
		l.post(a, "a")
		require.Len(t, l.run(0), 7)
	}
}

func TestWhatCannotBeSentOrRun(t *testing.T) {
	l := newLane(t, kernel.Config{})
	require.PanicsWithValue(t, "kernel: nil message to cluster/a", func() { l.Post(cluster("a"), nil) })
	require.PanicsWithValue(t, "kernel: nil machine for cluster/b", func() {
		_ = kernel.Spawn[messages.ToCluster](l.Kernel, cluster("b"), nil)
	})
	require.PanicsWithValue(t, "kernel: nil machine for binding/b", func() {
		_ = kernel.Host[messages.ToBinding](l.Kernel, binding("b"), nil)
	})
}

func TestANilMessageOfAMachineIsItsPanic(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(cluster("a"), func(_ time.Time, _ string, out *actors.Outbox) { out.TellCluster("b", nil) })
	l.post(cluster("a"), "go")
	require.EqualError(t, l.RunInstant(epoch), "cluster/a panicked on *kernel_test.noteToCluster: kernel: nil message to cluster/b")
}

func TestAnAddressIsOneActors(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(binding("a"), echo)
	require.EqualError(t, kernel.Host(l.Kernel, binding("a"), script(echo)), "host binding/a: the address is in use")
	require.EqualError(t, kernel.Spawn(l.Kernel, binding("a"), script(echo)), "spawn binding/a: the address is in use")
	require.True(t, l.Has(binding("a")))
	require.False(t, l.Has(cluster("a")), "the same name is free to another kind")
}

func TestRunInstantIsNotReentrant(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(cluster("a"), echo)
	l.onFact = func(messages.Address, messages.Fact) {
		require.PanicsWithValue(t, "kernel: RunInstant while an instant runs", func() { _ = l.RunInstant(epoch) })
		require.PanicsWithValue(t, "kernel: Close while an instant runs", l.Close)
	}
	l.post(cluster("a"), "go")
	l.run(0)
}

func TestAClosedKernel(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(cluster("a"), echo)
	l.start(binding("a"), echo)
	l.post(cluster("a"), "unheard")
	l.post(binding("a"), "unheard")
	l.post(binding("a"), "unheard")
	l.Close()
	require.Equal(t, kernel.Counters{Posted: 3, DroppedAtClose: 3}, l.Counters())

	l.post(binding("a"), "late")
	require.EqualValues(t, 1, l.Counters().DeadLettered)
	require.ErrorContains(t, kernel.Spawn(l.Kernel, cluster("b"), script(echo)), "spawn cluster/b: the kernel is closed")
	require.ErrorContains(t, kernel.Host(l.Kernel, binding("b"), script(echo)), "host binding/b: the kernel is closed")
	require.Empty(t, l.run(0))
	l.Close()
}

func TestASteadyKernelDoesNotAllocate(t *testing.T) {
	for _, order := range []kernel.Order{kernel.FIFO, kernel.Seeded} {
		k := kernel.New(kernel.Config{Order: order})
		defer k.Close()
		left := 0
		const a, b = "a", "b"
		require.NoError(t, kernel.Host(k, binding(a), &rally{peer: b, left: &left}))
		require.NoError(t, kernel.Spawn(k, binding(b), &rally{peer: a, left: &left}))
		m := &noteToBinding{text: "ball"}
		play := func() {
			left = 1000
			k.Post(binding(a), m)
			require.NoError(t, k.RunInstant(epoch))
		}
		play()
		require.Zero(t, testing.AllocsPerRun(10, play))
	}
}

// rally returns the ball and asks to be woken, until none remains.
type rally struct {
	peer messages.BindingName
	left *int
}

func (r *rally) Receive(now time.Time, m messages.ToBinding, out *actors.Outbox) {
	if *r.left--; *r.left > 0 {
		out.TellBinding(r.peer, m)
		out.WakeAt(now.Add(time.Duration(*r.left%3-1) * time.Second))
	}
}
