package podplacement

import (
	"slices"

	"leeward/actors/rules/draw"
)

// Explanation is a decision with what led to it: each node, by name.
type Explanation struct {
	Decision
	Nodes []NodeExplained
}

// NodeExplained is what a decision finds of one node.
type NodeExplained struct {
	Name string
	// Refused is why it cannot take the pod; empty: it can.
	Refused []string
	// Timed: it has a NoExecute taint that the pod tolerates only for a time, and is not compared where another can take the pod.
	Timed bool
	// Compared: it is one of the nodes that were compared. Score is set then, where there are several.
	Compared bool
	Score    Score
	Chosen   bool
}

// Score is what a node is worth to a pod, by kube-scheduler's default plugins and their weights.
type Score struct {
	// Taints is less for each PreferNoSchedule taint, Affinity more for what the pod prefers, Free for what is not requested, Balanced
	// where cpu and memory are requested to equal parts, and Spread where fewer pods of the same kind are near.
	Taints, Affinity, Free, Balanced, Spread int64
}

// Total is the sum.
func (s *Score) Total() int64 { return s.Taints + s.Affinity + s.Free + s.Balanced + s.Spread }

// Explain asks again what Place asks, of the fleet as it is now. It changes nothing that a decision rests on.
func (p *Planner) Explain(s *Shape, pod string) Explanation {
	f := p.fleet
	if len(f.order) == 0 {
		return Explanation{Decision: Decision{Why: noNodes}}
	}
	chance := draw.Mix(p.seed ^ draw.Hash(0, pod))
	compared := slices.Clone(p.seek(s, chance))
	timed := len(p.slots) == 0
	scores := p.scoresOf(s, compared)
	x := Explanation{Nodes: make([]NodeExplained, 0, len(f.order))}
	v, tallies := f.fits(s), f.tallies(p, s, s.hard)
	for _, slot := range f.order {
		n := NodeExplained{Name: f.nodes[slot].name}
		if n.Refused, _ = p.refusal(s, v, tallies, slot); len(n.Refused) == 0 {
			n.Timed = v[slot].timed
		}
		if i := slices.Index(compared, slot); i >= 0 {
			n.Compared, n.Score = true, scores[i]
		}
		x.Nodes = append(x.Nodes, n)
	}
	if len(compared) == 0 {
		x.Why = p.explain(s)
		return x
	}
	best := p.best(s, compared, chance)
	x.Node, x.Timed = f.nodes[best].name, timed
	for i := range x.Nodes {
		x.Nodes[i].Chosen = x.Nodes[i].Name == x.Node
	}
	return x
}

// scoresOf are the scores of nodes, part by part.
func (p *Planner) scoresOf(s *Shape, slots []int32) []Score {
	v, f := p.fleet.fits(s), p.fleet
	most := mostOf(v, slots)
	p.score(s, slots)
	without := slices.Clone(p.scores)
	p.spreads(s, slots)
	scores := make([]Score, len(slots))
	for i, slot := range slots {
		scores[i] = Score{Taints: v[slot].byTaints(&most), Affinity: v[slot].byAffinity(&most), Free: f.loads[slot].leastAllocated(s), Spread: p.scores[i] - without[i]}
		if !s.bare {
			scores[i].Balanced = f.loads[slot].balanced(s)
		}
	}
	return scores
}
