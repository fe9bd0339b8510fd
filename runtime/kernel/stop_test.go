package kernel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

func TestStop(t *testing.T) {
	for _, a := range []messages.Address{cluster("a"), binding("a")} {
		t.Run("lets the actor handle its mail, "+a.Kind.String(), func(t *testing.T) {
			l := newLane(t, kernel.Config{})
			l.start(a, echo)
			l.post(a, "one")
			l.post(a, "two")
			l.Stop(a)
			l.post(a, "late")
			require.False(t, l.Has(a))
			require.Len(t, l.run(0), 2)
			require.EqualValues(t, 1, l.Counters().DeadLettered)
		})
		t.Run("frees the address at once, "+a.Kind.String(), func(t *testing.T) {
			l := newLane(t, kernel.Config{})
			l.start(a, echo)
			l.post(a, "to the first")
			l.Stop(a)
			l.start(a, func(_ time.Time, text string, out *actors.Outbox) { out.Record(said("2: " + text)) })
			l.post(a, "to the second")
			require.Equal(t, []string{"0 " + a.String() + " to the first", "0 " + a.String() + " 2: to the second"}, l.run(0))
			require.True(t, l.Has(a), "the end of the first leaves the second's entry alone")
			require.Zero(t, l.Counters().DeadLettered)
		})
		t.Run("takes the alarm away, "+a.Kind.String(), func(t *testing.T) {
			l := newLane(t, kernel.Config{})
			l.start(a, sleeperScript)
			l.post(a, "wake 3")
			l.run(0)
			l.post(a, "wake 4")
			l.Stop(a)
			require.Len(t, l.run(1), 1)
			_, pending := l.Next()
			require.False(t, pending)
		})
		t.Run("takes effect in the middle of the actor's own turn, "+a.Kind.String(), func(t *testing.T) {
			l := newLane(t, kernel.Config{})
			l.start(a, func(now time.Time, text string, out *actors.Outbox) {
				out.Record(said(text))
				out.WakeAt(now)
				tell(out, a, "late: my own")
			})
			l.onFact = func(from messages.Address, _ messages.Fact) { l.Stop(from) }
			l.post(a, "one")
			l.post(a, "two")
			require.Len(t, l.run(0), 2)
			require.EqualValues(t, 2, l.Counters().DeadLettered)
		})
	}
	t.Run("of no machine does nothing", func(t *testing.T) {
		l := newLane(t, kernel.Config{})
		l.Stop(cluster("a"))
		l.start(cluster("a"), echo)
		l.Stop(cluster("a"))
		l.Stop(cluster("a"))
		require.Empty(t, l.run(0))
	})
}

func TestAFactMayStartTheActorThatTheMailIsFor(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(cluster("a"), func(_ time.Time, _ string, out *actors.Outbox) {
		out.Record(said("create"))
		tell(out, binding("new"), "welcome")
		tell(out, governor, "welcome")
	})
	l.onFact = func(_ messages.Address, f messages.Fact) {
		if f == said("create") {
			l.start(binding("new"), echo)
			l.start(governor, echo)
		}
	}
	l.post(cluster("a"), "go")
	require.Equal(t, []string{"0 cluster/a create", "0 binding/new welcome", "0 governor welcome"}, l.run(0))
}

// TestNothingIsLost lets actors come, go, answer one another and panic at random, and has the kernel
// account for every message after every instant.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(100) {
		l := newLane(t, kernel.Config{Order: kernel.Order(seed % 2), Seed: seed})
		churn := 0
		var mortal func(a messages.Address) script
		all := func(i int) messages.Address {
			if i%3 == 0 {
				return cluster(fmt.Sprint(i % 30))
			}
			return binding(fmt.Sprint(i % 30))
		}
		mortal = func(a messages.Address) script {
			heard := 0
			return func(now time.Time, text string, out *actors.Outbox) {
				heard++
				churn = churn*31 + len(text) + heard
				out.WakeAt(now.Add(time.Duration(churn&3) * time.Second))
				if len(text) > 1 && text != "woken" {
					tell(out, all(churn&0xffff), text[1:])
					tell(out, all(churn>>3&0xffff), text[1:])
				}
				if churn%11 == 0 {
					out.Record(said("stop"))
				}
				if churn%13 == 0 {
					panic("bad luck")
				}
			}
		}
		l.onFact = func(from messages.Address, _ messages.Fact) { l.Stop(from) }
		panics := 0
		for second := range 20 {
			for i := range 30 {
				if !l.Has(all(i)) {
					l.start(all(i), mortal(all(i)))
				}
				l.post(all(i), ".......")
			}
			for l.RunInstant(at(second)) != nil {
				panics++
				require.NoError(t, l.Check())
			}
			require.NoError(t, l.Check())
			require.Zero(t, l.Counters().Queued)
		}
		require.NotZero(t, panics)
		require.NotZero(t, l.Counters().DeadLettered)
		require.NotZero(t, l.Counters().DroppedByPanic)
	}
}

func TestAHundredThousandDeadlines(t *testing.T) {
	const n = 100_000
	fired := make([]int, n)
	k := kernel.New(kernel.Config{Order: kernel.Seeded})
	defer k.Close()
	for i := range n {
		require.NoError(t, kernel.Host(k, binding(fmt.Sprint(i)), script(func(now time.Time, text string, out *actors.Outbox) {
			if text == "woken" {
				fired[i] = int(now.Sub(epoch).Seconds())
			} else {
				out.WakeAt(at(1 + i*7919%3600))
			}
		})))
		k.Post(binding(fmt.Sprint(i)), note(binding(""), "go"))
	}
	require.NoError(t, k.RunInstant(epoch))
	instants := 0
	for next, ok := k.Next(); ok; next, ok = k.Next() {
		instants++
		require.NoError(t, k.RunInstant(next))
	}
	require.Equal(t, 3600, instants)
	for i := range n {
		if fired[i] != 1+i*7919%3600 {
			require.FailNow(t, "woken at the wrong instant", "binding %d at %d", i, fired[i])
		}
	}
	require.Equal(t, kernel.Counters{Posted: n, Woken: n, Handled: 2 * n}, k.Counters())
}
