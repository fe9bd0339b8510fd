package kernel

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"leeward/messages"
)

// system is the actor system that all kernels of the process share. Making one takes 3 ms and 2.9 MB
// (BenchmarkActorSystem), a kernel less than a microsecond (BenchmarkNew), and a replay makes a kernel
// for each of hundreds of seeds. They do not meet in it: each lane has an address of its own, with which the
// name of every actor that it spawns begins.
//
// An address resolver cannot be taken back and the list of them has no lock. So there is one, registered
// before the system is used, with a table of the lanes that are open.
type system struct {
	*actor.ActorSystem
	mu     sync.RWMutex
	joined uint64
	lanes  map[string]*lane // by address
}

var protoactor = sync.OnceValue(newSystem)

func newSystem() *system {
	s := &system{lanes: map[string]*lane{}}
	s.ActorSystem = actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }),
		// Protoactor's first dead letter of an interval starts a goroutine that lives until its end, a
		// second by default, to tell a log that is not read. Zero would panic.
		actor.WithDeadLetterThrottleInterval(1))
	s.ProcessRegistry.RegisterAddressResolver(s.resolve)
	return s
}

// join returns the address of l, which no other lane of the process has had.
func (s *system) join(l *lane) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joined++
	address := "leeward-" + strconv.FormatUint(s.joined, 10)
	s.lanes[address] = l
	return address
}

func (s *system) leave(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lanes, l.address)
}

// resolve finds the process behind a PID, once: protoactor then keeps it in the PID.
func (s *system) resolve(pid *actor.PID) (actor.Process, bool) {
	s.mu.RLock()
	l, ok := s.lanes[pid.Address]
	s.mu.RUnlock()
	if !ok {
		return nil, false
	}
	serial, err := strconv.ParseUint(pid.Id[strings.LastIndexByte(pid.Id, '#')+1:], 10, 32)
	return handle{lane: l, id: int32(pid.RequestId), serial: uint32(serial)}, err == nil && serial != 0
}

// PID returns the address under which protoactor code reaches the actor at a, and false if there is
// none. It is of this actor only: after it has been stopped, what is sent to its PID is a dead letter,
// even if another actor has taken its address. Like all else of a kernel, a PID is for the goroutine
// that runs it.
func (k *Kernel) PID(a messages.Address) (pid *actor.PID, ok bool) {
	l := k.home(a)
	id, ok := l.directory.find(a)
	if !ok {
		return nil, false
	}
	h := handle{lane: l, id: id, serial: l.cells.at(id).serial}
	return &actor.PID{Address: l.address, Id: h.name(), RequestId: uint32(id)}, true
}

// handle is one actor as protoactor sees it. It stays valid when the actor has ended.
type handle struct {
	lane   *lane
	id     int32
	serial uint32
}

var _ actor.Process = handle{}

// name tells the actor from all others that the kernel has had, before and after it at its address too.
func (h handle) name() string {
	return fmt.Sprintf("%s#%d", h.lane.cells.at(h.id).address(), h.serial)
}

// cell returns the actor's cell, or nil if the actor has ended.
func (h handle) cell() *cell {
	cells := &h.lane.cells
	if uint32(h.id) >= uint32(cells.used) || cells.at(h.id).serial != h.serial {
		return nil
	}
	return cells.at(h.id)
}

func (h handle) stop() {
	if h.cell() != nil {
		h.lane.stop(h.id)
	}
}

// SendUserMessage posts a message, or stops the actor if it is protoactor's poison pill.
func (h handle) SendUserMessage(pid *actor.PID, message any) {
	switch m := actor.UnwrapEnvelopeMessage(message).(type) {
	case nil:
		panic(fmt.Sprintf("kernel: nil message to %v", pid))
	case *actor.PoisonPill:
		h.stop()
	default:
		h.post(m)
	}
}

func (h handle) post(m messages.Message) {
	h.lane.kernel.posted++
	switch c := h.cell(); {
	case c == nil || c.stopping:
		h.lane.counters.DeadLettered++
	case !c.host.takes(m):
		h.lane.counters.DroppedForeign++
	default:
		h.lane.deliver(h.id, m, noSender)
	}
}

// SendSystemMessage stops the actor. It cannot be watched: a watcher hears from protoactor's dead
// letters that there is nothing here.
func (h handle) SendSystemMessage(pid *actor.PID, message any) {
	if _, ok := message.(*actor.Stop); ok {
		h.stop()
		return
	}
	protoactor().DeadLetter.SendSystemMessage(pid, message)
}

// Stop stops the actor, unlike protoactor's own after the messages that it has been sent so far.
func (h handle) Stop(*actor.PID) { h.stop() }
