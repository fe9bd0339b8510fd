package podplacement

import (
	"math"
	"slices"
	"time"

	"leeward/actors/rules/draw"
)

// Rules are the ways of a scheduler.
type Rules struct {
	// NameTaints names the taint that refuses a node, as kube-scheduler did before 1.36.
	NameTaints bool
	// AvoidTimed chooses a node with a NoExecute taint that the pod tolerates only for a time when no other node can take it.
	// kube-scheduler ignores tolerationSeconds: an evicted pod can come back to the same node, again and again.
	AvoidTimed bool
	// Exact refuses a node whose NoExecute taints the pod tolerates no longer, counted from when each was added: it would be evicted in the
	// instant in which it is bound, and so would be each that its owner creates in its place.
	Exact bool
	// Numeric allows the operators Lt and Gt of tolerations.
	Numeric bool
}

// Planner finds nodes in one Fleet, which has one Planner at a time.
type Planner struct {
	fleet *Fleet
	rules Rules
	seed  uint64
	now   time.Time

	slots, timed []int32
	scores       []int64
	raw          []float64
	// bySlot takes the pods of one constraint on each node; all are zero between decisions.
	bySlot []int64
}

// NewPlanner returns the planner of a fleet, in place of an earlier one. The seed breaks ties, which kube-scheduler leaves to chance.
func NewPlanner(f *Fleet, rules Rules, seed uint64) *Planner {
	f.cache, f.recent = map[string][]fit{}, nil
	f.freed++
	f.changes++
	return &Planner{fleet: f, rules: rules, seed: seed}
}

// At says which instant it is, from now on. It is never an earlier one.
func (p *Planner) At(now time.Time) { p.now = now }

// Decision is the node of a pod, or why there is none.
type Decision struct {
	// Node is empty where none can take the pod.
	Node string
	// Timed: every node that can take it has a NoExecute taint that it tolerates only for a time. Only under AvoidTimed.
	Timed bool
	// Why is kube-scheduler's explanation, where there is no node.
	Why string
}

// Place finds a node for a pod of a shape. Of a large fleet it compares only some of the nodes that can take the pod, as
// kube-scheduler does; the seed and name of the pod say which.
func (p *Planner) Place(s *Shape, pod string) Decision {
	f := p.fleet
	if len(f.order) == 0 {
		return Decision{Why: noNodes}
	}
	chance := draw.Mix(p.seed ^ draw.Hash(0, pod))
	if s.failed != f.freed || len(s.hard) > 0 {
		if found := p.seek(s, chance); len(found) > 0 {
			return Decision{Node: f.nodes[p.best(s, found, chance)].name, Timed: len(p.slots) == 0}
		}
		s.failed = f.freed
	}
	if s.told != f.changes {
		s.why, s.told = p.explain(s), f.changes
	}
	return Decision{Why: s.why}
}

// seek returns nodes that can take a pod of a shape.
func (p *Planner) seek(s *Shape, chance uint64) []int32 {
	f := p.fleet
	p.slots, p.timed = p.slots[:0], p.timed[:0]
	v, tallies := f.fits(s), f.tallies(p, s, s.hard)
	if s.byName {
		for _, name := range s.only {
			if slot, known := f.slots[name]; known && f.nodes[slot].present {
				p.try(s, v, tallies, slot)
			}
		}
		return p.tried()
	}
	n := len(f.order)
	enough := s.sample(n)
	i, step := int(chance%uint64(n)), stride(n)
	for range n {
		p.try(s, v, tallies, f.order[i])
		if len(p.slots) >= enough {
			break
		}
		if i += step; i >= n {
			i -= n
		}
	}
	return p.tried()
}

// try keeps a node that can take a pod of a shape.
func (p *Planner) try(s *Shape, v []fit, tallies []tally, slot int32) {
	c := p.judge(s, v, slot)
	if c.cause != none || !p.fleet.holds(slot, s) {
		return
	}
	for i := range tallies {
		if domain := tallies[i].domain(slot); domain < 0 || !tallies[i].takes(domain) {
			return
		}
	}
	if c.timed {
		p.timed = append(p.timed, slot)
	} else {
		p.slots = append(p.slots, slot)
	}
}

func (p *Planner) tried() []int32 {
	if len(p.slots) > 0 {
		return p.slots
	}
	return p.timed
}

// sample is how many nodes that can take a pod are compared. Where they differ only in what runs there, a hundred of them, spread over the
// fleet, are enough. Where the pod prefers some by their labels, they are as many as in kube-scheduler's numFeasibleNodesToFind.
func (s *Shape) sample(nodes int) int {
	const least = 100
	if nodes < least || s.preferred == nil {
		return min(nodes, least)
	}
	return max(least, nodes*max(5, 50-nodes/125)/100)
}

