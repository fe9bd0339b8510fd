package kernel

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
)

// These tests come through protoactor, as code that knows nothing of kernels would.

var (
	someCluster = messages.Address{Kind: messages.KindCluster, Name: "a"}
	someBinding = messages.Address{Kind: messages.KindBinding, Name: "default/nginx"}
)

// tally counts what it receives and panics on demand.
type tally struct{ received int }

type bomb struct{ messages.ToBinding }

func (c *tally) Receive(_ time.Time, m messages.ToBinding, _ *actors.Outbox) {
	c.received++
	if _, ok := m.(*bomb); ok {
		panic("boom")
	}
}

// eachHost runs test with a spawned and with a hosted tally, and a PID of it.
func eachHost(t *testing.T, test func(t *testing.T, k *Kernel, a messages.Address, m *tally, pid *actor.PID)) {
	for _, a := range []messages.Address{someCluster, someBinding} {
		t.Run(a.Kind.String(), func(t *testing.T) {
			k := New(Config{})
			m := &tally{}
			startTally(t, k, a, m)
			pid, ok := k.PID(a)
			require.True(t, ok)
			test(t, k, a, m, pid)
			require.NoError(t, k.Check())
			k.Close()
		})
	}
}

func startTally(t *testing.T, k *Kernel, a messages.Address, m *tally) {
	t.Helper()
	if a == someCluster {
		require.NoError(t, Spawn(k, a, m))
	} else {
		require.NoError(t, Host(k, a, m))
	}
}

func root() *actor.RootContext { return protoactor().Root }

func TestSendToAPID(t *testing.T) {
	eachHost(t, func(t *testing.T, k *Kernel, _ messages.Address, m *tally, pid *actor.PID) {
		root().Send(pid, woken)
		root().Send(pid, woken)
		root().RequestWithCustomSender(pid, woken, pid)
		require.Zero(t, m.received, "a message waits for its instant")
		require.NoError(t, k.RunInstant(time.Now()))
		require.Equal(t, 3, m.received)
		require.EqualValues(t, 3, k.Counters().Posted)
	})
}

func TestSendNonsenseToAPID(t *testing.T) {
	eachHost(t, func(t *testing.T, k *Kernel, _ messages.Address, m *tally, pid *actor.PID) {
		root().Send(pid, "not one of ours")
		root().Send(pid, &messages.QuotaDeleted{}) // is for another machine
		require.Panics(t, func() { root().Send(pid, nil) })
		require.NoError(t, k.RunInstant(time.Now()))
		require.Zero(t, m.received)
		require.Equal(t, Counters{Posted: 2, DroppedForeign: 2}, k.Counters())
	})
}

func TestStopAPID(t *testing.T) {
	ways := map[string]func(pid *actor.PID){
		"stop":   root().Stop,
		"poison": root().Poison,
		"system": func(pid *actor.PID) {
			process, _ := protoactor().ProcessRegistry.Get(pid)
			process.SendSystemMessage(pid, &actor.Stop{})
		},
	}
	for name, stop := range ways {
		t.Run(name, func(t *testing.T) {
			eachHost(t, func(t *testing.T, k *Kernel, a messages.Address, m *tally, pid *actor.PID) {
				root().Send(pid, woken)
				stop(pid)
				stop(pid)
				root().Send(pid, woken)
				require.False(t, k.Has(a))
				require.NoError(t, k.RunInstant(time.Now()))
				stop(pid)
				root().Send(pid, woken)
				require.Equal(t, 1, m.received)
				require.EqualValues(t, 2, k.Counters().DeadLettered)
			})
		})
	}
}

func TestAnActorThatHasEndedHoldsNothing(t *testing.T) {
	eachHost(t, func(t *testing.T, k *Kernel, a messages.Address, _ *tally, _ *actor.PID) {
		k.Post(a, woken)
		k.Post(a, woken)
		k.Stop(a)
		require.Equal(t, 1, k.lanes[0].cells.live(), "not before its mail is handled")
		require.NoError(t, k.RunInstant(time.Now()))
		require.Zero(t, k.lanes[0].cells.live())
		require.Equal(t, cell{}, *k.lanes[0].cells.at(0))
	})
}

