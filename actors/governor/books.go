package governor

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
)

// book notes that what is remembered of a place is to be recorded, for a restart forgets the rest.
func (g *Governor) book(p *place) {
	if !p.booked {
		p.booked = true
		g.booked = append(g.booked, p)
	}
}

// record tells of the permits of this instant, where some limit counts them, and of the breakers that they opened.
func (g *Governor) record(now time.Time, out *actors.Outbox) {
	if len(g.booked) > 0 {
		slices.SortFunc(g.booked, wider)
		f := &messages.EvictionsPermitted{
			Permits: slices.Clone(g.permits), Returned: inOrder(g.returned), Counts: make([]api.PermitCount, len(g.booked)),
		}
		for i, p := range g.booked {
			f.Counts[i] = p.remembered(now)
			p.booked = false
		}
		out.Record(f)
	}
	for _, p := range g.opened {
		g.tellBreaker(now, p, out)
	}
	g.permits, g.booked, g.opened, g.returned = g.permits[:0], g.booked[:0], g.opened[:0], nil
}

// remembered is what a restart must know of a place.
func (p *place) remembered(now time.Time) api.PermitCount {
	c := api.PermitCount{}
	switch p.tier {
	case tierRegion:
		c.Region = p.name
	case tierCluster:
		c.Cluster = p.name
	case tierPriority:
		c.Priority = p.number()
	}
	if paid := p.bucket.Paid(); paid.After(now) {
		c.PaidUntil = &metav1.MicroTime{Time: paid}
	}
	for _, m := range p.breaker.Moved {
		c.Moved = append(c.Moved, api.MovedCount{From: metav1.MicroTime{Time: m.At}, Count: m.Count, Copies: m.Copies})
	}
	for _, e := range p.breaker.Trials {
		c.Trials = append(c.Trials, api.Trial{Binding: string(e.Binding), Cluster: string(e.Cluster), At: metav1.MicroTime{Time: e.At}})
	}
	return c
}

// restored takes over how things stood before a restart.
func (g *Governor) restored(s *api.GovernorStatus, out *actors.Outbox) {
	g.broken, g.resumed = nil, true
	g.restore(&g.fleet, &s.Governance)
	for i := range s.Regions {
		g.restore(g.region(s.Regions[i].Name), &s.Regions[i].Governance)
	}
	for i := range s.Priorities {
		g.restore(g.priority(s.Priorities[i].Priority), &s.Priorities[i].Governance)
	}
	for i := range s.Permits {
		g.of(&s.Permits[i]).remember(&s.Permits[i])
	}
	g.restoreHolds(s, out)
	g.restoreStarts(s.Starts, out)
	g.counted = true
}

// restore takes over the state of a place.
func (g *Governor) restore(p *place, s *api.Governance) {
	if s.State != "" {
		p.verdict = verdictOf(s)
	}
	if s.Breaker == nil {
		return
	}
	p.breaker, p.says = storm.Breaker{State: storm.BreakerState(s.Breaker.State)}, s.Breaker.Message
	if s.Breaker.Until != nil {
		p.breaker.Until = s.Breaker.Until.Time
	}
	if !p.breaker.Closed() {
		g.broken = append(g.broken, p)
	}
}

// of returns what a count is about.
func (g *Governor) of(c *api.PermitCount) *place {
	switch {
	case c.Region != "":
		return g.region(c.Region)
	case c.Cluster != "":
		return g.cluster(messages.ClusterName(c.Cluster))
	case c.Priority != nil:
		return g.priority(*c.Priority)
	default:
		return &g.fleet
	}
}

// remember takes over what was remembered of a place.
func (p *place) remember(c *api.PermitCount) {
	if c.PaidUntil != nil {
		p.bucket = storm.PaidUntil(c.PaidUntil.Time)
	}
	p.breaker.Moved, p.breaker.Trials = nil, nil
	for _, m := range c.Moved {
		p.breaker.Moved = append(p.breaker.Moved, storm.Moves{At: m.From.Time, Count: m.Count, Copies: m.Copies})
	}
	for _, e := range c.Trials {
		p.breaker.Trials = append(p.breaker.Trials, storm.Trial{
			Binding: messages.BindingName(e.Binding), Cluster: messages.ClusterName(e.Cluster), At: e.At.Time,
		})
	}
}

// resume asks those who were on trial before a restart how that ended. Who asked anew since is not on trial any
// more.
func (g *Governor) resume(out *actors.Outbox) {
	if !g.resumed {
		return
	}
	g.resumed = false
	asked := map[key]bool{}
	for _, p := range g.broken {
		for _, e := range slices.Clone(p.breaker.Trials) {
			switch k := (key{e.Binding, e.Cluster}); {
			case g.requests[k] != nil:
				p.breaker.Forget(e.Binding, e.Cluster)
			case !asked[k]:
				asked[k] = true
				out.TellBinding(e.Binding, &messages.ReportTrial{Cluster: e.Cluster})
			}
		}
	}
}
