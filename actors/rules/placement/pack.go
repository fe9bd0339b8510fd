package placement

import (
	"math"

	"leeward/messages"
)

// nodes are some nodes that have the same left of each resource that matters.
type nodes struct {
	left  []int64
	count int64
}

// part is what one component of a set puts on nodes: so many pods, with so much of each resource.
type part struct {
	each []int64
	pods int64
}

// pack returns how many whole sets the nodes can take, up to most: nodes are filled one after the other,
// those of the lowest grade first, by the components in their order. Of a resource that the grades do not list each has
// so much. Source: Karmada's general estimator.
func (g *grades) pack(c *capacity, s *messages.ComponentSet, most, unlisted int64) (sets int64) {
	free, parts := g.layOut(c, s, unlisted)
	for sets < most {
		for i := range parts {
			if !place(&free, &parts[i]) {
				return sets
			}
		}
		sets++
		free = usable(free, parts)
	}
	return sets
}

// layOut lists the nodes and the components with the same resources in the same places: first pods, then
// what the components request.
func (g *grades) layOut(c *capacity, s *messages.ComponentSet, unlisted int64) ([]nodes, []part) {
	var needs []need
	var parts []part
	for i := range s.Components {
		component := &s.Components[i]
		c.scratch = c.needs(component.ReplicaRequirements, c.scratch[:0])
		each := make([]int64, len(needs), len(needs)+len(c.scratch))
		for _, n := range c.scratch {
			if at := indexOf(&needs, n.column); at < len(each) {
				each[at] += n.amount
			} else {
				each = append(each, n.amount)
			}
		}
		parts = append(parts, part{each, int64(component.Replicas)})
	}
	free := make([]nodes, len(g.nodes))
	for grade := range free {
		free[grade] = nodes{make([]int64, len(needs)), g.nodes[grade]}
		for i, n := range needs {
			free[grade].left[i] = g.has(c, n.column, grade, unlisted)
		}
	}
	return free, parts
}

// indexOf returns the place of a column among needs, where it puts it if it is new.
func indexOf(needs *[]need, column int) int {
	for i := range *needs {
		if (*needs)[i].column == column {
			return i
		}
	}
	*needs = append(*needs, need{column: column})
	return len(*needs) - 1
}

// has returns what a node of a grade has of a resource at least.
func (g *grades) has(c *capacity, column, grade int, unlisted int64) int64 {
	if column == 0 {
		return maxPodsPerNode
	}
	floors := g.floors[c.columns[column].name]
	if grade >= len(floors) {
		return unlisted
	}
	return floors[grade]
}

// place puts all pods of a part on nodes, and reports whether they have the capacity.
func place(free *[]nodes, p *part) bool {
	pods := p.pods
	var after []nodes
	for _, n := range *free {
		each := n.holds(p)
		if each == 0 || pods == 0 {
			after = append(after, n)
			continue
		}
		full := min(n.count, pods/each)
		after = append(after, n.less(p, each, full))
		n.count, pods = n.count-full, pods-full*each
		if n.count > 0 && pods > 0 {
			after = append(after, n.less(p, pods, 1))
			n.count, pods = n.count-1, 0
		}
		after = append(after, n)
	}
	*free = after
	return pods == 0
}

// holds returns how many pods of a part fit on one of the nodes.
func (n *nodes) holds(p *part) int64 {
	each := int64(math.MaxInt64)
	for i, amount := range p.each {
		if amount > 0 {
			each = min(each, n.left[i]/amount)
		}
	}
	return each
}

// less are some of the nodes with so many pods of a part on each.
func (n *nodes) less(p *part, pods, count int64) nodes {
	left := make([]int64, len(n.left))
	copy(left, n.left)
	for i, amount := range p.each {
		left[i] -= pods * amount
	}
	return nodes{left, count}
}

// usable are the nodes that still hold a pod of some part.
func usable(free []nodes, parts []part) []nodes {
	kept := free[:0]
	for _, n := range free {
		for i := range parts {
			if n.count > 0 && n.holds(&parts[i]) > 0 {
				kept = append(kept, n)
				break
			}
		}
	}
	return kept
}
