package actorstest

import (
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
)

// Facts are what the machine recorded in this step.
func (d *Driver[M]) Facts() []messages.Fact { return d.facts }

// Mail is what the machine sent in this step.
func (d *Driver[M]) Mail() []actors.Mail { return d.mail }

// Recorded requires that the machine recorded exactly these facts in this step, in this order.
func (d *Driver[M]) Recorded(want ...messages.Fact) *Driver[M] {
	d.t.Helper()
	require.Equal(d.t, listed(want), listed(d.facts))
	return d
}

// Told requires that the machine sent exactly these messages to one actor in this step, in this order;
// mail to others does not matter.
func (d *Driver[M]) Told(to messages.Address, want ...messages.Message) *Driver[M] {
	d.t.Helper()
	require.Equal(d.t, listed(want), listed(MailTo(d.mail, to)), "to %s", to)
	return d
}

// Quiet requires that the machine did nothing in this step: no fact, no mail.
func (d *Driver[M]) Quiet() *Driver[M] {
	d.t.Helper()
	require.Empty(d.t, d.facts)
	require.Empty(d.t, d.mail)
	return d
}

// QuietFor is a step in which time passes and the machine does nothing.
func (d *Driver[M]) QuietFor(by time.Duration) *Driver[M] {
	d.t.Helper()
	return d.Advance(by).Quiet()
}

// WakesIn requires that the machine wants to be woken once so much time has passed.
func (d *Driver[M]) WakesIn(by time.Duration) *Driver[M] {
	d.t.Helper()
	require.False(d.t, d.alarm.IsZero(), "the machine waits for nothing")
	require.Equal(d.t, by, d.alarm.Sub(d.now))
	return d
}

// Sleeps requires that the machine does not wait for time.
func (d *Driver[M]) Sleeps() *Driver[M] {
	d.t.Helper()
	require.True(d.t, d.alarm.IsZero(), "the machine wants to be woken in %s", d.alarm.Sub(d.now))
	return d
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
