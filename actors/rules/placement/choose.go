package placement

import (
	"math"
	"slices"

	"leeward/actors/rules/division"
)

// measure makes keys of the clusters that fit, in the order of their slots. For what has no replicas
// every cluster has unlimited capacity. One without limit has, otherwise, capacity for just this workload.
func (p *Planner) measure(a *attempt) {
	p.holds = p.holds[:0]
	p.avoidable = false
	limited := a.Workload && (a.Replicas > 0 || a.Set != nil)
	if a.Set != nil && p.countsSets(a) {
		p.holds = p.fleet.sets(p.slots, a.Set, p.setNeeds, p.unlisted(), p.holds)
	} else if limited {
		p.needs = p.fleet.needs(a.Requirements, p.needs[:0])
		p.holds = p.fleet.capacity.holds(p.slots, p.needs, p.holds)
	}
	p.keys = slices.Grow(p.keys[:0], len(p.slots))[:len(p.slots)]
	for i, slot := range p.slots {
		holds := int64(math.MaxInt32)
		if limited {
			if holds = p.holds[i]; holds >= math.MaxInt32 {
				holds = int64(a.Replicas)
			}
		}
		if p.frozen(a, slot) {
			holds = 0
		}
		tier := uint16(0)
		if a.Workload {
			tier = a.term.tier[slot]
		}
		has, avoid := p.roles[slot]&kept != 0, p.avoid(a, slot)
		p.avoidable = p.avoidable || avoid > 0
		if has {
			avoid = 0
		}
		p.keys[i] = keyOf(tier, has, avoid, holds+int64(p.prev[slot]), slot)
	}
}

// choose keeps those clusters that the spread constraints ask for. It returns what is wrong if they
// cannot be met.
func (p *Planner) choose(a *attempt) (problem string) {
	switch {
	case a.rule.spread.mode == everywhere:
		p.line(false)
		return ""
	case a.rule.spread.exact:
		problem = p.chooseExactly(a)
	default:
		problem = p.chooseRoughly(a)
	}
	if problem == "" {
		p.line(true)
	}
	return problem
}

// line makes candidates of the chosen keys and notes their slots in order. Chosen ones are in an order
// of preference already; if all are chosen, it is that of the keys.
func (p *Planner) line(preferred bool) {
	p.candidates = p.candidates[:0]
	for i, k := range p.keys {
		slot := k.slot()
		prev := p.prev[slot]
		c := division.Candidate{Rank: slot, Prev: prev, Turn: p.turn[slot], Free: k.holds() - int64(prev), Order: uint64(k)}
		if preferred {
			c.Order = uint64(i)
		}
		p.candidates = append(p.candidates, c)
	}
	if preferred {
		p.slots = p.slots[:0]
		for _, k := range p.keys {
			p.slots = append(p.slots, k.slot())
		}
		slices.Sort(p.slots)
	}
}
