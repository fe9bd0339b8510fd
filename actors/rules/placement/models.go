package placement

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// grades are the nodes of a cluster, counted by what at least they have left. A cluster that counts them
// so is not judged by its totals, in which a replica may find capacity that no node has.
type grades struct {
	floors map[corev1.ResourceName][]int64 // by grade
	nodes  []int64                         // by grade
}

// maxPodsPerNode is Kubernetes' default.
const maxPodsPerNode = 110

// gradesOf returns nil for a cluster that does not count its nodes by grade. Models may stand in any order; nodes are counted
// from the lowest grade up.
func gradesOf(v *messages.ClusterView) *grades {
	if v.Resources == nil || len(v.Resources.AllocatableModelings) == 0 || len(v.Models) == 0 {
		return nil
	}
	g := &grades{floors: make(map[corev1.ResourceName][]int64), nodes: make([]int64, len(v.Models))}
	models := slices.SortedStableFunc(slices.Values(v.Models), func(a, b api.ResourceModel) int { return cmp.Compare(a.Grade, b.Grade) })
	for i := range models {
		for _, r := range models[i].Ranges {
			g.floors[r.Name] = append(g.floors[r.Name], api.Units(r.Name, r.Min))
		}
		if i < len(v.Resources.AllocatableModelings) {
			g.nodes[i] = int64(v.Resources.AllocatableModelings[i].Count)
		}
	}
	return g
}

// replicas returns how many replicas with these needs, the first of which is for a pod, the nodes can take.
// It does not know where the grades say nothing of a resource, unless one that they list exceeds every grade: then
// no node takes any. Source: Karmada's general estimator, which takes every node for as small as its grade allows, but for
// large enough; where both are so, Karmada's answer depends on the order in which it walks a map.
func (g *grades) replicas(c *capacity, needs []need) (n int64, known bool) {
	first, known := 0, true
	for _, need := range needs[1:] {
		floors, listed := g.floors[c.columns[need.column].name]
		if !listed {
			known = false
			continue
		}
		grade := slices.IndexFunc(floors, func(floor int64) bool { return floor >= need.amount })
		if grade < 0 {
			return 0, true
		}
		first = max(first, grade)
	}
	if !known {
		return 0, false
	}
	for grade := first; grade < len(g.nodes); grade++ {
		each := int64(maxPodsPerNode)
		for _, need := range needs[1:] {
			each = min(each, g.floors[c.columns[need.column].name][grade]/need.amount)
		}
		n += g.nodes[grade] * each
	}
	return n, true
}

// holdsByGrades corrects the capacity of those clusters that count their nodes by grade. What is reserved takes
// its place there, too.
func (c *capacity) holdsByGrades(slots []int32, needs []need, holds []int64) {
	if len(c.grades) == 0 || len(needs) == 1 {
		return
	}
	pods := &c.columns[0]
	for i, slot := range slots {
		g := c.grades[slot]
		if g == nil {
			continue
		}
		if n, known := g.replicas(c, needs); known {
			holds[i] = max(0, min(pods.left[slot], n-pods.reserved[slot]))
		}
	}
}
