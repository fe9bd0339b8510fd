package governor

import (
	"fmt"
	"time"

	"leeward/actors"
	"leeward/actors/rules/karmada"
	"leeward/messages"
	"leeward/messages/api"
)

// Receive routes a message to the part that it concerns.
func (g *Governor) Receive(now time.Time, m messages.ToGovernor, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.RequestEviction:
		g.request(m)
	case *messages.WithdrawRequest:
		g.withdraw(key{m.Binding, m.Cluster})
	case *messages.PermitReturned:
		g.permitReturned(now, key{m.Binding, m.Cluster})
	case *messages.ClusterObserved:
		g.clusterObserved(m)
	case *messages.ClusterGone:
		g.states.forget(g.domains.cluster(m.Name))
	case *messages.CopiesCounted:
		g.breakers.count(m)
	case *messages.TrialConcluded:
		g.breakers.conclude(m)
	case *messages.GovernorRestored:
		g.restore(m.Status, out)
	case *messages.StartFailed:
		g.starts.fail(m)
	case *messages.StartsSucceeded:
		g.starts.succeed(m)
	case *messages.HoldChanged:
		if g.holds.change(now, m, out) {
			g.reconsider()
		}
	case *messages.ReleaseChanged:
		if g.holds.release(m, out) {
			g.queue.reclassify(m.Binding, g.domains.clusters, g.holds.released(m.Binding))
		}
	case *messages.BudgetsSet:
		g.budgets.set(m)
	case *messages.ExceedingAllowed:
		g.budgets.allowExceeding(m)
	case *messages.WorkloadObserved:
		g.budgets.observe(now, m)
	case *messages.SettingsChanged:
		g.settingsChanged(m.Settings)
	case *messages.Woken:
		g.serve(now, out)
	default:
		panic(fmt.Sprintf("governor: unknown message %T", m))
	}
	out.WakeAt(g.due(now))
}

// request queues a request, in place of the one for the same binding and cluster.
func (g *Governor) request(m *messages.RequestEviction) {
	priority := m.Priority
	if counts := karmada.Of(&g.settings).QueuePriority(priority); counts != priority {
		equal := *m
		equal.Priority = counts
		m = &equal
	}
	g.withdraw(key{m.Binding, m.Cluster})
	g.queue.add(m, priority, kindOf(m, g.holds.released(m.Binding)), g.domains.cluster(m.Cluster))
}

// withdraw drops a request that was taken back, or is made again.
func (g *Governor) withdraw(k key) {
	g.drop(k)
	g.breakers.untry(k)
}

// permitReturned has a permit not count that could not be used in its instant: other requests may be permitted in its
// place, and the binding that gave it back asks again.
func (g *Governor) permitReturned(now time.Time, k key) {
	n := g.permits.takeBack(now, k)
	if n == nil {
		return
	}
	g.breakers.untry(k)
	for up := n; up != nil; up = up.parent {
		g.limiter.refund(up)
		g.breakers.refund(now, up)
	}
	g.breakers.tried = true
}

// clusterObserved counts a cluster as it is now, and moves it, with all its requests, into its region.
func (g *Governor) clusterObserved(m *messages.ClusterObserved) {
	c, region := g.domains.cluster(m.Cluster), g.domains.region(m.Region)
	turned := g.states.observe(c, region, m.Unhealthy)
	g.breakers.relocate(c, region)
	g.queue.relocate(c, region)
	if turned {
		g.budgets.recount()
	}
}

func (g *Governor) settingsChanged(s messages.Settings) {
	if s.EvictionBudgets != g.settings.EvictionBudgets {
		g.budgets.review()
	}
	g.settings = s
	g.states.counted, g.starts.review = true, true
	g.breakers.survey()
	g.limiter.employ(g.queue.byKind[:unlimited])
	g.queue.retryAll()
}

// restore takes over how things were before a restart.
func (g *Governor) restore(s *api.GovernorStatus, out *actors.Outbox) {
	g.breakers.broken, g.breakers.resuming = nil, true
	g.restoreDomain(&g.domains.fleet, &s.Governance)
	for i := range s.Regions {
		g.restoreDomain(g.domains.region(s.Regions[i].Name), &s.Regions[i].Governance)
	}
	for i := range s.Priorities {
		g.restoreDomain(g.domains.priority(s.Priorities[i].Priority), &s.Priorities[i].Governance)
	}
	for i := range s.Permits {
		g.domains.of(&s.Permits[i]).restore(&s.Permits[i])
	}
	g.holds.restore(s, out)
	g.starts.restore(s.Starts, out)
}

func (g *Governor) restoreDomain(d *domain, s *api.Governance) {
	g.states.restore(d, s)
	g.breakers.restore(d, s.Breaker)
}

// due is when the governor has to serve next: at the end of this instant, or when time alone changes what a part says;
// zero: never.
func (g *Governor) due(now time.Time) (next time.Time) {
	for _, at := range [...]time.Time{
		g.states.due(now), g.breakers.due(now), g.holds.ends, g.starts.due(now), g.queue.due(now), g.budgets.due(now),
	} {
		next = actors.Earlier(next, at)
	}
	return next
}
