package kernel

import (
	"cmp"
	"math"
	"slices"
	"time"

	"leeward/messages"
)

var woken = &messages.Woken{}

// RunInstant runs until nothing remains to do at now. First it handles all messages there are, and those
// that come of them. Then it wakes the actors whose deadline has come, or who asked during this instant
// to be woken immediately, but only those of the lowest kind, in the order of their names, and handles what
// comes of that; and so on until all is quiet. So an actor that collects the requests of an instant sees
// all of them before it serves any, and what is heard at an instant comes before what falls due at it,
// whatever the order of the messages.
//
// It returns *MachinePanic when a machine panics, *Livelock when the instant does not end ErrInterrupted
// after Interrupt, and ErrGivenUp once a Watchdog has given up the kernel. Then work may remain, and the next call goes on with it: a caller that has replaced the machine calls again.
func (k *Kernel) RunInstant(now time.Time) error {
	k.mustBeIdle("RunInstant")
	if k.givenUp.Load() {
		return ErrGivenUp
	}
	k.running = true
	defer func() { k.running = false }()

	k.now = now
	for _, l := range k.lanes {
		l.begin(now)
	}
	for {
		if err := k.runToQuiet(); err != nil {
			return err
		}
		if !k.wakeLowestKind() {
			return nil
		}
	}
}

// begin has those whose deadline has come woken at the end of the instant, like those that ask during
// it: what is heard at an instant always comes before what falls due at it.
func (l *lane) begin(now time.Time) {
	l.now, l.instant = now, nanoseconds(now)
	l.handled, l.limit, l.sample = 0, l.maxPerInstant(), nil
	for id, ok := l.deadlines.PopDue(l.instant); ok; id, ok = l.deadlines.PopDue(l.instant) {
		l.endings.Set(id, int64(l.cells.at(id).kind))
	}
}

func (l *lane) maxPerInstant() int {
	if l.kernel.most > 0 {
		return l.kernel.most - 1
	}
	if l.kernel.config.MaxPerInstant > 0 {
		return l.kernel.config.MaxPerInstant
	}
	return max(1_000_000, 100*l.cells.live())
}

// runToQuiet runs all lanes until no actor has mail and all facts are told.
func (k *Kernel) runToQuiet() error {
	if len(k.lanes) == 1 {
		return k.lanes[0].runToQuiet()
	}
	for {
		err := k.runLanes()
		if k.givenUp.Load() { // no fact is told of it
			return err
		}
		k.recordAll()
		if err != nil || !slices.ContainsFunc(k.lanes, (*lane).isReady) {
			return err
		}
	}
}

func (l *lane) isReady() bool { return l.ready.n > 0 }

// runLanes runs the lanes that have mail in parallel, the first of them on this goroutine, and those to which
// they send. The error is that of the first lane that has one.
func (k *Kernel) runLanes() error {
	k.ready = k.ready[:0]
	for _, l := range k.lanes { // before any runs, for then they start each other
		if l.isReady() {
			l.freight.open = true
			k.ready = append(k.ready, l)
		}
	}
	if len(k.ready) == 0 {
		return nil
	}
	k.busy.Add(len(k.ready))
	for _, l := range k.ready[1:] {
		go l.run()
	}
	k.ready[0].run()
	k.busy.Wait()
	var first error
	for _, l := range k.lanes {
		first = cmp.Or(first, l.err)
		l.err = nil
	}
	return first
}

// wakeLowestKind wakes those of the lowest kind whose alarm was armed for this instant, and returns
// whether there were any.
func (k *Kernel) wakeLowestKind() bool {
	lowest := int64(never)
	for _, l := range k.lanes {
		if kind, ok := l.endings.Next(); ok {
			lowest = min(lowest, kind)
		}
	}
	for _, l := range k.lanes {
		l.wakeKind(lowest)
	}
	return lowest != never
}

// wakeKind wakes those of a kind: on one lane in the order of their names, so that the same happens every time; of
// several lanes the order could not be repeated, and none is made.
func (l *lane) wakeKind(kind int64) {
	l.due = l.due[:0]
	for id, ok := l.endings.PopDue(kind); ok; id, ok = l.endings.PopDue(kind) {
		l.due = append(l.due, id)
	}
	if len(l.kernel.lanes) == 1 {
		slices.SortFunc(l.due, func(a, b int32) int { return cmp.Compare(l.cells.at(a).name, l.cells.at(b).name) })
	}
	for _, id := range l.due {
		l.counters.Woken++
		l.deliver(id, woken, noSender)
	}
}

// never is for the instants that Unix nanoseconds cannot tell: an alarm after the year 2262, such
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

// turnsAhead is how many turns a lane reads ahead. What so many actors look at fits into the first cache.
const turnsAhead = 16

// reader is a machine of which there are so many that none is in the cache when its turn comes.
type reader interface {
	// ReadAhead reads what the machine's next turn will look at, and changes nothing. It returns any number that follows
	// from all that it read, or else the compiler would leave the reading out.
	ReadAhead() int
}

// readsAhead notes whether a machine may be read ahead, of which a lane may have none.
func (l *lane) readsAhead(machine any) (reads bool) {
	_, reads = machine.(reader)
	l.reads = l.reads || reads
	return reads
}

// readAhead fetches what the next turns will look at. A turn waits for each piece of its actor's state, one after the
// other, for the last piece says where the next is. The same piece of several actors is fetched together: a storm
// of 100 000 bindings takes a twelfth less CPU time for it (BenchmarkFailover).
func (l *lane) readAhead() {
	if !l.reads || l.kernel.config.Order != FIFO || l.ready.n < turnsAhead {
		return
	}
	var next [turnsAhead]*cell
	for i := range next {
		next[i] = l.cells.at(*l.ready.at(i))
		l.read += int(next[i].mailbox.first)
	}
	for _, c := range next {
		l.read += int(l.mail.pool[c.mailbox.first].next)
		if c.reads {
			l.read += c.machine.(reader).ReadAhead()
		}
	}
}
