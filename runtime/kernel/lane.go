package kernel

import (
	"runtime/debug"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel/timers"
)

// lane runs its share of a kernel's actors, one message at a time.
type lane struct {
	kernel  *Kernel
	index   int
	address string // of all its PIDs

	cells     slab
	directory directory
	mail      letters
	ready     readyList
	freight   freight

	deadlines timers.Heap // alarms armed for a later instant, in Unix nanoseconds
	endings   timers.Heap // alarms armed for the running instant, by kind
	due       []int32     // scratch: whose endings come now

	now       time.Time
	instant   int64                    // now in Unix nanoseconds
	handled   int                      // messages at this instant
	limit     int                      // that handled is not to exceed
	sample    map[messages.Address]int // of those who exceed it
	turn      int32                    // whose turn it is
	receiving bool                     // its machine has not returned yet
	step      step                     // of the turn, for a watchdog
	watched   bool                     // there may be one
	out       actors.Outbox
	err       error // that ended its run

	serial   uint32
	reads    bool // some machine is a reader
	read     int  // ahead, and of no meaning
	counters Counters
	gauges   gauges
}

func newLane(k *Kernel, index, of int) *lane {
	l := &lane{
		kernel: k, index: index, watched: k.config.Watched, ready: newReadyList(k.config.Order, k.config.Seed),
		freight: freight{leaving: make([]*parcel, of)},
	}
	l.directory = newDirectory(&l.cells)
	l.address = protoactor().join(l)
	return l
}

func (l *lane) close() {
	protoactor().leave(l)
	l.ready.n = 0
	for id := range l.cells.used {
		if l.cells.at(id).host != nil {
			l.counters.DroppedAtClose += l.mail.drop(&l.cells.at(id).mailbox)
			l.stop(id)
		}
	}
}

// add gives an actor its cell and its place in the directory.
func (l *lane) add(a messages.Address, c cell) (handle, error) {
	if l.kernel.closed {
		return handle{}, errClosed
	}
	if _, taken := l.directory.find(a); taken {
		return handle{}, errInUse
	}
	l.serial++
	c.kind, c.name, c.serial = a.Kind, a.Name, l.serial
	id := l.cells.add(c)
	l.directory.enter(a, id)
	return handle{lane: l, id: id, serial: c.serial}, nil
}

// send puts m into the mailbox of the actor at to.
func (l *lane) send(to messages.Address, m messages.Message, from int32) {
	id, ok := l.directory.find(to)
	if !ok {
		l.undelivered(to)
		return
	}
	l.deliver(id, m, from)
}

// undelivered counts a message to an address at which no actor is.
func (l *lane) undelivered(to messages.Address) {
	if l.kernel.config.Quarantined[to] {
		l.counters.DroppedByQuarantine++
		return
	}
	l.counters.DeadLettered++
}

func (l *lane) deliver(id int32, m messages.Message, from int32) {
	c := l.cells.at(id)
	if c.mailbox.empty() {
		l.ready.push(id)
	}
	l.mail.push(&c.mailbox, m, from)
}

// isAt reports whether an actor takes what is sent to an address. It may have ended, and its cell be another's.
func (l *lane) isAt(id int32, a messages.Address) bool {
	if id == noSender {
		return false
	}
	c := l.cells.at(id)
	return c.is(a) && c.host != nil && !c.stopping
}

// stop takes the actor out of the directory and ends it once its mailbox is empty.
func (l *lane) stop(id int32) {
	c := l.cells.at(id)
	if !c.stopping {
		c.stopping = true
		l.directory.remove(c.address())
		l.deadlines.Clear(id)
		l.endings.Clear(id)
	}
	if c.mailbox.empty() {
		l.end(id)
	}
}

// end frees the cell. Its next tenant has another serial, so PIDs of this one reach no actor.
func (l *lane) end(id int32) {
	l.cells.at(id).host.end()
	l.cells.remove(id)
}

