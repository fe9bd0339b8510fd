package kernel

import (
	"sync"

	"leeward/actors"
	"leeward/messages"
)

// freight is what a lane has for the others, and they for it, while several run in parallel.
type freight struct {
	// leaving has, for each other lane, the parcel that is being packed.
	leaving []*parcel
	// facts wait until all lanes are quiet.
	facts []recorded
	turns int // since the last exchange

	mu sync.Mutex
	// arrived parcels, in order; of one sender they stay in its order.
	arrived []*parcel
	// open is set while the lane runs, or is about to: only then the lane unpacks.
	open bool
}

// parcel is mail from one lane to another. It travels whole, because a lock for each letter would cost
// more than the letter.
type parcel struct{ mail []actors.Mail }

type recorded struct {
	from messages.Address
	fact messages.Fact
}

const (
	// parcelSize is how much mail one parcel takes.
	parcelSize = 128
	// turnsBetweenExchanges is how many turns a busy lane takes before it looks for mail from others, and
	// sends off what it has for them.
	turnsBetweenExchanges = 128
)

var parcels = sync.Pool{New: func() any { return &parcel{mail: make([]actors.Mail, 0, parcelSize)} }}

// ship packs mail for another lane.
func (l *lane) ship(to *lane, mail actors.Mail) {
	p := l.freight.leaving[to.index]
	if p == nil {
		p = parcels.Get().(*parcel)
		l.freight.leaving[to.index] = p
	}
	p.mail = append(p.mail, mail)
	if len(p.mail) == parcelSize {
		l.sendOff(to)
	}
}

// sendOff hands a lane its parcel, and starts the lane if it does not run.
func (l *lane) sendOff(to *lane) {
	p := l.freight.leaving[to.index]
	l.freight.leaving[to.index] = nil
	f := &to.freight
	f.mu.Lock()
	f.arrived = append(f.arrived, p)
	starts := !f.open
	f.open = true
	f.mu.Unlock()
	if starts {
		l.kernel.busy.Add(1) // this lane still runs, so all of them were not seen quiet
		go to.run()
	}
}

func (l *lane) sendAllOff() {
	for i, p := range l.freight.leaving {
		if p != nil {
			l.sendOff(l.kernel.lanes[i])
		}
	}
}

// unpack puts what has arrived into mailboxes. Without anything it leaves the lane closed, if told to, and
// returns false.
func (l *lane) unpack(closing bool) bool {
	f := &l.freight
	f.mu.Lock()
	arrived := f.arrived
	f.arrived = nil
	f.open = !closing || len(arrived) > 0
	f.mu.Unlock()
	for _, p := range arrived {
		for _, mail := range p.mail {
			l.send(mail.To, mail.Message, noSender)
		}
		clear(p.mail)
		p.mail = p.mail[:0]
		parcels.Put(p)
	}
	return len(arrived) > 0
}

// exchange lets a lane that has run for a while send off and unpack, so that lanes work at the same time
// and not by turns.
func (l *lane) exchange() {
	if l.freight.turns++; l.freight.turns < turnsBetweenExchanges {
		return
	}
	l.freight.turns = 0
	l.sendAllOff()
	l.unpack(false)
}

// run gives turns until the lane has no mail and nothing has arrived. After an error it gives none and
// leaves the rest to the next instant.
func (l *lane) run() {
	defer l.kernel.busy.Done()
	for {
		if l.err == nil {
			l.err = l.runToQuiet()
		}
		l.sendAllOff()
		if !l.unpack(true) {
			return
		}
		l.gauges.publish(l)
	}
}

// recordAll tells the facts of all lanes.
func (k *Kernel) recordAll() {
	for _, l := range k.lanes {
		facts := l.freight.facts
		for _, r := range facts {
			k.config.Record(k.now, r.from, r.fact)
		}
		clear(facts)
		l.freight.facts = facts[:0]
	}
}

// cell is one actor, spawned or hosted. It fills one cache line, and so a turn at random among a
// million of them misses the cache once for the cell, not once per field.
type cell struct {
	host     host
	machine  any // of a hosted actor, a Machine; a spawned one has it inside protoactor
	name     string
	mailbox  mailbox
	serial   uint32 // tells the cell's tenants apart; 0 if it has none
	kind     messages.Kind
	stopping bool
	reads    bool // its machine is a reader
}

func (c *cell) address() messages.Address { return messages.Address{Kind: c.kind, Name: c.name} }

func (c *cell) is(a messages.Address) bool { return c.kind == a.Kind && c.name == a.Name }

// host is the way from a cell to its machine.
type host interface {
	// deliver hands m to the machine and returns when the machine has.
	deliver(l *lane, machine any, m messages.Message)
	// takes reports whether the machine takes m, which may be of any type.
	takes(m any) bool
	// fail supervises a panic: it must stop h's actor, whose mailbox is empty by now.
	fail(h handle, p *MachinePanic)
	// end tells that the cell is about to be given up.
	end()
}

const blockSize = 256

// slab holds cells under dense ids from 0. It grows by blocks, so a cell never moves.
type slab struct {
	blocks []*[blockSize]cell
	used   int32   // ids given out so far
	free   []int32 // of these, the ones without an actor
}

func (s *slab) at(id int32) *cell { return &s.blocks[uint32(id)/blockSize][uint32(id)%blockSize] }

// live returns the number of actors.
func (s *slab) live() int { return int(s.used) - len(s.free) }

func (s *slab) add(c cell) int32 {
	id := s.used
	if last := len(s.free) - 1; last >= 0 {
		id, s.free = s.free[last], s.free[:last]
	} else {
		s.used++
	}
	if int(id) == len(s.blocks)*blockSize {
		s.blocks = append(s.blocks, new([blockSize]cell))
	}
	*s.at(id) = c
	return id
}

func (s *slab) remove(id int32) {
	*s.at(id) = cell{}
	s.free = append(s.free, id)
}
