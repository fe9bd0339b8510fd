package podplacement

// Refusal returns why a node cannot take a pod of a shape, and whether that is so whatever else runs there; no reasons: it can.
func (p *Planner) Refusal(s *Shape, name string) (reasons []string, forever bool) {
	slot, known := p.fleet.slots[name]
	if !known || !p.fleet.nodes[slot].present {
		return []string{noNodes}, true
	}
	return p.refusal(s, p.fleet.fits(s), p.fleet.tallies(p, s, s.hard), slot)
}
