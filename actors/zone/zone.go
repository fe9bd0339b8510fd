// Package zone is the machine of one zone of nodes. It has the queue of the nodes that are to get a NoExecute taint, and lets them have it
// in the order of time, then of name, as fast as the limiter of the zone permits. Kubernetes looks at the queue every 100 ms, and each of its
// health passes queues all nodes again that wait, in an order of chance.
package zone

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/draw"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// Rules say how a zone works through its queue.
type Rules struct {
	// Rate is how many nodes a second get their taint at the start. --node-eviction-rate.
	Rate float64
	// Poll is how often the queue is looked at, counted from the instant Epoch, or from so long as Behind after a restart. Zero: whenever there is
	// a token.
	Poll   time.Duration
	Epoch  time.Time
	Behind time.Duration
	// Write is how long it takes to taint a node: after that the same look goes on with the next one, where there is a token.
	Write time.Duration
	// Shuffled has chance, which follows from Seed, say which of the nodes that wait is next. Nodes that left come first.
	Shuffled bool
	Seed     uint64
	// Sticky has a rate of exactly 1 not bring back a limiter that was switched off, as in Kubernetes.
	Sticky bool
}

// Zone is one zone.
type Zone struct {
	name    messages.ZoneName
	rules   Rules
	limiter nodelife.Limiter
	queue   []waiting
	// goesOn is when a look goes on that has tainted a node; zero: none does.
	goesOn time.Time
	// slow is since when requests wait behind those of a health pass, zero where they do not.
	slow time.Time
	// rate is what the limiter is set to at the end of this instant, where set.
	rate float64
	set  bool
	// renewed is set where the limiter is replaced by a new one at the end of this instant.
	renewed bool
	// down: the controllers are.
	down bool
}

// backlog is how long the first taint takes whose requests wait behind those of a health pass, slowWrite how long each later one does. Source: seven
// recorded passes over 42 nodes of which 26 fail, at 20 requests a second: 3 or 4 taints in five seconds where the zone permits one a second, 5 of two a
// second, and more than 20 of ten.
const (
	backlog   = 2500 * time.Millisecond
	slowWrite = 200 * time.Millisecond
)

// waiting is a node in the queue. left: it is in another zone by now, or deleted.
type waiting struct {
	messages.NodeQueued
	left bool
}

// New returns a zone without nodes, whose bucket is full.
func New(name messages.ZoneName, rules Rules) *Zone {
	return &Zone{name: name, rules: rules, limiter: nodelife.NewLimiter(rules.Rate)}
}

// Receive routes a message to its transition.
func (z *Zone) Receive(now time.Time, m messages.ToZone, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.NodeQueued:
		z.queued(m)
	case *messages.NodeDequeued:
		z.dequeue(m.Node)
	case *messages.NodeLeft:
		if i := z.find(m.Node); i >= 0 {
			z.queue[i].left = true
		}
	case *messages.ZoneSlowed:
		if z.slow = now; m.Over {
			z.slow = time.Time{}
		}
	case *messages.ZoneRateSet:
		z.rate, z.set = m.Rate, true
	case *messages.ControllersStopped:
		z.down = !m.Over
	case *messages.ControllersRestarted:
		z.renewed, z.rules.Epoch = true, now.Add(z.rules.Behind-z.rules.Poll)
	case *messages.Woken:
		z.work(now, out)
	default:
		panic(fmt.Sprintf("zone %s: unknown message %T", z.name, m))
	}
	out.WakeAt(z.next(now))
}

// queued puts a node in its place; one that is there keeps it, unless it left.
func (z *Zone) queued(m *messages.NodeQueued) {
	if i := z.find(m.Node); i >= 0 && !z.queue[i].left {
		return
	}
	z.dequeue(m.Node)
	q := waiting{NodeQueued: *m}
	at, _ := slices.BinarySearchFunc(z.queue, q, before)
	z.queue = slices.Insert(z.queue, at, q)
}

func (z *Zone) dequeue(name messages.NodeName) {
	if i := z.find(name); i >= 0 {
		z.queue = slices.Delete(z.queue, i, i+1)
	}
}

// find returns the index of a node in the queue, -1 if it is not there.
func (z *Zone) find(name messages.NodeName) int {
	return slices.IndexFunc(z.queue, func(q waiting) bool { return q.Node == name })
}

func before(a, b waiting) int {
	return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Node, b.Node))
}

// pick returns the index of the node that is next.
func (z *Zone) pick(now time.Time) int {
	if !z.rules.Shuffled {
		return 0
	}
	if i := slices.IndexFunc(z.queue, func(q waiting) bool { return q.left }); i >= 0 {
		return i
	}
	number := draw.Mix(draw.Hash(z.rules.Seed+uint64(now.UnixNano()), string(z.name)))
	return int(number % uint64(len(z.queue)))
}

// work lets as many nodes have their taint as there are tokens.
func (z *Zone) work(now time.Time, out *actors.Outbox) {
	if z.renewed {
		z.limiter, z.renewed = nodelife.NewLimiter(z.rules.Rate), false
		z.queue = slices.DeleteFunc(z.queue, func(q waiting) bool { return q.left })
	}
	if z.set {
		z.limiter, z.set = z.limiter.Swap(z.rate, now, z.rules.Sticky), false
	}
	for len(z.queue) > 0 && z.looks(now).Equal(now) {
		limiter, taken := z.limiter.Take(now)
		z.goesOn = time.Time{}
		if !taken {
			return
		}
		switch {
		case z.rules.Poll > 0 && !z.slow.IsZero():
			z.goesOn = actors.Later(now.Add(slowWrite), z.slow.Add(backlog))
		case z.rules.Poll > 0:
			z.goesOn = now.Add(z.rules.Write)
		}
		z.limiter = limiter
		next := z.pick(now)
		out.TellAPIServer(&messages.TaintNode{Node: z.queue[next].Node})
		z.queue = slices.Delete(z.queue, next, next+1)
	}
}

// next is when the zone must work; zero: nothing is queued, or no token will come.
func (z *Zone) next(now time.Time) time.Time {
	if z.down {
		return time.Time{}
	}
	if z.set || z.renewed {
		return now
	}
	at, ever := z.limiter.FreeAt()
	if len(z.queue) == 0 || !ever {
		return time.Time{}
	}
	if at.Before(now) {
		at = now
	}
	return z.looks(at)
}

// looks is when the queue is looked at, from an instant on.
func (z *Zone) looks(from time.Time) time.Time {
	if z.rules.Poll <= 0 {
		return from
	}
	if !from.After(z.goesOn) {
		return z.goesOn
	}
	rest := from.Sub(z.rules.Epoch) % z.rules.Poll
	if rest == 0 {
		return from
	}
	return from.Add(z.rules.Poll - rest)
}
