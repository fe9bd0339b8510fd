// Package actorstest drives machines through time, for tests: tell one something, let time pass, and
// see what it records, whom it tells and when it wants to be woken.
//
//	d := actorstest.Drive(t, governor.New(settings))
//	d.Tell(request("web", "member1")).Told(binding("web"), permit("member1"))
//	d.QuietFor(2 * time.Second)
//
// Time does not move while machines work. A step ends when nothing remains to do at its instant; alarms
// of that instant fire then and not before, those of the lowest kind of machine first.
package actorstest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
)

// Start is the instant at which every network starts: a whole minute, for leases and monitors tick on
// whole seconds.
var Start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Machine is what all machines have in common; M is the sealed set of messages that one understands.
type Machine[M messages.Message] interface {
	Receive(now time.Time, m M, out *actors.Outbox)
}

// Network holds machines that write to one another, each with a mailbox and an alarm, on one clock. A
// step is what happens from one call to the next; mail to actors that are not in the network, and all
// facts, are kept for a step.
type Network struct {
	t      testing.TB
	now    time.Time
	choose Choose
	actors []*actor // in the order of their addresses
	facts  []messages.Fact
	mail   []actors.Mail
}

// actor is one machine of the network.
type actor struct {
	address messages.Address
	receive func(messages.Message, *actors.Outbox)
	mailbox []messages.Message
	// alarm is the one instant that the machine wants to be woken at; zero: none.
	alarm time.Time
}

// NewNetwork returns an empty network whose time is Start. Where several actors have mail, choose says
// whose turn it is; nil: always that of the first in the order of addresses.
func NewNetwork(t testing.TB, choose Choose) *Network {
	if choose == nil {
		choose = func(int) int { return 0 }
	}
	return &Network{t: t, now: Start, choose: choose}
}

// Join puts a machine into the network.
func Join[M messages.Message](n *Network, at messages.Address, machine Machine[M]) {
	receive := func(m messages.Message, out *actors.Outbox) { machine.Receive(n.now, m.(M), out) }
	n.actors = append(n.actors, &actor{address: at, receive: receive})
	slices.SortFunc(n.actors, func(a, b *actor) int {
		return cmp.Or(cmp.Compare(a.address.Kind, b.address.Kind), cmp.Compare(a.address.Name, b.address.Name))
	})
}

// Now is the present instant.
func (n *Network) Now() time.Time { return n.now }

// Post puts mail into an actor's mailbox for the next step.
func (n *Network) Post(to messages.Address, ms ...messages.Message) {
	n.t.Helper()
	a := n.actor(to)
	require.NotNil(n.t, a, "%s is not in the network", to)
	a.mailbox = append(a.mailbox, ms...)
}

// Advance is a step: what was posted is delivered, time passes, alarms fire on the way, the last ones
// at its end. An alarm fires when its instant is quiet.
func (n *Network) Advance(by time.Duration) *Network {
	n.t.Helper()
	n.Approach(by)
	n.settle()
	return n
}

// Approach is a step as Advance is, but for the alarms of its last instant. What is posted next comes
// before them, at the same instant.
func (n *Network) Approach(by time.Duration) *Network {
	n.t.Helper()
	n.facts, n.mail = nil, nil
	to := n.now.Add(by)
	n.settleBefore(to)
	for next := n.nextAlarm(); !next.IsZero() && next.Before(to); next = n.nextAlarm() {
		n.now = next
		n.settle()
	}
	n.now = to
	return n
}

// settleBefore delivers what was posted at the present instant before time moves on.
func (n *Network) settleBefore(to time.Time) {
	if n.now.Before(to) {
		n.settle()
	}
}

func (n *Network) nextAlarm() (next time.Time) {
	for _, a := range n.actors {
		next = actors.Earlier(next, a.alarm)
	}
	return next
}

// settle runs until nothing remains to do at this instant. A network that never comes to rest fails the
// test.
func (n *Network) settle() {
	n.t.Helper()
	const enough = 1000
	for range enough {
		n.deliverAll()
		if !n.wakeLowestKind() {
			return
		}
	}
	require.FailNow(n.t, "the instant does not end", "at %s", n.now.Sub(Start))
}

func (n *Network) deliverAll() {
	for {
		var ready []*actor
		for _, a := range n.actors {
			if len(a.mailbox) > 0 {
				ready = append(ready, a)
			}
		}
		if len(ready) == 0 {
			return
		}
		n.turn(ready[n.choose(len(ready))])
	}
}

// turn lets an actor hear one message.
func (n *Network) turn(a *actor) {
	var out actors.Outbox
	m := a.mailbox[0]
	a.mailbox = a.mailbox[1:]
	a.receive(m, &out)
	n.facts = append(n.facts, out.Facts()...)
	for _, mail := range out.Mail() {
		if to := n.actor(mail.To); to != nil {
			to.mailbox = append(to.mailbox, mail.Message)
		} else {
			n.mail = append(n.mail, mail)
		}
	}
	if at, set := out.Alarm(); set {
		a.alarm = at
	}
}

// wakeLowestKind wakes the actors of the lowest kind whose alarm is due, and reports whether there were any.
func (n *Network) wakeLowestKind() bool {
	woken := false
	var kind messages.Kind
	for _, a := range n.actors {
		due := !a.alarm.IsZero() && !a.alarm.After(n.now)
		if !due || woken && a.address.Kind != kind {
			continue
		}
		woken, kind = true, a.address.Kind
		a.alarm = time.Time{}
		a.mailbox = append(a.mailbox, &messages.Woken{})
	}
	return woken
}

func (n *Network) actor(at messages.Address) *actor {
	for _, a := range n.actors {
		if a.address == at {
			return a
		}
	}
	return nil
}

// Driver is a network of one machine.
type Driver[M messages.Message] struct {
	*Network
	only messages.Address
}

// Drive returns a driver whose time is Start and has told the machine nothing yet.
func Drive[M messages.Message](t testing.TB, machine Machine[M]) *Driver[M] {
	d := &Driver[M]{Network: NewNetwork(t, nil), only: messages.Address{Name: "the machine"}}
	Join(d.Network, d.only, machine)
	return d
}

// Tell is a step: the machine hears the messages, one after the other, all at this instant.
func (d *Driver[M]) Tell(ms ...M) *Network {
	d.t.Helper()
	for _, m := range ms {
		d.Post(d.only, m)
	}
	return d.Advance(0)
}
