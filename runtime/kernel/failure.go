package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"leeward/messages"
)

// MachinePanic is the error of a machine that has broken one of its invariants. What it had put into
// its outbox is lost, its actor is stopped and the rest of its mailbox dropped; all others can go on.
type MachinePanic struct {
	Address messages.Address
	Message messages.Message // that it panicked on
	Value   any              // that it panicked with
	Stack   []byte
}

func (p *MachinePanic) Error() string {
	return fmt.Sprintf("%s panicked on %T: %v", p.Address, p.Message, p.Value)
}

// fail drops the mail of the actor whose turn it is, and leaves the rest to its supervisor.
func (l *lane) fail(value any, stack []byte) error {
	c := l.cells.at(l.turn)
	p := &MachinePanic{Address: c.address(), Message: l.mail.first(c.mailbox), Value: value, Stack: stack}
	l.out.Reset()
	l.counters.DroppedByPanic += l.mail.drop(&c.mailbox)
	c.host.fail(handle{lane: l, id: l.turn, serial: c.serial}, p)
	return p
}

// Livelock is the error of an instant that does not end, most likely because actors answer one another
// for ever.
type Livelock struct {
	At      time.Time
	Handled int         // messages so far
	Busiest []BusyActor // at most ten, busiest first
}

// BusyActor is an actor and its share of a sample of a livelock.
type BusyActor struct {
	Address messages.Address
	Handled int
}

func (l *Livelock) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "livelock: the instant %s has not ended after %d messages; busiest:", l.At.UTC().Format(time.RFC3339Nano), l.Handled)
	for _, actor := range l.Busiest {
		fmt.Fprintf(&b, " %s (%d)", actor.Address, actor.Handled)
	}
	return b.String()
}

// sampleSize is how many messages beyond its limit an instant may take, so that a Livelock can name the
// busiest actors: that spares every actor a counter.
const sampleSize = 10_000

// overrun counts a message beyond the limit, and returns the error once the sample is complete.
func (l *lane) overrun(a messages.Address) error {
	if l.kernel.most > 0 {
		return ErrInterrupted
	}
	if l.sample == nil {
		l.sample = map[messages.Address]int{}
	}
	l.sample[a]++
	if l.handled < l.limit+sampleSize {
		return nil
	}
	busiest := make([]BusyActor, 0, len(l.sample))
	for address, n := range l.sample {
		busiest = append(busiest, BusyActor{Address: address, Handled: n})
	}
	slices.SortFunc(busiest, func(a, b BusyActor) int {
		return cmp.Or(cmp.Compare(b.Handled, a.Handled), cmp.Compare(a.Address.Kind, b.Address.Kind), cmp.Compare(a.Address.Name, b.Address.Name))
	})
	return &Livelock{At: l.now, Handled: l.handled, Busiest: busiest[:min(10, len(busiest))]}
}

// RunUpTo is RunInstant that ends early, with ErrInterrupted, once a lane has handled n messages, of which
// there must be one at least. The next call goes on with the rest.
func (k *Kernel) RunUpTo(now time.Time, n int) error {
	k.most = n
	defer func() { k.most = 0 }()
	return k.RunInstant(now)
}

// Lose drops what waits in mailboxes and is lost, as mail is when a process dies. It asks once for each message,
// those of an actor in their order.
func (k *Kernel) Lose(lost func(to messages.Address, m messages.Message) bool) {
	k.mustBeIdle("Lose")
	for _, l := range k.lanes {
		l.lose(lost)
	}
}

func (l *lane) lose(lost func(to messages.Address, m messages.Message) bool) {
	l.ready.n = 0
	for id := range l.cells.used {
		c := l.cells.at(id)
		if c.host == nil {
			continue
		}
		to := c.address()
		l.counters.DroppedByLoss += l.mail.sift(&c.mailbox, func(m messages.Message) bool { return lost(to, m) })
		switch {
		case !c.mailbox.empty():
			l.ready.push(id)
		case c.stopping:
			l.end(id)
		}
	}
}
