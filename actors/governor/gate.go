package governor

import (
	"fmt"
	"time"

	"leeward/actors/rules/storm"
	"leeward/messages"
)

// stoppedPace is how long a worker rests between evictions at rate zero. Source: Karmada's eviction
// worker.
const stoppedPace = 30 * time.Minute

// gate says why and until when no request under a node may go; nil: it does not mind.
type gate func(g *Governor, now time.Time, n *node) *wait

// gates are all that can keep a request waiting. They are asked in this order, of the fleet, then of the
// region, the cluster and the request itself; the first one that minds is the reason. Wishes are those that are
// asked where no limit is meant.
var (
	gates  = [...]gate{held, disruption, breaker, pace, rate, budgets}
	wishes = [...]gate{held}
)

// gates are those that a node has to pass.
func (n *node) gates() []gate {
	switch n.kind() {
	case released:
		return nil
	case unlimited:
		return wishes[:]
	default:
		return gates[:]
	}
}

// disruption is what the state of the fleet, or of a region, stops altogether.
func disruption(_ *Governor, _ time.Time, n *node) *wait {
	if n.scope == nil || n.scope.place == nil || !n.scope.place.verdict.Stops() {
		return nil
	}
	p := n.scope.place
	return &wait{reason: string(p.verdict.State), message: fmt.Sprintf("%s: %s", p, p.because())}
}

// pace is that of a desk's fixed number of workers. What waits for one of them is not told so, as in Karmada.
func pace(g *Governor, now time.Time, n *node) *wait {
	if n.scope == nil || len(n.scope.served) == 0 || n.scope.served[0].IsZero() {
		return nil
	}
	free := n.scope.served[0].Add(g.workerRests())
	if !free.After(now) {
		return nil
	}
	return &wait{until: free}
}

// busy is what those are told who showed a reason that is over, and wait for a worker like the others; nil: they do
// not.
func (g *Governor) busy(now time.Time, n *node) *wait {
	for ; n != nil; n = n.parent {
		if pace(g, now, n) != nil {
			message := fmt.Sprintf("waiting for one of %d eviction workers, which take %s for each eviction", g.settings.EvictionWorkers, messages.Period(g.workerRests()))
			return &wait{reason: "EvictionWorkers", message: message}
		}
	}
	return nil
}

// workerRests is the time that one eviction takes a worker.
func (g *Governor) workerRests() time.Duration {
	if g.settings.ResourceEvictionRate <= 0 {
		return stoppedPace
	}
	return time.Duration(float64(time.Second) / g.settings.ResourceEvictionRate)
}

// rate is that of a place.
func rate(g *Governor, now time.Time, n *node) *wait {
	if n.scope == nil || n.scope.place == nil {
		return nil
	}
	p := n.scope.place
	r := g.rateOf(p)
	free := p.bucket.FreeAt(now, r)
	if !free.After(now) {
		return nil
	}
	return &wait{reason: "EvictionRate", message: fmt.Sprintf("%s is limited to %v evictions a second", p, r.PerSecond), until: free}
}

// rateOf is how fast evictions of a place go, as its state has it or, if that is slower, its setting. Clusters
// without a region share none.
func (g *Governor) rateOf(p *place) storm.Rate {
	r := storm.Rate{Burst: g.settings.EvictionBurst}
	switch {
	case p.tier == tierFleet:
		r.PerSecond = g.settings.FleetEvictionRate
	case p.tier == tierCluster:
		r.PerSecond = g.settings.ClusterEvictionRate
	case p.name != "":
		r.PerSecond = g.settings.RegionEvictionRate
	}
	if v := p.verdict; v.Limited && v.PerSecond > 0 && (!r.Limits() || v.PerSecond < r.PerSecond) {
		r = storm.Rate{PerSecond: v.PerSecond}
	}
	return r
}

// charge notes that a request of the scope goes.
func (s *scope) charge(now time.Time, g *Governor) {
	if s.place != nil && g.rateOf(s.place).Limits() {
		s.place.bucket.Take(now, g.rateOf(s.place))
		g.book(s.place)
	}
	if len(s.served) > 0 {
		s.served = append(s.served[1:], now)
	}
}
