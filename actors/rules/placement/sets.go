package placement

import (
	"math"
	"slices"
	"strings"

	"leeward/messages"
)

// needsOfSet appends what all components of a set take together: their pods, at least one, and what these
// request.
func (c *capacity) needsOfSet(s *messages.ComponentSet, needs []need) []need {
	needs = append(needs, need{})
	for i := range s.Components {
		component := &s.Components[i]
		c.scratch = c.needs(component.ReplicaRequirements, c.scratch[:0])
		for _, each := range c.scratch {
			needs = added(needs, need{each.column, each.amount * int64(component.Replicas)})
		}
	}
	needs[0].amount = max(needs[0].amount, 1)
	return needs
}

func added(needs []need, n need) []need {
	i := slices.IndexFunc(needs, func(other need) bool { return other.column == n.column })
	switch {
	case i >= 0:
		needs[i].amount += n.amount
	case n.amount > 0:
		needs = append(needs, n)
	}
	return needs
}

// sets appends, for each slot, how many whole sets, which need so much each, the cluster can take. Of a resource that grades
// do not list their nodes have so much.
func (c *capacity) sets(slots []int32, s *messages.ComponentSet, needs []need, unlisted int64, holds []int64) []int64 {
	holds = c.total(slots, needs, holds)
	for i, slot := range slots {
		holds[i] = c.setsByGrades(slot, s, needs[0].amount, unlisted, holds[i])
	}
	return holds
}

// setsByGrades corrects how many sets a cluster can take if it counts its nodes by grade. What is reserved
// is taken for sets of the same size.
func (c *capacity) setsByGrades(slot int32, s *messages.ComponentSet, pods, unlisted, most int64) int64 {
	if len(c.grades) == 0 || c.grades[slot] == nil || most == 0 {
		return most
	}
	reserved := (max(0, c.columns[0].reserved[slot]) + pods - 1) / pods
	packed := c.grades[slot].pack(c, s, min(most, manySets)+reserved, unlisted)
	return min(most, max(0, packed-reserved))
}

// unlisted is what a node has of a resource that its grade says nothing of, when sets are packed: none in Karmada. Where a
// set is turned away for want of capacity, its nodes are taken to have what the cluster has, as for replicas: grades that list
// processors and memory, as those do that a cluster has by default, say nothing of its GPUs.
func (p *Planner) unlisted() int64 {
	if p.ways.ExactSets {
		return math.MaxInt64
	}
	return 0
}

// manySets is how many sets are as good as any number: beyond it, they are not counted.
const manySets = 1000

// crowds reports whether a cluster that does not run the set yet has no capacity for all of it.
func (p *Planner) crowds(a *attempt, slot int32) bool {
	if !p.ways.ExactSets || a.Set == nil || p.roles[slot]&kept != 0 {
		return false
	}
	p.slot[0] = slot
	p.holds = p.fleet.total(p.slot[:], p.setNeeds, p.holds[:0])
	return p.fleet.setsByGrades(slot, a.Set, p.setNeeds[0].amount, p.unlisted(), min(1, p.holds[0])) == 0
}

// scarce names what a cluster has too little of for a set: resources, by name, or nodes for their pods.
func (p *Planner) scarce(slot int32) string {
	var names []string
	for _, n := range p.setNeeds {
		if k := &p.fleet.columns[n.column]; k.left[slot] < n.amount {
			names = append(names, string(k.name))
		}
	}
	if len(names) == 0 {
		return "nodes"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// countsSets reports whether clusters are compared by how many sets they can take. Karmada does so where
// exactly one cluster is asked for; else it takes a set for one pod that requests nothing.
func (p *Planner) countsSets(a *attempt) bool {
	return p.ways.ExactSets || a.rule.spread.cluster == bounds{1, 1}
}
