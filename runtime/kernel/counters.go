package kernel

import "fmt"

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
