package placement

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/division"
	"leeward/actors/rules/taint"
)

// avoid returns how strongly the scheduler avoids a cluster. Most so the clusters that the workload would have to leave again.
func (p *Planner) avoid(a *attempt, slot int32) uint8 {
	if p.ways.AvoidsTemporary && p.fleet.marks[slot]&tainted != 0 {
		d := taint.Deadline(p.fleet.views[slot].Taints, a.rule.placement.ClusterTolerations, p.ways.Taints)
		if d.Outcome == taint.Until {
			return maxAvoid
		}
	}
	return p.softTaints(a, slot)
}

// softTaints counts the PreferNoSchedule taints of a cluster that the placement does not tolerate, below maxAvoid. Source:
// Kubernetes, which scores nodes so.
func (p *Planner) softTaints(a *attempt, slot int32) (n uint8) {
	if !p.ways.AvoidsPreferred || p.fleet.marks[slot]&avoided == 0 {
		return 0
	}
	taints, tolerations := p.fleet.views[slot].Taints, a.rule.placement.ClusterTolerations
	for i := range taints {
		tolerated := taints[i].Effect != corev1.TaintEffectPreferNoSchedule || slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
			return taint.Tolerates(&t, &taints[i], p.ways.Taints.Numeric)
		})
		if !tolerated && n < maxAvoid-1 {
			n++
		}
	}
	return n
}

// divideTier divides among the clusters of one tier by free capacity: those that are least to be avoided
// take as much as they can, then the next. What runs on one that should be avoided stays there. It returns
// how many replicas remain.
func (p *Planner) divideTier(a *attempt, demand division.Demand, c []division.Candidate) (missing int64) {
	divide := p.divider.Dynamic
	if a.rule.strategy == aggregated {
		divide = p.divider.Aggregated
	}
	if !p.avoidable {
		return divide(demand, c)
	}
	left, prev := int64(demand.Replicas), sumPrev(c)
	if !demand.Fresh && prev >= left {
		return divide(demand, c)
	}
	slices.SortStableFunc(c, func(x, y division.Candidate) int { return cmp.Compare(p.avoid(a, x.Rank), p.avoid(a, y.Rank)) })
	for len(c) > 0 {
		n, capacity := p.sameAvoid(a, c)
		prev -= sumPrev(c[:n])
		later := prev
		if demand.Fresh {
			later = 0
		}
		demand.Replicas = int32(max(0, min(left-later, capacity)))
		left -= int64(demand.Replicas)
		divide(demand, c[:n])
		c = c[n:]
	}
	return left
}

// sameAvoid returns how many clusters from the first on are as much to be avoided, and what they can run.
func (p *Planner) sameAvoid(a *attempt, c []division.Candidate) (n int, capacity int64) {
	avoid := p.avoid(a, c[0].Rank)
	for n < len(c) && p.avoid(a, c[n].Rank) == avoid {
		capacity += c[n].Free + int64(c[n].Prev)
		n++
	}
	return n, capacity
}

func sumPrev(c []division.Candidate) (sum int64) {
	for i := range c {
		sum += int64(c[i].Prev)
	}
	return sum
}
