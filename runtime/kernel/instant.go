package kernel

import (
	"cmp"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"leeward/messages"
)

var woken = &messages.Woken{}

// RunInstant runs until nothing is left to do at now. First it handles all messages there are, and those
// that come of them. Then it wakes the actors whose deadline has come, or who asked during this instant
// to be woken at once, but only those of the lowest kind, in the order of their names, and handles what
// comes of that; and so on until all is quiet. So an actor that collects the requests of an instant sees
// all of them before it serves any, and what is heard at an instant comes before what falls due at it,
// whatever the order of the messages.
//
// It returns *MachinePanic when a machine panics and *Livelock when the instant does not end. Then work
// may be left, and the next call goes on with it: a caller that has replaced the machine calls again.
func (k *Kernel) RunInstant(now time.Time) error {
	k.mustBeIdle("RunInstant")
	k.running = true
	defer func() { k.running = false }()

	k.now, k.instant = now, nanoseconds(now)
	k.handled, k.limit, k.sample = 0, k.maxPerInstant(), nil
	k.wakeDue()
	for {
		if err := k.runToQuiet(); err != nil {
			return err
		}
		if !k.wakeLowestKind() {
			return nil
		}
	}
}

func (k *Kernel) maxPerInstant() int {
	if k.config.MaxPerInstant > 0 {
		return k.config.MaxPerInstant
	}
	return max(1_000_000, 100*k.cells.live())
}

// wakeDue has those whose deadline has come woken at the end of the instant, like those that ask during
// it: what is heard at an instant always comes before what falls due at it.
func (k *Kernel) wakeDue() {
	for id, ok := k.deadlines.PopDue(k.instant); ok; id, ok = k.deadlines.PopDue(k.instant) {
		k.endings.Set(id, int64(k.cells.at(id).kind))
	}
}

// wakeLowestKind wakes those of the lowest kind whose alarm was armed for this instant, and returns
// whether there were any.
func (k *Kernel) wakeLowestKind() bool {
	kind, ok := k.endings.Next()
	if !ok {
		return false
	}
	k.due = k.due[:0]
	for id, ok := k.endings.PopDue(kind); ok; id, ok = k.endings.PopDue(kind) {
		k.due = append(k.due, id)
	}
	slices.SortFunc(k.due, func(a, b int32) int { return cmp.Compare(k.cells.at(a).name, k.cells.at(b).name) })
	for _, id := range k.due {
		k.wake(id)
	}
	return true
}

func (k *Kernel) wake(id int32) {
	k.counters.Woken++
	k.deliver(id, woken)
}

// runToQuiet gives turns until no actor has mail. One deferred recover serves all turns, because a
// panic ends the run anyway; a panic that is not a machine's is not ours to catch.
func (k *Kernel) runToQuiet() (err error) {
	defer func() {
		if k.receiving {
			k.receiving = false
			err = k.fail(recover(), debug.Stack())
		}
	}()
	for k.ready.n > 0 {
		address := k.giveTurn()
		if k.handled > k.limit {
			if err := k.overrun(address); err != nil {
				return err
			}
		}
	}
	return nil
}

// giveTurn gives one actor one turn and returns whose it was.
func (k *Kernel) giveTurn() messages.Address {
	id := k.ready.pop()
	c := k.cells.at(id)
	address := c.address()
	k.handled++
	k.turn, k.receiving = id, true
	c.host.deliver(k, c.machine, k.mail.first(c.mailbox))
	for _, mail := range k.out.Mail() {
		mustBeMessage(mail.To, mail.Message)
	}
	k.receiving = false
	k.counters.Handled++
	k.carryOut(id, address)
	// The letter goes last: as long as its mailbox is not empty, an actor that sends to itself does not
	// become ready a second time, and one that is stopped does not end in the middle of its turn.
	k.mail.pop(&c.mailbox)
	switch {
	case !c.mailbox.empty():
		k.ready.push(id)
	case c.stopping:
		k.end(id)
	}
	return address
}

// carryOut does what the machine has asked for in its outbox.
func (k *Kernel) carryOut(id int32, from messages.Address) {
	for _, fact := range k.out.Facts() {
		k.counters.Facts++
		if k.config.Record != nil {
			k.config.Record(k.now, from, fact)
		}
	}
	for _, mail := range k.out.Mail() {
		k.counters.Sent++
		k.send(mail.To, mail.Message)
	}
	if at, set := k.out.Alarm(); set {
		k.arm(id, at)
	}
	k.out.Reset()
}

// arm replaces the actor's alarm.
func (k *Kernel) arm(id int32, at time.Time) {
	k.endings.Clear(id)
	c := k.cells.at(id)
	ns := nanoseconds(at)
	switch {
	case at.IsZero(), ns == never, c.stopping:
		k.deadlines.Clear(id)
	case ns <= k.instant:
		k.deadlines.Clear(id)
		k.endings.Set(id, int64(c.kind))
	default:
		k.deadlines.Set(id, ns)
	}
}

// never stands for the instants that Unix nanoseconds cannot tell: an alarm after the year 2262, such
// as a toleration of a billion years makes, is no alarm.
const never = math.MaxInt64

func nanoseconds(t time.Time) int64 {
	const limit = math.MaxInt64 / int64(time.Second)
	switch s := t.Unix(); {
	case s >= limit:
		return never
	case s <= -limit:
		return math.MinInt64
	}
	return t.UnixNano()
}
