package governor

import (
	"time"

	"leeward/actors"
	"leeward/messages"
)

// serve hands out permits: the kernel wakes the governor at the end of an instant, when all its requests are there.
func (g *Governor) serve(now time.Time, out *actors.Outbox) {
	if g.states.judge(now, out) {
		g.queue.retryAll()
		g.queue.tellAll()
	}
	g.breakers.judge(now, out)
	if g.holds.expire(now, out) {
		g.reconsider()
	}
	g.starts.judge(now, out)
	g.queue.retryDue(now)
	g.budgets.retryNever(now)
	for again := true; again; again = g.budgets.retryWaiting() {
		g.permitAll(now, out)
	}
	g.budgets.settle(now, out)
	g.permits.record(now, out)
	g.breakers.recordOpened(now, out)
	g.explain(now, out)
}

// reconsider has everything tried again, and told again what it waits for.
func (g *Governor) reconsider() {
	g.queue.retryAll()
	g.budgets.review()
	g.queue.tellAll()
}

// permitAll permits all requests that every gate lets pass.
func (g *Governor) permitAll(now time.Time, out *actors.Outbox) {
	for _, root := range g.queue.roots {
		for n := g.next(now, root); n != nil; n = g.next(now, root) {
			g.permit(now, n, out)
		}
	}
}

// next returns the most urgent request under a root that every gate lets pass; nil: there is none.
func (g *Governor) next(now time.Time, root *node) *node {
	for n := root; n.head != nil && n.in == n.ready(); {
		switch n.why = g.ask(now, n); {
		case n.why != nil:
			g.block(n)
			n = root
		case n.scope == nil:
			return n
		default:
			n = n.scope.ready.nodes[0]
		}
	}
	return nil
}

// block has a node wait for what blocks it. A request that waits for a budget is told so: it may have waited for another
// before.
func (g *Governor) block(n *node) {
	g.queue.block(n)
	if u := n.why.usage; u != nil {
		g.budgets.changed(u)
		g.queue.tell(n)
	}
}

// permit permits a request, and has every part count it that limits its kind.
func (g *Governor) permit(now time.Time, n *node, out *actors.Outbox) {
	r, kind := n.head, n.kind()
	m := &messages.EvictionPermitted{Cluster: r.Cluster}
	out.TellBinding(r.Binding, m)
	if kind != unlimited {
		g.budgets.charge(r, out)
	}
	if kind < unlimited {
		m.Trial = g.breakers.charge(now, n)
		for up := n.parent; up != nil; up = up.parent {
			g.limiter.charge(now, up.scope)
		}
		g.permits.issue(now, n)
	}
	g.drop(n.key())
}

// drop takes a request out of the queue, if it is there.
func (g *Governor) drop(k key) {
	if g.queue.drop(k) {
		g.budgets.dropped(k.binding)
	}
}
