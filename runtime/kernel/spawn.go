package kernel

import (
	"fmt"
	"reflect"

	"github.com/asynkron/protoactor-go/actor"

	"leeward/messages"
)

// Spawn starts machine as a protoactor actor at a: for actors of which there are tens or thousands.
// It fails if a is in use or the kernel closed.
func Spawn[M messages.Message](k *Kernel, a messages.Address, machine Machine[M]) error {
	mustBeMachine(a, machine == nil)
	l := k.home(a)
	return l.spawn(a, &protoMailbox{host: hosted[M]{}}, func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case actor.SystemMessage, actor.AutoReceiveMessage: // protoactor tells of its own affairs
		default:
			machine.Receive(l.now, understood[M](m), &l.out)
		}
	})
}

// Host starts machine as a local actor at a, in a slot of its lane's slab: for actors of which there
// may be a million. It fails if a is in use or the kernel closed.
func Host[M messages.Message](k *Kernel, a messages.Address, machine Machine[M]) error {
	mustBeMachine(a, machine == nil)
	l := k.home(a)
	if _, err := l.add(a, cell{host: hosted[M]{}, machine: machine, reads: l.readsAhead(machine)}); err != nil {
		return fmt.Errorf("host %s: %w", a, err)
	}
	return nil
}

func mustBeMachine(a messages.Address, isNil bool) {
	if isNil {
		panic(fmt.Sprintf("kernel: nil machine for %s", a))
	}
}

// understood narrows m to what a machine understands.
func understood[M messages.Message](m messages.Message) M {
	if m, ok := m.(M); ok {
		return m
	}
	panic(fmt.Sprintf("kernel: the machine takes %v, not %T", reflect.TypeFor[M](), m))
}

// hosted hosts machines of one kind. It has no state: what there is to know of an actor is in its cell.
type hosted[M messages.Message] struct{}

func (hosted[M]) deliver(l *lane, machine any, m messages.Message) {
	machine.(Machine[M]).Receive(l.now, understood[M](m), &l.out)
}

func (hosted[M]) takes(m any) bool {
	_, ok := m.(M)
	return ok
}

func (hosted[M]) fail(h handle, _ *MachinePanic) { h.stop() }
func (hosted[M]) end()                           {}

func (l *lane) spawn(a messages.Address, box *protoMailbox, receive actor.ReceiveFunc) error {
	h, err := l.add(a, cell{host: box})
	if err != nil {
		return fmt.Errorf("spawn %s: %w", a, err)
	}
	box.handle = h
	props := actor.PropsFromFunc(receive,
		actor.WithMailbox(func() actor.Mailbox { return box }),
		actor.WithDispatcher(inline),
		actor.WithGuardian(stopOnPanic{}))
	if _, err := protoactor().Root.SpawnNamed(props, l.address+"/"+h.name()); err != nil {
		panic(fmt.Sprintf("kernel: protoactor refused %s, a name that no other actor has: %v", h.name(), err))
	}
	return nil
}

// inline is the dispatcher of every spawned actor. The lane runs protoMailbox and needs none; but
// protoactor's default would start goroutines, and it is not left to chance that nothing calls it.
var inline = actor.NewSynchronizedDispatcher(1)

// protoMailbox is what protoactor knows as the mailbox of a spawned actor. User messages queue in the
// actor's cell, to be delivered one at a time when the lane says so. System messages, with which
// protoactor starts, watches and ends an actor, take effect immediately, except that stopping waits for
// what is queued.
type protoMailbox struct {
	handle
	host    // says what the machine takes
	invoker actor.MessageInvoker
}

var (
	_ actor.Mailbox = (*protoMailbox)(nil)
	_ host          = (*protoMailbox)(nil)
)

func (b *protoMailbox) PostUserMessage(m any) { b.SendUserMessage(nil, m) }

func (b *protoMailbox) PostSystemMessage(m any) {
	switch m.(type) {
	case *actor.Stop:
		b.stop()
	case *actor.SuspendMailbox, *actor.ResumeMailbox:
		// Suspension protects the mail of an actor that will be restarted; ours is stopped.
	default:
		b.invoker.InvokeSystemMessage(m)
	}
}

func (b *protoMailbox) RegisterHandlers(invoker actor.MessageInvoker, _ actor.Dispatcher) {
	b.invoker = invoker
}

func (b *protoMailbox) Start() {}

// UserMessageCount is for protoactor's metrics, which stay off: eight allocations for each message.
func (b *protoMailbox) UserMessageCount() int { return 0 }

func (b *protoMailbox) deliver(_ *lane, _ any, m messages.Message) { b.invoker.InvokeUserMessage(m) }

func (b *protoMailbox) fail(_ handle, p *MachinePanic) { b.invoker.EscalateFailure(p, p.Message) }

func (b *protoMailbox) end() { b.invoker.InvokeSystemMessage(&actor.Stop{}) }

// stopOnPanic supervises all spawned actors: a machine that has panicked has no state to go on with.
// The host that can rebuild it from the journal spawns another. Protoactor's own default restarts an actor
// ten times in ten seconds of wall-clock time, which a replay neither has nor may look at. It is one
// value for all kernels because protoactor keeps a guardian per strategy, for ever.
type stopOnPanic struct{}

func (stopOnPanic) HandleFailure(_ *actor.ActorSystem, supervisor actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, _, _ any) {
	supervisor.StopChildren(child)
}
