package governor

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// permits are those of one instant: what they counted for is recorded at its end, and one that a binding could not use may
// come back until then.
type permits struct {
	// issued and returned are those of this turn, noted the domains that count them.
	issued, returned []messages.Permit
	noted            []*domain
	// given are the requests that got a permit since givenAt, in its instant.
	given   map[key]*node
	givenAt time.Time
}

// note has what must be known of a domain recorded, for a restart forgets the rest.
func (p *permits) note(d *domain) {
	if !d.noted {
		d.noted, p.noted = true, append(p.noted, d)
	}
}

// issue counts a permit, which may come back in its instant.
func (p *permits) issue(now time.Time, n *node) {
	p.issued = append(p.issued, permitOf(n))
	if p.given == nil || !p.givenAt.Equal(now) {
		p.given, p.givenAt = map[key]*node{}, now
	}
	p.given[n.key()] = n
}

func permitOf(n *node) messages.Permit {
	return messages.Permit{Binding: n.head.Binding, Cluster: n.head.Cluster, Priority: n.priority}
}

// takeBack returns the request whose permit came back; nil: none was needed, or none counts any more.
func (p *permits) takeBack(now time.Time, k key) *node {
	n := p.given[k]
	if n == nil || !p.givenAt.Equal(now) {
		return nil
	}
	delete(p.given, k)
	p.returned = append(p.returned, permitOf(n))
	return n
}

// record tells of the permits of this turn, where some limit counts them.
func (p *permits) record(now time.Time, out *actors.Outbox) {
	if len(p.noted) > 0 {
		slices.SortFunc(p.noted, wider)
		f := &messages.EvictionsPermitted{
			Permits: slices.Clone(p.issued), Returned: byName(p.returned), Counts: make([]api.PermitCount, len(p.noted)),
		}
		for i, d := range p.noted {
			f.Counts[i] = d.count(now)
			d.noted = false
		}
		out.Record(f)
	}
	p.issued, p.noted, p.returned = p.issued[:0], p.noted[:0], nil
}

// wider puts the wider domain first, and names decide between equals.
func wider(x, y *domain) int { return cmp.Or(cmp.Compare(x.tier, y.tier), cmp.Compare(x.name, y.name)) }

// byName returns permits by binding and cluster, whatever the order in which they came back.
func byName(permits []messages.Permit) []messages.Permit {
	slices.SortFunc(permits, func(x, y messages.Permit) int {
		return cmp.Or(cmp.Compare(x.Binding, y.Binding), cmp.Compare(x.Cluster, y.Cluster))
	})
	return permits
}
