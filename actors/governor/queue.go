package governor

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"leeward/messages"
)

// queue holds the requests: those that limits are meant for under one root, by kind, region and cluster; the others, by
// region and cluster, under a root for each kind.
type queue struct {
	requests map[key]*node
	// roots are served in this order.
	roots [3]*node
	// byKind are the scopes of the whole fleet, one for each kind.
	byKind [kinds]*node
	// blocked are the nodes that a gate blocks and that wait for no budget, in the order in which they are tried again.
	blocked nodeHeap
	// fresh are requests that have yet to be told what they wait for.
	fresh []*node
}

// newQueue returns an empty queue for a fleet.
func newQueue(fleet *domain) queue {
	root := newNode(nil, namespaced, fleet)
	q := queue{requests: map[key]*node{}, blocked: nodeHeap{before: sooner}}
	q.byKind = [kinds]*node{
		namespaced: newNode(root, namespaced, nil), clusterScoped: newNode(root, clusterScoped, nil),
		unlimited: newNode(nil, unlimited, nil), released: newNode(nil, released, nil),
	}
	q.roots = [...]*node{q.byKind[released], q.byKind[unlimited], root}
	fleet.queue = q.byKind
	return q
}

// scope returns the scope of the requests of a kind in a domain.
func (q *queue) scope(d *domain, k kind) *node {
	if d.queue[k] == nil {
		d.queue[k] = newNode(q.scope(d.within, k), k, d)
	}
	return d.queue[k]
}

// add queues a request of a cluster.
func (q *queue) add(m *messages.RequestEviction, priority int32, k kind, cluster *domain) {
	n := &node{parent: q.scope(cluster, k), head: m, priority: priority, told: m.Told}
	q.requests[n.key()] = n
	n.put(n.ready())
	q.tell(n)
}

// drop takes a request out, if it is queued.
func (q *queue) drop(k key) (dropped bool) {
	n := q.requests[k]
	if n == nil {
		return false
	}
	delete(q.requests, k)
	n.put(nil)
	return true
}

// relocate moves a cluster, with all its requests, into a region.
func (q *queue) relocate(cluster, region *domain) {
	if cluster.within == region {
		return
	}
	cluster.within = region
	for k, n := range cluster.queue {
		if n != nil {
			n.move(q.scope(region, kind(k)))
		}
	}
}

// reclassify moves the requests of a binding that was released, or is not any more.
func (q *queue) reclassify(of messages.BindingName, clusters map[messages.ClusterName]*domain, isReleased bool) {
	for k, n := range q.requests { // order-free: each goes to its own scope
		if k.binding == of {
			n.unblock()
			n.move(q.scope(clusters[k.cluster], kindOf(n.head, isReleased)))
		}
	}
}

// unserved reports whether a request waits to be served, and for nothing else.
func (q *queue) unserved() bool {
	for _, root := range q.roots {
		if root.head != nil && root.in == nil {
			return true
		}
	}
	return false
}

// block has a node wait for what blocks it.
func (q *queue) block(n *node) { n.put(cmp.Or(n.why.heap, &q.blocked)) }

// retryDue has everything tried again whose time has come.
func (q *queue) retryDue(now time.Time) {
	for q.blocked.Len() > 0 {
		n := q.blocked.nodes[0]
		if n.why.until.IsZero() || n.why.until.After(now) {
			return
		}
		n.unblock()
	}
}

// retryAll has everything tried again, because the gates changed. What waits for a budget is the budgets' to retry.
func (q *queue) retryAll() {
	for q.blocked.Len() > 0 {
		q.blocked.nodes[0].unblock()
	}
}

// retry has one request tried again, and told again if it still has to wait.
func (q *queue) retry(n *node) {
	n.unblock()
	q.tell(n)
}

// retryHeap retries all requests of a heap.
func (q *queue) retryHeap(h *nodeHeap) {
	for h.Len() > 0 {
		q.retry(h.nodes[0])
	}
}

// tell has a request told what it waits for when the others of its instant are served.
func (q *queue) tell(n *node) {
	if !n.fresh {
		n.fresh, q.fresh = true, append(q.fresh, n)
	}
}

// tellAll has all requests told again what they wait for, in order of urgency.
func (q *queue) tellAll() {
	q.fresh = slices.SortedFunc(maps.Values(q.requests), byUrgency)
	for _, n := range q.fresh {
		n.fresh = true
	}
}

// eachFresh visits the requests that have to be told what they wait for, each once. Those that are queued no longer are taken
// out.
func (q *queue) eachFresh(visit func(*node)) {
	for _, n := range q.fresh {
		if n.fresh = false; q.requests[n.key()] == n {
			visit(n)
		}
	}
	clear(q.fresh)
	q.fresh = q.fresh[:0]
}

// due is when the queue has to be served next: now, where a request waits for nothing else or has to be told, or else when
// the first blocked node is tried again; zero: never.
func (q *queue) due(now time.Time) time.Time {
	switch {
	case len(q.fresh) > 0 || q.unserved():
		return now
	case q.blocked.Len() > 0:
		return q.blocked.nodes[0].why.until
	default:
		return time.Time{}
	}
}
