package governor

import (
	"cmp"
	"container/heap"
	"time"

	"leeward/messages"
)

// node is a request, or a scope of requests: the fleet, a desk, a region, a cluster. A request that may go is
// found by going down from the fleet to the most urgent child, and gates stand at every node on the way.
type node struct {
	parent *node
	// head is the most urgent request under the node that does not rest; nil: there is none. A request is
	// its own.
	head *messages.RequestEviction
	// priority is that of a request, also where requests go by arrival.
	priority int32
	// in is where the node stands: among the children of its parent, among those that rest, or nowhere; at
	// is its place there.
	in *line
	at int32
	// fresh is set while the request is to be told what it waits for.
	fresh bool
	// told is set while the request shows a reason, which may be over.
	told bool
	// why is what stopped the node; nil: it does not rest.
	why *wait
	// scope is nil for a request.
	scope *scope
}

// scope is what a node has that is not a request.
type scope struct {
	// kind is that of its requests; the root of those with limits has several.
	kind kind
	// ready are the children with requests that do not rest, the most urgent first.
	ready line
	// place is what the scope is about; nil: it is a desk.
	place *place
	// served has, per worker of a desk, when it last served; zero: never. The one that has rested longest is
	// first.
	served []time.Time
}

// wait is why a node may not go on, and until when; zero: no time ends it.
type wait struct {
	reason, message string
	until           time.Time
	// ends is when the reason is none any more, where that is known; zero: it is not.
	ends time.Time
	// line is where the node waits, of an account; nil: among those that rest.
	line    *line
	account *account
}

func newNode(parent *node, k kind, of *place) *node {
	return &node{parent: parent, scope: &scope{kind: k, place: of, ready: line{before: moreUrgent}}}
}

func (n *node) kind() kind {
	if n.scope == nil {
		return n.parent.scope.kind
	}
	return n.scope.kind
}

// put has a node stand in a line, or nowhere, and all above it know its most urgent request.
func (n *node) put(l *line) {
	if n.in != nil {
		heap.Remove(n.in, int(n.at))
	}
	if n.in = l; l != nil {
		heap.Push(l, n)
	}
	n.parent.refresh()
}

// move gives a node another parent. One that rests goes on resting.
func (n *node) move(to *node) {
	in, was := n.in, n.ready()
	n.put(nil)
	n.parent = to
	if in == was {
		in = n.ready()
	}
	if n.head != nil {
		n.put(in)
	}
}

// ready is the line in which a node stands while it has something to do.
func (n *node) ready() *line {
	if n.parent == nil {
		return nil
	}
	return &n.parent.scope.ready
}

// refresh brings a scope and those above it up to date with their children. One that rests goes on resting,
// unless nothing is left to wait.
func (n *node) refresh() {
	for ; n != nil; n = n.parent {
		n.head = nil
		if r := &n.scope.ready; r.Len() > 0 {
			n.head = r.nodes[0].head
		}
		switch l := n.ready(); {
		case n.head == nil && n.in != nil:
			heap.Remove(n.in, int(n.at))
			n.in, n.why = nil, nil
		case n.head == nil || l == nil:
		case n.in == nil:
			n.in = l
			heap.Push(l, n)
		default:
			heap.Fix(n.in, int(n.at))
		}
	}
}

func moreUrgent(x, y *node) bool { return byUrgency(x, y) < 0 }

// byUrgency puts the higher priority first, then the longer wait, then the name.
func byUrgency(x, y *node) int {
	a, b := x.head, y.head
	return cmp.Or(
		-cmp.Compare(a.Priority, b.Priority),
		a.Since.Compare(b.Since),
		cmp.Compare(a.Binding, b.Binding),
		cmp.Compare(a.Cluster, b.Cluster),
	)
}

// sooner puts first what is tried again first, and what no time ends last.
func sooner(x, y *node) bool {
	a, b := x.why.until, y.why.until
	return !a.IsZero() && (b.IsZero() || a.Before(b))
}

// line is a heap of nodes that know their places in it.
type line struct {
	nodes  []*node
	before func(x, y *node) bool
}

func (l *line) Len() int { return len(l.nodes) }

func (l *line) Less(i, j int) bool { return l.before(l.nodes[i], l.nodes[j]) }

func (l *line) Swap(i, j int) {
	l.nodes[i], l.nodes[j] = l.nodes[j], l.nodes[i]
	l.nodes[i].at, l.nodes[j].at = int32(i), int32(j)
}

// Push is for package heap.
func (l *line) Push(x any) {
	n := x.(*node)
	n.at = int32(len(l.nodes))
	l.nodes = append(l.nodes, n)
}

// Pop is for package heap.
func (l *line) Pop() any {
	last := len(l.nodes) - 1
	n := l.nodes[last]
	l.nodes[last] = nil
	l.nodes = l.nodes[:last]
	return n
}
