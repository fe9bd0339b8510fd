package kernel

import (
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"leeward/actors"
	"leeward/messages"
)

// Machine is what the kernel runs: one actor's state and transitions. M is the sealed set of messages
// that it understands; any other message is a panic of the machine.
//
// A machine must expect a Woken that it no longer wants: one that is on its way when another message
// makes the machine change its alarm still arrives.
type Machine[M messages.Message] interface {
	Receive(now time.Time, m M, out *actors.Outbox)
}

// Config is how a kernel runs its actors.
type Config struct {
	// Lanes is how many run in parallel. Zero: one.
	Lanes int
	// Order decides whose turn is next. Zero: FIFO. Several lanes know no other.
	Order Order
	// Seed picks the interleaving that Seeded runs. FIFO ignores it.
	Seed uint64
	// Record hears every fact, in the order in which its actor recorded it, on the goroutine that runs the
	// instant. It may post, spawn, host and stop. One lane tells a fact when it happens, several when all
	// are quiet. Zero: facts are only counted.
	Record func(at time.Time, from messages.Address, f messages.Fact)
	// Observe hears every fact when it happens, on the goroutine of its actor's lane, so of several lanes at
	// once. It must leave the kernel alone. Zero: there is no listener.
	Observe func(from Seat, at time.Time, f messages.Fact)
	// Clock tells how long something takes, for Spent: any reading, as long as it never goes back. Several
	// lanes read it in parallel. Zero: nothing is timed.
	Clock func() time.Duration
	// MaxPerInstant is how many messages one instant may take of a lane before RunInstant gives up with a
	// *Livelock. Zero: a million, or 100 for each actor if that is more.
	MaxPerInstant int
	// Watched marks each turn, for a Watchdog. Zero: there is none.
	Watched bool
	// Quarantined are addresses at which no actor is on purpose: what is sent there is counted by itself.
	Quarantined map[messages.Address]bool
}

// Seat is where an actor is: on which lane, and there a small number that no other has until it has ended.
type Seat struct{ Lane, Number int32 }

// Kernel hosts actors and runs their messages. It belongs to one goroutine: a daemon hands what comes
// from elsewhere to the goroutine that runs the kernel.
type Kernel struct {
	config Config
	lanes  []*lane
	seed   maphash.Seed // which actor is on which lane
	// busy counts the lanes that run; ready are those that the running instant starts with.
	busy  sync.WaitGroup
	ready []*lane

	now             time.Time
	running, closed bool
	interrupted     atomic.Bool
	givenUp         atomic.Bool
	posted          uint64
	most            int // that a lane may handle in the running instant; zero: any number
}

// New returns a kernel without actors. The caller must Close it.
func New(config Config) *Kernel {
	k := &Kernel{config: config, seed: maphash.MakeSeed()}
	n := max(1, config.Lanes)
	if n > 1 && config.Order != FIFO {
		panic(fmt.Sprintf("kernel: %d lanes in an order other than FIFO", n))
	}
	for i := range n {
		k.lanes = append(k.lanes, newLane(k, i, n))
	}
	return k
}

// home is the lane of an address. Singletons share the first, which gets half as many of the others as it would without
// them: every binding keeps the scheduler busy.
func (k *Kernel) home(a messages.Address) *lane {
	n := uint64(len(k.lanes))
	if n == 1 || a.Name == "" {
		return k.lanes[0]
	}
	hash := maphash.String(k.seed, a.Name)
	if hash%(2*n) == 0 {
		return k.lanes[0]
	}
	return k.lanes[1+hash/(2*n)%(n-1)]
}

// Post sends m from outside: a scenario step, an API request, an agent's report. It returns the number
// of this input, counted from 1. Where there is no actor at to it is a dead letter, not an error.
func (k *Kernel) Post(to messages.Address, m messages.Message) uint64 {
	mustBeMessage(to, m)
	k.posted++
	k.home(to).send(to, m, noSender)
	return k.posted
}

// PostAll sends m from outside to every actor of a kind, in the order in which they got their cells. All of a million share it,
// and no address is looked up.
func (k *Kernel) PostAll(kind messages.Kind, m messages.Message) {
	mustBeMessage(messages.Address{Kind: kind}, m)
	for _, l := range k.lanes {
		for id := range l.cells.used {
			if c := l.cells.at(id); c.host != nil && c.kind == kind && !c.stopping {
				k.posted++
				l.deliver(id, m, noSender)
			}
		}
	}
}

// mustBeMessage panics on nil, which in a mailbox protoactor takes for an empty one.
func mustBeMessage(to messages.Address, m messages.Message) {
	if m == nil {
		panic(fmt.Sprintf("kernel: nil message to %s", to))
	}
}

// Has returns whether an actor at a takes messages.
func (k *Kernel) Has(a messages.Address) bool {
	_, ok := k.home(a).directory.find(a)
	return ok
}

// Stop ends the actor at a, if there is one, after the messages that it has been sent so far. From now
// on a is free for another actor, and without one what is sent there is a dead letter.
func (k *Kernel) Stop(a messages.Address) {
	l := k.home(a)
	if id, ok := l.directory.find(a); ok {
		l.stop(id)
	}
}

// Next returns the earliest deadline that an actor has asked to be woken at, in UTC, and false if there
// is none.
func (k *Kernel) Next() (next time.Time, found bool) {
	for _, l := range k.lanes {
		if at, ok := l.deadlines.Next(); ok {
			next = actors.Earlier(next, time.Unix(0, at).UTC())
		}
	}
	return next, !next.IsZero()
}

// Deadlines returns how many actors have asked to be woken at a later instant.
func (k *Kernel) Deadlines() (n int) {
	for _, l := range k.lanes {
		n += l.deadlines.Len()
	}
	return n
}

// Close stops all actors and drops what they have not handled. It must not be called while an
// instant runs.
func (k *Kernel) Close() {
	k.mustBeIdle("Close")
	k.closed = true
	for _, l := range k.lanes {
		l.close()
	}
}

func (k *Kernel) mustBeIdle(what string) {
	if k.running {
		panic("kernel: " + what + " while an instant runs")
	}
}

var (
	errClosed = errors.New("the kernel is closed")
	errInUse  = errors.New("the address is in use")
)
