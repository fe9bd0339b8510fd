package kernel

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"leeward/messages"
)

// ErrInterrupted ends an instant after Interrupt, or early in RunUpTo.
var ErrInterrupted = errors.New("the kernel was interrupted")

// Interrupt has instants end early from now on, the running one too: each lane stops within a thousand
// messages, and what takes fewer is done. Unlike the rest of a kernel it is for any goroutine.
func (k *Kernel) Interrupt() { k.interrupted.Store(true) }

// Interrupted reports whether Interrupt was called. It is for any goroutine.
func (k *Kernel) Interrupted() bool { return k.interrupted.Load() }

// Backlog returns how many messages wait in mailboxes, as of at most some thousand messages ago. Unlike
// the rest of a kernel it is for any goroutine.
func (k *Kernel) Backlog() uint64 {
	var n uint64
	for _, l := range k.lanes {
		n += l.gauges.queued.Load()
	}
	return n
}

// Spent is what the machines of one kind took so far.
type Spent struct {
	Messages uint64
	// Time includes what became of the machines' outboxes.
	Time time.Duration
}

// Spent returns what the machines took, by kind; no time without a Clock.
func (k *Kernel) Spent() (all [messages.Kinds]Spent) {
	for _, l := range k.lanes {
		for kind, s := range l.gauges.spent {
			all[kind].Messages += s.Messages
			all[kind].Time += s.Time
		}
	}
	return all
}

// gauges are what a lane measures of itself.
type gauges struct {
	queued atomic.Uint64
	spent  [messages.Kinds]Spent
	// kind is whose turns these are, since mark on the clock.
	kind messages.Kind
	mark time.Duration
}

// turnsBetweenPulses is how many turns a lane takes before it looks up from its work.
const turnsBetweenPulses = 1024

func (g *gauges) begin(l *lane) {
	if clock := l.kernel.config.Clock; clock != nil {
		g.mark = clock()
	}
}

// turn counts one that is about to be given. Turns of one kind come in rows, and the clock is read once for each row.
func (g *gauges) turn(l *lane, kind messages.Kind) {
	g.spent[kind].Messages++
	if kind != g.kind {
		g.charge(l)
		g.kind = kind
	}
}

// charge adds the time that has passed to that of the present row.
func (g *gauges) charge(l *lane) {
	if clock := l.kernel.config.Clock; clock != nil {
		now := clock()
		g.spent[g.kind].Time += now - g.mark
		g.mark = now
	}
}

func (g *gauges) publish(l *lane) { g.queued.Store(l.mail.queued) }

func (g *gauges) end(l *lane) {
	g.charge(l)
	g.publish(l)
}

// pulse shows how the lane is doing and returns whether it is to stop.
func (l *lane) pulse() (interrupted bool) {
	l.gauges.publish(l)
	return l.kernel.interrupted.Load()
}

// Counters tell what has become of every message since the kernel was made. A message comes in once,
// Posted, Sent or Woken, and goes out once, Handled, DeadLettered or dropped for a reason; until then
// it is Queued.
type Counters struct {
	Posted uint64 // from outside, through Post or a PID
	Sent   uint64 // by machines
	Woken  uint64 // by alarms

	Handled        uint64
	DeadLettered   uint64 // there was no actor at the address, or no longer
	DroppedByPanic uint64 // the message that a machine panicked on, and what was in its mailbox behind it
	DroppedAtClose uint64 // left in mailboxes when the kernel was closed
	DroppedByLoss  uint64 // by Lose
	DroppedForeign uint64 // sent to a PID by protoactor code, and nothing that its machine takes
	// DroppedByQuarantine were for machines that are kept out on purpose.
	DroppedByQuarantine uint64

	Queued uint64
	Facts  uint64
}

// Dropped returns the number of messages dropped for any reason.
func (c Counters) Dropped() uint64 {
	return c.DroppedByPanic + c.DroppedAtClose + c.DroppedByLoss + c.DroppedForeign + c.DroppedByQuarantine
}

func (c *Counters) add(o *Counters) {
	c.Sent += o.Sent
	c.Woken += o.Woken
	c.Handled += o.Handled
	c.DeadLettered += o.DeadLettered
	c.DroppedByPanic += o.DroppedByPanic
	c.DroppedAtClose += o.DroppedAtClose
	c.DroppedByLoss += o.DroppedByLoss
	c.DroppedForeign += o.DroppedForeign
	c.DroppedByQuarantine += o.DroppedByQuarantine
	c.Facts += o.Facts
}

// Counters returns what has happened so far.
func (k *Kernel) Counters() Counters {
	c := Counters{Posted: k.posted}
	for _, l := range k.lanes {
		c.add(&l.counters)
		c.Queued += l.mail.queued
	}
	return c
}

// Check returns an error if a message has been lost or handled twice.
func (k *Kernel) Check() error {
	c := k.Counters()
	in := c.Posted + c.Sent + c.Woken
	out := c.Handled + c.DeadLettered + c.Dropped() + c.Queued
	if in != out {
		return fmt.Errorf("check the kernel: %d messages came in, %d are accounted for: %+v", in, out, c)
	}
	return nil
}