// runToQuiet gives turns until no actor has mail. One deferred recover serves all turns, because a
// panic ends the run anyway; a panic that is not a machine's is not ours to catch.
func (l *lane) runToQuiet() (err error) {
	defer func() {
		if l.receiving {
			l.receiving = false
			value := recover()
			if l.watched && !l.step.end() {
				err = ErrGivenUp
				return
			}
			err = l.fail(value, debug.Stack())
		}
	}()
	l.gauges.begin(l)
	defer l.gauges.end(l)
	for l.ready.n > 0 {
		if l.handled%turnsAhead == 0 {
			l.readAhead()
		}
		address, done := l.giveTurn()
		if !done {
			return ErrGivenUp
		}
		if l.handled%turnsBetweenPulses == 0 && l.pulse() {
			return ErrInterrupted
		}
		if len(l.freight.leaving) > 1 {
			l.exchange()
		}
		if l.handled > l.limit {
			if err := l.overrun(address); err != nil {
				return err
			}
		}
	}
	return nil
}

// giveTurn gives one actor one turn and returns whose it was; false where a watchdog has given up the kernel meanwhile.
func (l *lane) giveTurn() (whose messages.Address, done bool) {
	id := l.ready.pop()
	c := l.cells.at(id)
	address := c.address()
	l.handled++
	l.gauges.turn(l, c.kind)
	l.turn, l.receiving = id, true
	if l.watched {
		l.step.begin(address)
	}
	c.host.deliver(l, c.machine, l.mail.first(c.mailbox))
	for _, mail := range l.out.Mail() {
		mustBeMessage(mail.To, mail.Message)
	}
	l.receiving = false
	if l.watched && !l.step.end() {
		return address, false
	}
	l.counters.Handled++
	l.carryOut(id, address)
	// The letter goes last: as long as its mailbox is not empty, an actor that sends to itself does not
	// become ready a second time, and one that is stopped does not end in the middle of its turn.
	l.mail.pop(&c.mailbox)
	switch {
	case !c.mailbox.empty():
		l.ready.push(id)
	case c.stopping:
		l.end(id)
	}
	return address, true
}

// carryOut does what the machine has asked for in its outbox.
func (l *lane) carryOut(id int32, from messages.Address) {
	for _, fact := range l.out.Facts() {
		l.record(id, from, fact)
	}
	asker := l.mail.sender(l.cells.at(id).mailbox)
	for _, mail := range l.out.Mail() {
		l.counters.Sent++
		if l.isAt(asker, mail.To) { // an answer needs no directory, and no hash of a name that is not in the cache
			l.deliver(asker, mail.Message, id)
			continue
		}
		if to := l.kernel.home(mail.To); to != l {
			l.ship(to, mail)
			continue
		}
		l.send(mail.To, mail.Message, id)
	}
	if at, set := l.out.Alarm(); set {
		l.arm(id, at)
	}
	l.out.Reset()
}

// record tells a fact, or keeps it until all lanes are quiet.
func (l *lane) record(id int32, from messages.Address, f messages.Fact) {
	l.counters.Facts++
	if l.kernel.config.Observe != nil {
		l.kernel.config.Observe(Seat{int32(l.index), id}, l.now, f)
	}
	switch {
	case l.kernel.config.Record == nil:
	case len(l.kernel.lanes) == 1:
		l.kernel.config.Record(l.now, from, f)
	default:
		l.freight.facts = append(l.freight.facts, recorded{from, f})
	}
}

// arm replaces the actor's alarm.
func (l *lane) arm(id int32, at time.Time) {
	l.endings.Clear(id)
	c := l.cells.at(id)
	ns := nanoseconds(at)
	switch {
	case at.IsZero(), ns == never, c.stopping:
		l.deadlines.Clear(id)
	case ns <= l.instant:
		l.deadlines.Clear(id)
		l.endings.Set(id, int64(c.kind))
	default:
		l.deadlines.Set(id, ns)
	}
}
