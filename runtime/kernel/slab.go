package kernel

import "leeward/messages"

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