// stride is a step that visits every one of n places, far apart from one another, so that a sample has nodes of all zones.
func stride(n int) int {
	for step := max(1, n*5/8); ; step++ {
		if a, b := step, n; gcd(a, b) == 1 {
			return step % max(n, 2)
		}
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// The weights of the scores. Source: the default plugins of kube-scheduler.
const (
	weightTaints   = 3
	weightAffinity = 2
	weightSpread   = 2
	full           = 100
)

// best returns the node with the highest score. Of equals chance picks one.
func (p *Planner) best(s *Shape, slots []int32, chance uint64) int32 {
	if len(slots) == 1 {
		return slots[0]
	}
	p.score(s, slots)
	p.spreads(s, slots)
	f := p.fleet
	chosen, tie := 0, draw.Mix(chance^f.loads[slots[0]].hash)
	for i := 1; i < len(slots); i++ {
		if p.scores[i] < p.scores[chosen] {
			continue
		}
		number := draw.Mix(chance ^ f.loads[slots[i]].hash)
		if p.scores[i] > p.scores[chosen] || number < tie {
			chosen, tie = i, number
		}
	}
	return slots[chosen]
}

// score scores nodes by all but the spread of pods.
func (p *Planner) score(s *Shape, slots []int32) {
	v := p.fleet.fits(s)
	p.scores = slices.Grow(p.scores[:0], len(slots))[:len(slots)]
	most := mostOf(v, slots)
	for i, slot := range slots {
		p.scores[i] = v[slot].byTaints(&most) + v[slot].byAffinity(&most)
		l := &p.fleet.loads[slot]
		p.scores[i] += l.leastAllocated(s)
		if !s.bare {
			p.scores[i] += l.balanced(s)
		}
	}
}

// mostOf are the most soft taints, and the strongest preference, of some nodes.
func mostOf(v []fit, slots []int32) (most fit) {
	for _, slot := range slots {
		most.soft, most.preferred = max(most.soft, v[slot].soft), max(most.preferred, v[slot].preferred)
	}
	return most
}

// byTaints prefers the node with the fewest soft taints, byAffinity that which the pod prefers. Source: TaintToleration, NodeAffinity.
func (v *fit) byTaints(most *fit) int64 {
	if most.soft == 0 {
		return weightTaints * full
	}
	return weightTaints * (full - full*int64(v.soft)/int64(most.soft))
}

func (v *fit) byAffinity(most *fit) int64 {
	if most.preferred == 0 {
		return 0
	}
	return weightAffinity * (full * v.preferred / most.preferred)
}

// leastAllocated prefers the node with the most left of cpu and memory. Source: NodeResourcesFit, strategy LeastAllocated.
func (l *load) leastAllocated(s *Shape) int64 {
	var sum, weights int64
	for i := range l.estimated {
		all := l.allocatable[i]
		if all == 0 {
			continue
		}
		weights++
		if used := l.estimated[i] + s.estimated[i]; used <= all {
			sum += (all - used) * full / all
		}
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// balanced prefers the node whose cpu and memory are used to equal parts. Source: NodeResourcesBalancedAllocation.
func (l *load) balanced(s *Shape) int64 {
	var parts [2]float64
	known := 0
	for i := range parts {
		if all := l.allocatable[i]; all > 0 {
			parts[known] = min(1, float64(l.used[i]+s.requests[i])/float64(all))
			known++
		}
	}
	if known < 2 {
		return full
	}
	return int64((1 - math.Abs(parts[0]-parts[1])/2) * full)
}

// spreads adds what the soft topology spread constraints say. Source: PodTopologySpread's Score and NormalizeScore.
func (p *Planner) spreads(s *Shape, slots []int32) {
	if len(s.soft) == 0 {
		return
	}
	f := p.fleet
	tallies := f.tallies(p, s, s.soft)
	weights := make([]float64, len(tallies))
	for i := range tallies {
		if tallies[i].perNode() {
			weights[i] = logOf(len(slots))
			continue
		}
		seen := make([]bool, tallies[i].topology.count)
		domains := 0
		for _, slot := range slots {
			if domain := tallies[i].domain(slot); domain >= 0 && !seen[domain] {
				seen[domain] = true
				domains++
			}
		}
		weights[i] = logOf(domains)
	}
	p.raw = slices.Grow(p.raw[:0], len(slots))[:len(slots)]
	least, most := math.MaxFloat64, 0.0
	p.crowds(s, tallies, weights, slots)
	for _, crowd := range p.raw {
		if crowd >= 0 {
			least, most = min(least, crowd), max(most, crowd)
		}
	}
	for i := range slots {
		switch {
		case p.raw[i] < 0: // lacks a label: the worst
		case most == 0:
			p.scores[i] += weightSpread * full
		default:
			p.scores[i] += weightSpread * int64(full*(most+least-p.raw[i])/most)
		}
	}
}

// lacksLabel is the crowd around a node without the label of a constraint that the pod asks for.
const lacksLabel = -1

// crowds says how many pods of the same kind are around each of some nodes.
func (p *Planner) crowds(s *Shape, tallies []tally, weights []float64, slots []int32) {
	clear(p.raw)
	for i := range tallies {
		t := &tallies[i]
		pods, perNode := t.pods, t.perNode()
		if perNode {
			p.bySlot = append(p.bySlot, make([]int64, max(0, len(p.fleet.nodes)-len(p.bySlot)))...)
			pods = p.bySlot
			t.count(pods, +1)
		}
		for j, slot := range slots {
			domain := t.domain(slot)
			switch {
			case domain < 0 && !s.defaults:
				p.raw[j] = lacksLabel
			case domain < 0 || p.raw[j] == lacksLabel:
			case perNode:
				p.raw[j] += float64(pods[slot])*weights[i] + float64(t.constraint.most-1)
			default:
				p.raw[j] += float64(max(pods[domain], 0))*weights[i] + float64(t.constraint.most-1)
			}
		}
		if perNode {
			t.count(pods, -1)
		}
	}
	for j := range p.raw {
		p.raw[j] = math.Round(p.raw[j])
	}
}
