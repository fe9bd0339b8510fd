package governor

import (
	"time"

	"leeward/messages"
)

// Governor hands out permits to evict.
type Governor struct {
	settings messages.Settings
	domains  domains
	queue    queue
	holds    holds
	states   states
	permits  permits
	limiter  limiter
	breakers breakers
	budgets  budgets
	starts   starts
	// gates are all that can block a request. They are asked in this order, of the fleet, then of the kind, the region,
	// the cluster and the request itself.
	gates [5]gate
}

// New returns a governor with no requests.
func New(settings messages.Settings) *Governor {
	g := &Governor{settings: settings, domains: newDomains(), holds: newHolds()}
	g.queue = newQueue(&g.domains.fleet)
	g.states = states{settings: &g.settings, domains: &g.domains}
	g.limiter = limiter{settings: &g.settings, permits: &g.permits}
	g.breakers = breakers{settings: &g.settings, domains: &g.domains, queue: &g.queue, permits: &g.permits}
	g.budgets = newBudgets(&g.settings, &g.domains, &g.queue, &g.holds)
	g.starts = newStarts(&g.settings)
	g.gates = [...]gate{&g.holds, &g.states, &g.breakers, &g.limiter, &g.budgets}
	g.limiter.employ(g.queue.byKind[:unlimited])
	return g
}

// gate blocks requests.
type gate interface {
	// blocks says why and until when no request under a node may be permitted, and changes nothing; nil: the gate lets it
	// pass.
	blocks(now time.Time, n *node) *wait
}

// ask asks the gates of one node in their order; the first that blocks it is the reason.
func (g *Governor) ask(now time.Time, n *node) *wait {
	for _, gate := range g.gatesOf(n) {
		if why := gate.blocks(now, n); why != nil {
			return why
		}
	}
	return nil
}

// gatesOf are the gates that a node has to pass: what was released none, what no limit is meant for the holds.
func (g *Governor) gatesOf(n *node) []gate {
	switch n.kind() {
	case released:
		return nil
	case unlimited:
		return g.gates[:1]
	default:
		return g.gates[:]
	}
}
