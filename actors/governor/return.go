package governor

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
)

// permit is that of a request.
func (n *node) permit() messages.Permit {
	return messages.Permit{Binding: n.head.Binding, Cluster: n.head.Cluster, Priority: n.priority}
}

// give notes a permit that may come back in its instant.
func (g *Governor) give(now time.Time, n *node) {
	if g.given == nil || !g.givenAt.Equal(now) {
		g.given, g.givenAt = map[key]*node{}, now
	}
	g.given[key{n.head.Binding, n.head.Cluster}] = n
}

// permitReturned has a permit count for nobody that could not be used in its instant: others may go in its place, and
// who gave it back asks anew. Only the time of a worker is spent, as in Karmada.
func (g *Governor) permitReturned(now time.Time, m *messages.PermitReturned) {
	k := key{m.Binding, m.Cluster}
	n := g.given[k]
	if n == nil || !g.givenAt.Equal(now) {
		return // none was needed, or none counted
	}
	delete(g.given, k)
	g.untried(k)
	g.returned = append(g.returned, n.permit())
	for up := n; up != nil; up = up.parent {
		g.refund(now, up)
	}
	g.tried = true
}

// reconsider closes breakers that opened for what came back.
func (g *Governor) reconsider(now time.Time, out *actors.Outbox) {
	if len(g.returned) == 0 {
		return
	}
	for _, p := range g.broken {
		if p.breaker.Reconsider(now, p.copies, g.breaking(p)) {
			g.changed(p, "the workloads it opened for have no target cluster and keep running")
			g.tellBreaker(now, p, out)
		}
	}
}

// refund takes one permit back at a node.
func (g *Governor) refund(now time.Time, n *node) {
	if n.scope != nil && n.scope.place != nil && g.rateOf(n.scope.place).Limits() {
		n.scope.place.bucket.Return(g.rateOf(n.scope.place))
		g.book(n.scope.place)
	}
	if p := g.guarded(n); p != nil && g.breaking(p).Works() {
		p.breaker.Return(now, g.breaking(p))
		g.book(p)
	}
}

// inOrder returns permits by binding and cluster, whatever the order in which they came back.
func inOrder(permits []messages.Permit) []messages.Permit {
	slices.SortFunc(permits, func(x, y messages.Permit) int {
		return cmp.Or(cmp.Compare(x.Binding, y.Binding), cmp.Compare(x.Cluster, y.Cluster))
	})
	return permits
}