func TestAPIDIsOfOneActorOnly(t *testing.T) {
	eachHost(t, func(t *testing.T, k *Kernel, a messages.Address, first *tally, pid *actor.PID) {
		root().Send(pid, woken)
		require.NoError(t, k.RunInstant(time.Now()))
		k.Stop(a)
		second := &tally{}
		startTally(t, k, a, second)
		require.EqualValues(t, 1, k.lanes[0].cells.used, "the slot is used again")

		root().Send(pid, woken)
		heir, _ := k.PID(a)
		require.False(t, pid.Equal(heir))
		root().Send(heir, woken)
		require.NoError(t, k.RunInstant(time.Now()))
		require.Equal(t, 1, first.received)
		require.Equal(t, 1, second.received)
		require.EqualValues(t, 1, k.Counters().DeadLettered)
	})
}

func TestAPIDOfNoActor(t *testing.T) {
	k := New(Config{})
	defer k.Close()
	_, ok := k.PID(someBinding)
	require.False(t, ok)

	require.NoError(t, Host(k, someBinding, &tally{}))
	pid, _ := k.PID(someBinding)
	root().Send(&actor.PID{Address: pid.Address, Id: pid.Id, RequestId: 4_000_000_000}, woken)
	root().Send(&actor.PID{Address: pid.Address, Id: pid.Id, RequestId: 1}, woken)
	require.EqualValues(t, 2, k.Counters().DeadLettered)

	root().Send(&actor.PID{Address: pid.Address, Id: "binding/default/nginx"}, woken)
	root().Send(&actor.PID{Address: "leeward-0", Id: pid.Id}, woken)
	k.Stop(someBinding)
	root().Send(&actor.PID{Address: pid.Address, Id: "binding/default/nginx#0"}, woken)
	require.EqualValues(t, 2, k.Counters().Posted, "what names no actor of ours is protoactor's dead letter")
}

func TestAPIDOfAClosedKernel(t *testing.T) {
	eachHost(t, func(t *testing.T, k *Kernel, a messages.Address, m *tally, used *actor.PID) {
		root().Send(used, woken)
		require.NoError(t, k.RunInstant(time.Now()))
		unused, _ := k.PID(a)
		k.Close()
		root().Send(used, woken)
		root().Send(unused, woken)
		require.Equal(t, 1, m.received)
		require.EqualValues(t, 1, k.Counters().DeadLettered)
	})
}

func TestKernelsDoNotMeet(t *testing.T) {
	k, other := New(Config{}), New(Config{})
	defer k.Close()
	defer other.Close()
	mine, theirs := &tally{}, &tally{}
	startTally(t, k, someCluster, mine)
	startTally(t, other, someCluster, theirs)
	pid, _ := k.PID(someCluster)
	root().Send(pid, woken)
	require.NoError(t, other.RunInstant(time.Now()))
	require.NoError(t, k.RunInstant(time.Now()))
	require.Equal(t, 1, mine.received)
	require.Zero(t, theirs.received)
}

// TestKernelsRunSideBySide is for the race detector: kernels share the actor system, goroutines do not
// share a kernel.
func TestKernelsRunSideBySide(t *testing.T) {
	for range 8 {
		t.Run("kernel", func(t *testing.T) {
			t.Parallel()
			for range 10 {
				eachHost(t, func(t *testing.T, k *Kernel, a messages.Address, m *tally, pid *actor.PID) {
					root().Send(pid, woken)
					k.Post(a, &bomb{})
					require.Error(t, k.RunInstant(time.Now()))
					require.Equal(t, 2, m.received)
				})
			}
		})
	}
}

// TestALossIsNoticed loses a message.
func TestALossIsNoticed(t *testing.T) {
	k := New(Config{})
	defer k.Close()
	startTally(t, k, someBinding, &tally{})
	k.Post(someBinding, woken)
	k.lanes[0].mail.pop(&k.lanes[0].cells.at(0).mailbox)
	require.ErrorContains(t, k.Check(), "check the kernel: 1 messages came in, 0 are accounted for")
}

// TestASpawnedActorIsProtoactors finds the actor in protoactor's own registry and sends to it there.
func TestASpawnedActorIsProtoactors(t *testing.T) {
	k := New(Config{})
	m := &tally{}
	require.NoError(t, Spawn(k, someCluster, m))
	native := protoactor().NewLocalPID(k.lanes[0].address + "/cluster/a#1")
	root().Send(native, woken)
	require.NoError(t, k.RunInstant(time.Now()))
	require.Equal(t, 1, m.received)
	k.Close()
	_, ok := protoactor().ProcessRegistry.Get(native)
	require.False(t, ok, "a closed kernel leaves no actor behind")
}

