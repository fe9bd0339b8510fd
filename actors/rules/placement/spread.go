package placement

import (
	"cmp"
	"fmt"
	"slices"

	"leeward/actors/rules/division"
)

// chooseExactly keeps clusters that meet all spread constraints together, with capacity for all replicas that
// are divided by capacity, unless part of them will do. Where the choice that Karmada makes does, it is that.
// Otherwise clusters are taken in order of preference, each unless what remains could then not be
// completed. It returns what is wrong if no choice will do.
func (p *Planner) chooseExactly(a *attempt) (problem string) {
	p.whole = append(p.whole[:0], p.keys...) // in no order yet: most often there is no search
	replicas := a.dividedByCapacity()
	if a.part {
		replicas = 0
	}
	if p.chooseRoughly(a) == "" && p.meets(a, replicas) {
		return ""
	}
	return p.chooseBySearch(a, replicas)
}

// chooseRoughly makes Karmada's choice. It has none for constraints that name neither cluster nor region.
func (p *Planner) chooseRoughly(a *attempt) (problem string) {
	switch a.rule.spread.mode {
	case byCluster:
		return p.chooseClusters(a, a.rule.spread.cluster)
	case byRegion:
		return p.chooseRegions(a, a.rule.spread)
	default:
		return "the spread constraints name neither cluster nor region"
	}
}

// chooseClusters keeps the best clusters, as many as the constraint allows. Replicas that must be
// divided must find capacity on them: if need be, the last of them give way to others with more.
func (p *Planner) chooseClusters(a *attempt, limits bounds) (problem string) {
	if len(p.keys) < limits.min {
		return fmt.Sprintf("spread constraint cluster asks for %d clusters, %d fit", limits.min, len(p.keys))
	}
	chosen := min(len(p.keys), limits.max)
	if chosen <= 0 {
		return fmt.Sprintf("spread constraint cluster allows no cluster: its maxGroups is %d", limits.max)
	}
	best(p.keys, chosen)
	if a.rule.strategy != duplicated && !exchange(p.keys, chosen, int64(a.Replicas), a.part) && !a.part {
		return fmt.Sprintf("no %d clusters have capacity for %d replicas", chosen, a.Replicas)
	}
	p.keys = p.keys[:chosen]
	return ""
}

// meets reports whether the chosen clusters meet all constraints and have capacity for the replicas.
func (p *Planner) meets(a *attempt, replicas int64) bool {
	p.spreader.set(a, nil)
	holds := int64(0)
	for _, k := range p.keys {
		p.spreader.tally(k.slot(), 1)
		holds += k.holds()
	}
	return p.spreader.met() && holds >= replicas
}

// chooseBySearch keeps the first choice in order of preference that will do, with capacity for the replicas.
// If replicas are divided by capacity, each cluster takes at least one: there is no use for more clusters than
// those, nor for clusters without capacity.
func (p *Planner) chooseBySearch(a *attempt, replicas int64) (problem string) {
	slices.Sort(p.whole)
	p.keys = append(p.keys[:0], p.whole...)
	if a.dividedByCapacity() > 0 {
		p.keys = slices.DeleteFunc(p.keys, func(k key) bool { return k.holds() == 0 })
	}
	p.spreader.set(a, p.keys)
	chosen := p.spreader.run(replicas)
	if chosen == nil {
		return p.spreader.problem()
	}
	p.keys = p.keys[:0]
	for _, i := range chosen { // ascends, so that no key is overwritten before it is read
		p.keys = append(p.keys, p.spreader.keys[i])
	}
	return ""
}

// cover gives replicas to further clusters until those that have any meet the lower bounds: one each, in
// order of preference, taken from where they are needed least. It reports whether they do.
func (p *Planner) cover(a *attempt) bool {
	if !a.rule.spread.exact || a.dividedByCapacity() == 0 {
		return true
	}
	p.spreader.set(a, nil)
	for i := range p.candidates {
		if p.candidates[i].Seats > 0 {
			p.spreader.tally(p.candidates[i].Rank, 1)
		}
	}
	for p.spreader.lacking() > 0 {
		to := p.taker()
		if to < 0 {
			return false
		}
		p.spreader.tally(p.candidates[to].Rank, 1)
		from := p.giver(to)
		if from < 0 {
			return false
		}
		p.candidates[to].Seats++
		if p.candidates[from].Seats--; p.candidates[from].Seats == 0 {
			p.spreader.tally(p.candidates[from].Rank, -1)
		}
	}
	return true
}

// taker returns the first cluster without replicas that has capacity and covers something that is lacking.
func (p *Planner) taker() int {
	lacking, best := p.spreader.lacking(), -1
	for i := range p.candidates {
		c := &p.candidates[i]
		if c.Seats > 0 || c.Free+int64(c.Prev) == 0 || best >= 0 && c.Order > p.candidates[best].Order {
			continue
		}
		p.spreader.tally(c.Rank, 1)
		if p.spreader.lacking() < lacking {
			best = i
		}
		p.spreader.tally(c.Rank, -1)
	}
	return best
}

// giver returns the cluster that can best do without one replica: the one that gained most, then the one
// that has most, then the least preferred. The last replica stays where it covers something.
func (p *Planner) giver(to int) int {
	best := -1
	for i := range p.candidates {
		c := &p.candidates[i]
		if i == to || c.Seats == 0 || best >= 0 && !givesRather(c, &p.candidates[best]) {
			continue
		}
		if c.Seats > 1 || p.spares(c.Rank) {
			best = i
		}
	}
	return best
}

func givesRather(a, b *division.Candidate) bool {
	return cmp.Or(
		cmp.Compare(b.Seats-b.Prev, a.Seats-a.Prev), cmp.Compare(b.Seats, a.Seats), cmp.Compare(b.Order, a.Order),
	) < 0
}

// spares reports whether as much is covered without a cluster.
func (p *Planner) spares(slot int32) bool {
	lacking := p.spreader.lacking()
	p.spreader.tally(slot, -1)
	spares := p.spreader.lacking() == lacking
	p.spreader.tally(slot, 1)
	return spares
}
