package governor

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
)

// standing is how a cluster was when it was last observed.
type standing struct{ known, unhealthy bool }

// clusterObserved moves a cluster, with all its requests, into its region, and counts it there.
func (g *Governor) clusterObserved(m *messages.ClusterObserved) {
	p := g.cluster(m.Cluster)
	g.count(p, -1)
	g.tally(p, -1)
	was := p.standing
	p.standing = standing{known: true, unhealthy: m.Unhealthy}
	if was.unhealthy != m.Unhealthy {
		g.recount()
	}
	if region := g.region(m.Region); p.within != region {
		p.within = region
		for k, n := range p.nodes {
			if n != nil {
				n.move(region.node(kind(k)))
			}
		}
	}
	g.tally(p, 1)
	g.count(p, 1)
}

// clusterGone forgets how a cluster was.
func (g *Governor) clusterGone(name messages.ClusterName) {
	p := g.cluster(name)
	g.count(p, -1)
	p.standing = standing{}
}

// count takes a cluster into the counts of its region and of the fleet, or out of them.
func (g *Governor) count(p *place, by int) {
	if !p.standing.known {
		return
	}
	for _, wider := range []*place{p.within, &g.fleet} {
		wider.clusters += by
		if p.standing.unhealthy {
			wider.unhealthy += by
		}
	}
	g.counted = true
}

func verdictOf(s *api.Governance) storm.Verdict {
	v := storm.Verdict{State: storm.State(s.State)}
	if s.Until != nil {
		v.Until = s.Until.Time
	}
	if s.EvictionsPerSecond != nil {
		v.Limited, v.PerSecond = true, *s.EvictionsPerSecond
	}
	return v
}

// judge says anew how the fleet and its regions fare, if there is reason to.
func (g *Governor) judge(now time.Time, out *actors.Outbox) {
	if due := g.judgeAt(); !g.counted && (due.IsZero() || due.After(now)) {
		return
	}
	g.counted = false
	blind := g.fleet.verdict.State == storm.Blackout
	changed := g.judgePlace(now, &g.fleet, out)
	for _, name := range slices.Sorted(maps.Keys(g.regions)) {
		changed = name != "" && g.judgePlace(now, g.regions[name], out) || changed
	}
	if changed {
		g.rouseAll()
		g.retell()
	}
	if is := g.fleet.verdict.State == storm.Blackout; is != blind {
		g.declare(is, out)
	}
}

func (g *Governor) judgePlace(now time.Time, p *place, out *actors.Outbox) (changed bool) {
	v := storm.Judge(p.verdict, p.unhealthy, p.clusters, g.thresholds(p), now)
	if v == p.verdict {
		return false
	}
	p.verdict = v
	f := &messages.GovernorChanged{Region: p.name, State: string(v.State), Message: p.because(), Until: v.Until}
	if v.Limited {
		f.EvictionsPerSecond = &v.PerSecond
	}
	out.Record(f)
	return true
}

// because says in a sentence what the verdict on a place is about.
func (p *place) because() string {
	effect := "no evictions"
	switch {
	case !p.verdict.Limited:
		return fmt.Sprintf("%d of %d clusters are unhealthy", p.unhealthy, p.clusters)
	case p.verdict.PerSecond > 0:
		effect = fmt.Sprintf("%v evictions a second", p.verdict.PerSecond)
	}
	return fmt.Sprintf("%d of %d clusters are unhealthy: %s", p.unhealthy, p.clusters, effect)
}

func (g *Governor) thresholds(p *place) storm.Thresholds {
	s := &g.settings
	t := storm.Thresholds{
		Unhealthy: s.UnhealthyClusterThreshold, Large: s.LargeFleetSize, Secondary: s.SecondaryEvictionRate,
		Blackout: s.BlackoutThreshold, Cooldown: s.StormCooldown,
	}
	if p.tier == tierRegion {
		t.Unhealthy, t.Blackout, t.Region = s.UnhealthyRegionThreshold, 0, true
	}
	return t
}

// judgeAt is when time alone changes a verdict; zero: it does not.
func (g *Governor) judgeAt() time.Time {
	next := g.fleet.verdict.Until
	for _, p := range g.regions { // order-free: the earliest counts
		next = actors.Earlier(next, p.verdict.Until)
	}
	return next
}

// declare tells every cluster whether what is seen of the fleet is believed.
func (g *Governor) declare(blind bool, out *actors.Outbox) {
	for _, name := range slices.Sorted(maps.Keys(g.clusters)) {
		if g.clusters[name].standing.known {
			out.TellCluster(name, &messages.BlackoutDeclared{Blind: blind})
		}
	}
}

// retell has all requests told anew what they wait for.
func (g *Governor) retell() {
	g.fresh = slices.SortedFunc(maps.Values(g.requests), byUrgency)
	for _, n := range g.fresh {
		n.fresh = true
	}
}
