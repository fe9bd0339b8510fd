package governor

import (
	"cmp"
	"container/heap"
	"time"

	"leeward/messages"
)

// kind says of what kind a request is. Those of ResourceBindings and of ClusterResourceBindings are queued apart, each
// kind for workers of its own. Source: Karmada's queues binding-eviction and cluster-binding-eviction. Requests
// that no limit is meant for wait only while an admin holds them, and released ones for nothing.
type kind uint8

const (
	namespaced kind = iota
	clusterScoped
	unlimited
	released
	kinds
)

// kindOf is the kind of a request, of a binding that an admin released or did not.
func kindOf(r *messages.RequestEviction, isReleased bool) kind {
	switch {
	case isReleased:
		return released
	case r.Unlimited:
		return unlimited
	case r.Binding.Namespace() == "":
		return clusterScoped
	default:
		return namespaced
	}
}

// key names a request.
type key struct {
	binding messages.BindingName
	cluster messages.ClusterName
}

// node is a request, or a scope of requests: all of them, those of one kind, of a region, of a cluster. The request that is
// permitted next is found by going down from the root to the most urgent child; the gates are asked at every node on
// the way.
type node struct {
	parent *node
	// head is the most urgent request under the node that is not blocked; nil: there is none. A request is its own.
	head *messages.RequestEviction
	// priority is that of a request, also where requests are served by arrival.
	priority int32
	// in is the heap that the node is in: that of the children of its parent, one of blocked nodes, or none; at is its
	// index there.
	in *nodeHeap
	at int32
	// fresh is set while the request has yet to be told what it waits for.
	fresh bool
	// told is set while the request shows a reason, which may be over.
	told bool
	// why is what blocks the node; nil: nothing does.
	why *wait
	// scope is nil for a request.
	scope *scope
}

// scope is what a node has that is not a request.
type scope struct {
	// kind is that of its requests; the root of those with limits has several.
	kind kind
	// ready are the children with requests that are not blocked, the most urgent first.
	ready nodeHeap
	// domain is what the scope is about; nil: all requests of a kind.
	domain *domain
	// served is the limiter's: when each worker of a kind last served, the longest ago first; zero: never.
	served []time.Time
}

// wait is why a node is blocked, and until when; zero: no time ends it.
type wait struct {
	reason, message string
	until           time.Time
	// ends is when the reason ends, where that is known; zero: it is not.
	ends time.Time
	// heap is where the node waits for a budget, and usage what that has used; nil: it waits among the blocked nodes.
	heap  *nodeHeap
	usage *usage
}

func newNode(parent *node, k kind, of *domain) *node {
	return &node{parent: parent, scope: &scope{kind: k, domain: of, ready: nodeHeap{before: moreUrgent}}}
}

func (n *node) kind() kind {
	if n.scope == nil {
		return n.parent.scope.kind
	}
	return n.scope.kind
}

// domain is what a node is about; nil: a request, or all requests of a kind.
func (n *node) domain() *domain {
	if n.scope == nil {
		return nil
	}
	return n.scope.domain
}

// key names the request that a node is.
func (n *node) key() key { return key{n.head.Binding, n.head.Cluster} }

// put moves a node into a heap, or into none, and lets all scopes above it know their most urgent request.
func (n *node) put(h *nodeHeap) {
	if n.in != nil {
		heap.Remove(n.in, int(n.at))
	}
	if n.in = h; h != nil {
		heap.Push(h, n)
	}
	n.parent.refresh()
}

// move gives a node another parent. A blocked one remains blocked.
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

// unblock puts a node back among the children of its parent.
func (n *node) unblock() {
	n.why = nil
	n.put(n.ready())
}

// ready is the heap that a node is in while it has requests and is not blocked.
func (n *node) ready() *nodeHeap {
	if n.parent == nil {
		return nil
	}
	return &n.parent.scope.ready
}

// refresh brings a scope and those above it up to date with their children. A blocked scope remains blocked,
// unless no request remains in it.
func (n *node) refresh() {
	for ; n != nil; n = n.parent {
		n.head = nil
		if r := &n.scope.ready; r.Len() > 0 {
			n.head = r.nodes[0].head
		}
		switch h := n.ready(); {
		case n.head == nil && n.in != nil:
			heap.Remove(n.in, int(n.at))
			n.in, n.why = nil, nil
		case n.head == nil || h == nil:
		case n.in == nil:
			n.in = h
			heap.Push(h, n)
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

// nodeHeap is a heap of nodes that know their index in it.
type nodeHeap struct {
	nodes  []*node
	before func(x, y *node) bool
}

func (h *nodeHeap) Len() int { return len(h.nodes) }

func (h *nodeHeap) Less(i, j int) bool { return h.before(h.nodes[i], h.nodes[j]) }

func (h *nodeHeap) Swap(i, j int) {
	h.nodes[i], h.nodes[j] = h.nodes[j], h.nodes[i]
	h.nodes[i].at, h.nodes[j].at = int32(i), int32(j)
}

// Push is for package heap.
func (h *nodeHeap) Push(x any) {
	n := x.(*node)
	n.at = int32(len(h.nodes))
	h.nodes = append(h.nodes, n)
}

// Pop is for package heap.
func (h *nodeHeap) Pop() any {
	last := len(h.nodes) - 1
	n := h.nodes[last]
	h.nodes[last] = nil
	h.nodes = h.nodes[:last]
	return n
}
