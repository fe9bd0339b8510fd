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

// state is how a domain fares. Of a cluster it is how it was last observed; of the fleet and of a region, how many of its
// clusters were observed, how many are unhealthy, and the verdict on that.
type state struct {
	known, unhealthy bool

	clusters, unhealthyClusters int
	verdict                     storm.Regime
	// says is why the verdict was made, in a sentence: what waits is told that, before a restart and after it.
	says string
}

func newState() state { return state{verdict: storm.Regime{State: storm.Normal}} }

// states judge the fleet and its regions by the health of their clusters: a disruption slows evictions or stops them.
type states struct {
	settings *messages.Settings
	domains  *domains
	// counted is set where the counts of clusters, or the thresholds, may have changed since they were last judged.
	counted bool
	// blind is set where clusters know that the fleet is blacked out: they are told, or, after a restart, join knowing it.
	blind bool
}

// observe counts a cluster as it is now in the region where it is now, and reports whether its health changed.
func (s *states) observe(c, region *domain, unhealthy bool) (turned bool) {
	s.count(c, c.within, -1)
	turned = c.state.unhealthy != unhealthy
	c.state.known, c.state.unhealthy = true, unhealthy
	s.count(c, region, 1)
	return turned
}

// forget counts a cluster no longer.
func (s *states) forget(c *domain) {
	s.count(c, c.within, -1)
	c.state = state{}
}

// count takes a cluster into the counts of a region and of the fleet, or out of them.
func (s *states) count(c, region *domain, by int) {
	if !c.state.known {
		return
	}
	for _, d := range []*domain{region, &s.domains.fleet} {
		d.state.clusters += by
		if c.state.unhealthy {
			d.state.unhealthyClusters += by
		}
	}
	s.counted = true
}

// restore takes over the verdict on a domain.
func (s *states) restore(d *domain, g *api.Governance) {
	s.counted = true
	if g.State == "" {
		return
	}
	v := storm.Regime{State: storm.State(g.State)}
	if g.Until != nil {
		v.Until = g.Until.Time
	}
	if g.EvictionsPerSecond != nil {
		v.Limited, v.PerSecond = true, *g.EvictionsPerSecond
	}
	d.state.verdict, d.state.says = v, g.Message
	if d == &s.domains.fleet && d.state.clusters == 0 {
		s.blind = v.State == storm.Blackout
	}
}

// judge decides again how the fleet and its regions fare, if there is reason to, and reports whether any verdict is another.
// Where the fleet is blacked out, or not any more, every cluster is told.
func (s *states) judge(now time.Time, out *actors.Outbox) (changed bool) {
	if due := s.expires(); !s.counted && (due.IsZero() || due.After(now)) {
		return false
	}
	s.counted = false
	fleet := &s.domains.fleet
	changed = s.judgeDomain(now, fleet, out)
	for _, name := range slices.Sorted(maps.Keys(s.domains.regions)) {
		changed = name != "" && s.judgeDomain(now, s.domains.regions[name], out) || changed
	}
	if is := fleet.state.verdict.State == storm.Blackout; is != s.blind {
		s.blind = is
		s.declare(is, out)
	}
	return changed
}

func (s *states) judgeDomain(now time.Time, d *domain, out *actors.Outbox) (changed bool) {
	v := storm.Judge(d.state.verdict, d.state.unhealthyClusters, d.state.clusters, s.thresholds(d), now)
	if v == d.state.verdict {
		return false
	}
	d.state.verdict = v
	d.state.says = d.state.because()
	f := &messages.GovernorChanged{Region: d.name, State: string(v.State), Message: d.state.says, Until: v.Until}
	if v.Limited {
		f.EvictionsPerSecond = &v.PerSecond
	}
	out.Record(f)
	return true
}

// because says in a sentence what a verdict is about.
func (s *state) because() string {
	effect := "no evictions"
	switch {
	case !s.verdict.Limited:
		return fmt.Sprintf("%d of %d clusters are unhealthy", s.unhealthyClusters, s.clusters)
	case s.verdict.PerSecond > 0:
		effect = fmt.Sprintf("%v evictions a second", s.verdict.PerSecond)
	}
	return fmt.Sprintf("%d of %d clusters are unhealthy: %s", s.unhealthyClusters, s.clusters, effect)
}

func (s *states) thresholds(d *domain) storm.Thresholds {
	t := storm.Thresholds{
		Unhealthy: s.settings.UnhealthyClusterThreshold, Large: s.settings.LargeFleetSize, Secondary: s.settings.SecondaryEvictionRate,
		Blackout: s.settings.BlackoutThreshold, Cooldown: s.settings.StormCooldown,
	}
	if d.tier == tierRegion {
		t.Unhealthy, t.Blackout, t.Region = s.settings.UnhealthyRegionThreshold, 0, true
	}
	return t
}

// declare tells every cluster whether what is seen of the fleet is believed.
func (s *states) declare(blind bool, out *actors.Outbox) {
	for _, name := range slices.Sorted(maps.Keys(s.domains.clusters)) {
		if s.domains.clusters[name].state.known {
			out.TellCluster(name, &messages.BlackoutDeclared{Blind: blind})
		}
	}
}

// expires is when time alone changes a verdict; zero: it does not.
func (s *states) expires() time.Time {
	next := s.domains.fleet.state.verdict.Until
	for _, d := range s.domains.regions { // order-free: the earliest counts
		next = actors.Earlier(next, d.state.verdict.Until)
	}
	return next
}

// due is when there is reason to judge; zero: never.
func (s *states) due(now time.Time) time.Time {
	if s.counted {
		return now
	}
	return s.expires()
}

// blocks is the gate of states: a verdict on the fleet, or on a region, may stop all its evictions.
func (s *states) blocks(_ time.Time, n *node) *wait {
	d := n.domain()
	if d == nil || !d.state.verdict.Stops() {
		return nil
	}
	return &wait{reason: string(d.state.verdict.State), message: fmt.Sprintf("%s: %s", d, d.state.says)}
}
