// Package actorstest drives one machine through time, for tests: tell it something, let time pass, and
// see what it records, whom it tells and when it wants to be woken.
//
//	d := actorstest.Drive(t, governor.New(settings))
//	d.Tell(request("web", "member1")).Told(binding("web"), permit("member1"))
//	d.Advance(2 * time.Second).Quiet()
//
// Time stands still while a machine is told something. A step ends when nothing is left to do at its
// instant; alarms of that instant fire then, and not before.
package actorstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
)

// Start is the instant at which every driver starts: a whole minute, for leases and monitors tick on
// whole seconds.
var Start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Machine is what all machines have in common; M is the sealed set of messages that one understands.
type Machine[M messages.Message] interface {
	Receive(now time.Time, m M, out *actors.Outbox)
}

// Driver holds one machine, its clock and its alarm, and what its last step came to.
type Driver[M messages.Message] struct {
	t       testing.TB
	machine Machine[M]
	now     time.Time
	// alarm is the one instant that the machine wants to be woken at; zero: none.
	alarm time.Time
	facts []messages.Fact
	mail  []actors.Mail
}

// Drive returns a driver that stands at Start and has told the machine nothing yet.
func Drive[M messages.Message](t testing.TB, machine Machine[M]) *Driver[M] {
	return &Driver[M]{t: t, machine: machine, now: Start}
}

// Now is the present instant.
func (d *Driver[M]) Now() time.Time { return d.now }

// Tell is a step: the machine hears the messages, one after the other, all at this instant.
func (d *Driver[M]) Tell(ms ...M) *Driver[M] {
	d.t.Helper()
	d.begin()
	for _, m := range ms {
		d.deliver(m)
	}
	d.settle()
	return d
}

// Advance is a step: time passes, alarms fire on the way, the last ones at its end.
func (d *Driver[M]) Advance(by time.Duration) *Driver[M] {
	d.t.Helper()
	d.begin()
	d.pass(d.now.Add(by))
	d.settle()
	return d
}

// Approach is a step: time passes up to an instant whose own alarms do not fire yet. What the machine
// is told next comes before them, at the same instant.
func (d *Driver[M]) Approach(by time.Duration) *Driver[M] {
	d.t.Helper()
	d.begin()
	d.pass(d.now.Add(by))
	return d
}

func (d *Driver[M]) begin() { d.facts, d.mail = nil, nil }

// pass moves to an instant and fires every alarm before it.
func (d *Driver[M]) pass(to time.Time) {
	for !d.alarm.IsZero() && d.alarm.Before(to) {
		d.now = later(d.now, d.alarm)
		d.settle()
	}
	d.now = to
}

// settle fires alarms until none is due at this instant. A machine that never comes to rest fails the test.
func (d *Driver[M]) settle() {
	d.t.Helper()
	const enough = 1000
	for range enough {
		if d.alarm.IsZero() || d.alarm.After(d.now) {
			return
		}
		d.alarm = time.Time{}
		d.deliver(any(&messages.Woken{}).(M))
	}
	require.FailNow(d.t, "the machine wants to be woken again and again", "at %s", d.now.Sub(Start))
}

func (d *Driver[M]) deliver(m M) {
	var out actors.Outbox
	d.machine.Receive(d.now, m, &out)
	d.facts = append(d.facts, out.Facts()...)
	d.mail = append(d.mail, out.Mail()...)
	if at, set := out.Alarm(); set {
		d.alarm = at
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
