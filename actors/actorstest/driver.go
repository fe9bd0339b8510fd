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
	"testing"

	"leeward/messages"
)

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
