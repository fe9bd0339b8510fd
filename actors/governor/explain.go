package governor

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
)

// explain tells the requests that were not permitted what they wait for, each once.
func (g *Governor) explain(now time.Time, out *actors.Outbox) {
	if g.breakers.tripped {
		g.breakers.tripped = false
		g.queue.tellAll()
	}
	if len(g.budgets.byName) > 0 { // requests that wait for one are retried in any order
		slices.SortFunc(g.queue.fresh, byUrgency)
	}
	g.queue.eachFresh(func(n *node) {
		why := g.shown(now, n)
		if why == nil && n.told {
			why = g.limiter.busy(now, n)
		}
		if why != nil {
			n.told = true
			out.TellBinding(n.head.Binding, &messages.EvictionDelayed{Cluster: n.head.Cluster, Reason: why.reason, Message: why.message, Until: why.ends})
		}
	})
}

// shown is what a request is told that blocks it: a hold, or else the limit of its widest scope, also where a wider one
// blocks it without a reason that is told; nil: nothing that is told.
func (g *Governor) shown(now time.Time, n *node) *wait {
	var hold, limit *wait
	for ; n != nil; n = n.parent {
		if w := g.holds.blocks(now, n); w != nil {
			hold = w
		} else if w := g.blocked(now, n); w != nil && w.reason != "" {
			limit = w
		}
	}
	return cmp.Or(hold, limit)
}

// blocked is what blocks one node, or would if it was its turn.
func (g *Governor) blocked(now time.Time, n *node) *wait {
	if n.why != nil {
		return n.why
	}
	return g.ask(now, n)
}
