package actorstest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// Facts are what was recorded in this step.
func (n *Network) Facts() []messages.Fact { return n.facts }

// Mail is what was sent out of the network in this step.
func (n *Network) Mail() []actors.Mail { return n.mail }

// Recorded requires that exactly these facts were recorded in this step, in this order.
func (n *Network) Recorded(want ...messages.Fact) *Network {
	n.t.Helper()
	require.Equal(n.t, listed(want), listed(n.facts))
	return n
}

// Told requires that exactly these messages went out to one actor in this step, in this order; mail to
// others does not matter.
func (n *Network) Told(to messages.Address, want ...messages.Message) *Network {
	n.t.Helper()
	require.Equal(n.t, listed(want), listed(MailTo(n.mail, to)), "to %s", to)
	return n
}

// Quiet requires that nothing came of this step: no fact, no mail.
func (n *Network) Quiet() *Network {
	n.t.Helper()
	require.Empty(n.t, n.facts)
	require.Empty(n.t, n.mail)
	return n
}

// QuietFor is a step in which time passes and nothing comes of it.
func (n *Network) QuietFor(by time.Duration) *Network {
	n.t.Helper()
	return n.Advance(by).Quiet()
}

// WakesIn requires that the next alarm is to fire once so much time has passed.
func (n *Network) WakesIn(by time.Duration) *Network {
	n.t.Helper()
	next := n.nextAlarm()
	require.False(n.t, next.IsZero(), "no message waits for an answer")
	require.Equal(n.t, by, next.Sub(n.now))
	return n
}

// Sleeps requires that no machine waits for time.
func (n *Network) Sleeps() *Network {
	n.t.Helper()
	require.Zero(n.t, n.nextAlarm(), "a wake-up is scheduled")
	return n
}

// FactsOf returns the facts of one type, in order.
func FactsOf[F messages.Fact](facts []messages.Fact) []F {
	var found []F
	for _, f := range facts {
		if f, ok := f.(F); ok {
			found = append(found, f)
		}
	}
	return found
}

// MailTo returns the messages for one actor, in order.
func MailTo(mail []actors.Mail, to messages.Address) []messages.Message {
	var found []messages.Message
	for _, m := range mail {
		if m.To == to {
			found = append(found, m.Message)
		}
	}
	return found
}

// listed turns nothing into an empty list, so that nothing equals nothing.
func listed[T any](list []T) []T { return append([]T{}, list...) }

// Cases is how many of n cases to try where one goroutine computes each of them: all, or a tenth under the race
// detector, which makes that ten times as slow and can find nothing there. Without it, tests try all.
func Cases(n uint64) uint64 {
	if RaceDetector {
		return (n + 9) / 10
	}
	return n
}

// Targets returns clusters with replicas as tests write them: "m1:2", or "m1" for a copy without any. Names
// have two letters and replicas one digit.
func Targets(clusters ...string) []api.TargetCluster {
	var list []api.TargetCluster
	for _, c := range clusters {
		t := api.TargetCluster{Name: c[:2]}
		if len(c) > 2 {
			t.Replicas = int32(c[3] - '0')
		}
		list = append(list, t)
	}
	return list
}

// Outcome is what of a step may not depend on the order in which messages came.
type Outcome struct {
	// Facts are all that were recorded, sorted.
	Facts []messages.Fact
	// Last is the last that each actor outside was told: what came before it is overtaken.
	Last map[messages.Address]messages.Message
}

// Outcome returns what this step came to.
func (n *Network) Outcome() Outcome {
	o := Outcome{Facts: slices.Clone(n.facts), Last: map[messages.Address]messages.Message{}}
	slices.SortStableFunc(o.Facts, func(a, b messages.Fact) int { return cmp.Compare(printed(a), printed(b)) })
	for _, m := range n.mail {
		o.Last[m.To] = m.Message
	}
	return o
}

func printed(f messages.Fact) string { return fmt.Sprintf("%s %+v", f.Kind(), f) }
