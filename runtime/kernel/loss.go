package kernel

import (
	"time"

	"leeward/messages"
)

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
