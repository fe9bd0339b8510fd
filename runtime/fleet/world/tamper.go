package world

import (
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// Tamper says what an actor gets in place of a message at an instant: nothing where it is lost, the message twice where
// it is repeated. It may be asked by several lanes in parallel.
type Tamper func(now time.Time, to messages.Address, m messages.Message) []messages.Message

// tampered is a machine that gets its messages from a tamper.
type tampered[M messages.Message] struct {
	kernel.Machine[M]
	at     messages.Address
	tamper Tamper
}

// tamperedWith puts a tamper before a machine, if there is one.
func tamperedWith[M messages.Message](t Tamper, at messages.Address, machine kernel.Machine[M]) kernel.Machine[M] {
	if t == nil {
		return machine
	}
	return tampered[M]{machine, at, t}
}

func (t tampered[M]) Receive(now time.Time, m M, out *actors.Outbox) {
	for _, given := range t.tamper(now, t.at, m) {
		t.Machine.Receive(now, given.(M), out)
	}
}

// attended is a binding whose reports another listener hears, too.
type attended struct {
	kernel.Machine[messages.ToBinding]
	name     messages.BindingName
	reported func(messages.BindingName, *messages.CopyReported)
}

func (a attended) Receive(now time.Time, m messages.ToBinding, out *actors.Outbox) {
	if r, is := m.(*messages.CopyReported); is {
		a.reported(a.name, r)
	}
	a.Machine.Receive(now, m, out)
}
