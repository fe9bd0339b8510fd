// Package kernel runs machines as actors: it is the one place that knows protoactor, and knows only
// its local core.
//
// A kernel is a lane: one goroutine, its caller's, that gives one actor one message at a time. Each
// actor sees its messages in the order they were sent to it; whose turn is next is decided by the
// Order, so a seed explores the interleavings that an asynchronous fleet could show, and repeats any
// of them. After each message the kernel carries the machine's outbox out: facts to Record, mail to
// mailboxes, the alarm to the deadlines.
//
// An actor is either spawned, an ordinary protoactor actor, or hosted, a slot in the kernel's slab:
// 64 bytes and an entry in the directory instead of the 700 bytes that protoactor asks for, because
// there may be a million bindings. They share one lane and one ready list, and both have a PID.
package kernel

import (
	"errors"
	"fmt"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/timers"
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
	// Order decides whose turn is next. Zero: FIFO.
	Order Order
	// Seed picks the interleaving that Seeded runs. FIFO ignores it.
	Seed uint64
	// Record hears every fact, at the instant and in the order of its happening. It may post, spawn,
	// host and stop. Zero: facts are only counted.
	Record func(at time.Time, from messages.Address, f messages.Fact)
	// MaxPerInstant is how many messages one instant may take before RunInstant gives up with a
	// *Livelock. Zero: a million, or 100 for each actor if that is more.
	MaxPerInstant int
}

// Kernel hosts actors and runs their messages. It belongs to one goroutine: a daemon hands what comes
// from elsewhere to the goroutine that runs the kernel.
type Kernel struct {
	config  Config
	address string // of all its PIDs
	closed  bool

	cells     slab
	directory directory
	mail      letters
	ready     readyList

	deadlines timers.Heap // alarms armed for a later instant, in Unix nanoseconds
	endings   timers.Heap // alarms armed for the running instant, by kind
	due       []int32     // scratch: whose endings come now

	now       time.Time
	instant   int64                    // now in Unix nanoseconds
	handled   int                      // messages at this instant
	limit     int                      // that handled is not to exceed
	sample    map[messages.Address]int // of those who exceed it
	running   bool
	turn      int32 // whose turn it is
	receiving bool  // its machine has not returned yet
	out       actors.Outbox

	serial   uint32
	counters Counters
}

// New returns a kernel without actors. Whoever makes it must Close it.
func New(config Config) *Kernel {
	k := &Kernel{config: config, ready: newReadyList(config.Order, config.Seed)}
	k.directory = newDirectory(&k.cells)
	k.address = protoactor().join(k)
	return k
}

// Post sends m from outside: a scenario step, an API request, an agent's report. It returns the number
// of this input, counted from 1. There being nobody at to makes it a dead letter, not an error.
func (k *Kernel) Post(to messages.Address, m messages.Message) uint64 {
	mustBeMessage(to, m)
	k.counters.Posted++
	k.send(to, m)
	return k.counters.Posted
}

// mustBeMessage panics on nil, which in a mailbox protoactor takes for an empty one.
func mustBeMessage(to messages.Address, m messages.Message) {
	if m == nil {
		panic(fmt.Sprintf("kernel: nil message to %s", to))
	}
}

// Has returns whether an actor at a takes messages.
func (k *Kernel) Has(a messages.Address) bool {
	_, ok := k.directory.find(a)
	return ok
}

// Stop ends the actor at a, if there is one, after the messages that it has been sent so far. From now
// on a is free for another actor, and without one what is sent there is a dead letter.
func (k *Kernel) Stop(a messages.Address) {
	if id, ok := k.directory.find(a); ok {
		k.stop(id)
	}
}

// Next returns the earliest deadline that an actor has asked to be woken at, in UTC, and false if there
// is none.
func (k *Kernel) Next() (time.Time, bool) {
	at, ok := k.deadlines.Next()
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(0, at).UTC(), true
}

// Close stops all actors at once and drops what they have not handled. It must not be called while an
// instant runs.
func (k *Kernel) Close() {
	k.mustBeIdle("Close")
	k.closed = true
	protoactor().leave(k)
	k.ready.n = 0
	for id := range k.cells.used {
		if k.cells.at(id).host != nil {
			k.counters.DroppedAtClose += k.mail.drop(&k.cells.at(id).mailbox)
			k.stop(id)
		}
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

// add gives an actor its cell and its place in the directory.
func (k *Kernel) add(a messages.Address, c cell) (handle, error) {
	if k.closed {
		return handle{}, errClosed
	}
	if k.Has(a) {
		return handle{}, errInUse
	}
	k.serial++
	c.kind, c.name, c.serial = a.Kind, a.Name, k.serial
	id := k.cells.add(c)
	k.directory.enter(a, id)
	return handle{kernel: k, id: id, serial: c.serial}, nil
}

// send puts m into the mailbox of whoever is at to.
func (k *Kernel) send(to messages.Address, m messages.Message) {
	id, ok := k.directory.find(to)
	if !ok {
		k.counters.DeadLettered++
		return
	}
	k.deliver(id, m)
}

func (k *Kernel) deliver(id int32, m messages.Message) {
	c := k.cells.at(id)
	if c.mailbox.empty() {
		k.ready.push(id)
	}
	k.mail.push(&c.mailbox, m)
}

// stop takes the actor out of the directory and ends it once its mailbox is empty.
func (k *Kernel) stop(id int32) {
	c := k.cells.at(id)
	if !c.stopping {
		c.stopping = true
		k.directory.remove(c.address())
		k.deadlines.Clear(id)
		k.endings.Clear(id)
	}
	if c.mailbox.empty() {
		k.end(id)
	}
}

// end frees the cell. Its next tenant has another serial, so PIDs of this one reach nobody.
func (k *Kernel) end(id int32) {
	k.cells.at(id).host.end()
	k.cells.remove(id)
}
