package placement

import (
	"fmt"
	"slices"
)

// chooseRegions keeps the best cluster of each of the best regions, then the best of their other
// clusters, as far as the cluster constraint allows more. Capacity is not looked at again. All of this,
// including that more regions than maxGroups of cluster exceed it, is as in Karmada.
func (p *Planner) chooseRegions(a *attempt, s spread) (problem string) {
	slices.Sort(p.keys)
	p.group(a, s)
	if p.ways.StableRegions && !a.Fresh && p.stay(a, s) {
		return ""
	}
	if len(p.regions) < s.region.min {
		return fmt.Sprintf("spread constraint region asks for %d regions, %d fit", s.region.min, len(p.regions))
	}
	chosen := p.search.run(p.regions, s.region, int64(s.cluster.min))
	if len(chosen) == 0 {
		return fmt.Sprintf("no %d to %d regions have %d clusters that fit", s.region.min, s.region.max, s.cluster.min)
	}
	p.pickFrom(chosen, s.cluster.max)
	return ""
}

// stay keeps the best clusters of the regions that have the resource, if those meet the constraints, with capacity for
// the replicas. It reports whether they do.
func (p *Planner) stay(a *attempt, s spread) bool {
	n, count := 0, int64(0)
	for i := range p.regions {
		if g := &p.regions[i]; g.running {
			count += g.count
			p.regions[n], *g = *g, p.regions[n]
			n++
		}
	}
	if n == 0 || n < s.region.min || n > s.region.max || n > s.cluster.max || count < int64(s.cluster.min) {
		return false
	}
	running := p.regions[:n]
	slices.SortFunc(running, heavier)
	p.pickFrom(running, s.cluster.max)
	holds := int64(0)
	for _, k := range p.keys {
		holds += k.holds()
	}
	if holds < a.dividedByCapacity() {
		p.keys, p.rest = p.rest, p.keys // as before
		return false
	}
	return true
}

// pickFrom keeps the keys of the chosen regions: first the best of each, in the order of the regions.
func (p *Planner) pickFrom(chosen []region, most int) {
	p.clearPlaces()
	p.rest = p.rest[:0]
	for i := range chosen {
		p.places[chosen[i].id] = int32(i)
		p.rest = append(p.rest, chosen[i].leader)
	}
	for _, k := range p.keys {
		if len(p.rest) >= most {
			break
		}
		if place := p.places[p.fleet.regions[k.slot()]]; place >= 0 && k != chosen[place].leader {
			p.rest = append(p.rest, k)
		}
	}
	p.keys, p.rest = p.rest, p.keys
}

// group sums the candidates, which are in order, up by region.
func (p *Planner) group(a *attempt, s spread) {
	p.clearPlaces()
	p.regions = p.regions[:0]
	share := perGroup(a.Replicas, s.region.min)
	for _, k := range p.keys {
		id := p.fleet.regions[k.slot()]
		if p.places[id] < 0 {
			p.places[id] = int32(len(p.regions))
			p.regions = append(p.regions, region{name: p.fleet.regionNames[id], id: id, leader: k})
		}
		g := &p.regions[p.places[id]]
		g.count++
		g.running = g.running || k.score() > 0
		if a.rule.strategy == duplicated {
			g.countHolding(k, int64(a.Replicas))
		} else {
			g.walk(k, int64(max(s.region.min, s.cluster.min)), share)
		}
	}
	for i := range p.regions {
		p.regions[i].weigh(a.rule.strategy == duplicated, share)
	}
}

// clearPlaces makes one place by region, and sets all to -1.
func (p *Planner) clearPlaces() {
	p.places = slices.Grow(p.places[:0], len(p.fleet.regionNames))[:len(p.fleet.regionNames)]
	for i := range p.places {
		p.places[i] = -1
	}
}