// TestAPanicIsSupervised watches an actor through protoactor and hears of its end.
func TestAPanicIsSupervised(t *testing.T) {
	k := New(Config{})
	defer k.Close()
	require.NoError(t, Spawn(k, someCluster, &tally{}))
	watcher := &processDouble{}
	pid, _ := protoactor().ProcessRegistry.Add(watcher, t.Name())
	defer protoactor().ProcessRegistry.Remove(pid)
	native, _ := protoactor().ProcessRegistry.GetLocal(k.lanes[0].address + "/cluster/a#1")
	native.SendSystemMessage(nil, &actor.Watch{Watcher: pid})

	k.Post(someCluster, &bomb{})
	require.Error(t, k.RunInstant(time.Now()))
	require.Len(t, watcher.heard, 1)
	require.IsType(t, &actor.Terminated{}, watcher.heard[0])
}

// processDouble keeps the system messages that it is sent.
type processDouble struct{ heard []any }

func (p *processDouble) SendUserMessage(*actor.PID, any)       {}
func (p *processDouble) SendSystemMessage(_ *actor.PID, m any) { p.heard = append(p.heard, m) }
func (p *processDouble) Stop(*actor.PID)                       {}

func TestAWatcherOfAPIDHearsThatItCannotWatch(t *testing.T) {
	eachHost(t, func(t *testing.T, _ *Kernel, _ messages.Address, _ *tally, pid *actor.PID) {
		watcher := &processDouble{}
		self, _ := protoactor().ProcessRegistry.Add(watcher, t.Name())
		defer protoactor().ProcessRegistry.Remove(self)
		process, _ := protoactor().ProcessRegistry.Get(pid)
		process.SendSystemMessage(pid, &actor.Watch{Watcher: self})
		require.Len(t, watcher.heard, 1)
		require.Equal(t, actor.TerminatedReason_NotFound, watcher.heard[0].(*actor.Terminated).Why)
	})
}

// TestNoGoroutine runs all that could start one, in a bubble so that it counts only its own. What would
// outlive the test fails it as well.
func TestNoGoroutine(t *testing.T) {
	protoactor()
	synctest.Test(t, func(t *testing.T) {
		before := goroutinesOfBubbles()
		require.Positive(t, before)
		k := New(Config{Order: Seeded})
		bystander := messages.Address{Kind: messages.KindCluster, Name: "b"}
		startTally(t, k, someCluster, &tally{})
		startTally(t, k, someBinding, &tally{})
		require.NoError(t, Spawn(k, bystander, &tally{}))
		pid, _ := k.PID(someCluster)
		for range 1000 {
			k.Post(someCluster, woken)
			k.Post(someBinding, woken)
			k.Post(bystander, woken)
		}
		require.Equal(t, before, goroutinesOfBubbles())
		k.Post(someBinding, &bomb{})
		k.Post(someCluster, &bomb{})
		require.Error(t, k.RunInstant(time.Now()))
		require.Error(t, k.RunInstant(time.Now()))
		require.NoError(t, k.RunInstant(time.Now()))
		root().Send(pid, woken)
		require.Equal(t, before, goroutinesOfBubbles())
		require.EqualValues(t, 3000, k.Counters().Handled)
		k.Close()
		require.Equal(t, before, goroutinesOfBubbles())
	})
}

func goroutinesOfBubbles() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "synctest bubble")
}

// TestKernelsLeaveNothingBehind counts what the shared actor system holds before and after.
func TestKernelsLeaveNothingBehind(t *testing.T) {
	held := func() (n int) {
		for _, bucket := range protoactor().ProcessRegistry.LocalPIDs.LocalPIDs {
			n += bucket.Count()
		}
		return n + len(protoactor().lanes) + len(protoactor().ProcessRegistry.RemoteHandlers)
	}
	run := func() {
		k := New(Config{})
		defer k.Close()
		startTally(t, k, someCluster, &tally{})
		startTally(t, k, someBinding, &tally{})
		k.Post(someCluster, &bomb{})
		require.Error(t, k.RunInstant(time.Now()))
		startTally(t, k, someCluster, &tally{})
	}
	run() // the one guardian of them all stays
	before := held()
	for range 1000 {
		run()
	}
	require.Equal(t, before, held())
}

// BenchmarkActorSystem is what BenchmarkNew would cost with an actor system for each kernel.
func BenchmarkActorSystem(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newSystem()
	}
}
