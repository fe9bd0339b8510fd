package governor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"leeward/actors"
	"leeward/actors/rules/storm"
	"leeward/messages"
)

// breaker stops the fleet, a region or, at a request itself, its priority, when too much of it moves. Until it is
// known how much there is, nobody goes: that is said later in the same instant.
func breaker(g *Governor, _ time.Time, n *node) *wait {
	p := g.guarded(n)
	if p == nil {
		return nil
	}
	switch t := g.breaking(p); {
	case !t.Works():
		return nil
	case !g.surveyed:
		return &wait{}
	case p.breaker.Lets(t):
		return nil
	}
	return &wait{reason: "Breaker" + string(p.breaker.State), message: fmt.Sprintf("%s: %s", p, p.says)}
}

// guarded is what the breaker at a node is about; nil: there is none.
func (g *Governor) guarded(n *node) *place {
	switch {
	case !g.settings.Breaks():
		return nil
	case n.scope == nil:
		return g.priority(n.priority)
	case n.scope.place == nil || n.scope.place.tier == tierCluster:
		return nil
	default:
		return n.scope.place
	}
}

// priority returns what is about the workloads of one priority.
func (g *Governor) priority(of int32) *place {
	p := g.priorities[of]
	if p == nil {
		p = &place{tier: tierPriority, name: strconv.Itoa(int(of))}
		g.priorities[of] = p
	}
	return p
}

// breaking is how the breaker of a place works. Clusters without a region share none.
func (g *Governor) breaking(p *place) storm.Breaking {
	s := &g.settings
	t := storm.Breaking{Least: s.BreakerMinimum, Window: s.BreakerWindow, Cooldown: s.BreakerCooldown, Trials: s.BreakerTrials}
	switch {
	case p.tier == tierFleet:
		t.Share = s.FleetBreakerShare
	case p.tier == tierPriority:
		t.Share = s.PriorityBreakerShare
	case p.tier == tierRegion && p.name != "":
		t.Share = s.RegionBreakerShare
	}
	return t
}

// take counts a request that goes for every breaker that it passed, and reports whether it is on trial for one.
func (g *Governor) take(now time.Time, n *node) (onTrial bool) {
	e := storm.Trial{Binding: n.head.Binding, Cluster: n.head.Cluster}
	for ; n != nil; n = n.parent {
		p := g.guarded(n)
		if p == nil || !g.breaking(p).Works() {
			continue
		}
		opens, trial := p.breaker.Take(now, e, p.copies, g.breaking(p))
		onTrial = onTrial || trial
		g.book(p)
		if trial && !p.breaker.Lets(g.breaking(p)) {
			g.changed(p, fmt.Sprintf("%d evictions are on trial", len(p.breaker.Trials)))
		}
		if opens {
			g.broken = append(g.broken, p)
			g.opened = append(g.opened, p)
			g.changed(p, g.moved(now, p))
		}
	}
	return onTrial
}

// moved says how much of a place goes.
func (g *Governor) moved(now time.Time, p *place) string {
	t := g.breaking(p)
	return fmt.Sprintf("%d of %d copies evicted within %s: no more evictions", p.breaker.Count(now, t), p.breaker.Most(now, p.copies, t), messages.Period(t.Window))
}

// changed has everybody who waits try again, and be told, because a breaker is in another state.
func (g *Governor) changed(p *place, because string) {
	p.says, g.tripped = because, true
	g.rouseAll()
}

// tellBreaker records the state that a breaker is in now.
func (g *Governor) tellBreaker(now time.Time, p *place, out *actors.Outbox) {
	t := g.breaking(p)
	f := &messages.BreakerChanged{
		State: string(p.breaker.State), Message: p.says, Until: p.breaker.Until,
		Moved: p.breaker.Count(now, t), Copies: p.breaker.Most(now, p.copies, t),
	}
	switch p.tier {
	case tierRegion:
		f.Region = p.name
	case tierPriority:
		f.Priority = p.number()
	}
	out.Record(f)
}

// number is that of a priority.
func (p *place) number() *int32 {
	n, err := strconv.ParseInt(p.name, 10, 32)
	if err != nil {
		panic(fmt.Sprintf("governor: %q is no priority", p.name)) // priority wrote it
	}
	number := int32(n)
	return &number
}

// judgeBreakers brings those that are not closed up to date, the widest first, and by name.
func (g *Governor) judgeBreakers(now time.Time, out *actors.Outbox) {
	slices.SortFunc(g.broken, wider)
	g.resume(out)
	g.reconsider(now, out)
	for _, p := range g.broken {
		on := trials(&p.breaker)
		if p.breaker.Judge(now, g.breaking(p)) {
			g.changed(p, g.verdictOn(p, on))
			g.tellBreaker(now, p, out)
		}
	}
	g.broken = slices.DeleteFunc(g.broken, func(p *place) bool { return p.breaker.Closed() })
	if g.tried {
		g.tried = false
		g.rouseAll()
	}
}

// wider puts the wider place first, and names decide between equals.
func wider(x, y *place) int { return cmp.Or(cmp.Compare(x.tier, y.tier), cmp.Compare(x.name, y.name)) }

// trials says how those on trial fare.
func trials(b *storm.Breaker) string {
	return fmt.Sprintf("%d of %d trial evictions are available again", b.Serving(), len(b.Trials))
}

// verdictOn says why a breaker is as it is now, after trials of which so much is to be said.
func (g *Governor) verdictOn(p *place, trials string) string {
	switch p.breaker.State {
	case storm.Open:
		return trials + ": no more evictions"
	case storm.HalfOpen:
		return fmt.Sprintf("%d evictions may be tried", max(g.settings.BreakerTrials, 1))
	default:
		if !g.breaking(p).Works() {
			return "the breaker no longer exists"
		}
		return trials
	}
}

// breakersDue is when time alone changes a breaker; zero: it does not.
func (g *Governor) breakersDue() (next time.Time) {
	for _, p := range g.broken {
		next = actors.Earlier(next, p.breaker.Due(g.breaking(p)))
	}
	return next
}

// trialConcluded takes in how an eviction on trial ended.
func (g *Governor) trialConcluded(m *messages.TrialConcluded) {
	for _, p := range g.broken {
		p.breaker.End(m.Binding, m.Cluster, m.Serves)
		g.tried = true
	}
}

// untried takes off the trial what asks anew, or need not go.
func (g *Governor) untried(k key) {
	for _, p := range g.broken {
		p.breaker.Forget(k.binding, k.cluster)
		g.tried = true
	}
}

// copiesCounted takes in how much there is.
func (g *Governor) copiesCounted(m *messages.CopiesCounted) {
	for _, c := range m.Clusters {
		p := g.cluster(c.Cluster)
		g.tally(p, -1)
		p.copies = c.Copies
		g.tally(p, 1)
	}
	for _, c := range m.Priorities {
		g.priority(c.Priority).copies = c.Copies
	}
	if !g.surveyed {
		g.surveyed = true
		g.rouseAll()
		g.retell()
	}
}

// tally takes the copies of a cluster into the counts of its region and of the fleet, or out of them.
func (g *Governor) tally(p *place, sign int) {
	p.within.copies += sign * p.copies
	g.fleet.copies += sign * p.copies
}

// survey forgets how much there is where nobody counts: who begins to says so.
func (g *Governor) survey() {
	if g.settings.Breaks() {
		return
	}
	g.surveyed, g.fleet.copies = false, 0
	for _, p := range g.regions { // order-free: all are set to nothing
		p.copies = 0
	}
	for _, p := range g.clusters { // order-free: all are set to nothing
		p.copies = 0
	}
	clear(g.priorities)
}
