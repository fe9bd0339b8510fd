package placement

import (
	"fmt"
	"math"
	"slices"

	"leeward/actors/rules/division"
)

// key is a candidate in one number, so that the best come first in ascending order: by tier, then
// those that have the resource already, then those that are least to be avoided, then those with most
// capacity, then by name.
type key uint64

const (
	slotBits  = 20
	holdsBits = 33
	avoidBits = 3
	tierBits  = 7

	maxTiers  = 1 << tierBits
	maxAvoid  = 1<<avoidBits - 1
	fullHolds = 1<<holdsBits - 1
	firstHas  = 1 << (slotBits + holdsBits + avoidBits)
)

// keyOf packs a candidate. Its capacity, at most fullRoom, includes the replicas that it has.
func keyOf(tier uint16, has bool, avoid uint8, holds int64, slot int32) key {
	k := key(tier)<<1 | 1
	if has {
		k--
	}
	return ((k<<avoidBits|key(avoid))<<holdsBits|key(fullHolds-holds))<<slotBits | key(slot)
}

func (k key) slot() int32  { return int32(k & (maxClusters - 1)) }
func (k key) holds() int64 { return fullHolds - int64(k>>slotBits&fullHolds) }

// score is what Karmada's scheduler gives a cluster: 100 to those that have the resource.
func (k key) score() int64 {
	if k&firstHas == 0 {
		return 100
	}
	return 0
}

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

// exchange swaps, from the last chosen key backwards, each for the key of most capacity among the rest, if
// that has more, until there is enough. It reports whether there is. Where that cannot be expected,
// clusters that have the resource stay.
func exchange(keys []key, chosen int, replicas int64, stay bool) bool {
	total := int64(0)
	for _, k := range keys[:chosen] {
		total += k.holds()
	}
	if total >= replicas {
		return true
	}
	rest := holdingMore(keys[chosen:], keys[:chosen])
	slices.Sort(rest)
	for i := chosen - 1; i >= 0 && total < replicas; i-- {
		if stay && keys[i].score() > 0 {
			continue
		}
		most := -1
		for j := range rest {
			if rest[j].holds() > keys[i].holds() && (most < 0 || rest[j].holds() > rest[most].holds()) {
				most = j
			}
		}
		if most >= 0 {
			total += rest[most].holds() - keys[i].holds()
			keys[i], rest[most] = rest[most], keys[i]
		}
	}
	return total >= replicas
}

// holdingMore moves the keys that have more capacity than some chosen one to the front, and returns them. Most often
// there are few, as capacity decides between equals.
func holdingMore(keys, chosen []key) []key {
	least := chosen[0].holds()
	for _, k := range chosen {
		least = min(least, k.holds())
	}
	n := 0
	for i, k := range keys {
		if k.holds() > least {
			keys[i], keys[n] = keys[n], k
			n++
		}
	}
	return keys[:n]
}

// best moves the n lowest keys to the front, in order.
func best(keys []key, n int) {
	if n < len(keys) {
		top := keys[:n]
		for i := n/2 - 1; i >= 0; i-- {
			sink(top, i)
		}
		for i := n; i < len(keys); i++ {
			if keys[i] < top[0] {
				keys[i], top[0] = top[0], keys[i]
				sink(top, 0)
			}
		}
	}
	slices.Sort(keys[:n])
}

// sink moves key i down a heap that has its highest key at the root.
func sink(h []key, i int) {
	moved := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] > h[child] {
			child++
		}
		if h[child] <= moved {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = moved
}
