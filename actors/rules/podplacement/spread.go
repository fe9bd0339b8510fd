package podplacement

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// spread is one topology spread constraint of a shape.
type spread struct {
	key            string
	most           int64 // maxSkew
	domains        int   // minDomains
	self           int64 // 1: it counts the pod itself
	soft           bool  // ScheduleAnyway
	ignoreAffinity bool
	honorTaints    bool
	counts         *counted
}

// counted are the classes that a selector matches, of the first so many of the namespace.
type counted struct {
	selector labels.Selector
	classes  []*class
	seen     int
}

// topology says in which domain of a topology key each node is.
type topology struct {
	of    []int32 // by slot; -1: the node lacks the label, or is not there
	count int
}

// topology returns that of a key, made again when nodes came, went or changed labels.
func (f *Fleet) topology(key string) *topology {
	t := f.topologies[key]
	if t != nil {
		return t
	}
	t = &topology{of: make([]int32, len(f.nodes))}
	for i := range t.of {
		t.of[i] = -1
	}
	values := map[string]int32{}
	for _, slot := range f.order {
		value, has := f.nodes[slot].object.Labels[key]
		if !has {
			continue
		}
		domain, known := values[value]
		if !known {
			domain = int32(len(values))
			values[value] = domain
		}
		t.of[slot] = domain
	}
	t.count = len(values)
	f.topologies[key] = t
	return t
}

// counted returns the classes that a constraint counts.
func (f *Fleet) counted(s *Shape, c *spread) []*class {
	inside, counts := f.inside[s.class.namespace], c.counts
	for ; counts.seen < len(inside); counts.seen++ {
		if counts.selector.Matches(labels.Set(inside[counts.seen].labels)) {
			counts.classes = append(counts.classes, inside[counts.seen])
		}
	}
	return counts.classes
}

// tally is how many matching pods each domain of one constraint has.
type tally struct {
	constraint *spread
	topology   *topology
	pods       []int64 // by domain; -1: it has no node that counts
	least      int64
	classes    []*class
}

// domain returns that of a node, -1 for none.
func (t *tally) domain(slot int32) int32 {
	if int(slot) < len(t.topology.of) {
		return t.topology.of[slot]
	}
	return -1
}

// takes reports whether one more pod in a domain keeps the skew.
func (t *tally) takes(domain int32) bool {
	return max(t.pods[domain], 0)+t.constraint.self-t.least <= t.constraint.most
}

// count adds the matching pods of each node to numbers by slot, sign 1, or takes them off again, -1.
func (t *tally) count(bySlot []int64, sign int64) {
	for _, c := range t.classes {
		for _, at := range c.on {
			bySlot[at.slot] += sign * at.pods
		}
	}
}

// tallies counts for constraints of a shape. Where the domains are nodes and only scores ask, as kube-scheduler does, nodes are
// counted by who compares them. Only nodes count that have the keys of all constraints, and that the policies of a
// constraint let in. Constraints by default ask for no key.
func (f *Fleet) tallies(p *Planner, s *Shape, constraints []spread) []tally {
	if len(constraints) == 0 {
		return nil
	}
	tallies := make([]tally, len(constraints))
	for i := range constraints {
		t := &tallies[i]
		t.constraint, t.topology, t.classes = &constraints[i], f.topology(constraints[i].key), f.counted(s, &constraints[i])
		if t.perNode() {
			continue
		}
		t.pods = make([]int64, t.topology.count)
		for domain := range t.pods {
			t.pods[domain] = -1
		}
	}
	v := f.fits(s)
	for i := range tallies {
		t := &tallies[i]
		if t.perNode() {
			continue
		}
		if s.defaults && !s.hasRequired {
			clear(t.pods)
		} else {
			for _, slot := range f.order {
				if domain := t.topology.of[slot]; domain >= 0 && t.pods[domain] < 0 && f.lets(p, s, v, tallies, t, slot) {
					t.pods[domain] = 0
				}
			}
		}
		for _, c := range t.classes {
			for _, at := range c.on {
				if domain := t.domain(at.slot); domain >= 0 && f.lets(p, s, v, tallies, t, at.slot) {
					t.pods[domain] += at.pods
				}
			}
		}
		t.find()
	}
	return tallies
}

// lets reports whether a node counts for a constraint.
func (f *Fleet) lets(p *Planner, s *Shape, v []fit, tallies []tally, t *tally, slot int32) bool {
	if s.hasRequired && !t.constraint.ignoreAffinity && !p.judge(s, v, slot).like {
		return false
	}
	if t.constraint.honorTaints && !p.judge(s, v, slot).tolerated {
		return false
	}
	if s.defaults {
		return true
	}
	for i := range tallies {
		if tallies[i].domain(slot) < 0 {
			return false
		}
	}
	return true
}

// find finds the domain with the fewest pods; none counts as empty where there are fewer domains than there must be.
func (t *tally) find() {
	domains := 0
	t.least = math.MaxInt32
	for _, n := range t.pods {
		if n >= 0 {
			domains++
			t.least = min(t.least, n)
		}
	}
	if domains < t.constraint.domains {
		t.least = 0
	}
}

// perNode reports whether each node is a domain, and only scores ask.
func (t *tally) perNode() bool { return t.constraint.soft && t.constraint.key == corev1.LabelHostname }
