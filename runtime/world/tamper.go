package world

import (
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// Tamper says what an actor gets in place of a message: nothing where it is lost, the message twice where it is
// repeated. It may be asked by several lanes at once.
type Tamper func(to messages.Address, m messages.Message) []messages.Message

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
	for _, given := range t.tamper(t.at, m) {
		t.Machine.Receive(now, given.(M), out)
	}
}
