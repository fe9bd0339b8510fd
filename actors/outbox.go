// Package actors holds what all machines share: the outbox through which a machine asks for
// everything that it cannot do itself.
package actors

import (
	"math"
	"time"

	"leeward/messages"
)

// Mail is one message on its way to one actor.
type Mail struct {
	To      messages.Address
	Message messages.Message
}

// Outbox collects what one transition asks for. The host carries it out after Receive returns, in
// order: facts to the journal, mail to other actors, and at last the alarm. A machine must not keep
// an Outbox beyond the call it was given for.
type Outbox struct {
	mail  []Mail
	facts []messages.Fact
	wake  time.Time
	armed bool
}

// Record adds a fact to the journal.
func (o *Outbox) Record(f messages.Fact) { o.facts = append(o.facts, f) }

// WakeAt sets the machine's one alarm, replacing any earlier one; the zero time clears it. An alarm
// for the running instant, or an earlier one, fires at this instant when nothing else remains to do.
func (o *Outbox) WakeAt(t time.Time) { o.wake, o.armed = t, true }

func (o *Outbox) tell(kind messages.Kind, name string, m messages.Message) {
	o.mail = append(o.mail, Mail{To: messages.Address{Kind: kind, Name: name}, Message: m})
}

// Facts returns what was recorded since the last Reset, in order.
func (o *Outbox) Facts() []messages.Fact { return o.facts }

// Mail returns what was sent since the last Reset, in order.
func (o *Outbox) Mail() []Mail { return o.mail }

// Alarm returns the instant last given to WakeAt, and whether WakeAt was called at all since the
// last Reset. A machine that did not call it keeps the alarm it had.
func (o *Outbox) Alarm() (at time.Time, set bool) { return o.wake, o.armed }

// Reset empties the outbox and keeps its memory for the next transition.
func (o *Outbox) Reset() {
	clear(o.mail)
	clear(o.facts)
	o.mail, o.facts = o.mail[:0], o.facts[:0]
	o.wake, o.armed = time.Time{}, false
}

// Earlier returns the earlier of two instants, where the zero time means never. A machine folds all
// that it waits for into its one alarm with it.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Later returns the later of two instants, where the zero time is before all others.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Seconds is a number of seconds that users wrote. Beyond 292 years either way it remains there instead of wrapping.
func Seconds(n int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Second)
	return time.Duration(min(max(n, -most), most)) * time.Second
}
