package kernel

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"leeward/messages"
)

// ErrGivenUp ends the instant of a kernel that a watchdog has given up, once the machine returns that was stuck.
var ErrGivenUp = errors.New("the kernel was given up")

// MachineStuck is the error of a machine whose step does not return.
type MachineStuck struct {
	Address messages.Address
	Message messages.Message // that it does not return from
}

func (s *MachineStuck) Error() string {
	return fmt.Sprintf("the step of %s does not return from %T", s.Address, s.Message)
}

// step shows a watchdog the turn of a lane. The first to end it, the lane or the watchdog, decides whether anything comes of
// it: a goroutine cannot be ended, but what it computes can be discarded.
type step struct {
	// turn has the number of the lane's turn with the bits below while a machine receives; 0 between two turns; givenUp once a
	// watchdog has ended it.
	turn   atomic.Uint64
	number uint64
	marked uint64
	// giving is held while a watchdog looks at a lane that it has given up.
	giving sync.Mutex
}

const (
	receives  = 1 << iota // a machine receives
	singleton             // it serves the whole fleet
	numbered              // the first bit of the number
	givenUp   = singleton // no machine receives
)

// begin marks that a machine is about to receive.
func (s *step) begin(to messages.Address) {
	s.number += numbered
	s.marked = s.number | receives
	if to.Name == "" {
		s.marked |= singleton
	}
	s.turn.Store(s.marked)
}

// end reports whether the lane carries out what the machine asked for. Else the kernel was given up meanwhile.
func (s *step) end() bool {
	if s.turn.CompareAndSwap(s.marked, 0) {
		return true
	}
	s.giving.Lock() // the watchdog reads what is this lane's otherwise
	defer s.giving.Unlock()
	return false
}

// singletonPatience is how many times as long the step of a machine may last that serves the whole fleet: it has most to do, and
// no other does its work meanwhile.
const singletonPatience = 6

// Watchdog finds a machine whose step does not return. Unlike its kernel it is for another goroutine than that which runs
// instants.
type Watchdog struct {
	kernel *Kernel
	looks  int
	seen   []glance // by lane
}

// glance is the turn that was seen last, and how often.
type glance struct {
	turn  uint64
	times int
}

// Watch returns a watchdog of a kernel whose Config is Watched. A machine is stuck that it sees at the same step at so many
// looks in a row, one of the fleet's singletons at six times as many. It counts looks, not time: a process that was suspended
// for an hour looks once.
func (k *Kernel) Watch(looks int) *Watchdog {
	return &Watchdog{kernel: k, looks: looks, seen: make([]glance, len(k.lanes))}
}

// Look returns a machine that is stuck; nil: none is. With one it gives up the kernel: whatever the machines still do changes
// nothing outside of the kernel any more, no fact is told, and the running instant ends with an error if the machine ever
// returns.
func (w *Watchdog) Look() *MachineStuck {
	for i, l := range w.kernel.lanes {
		g, turn := &w.seen[i], l.step.turn.Load()
		if turn&receives == 0 || turn != g.turn {
			*g = glance{turn: turn}
			continue
		}
		g.times++
		if g.times < w.patience(turn) {
			continue
		}
		if stuck := l.giveUp(turn); stuck != nil {
			return stuck
		}
	}
	return nil
}

func (w *Watchdog) patience(turn uint64) int {
	if turn&singleton != 0 {
		return singletonPatience * w.looks
	}
	return w.looks
}

// giveUp ends a turn in place of the lane; nil: the lane was faster.
func (l *lane) giveUp(turn uint64) *MachineStuck {
	l.step.giving.Lock()
	defer l.step.giving.Unlock()
	if !l.step.turn.CompareAndSwap(turn, givenUp) {
		return nil
	}
	l.kernel.givenUp.Store(true)
	l.kernel.Interrupt() // the other lanes
	c := l.cells.at(l.turn)
	return &MachineStuck{Address: c.address(), Message: l.mail.first(c.mailbox)}
}
