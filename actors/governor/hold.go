package governor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// hold is people's word that evictions wait.
type hold struct {
	reason string
	until  time.Time // zero: no time ends it
}

// people is what they said of evictions: which wait, and which wait for nothing.
type people struct {
	holds    map[messages.HoldScope]hold
	releases map[messages.BindingName]string // why
	// ends is when time ends the first hold; zero: it ends none.
	ends time.Time
}

func newPeople() people {
	return people{holds: map[messages.HoldScope]hold{}, releases: map[messages.BindingName]string{}}
}

// holdChanged takes people's word of a scope in place of the one before.
func (g *Governor) holdChanged(now time.Time, m *messages.HoldChanged, out *actors.Outbox) {
	next := hold{reason: m.Reason, until: m.Until}
	was, held := g.holds[m.HoldScope]
	switch over := !next.until.IsZero() && !next.until.After(now); {
	case next.reason != "" && !over && next != was:
		g.set(m.HoldScope, next)
		out.Record(&messages.HoldPlaced{HoldScope: m.HoldScope, Reason: m.Reason, Until: m.Until})
		g.tellReturns(m.HoldScope, true, out)
		g.reconsiderAll()
	case held && (next.reason == "" || over):
		g.endHold(m.HoldScope, messages.HoldLifted, out)
	}
}

// set has a scope held, or, for a hold of nothing, no longer.
func (p *people) set(of messages.HoldScope, h hold) {
	p.holds[of] = h
	if h == (hold{}) {
		delete(p.holds, of)
	}
	p.ends = time.Time{}
	for _, h := range p.holds { // order-free: the earliest counts
		p.ends = actors.Earlier(p.ends, h.until)
	}
}

func (g *Governor) endHold(of messages.HoldScope, why string, out *actors.Outbox) {
	g.set(of, hold{})
	out.Record(&messages.HoldEnded{HoldScope: of, Reason: why})
	g.tellReturns(of, false, out)
	g.reconsiderAll()
}

// tellReturns has the scheduler let workloads return by themselves, or not.
func (g *Governor) tellReturns(of messages.HoldScope, held bool, out *actors.Outbox) {
	out.TellScheduler(&messages.ReturnsHeld{HoldScope: of, Held: held})
}

// reconsiderAll has everything tried again, and told anew what it waits for.
func (g *Governor) reconsiderAll() {
	g.rouseAll()
	g.reviewBudgets()
	g.retell()
}

// endHolds ends the holds whose time is over.
func (g *Governor) endHolds(now time.Time, out *actors.Outbox) {
	if g.ends.IsZero() || g.ends.After(now) {
		return
	}
	for _, of := range slices.SortedFunc(maps.Keys(g.holds), compareScopes) {
		if until := g.holds[of].until; !until.IsZero() && !until.After(now) {
			g.endHold(of, messages.HoldExpired, out)
		}
	}
}

func compareScopes(a, b messages.HoldScope) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Binding, b.Binding))
}

// releaseChanged lets a binding wait for nothing, or for permits again.
func (g *Governor) releaseChanged(m *messages.ReleaseChanged, out *actors.Outbox) {
	if g.releases[m.Binding] == m.Reason {
		return
	}
	of := messages.HoldScope{Binding: m.Binding}
	if m.Reason == "" {
		delete(g.releases, m.Binding)
		out.Record(&messages.ReleaseEnded{HoldScope: of})
	} else {
		g.releases[m.Binding] = m.Reason
		out.Record(&messages.ReleaseGranted{HoldScope: of, Reason: m.Reason})
	}
	for k, n := range g.requests { // order-free: each goes to its own place
		if k.binding == m.Binding {
			g.wakeUp(n)
			n.move(g.clusters[k.cluster].node(g.kindOf(n.head)))
		}
	}
}

// restoreHolds takes over what people said before a restart.
func (g *Governor) restoreHolds(s *api.GovernorStatus, out *actors.Outbox) {
	for i := range s.Holds {
		h := &s.Holds[i]
		of := messages.HoldScope{Binding: messages.BindingName(h.Binding), Cluster: messages.ClusterName(h.Cluster)}
		next := hold{reason: h.Reason}
		if h.Until != nil {
			next.until = h.Until.UTC()
		}
		g.set(of, next)
		g.tellReturns(of, true, out)
	}
	for i := range s.Releases {
		g.releases[messages.BindingName(s.Releases[i].Binding)] = s.Releases[i].Reason
	}
}

// held is the gate of people.
func held(g *Governor, _ time.Time, n *node) *wait { return g.held(n) }

// held is why people hold a node: all, what leaves a cluster, or one binding; nil: they do not.
func (g *Governor) held(n *node) *wait {
	if len(g.holds) == 0 {
		return nil
	}
	of, reason, what := n.holdable()
	h, is := g.holds[of]
	if what == "" || !is {
		return nil
	}
	return &wait{reason: reason, message: fmt.Sprintf("evictions %s: %s", what, h.reason), until: h.until, ends: h.until}
}

// holdable is the scope in which people may hold a node, what that is called, and what it says of evictions; of
// desks and regions nothing.
func (n *node) holdable() (of messages.HoldScope, reason, what string) {
	switch {
	case n.parent == nil:
		return of, "Paused", "are paused"
	case n.scope == nil:
		of.Binding = n.head.Binding
		return of, "Held", "of this workload are held"
	case n.scope.place != nil && n.scope.place.tier == tierCluster:
		of.Cluster = messages.ClusterName(n.scope.place.name)
		return of, "Held", "from cluster " + n.scope.place.name + " are held"
	default:
		return of, "", ""
	}
}
