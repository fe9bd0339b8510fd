package placement

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// maxSteps bounds the search for clusters that meet all spread constraints. What is harder to find is
// not found, everywhere and every time.
const maxSteps = 1 << 15

// spreader counts what groups some clusters cover, and finds clusters that cover those asked for. It
// keeps its scratch space.
type spreader struct {
	groupings []grouping
	clusters  bounds
	least     []int // groups asked for, by grouping

	// What the clusters taken cover:
	taken  int
	seen   [][]int32 // clusters, by grouping and group
	counts []int     // groups, by grouping

	// Of the search: candidates, in order of preference, with their class: those of one class are in the
	// same groups, so that the one with more capacity can stand in for the other.
	keys   []key
	class  []int32
	holds  int64
	steps  int
	path   []int32
	last   [][]int32 // by grouping and group: the last candidate in it
	rests  []rest    // by candidate
	barred []int64   // by class: no use to take one with so much capacity
}

// rest is what a candidate and all that follow it can offer.
type rest struct{ total, most int64 }

// set prepares for a request, of which nothing is taken yet. Fewer replicas than groups asked for go to
// as many groups as there are replicas.
func (s *spreader) set(a *attempt, keys []key) {
	s.groupings, s.clusters, s.keys, s.taken = a.rule.groupings, a.rule.spread.cluster, keys, 0
	replicas := int(a.dividedByCapacity())
	s.clusters.min = max(1, s.clusters.min)
	if replicas > 0 {
		s.clusters.min = min(s.clusters.min, replicas)
	}
	if len(keys) > 0 && replicas > 0 {
		s.clusters.max = min(s.clusters.max, replicas)
	}
	s.least, s.seen, s.counts = resized(s.least, len(s.groupings)), resized(s.seen, len(s.groupings)), resized(s.counts, len(s.groupings))
	for d := range s.groupings {
		g := &s.groupings[d]
		s.least[d], s.counts[d] = g.limits.min, 0
		if replicas > 0 {
			s.least[d] = min(g.limits.min, replicas)
		}
		s.seen[d] = resized(s.seen[d], len(g.ids))
		clear(s.seen[d])
	}
}

// tally takes a cluster, or gives it back with -1.
func (s *spreader) tally(slot int32, sign int32) {
	s.taken += int(sign)
	for d := range s.groupings {
		for _, id := range s.groupings[d].groups[slot] {
			before := s.seen[d][id]
			s.seen[d][id] += sign
			if before == 0 || before+sign == 0 {
				s.counts[d] += int(sign)
			}
		}
	}
}

// lacking is how many clusters and groups are still to be covered.
func (s *spreader) lacking() int {
	lacking := max(0, s.clusters.min-s.taken)
	for d, least := range s.least {
		lacking += max(0, least-s.counts[d])
	}
	return lacking
}

// exceeds reports whether the clusters taken are, or cover, too many.
func (s *spreader) exceeds() bool {
	for d, count := range s.counts {
		if count > s.groupings[d].limits.max {
			return true
		}
	}
	return s.taken > s.clusters.max
}

func (s *spreader) met() bool { return s.lacking() == 0 && !s.exceeds() }

// run returns the first choice that meets the constraints and has capacity for the replicas, in order of
// preference: of two choices that is the one with the first cluster in which they differ. Nil: none was
// found.
func (s *spreader) run(replicas int64) []int32 {
	s.holds, s.steps, s.path = replicas, maxSteps, s.path[:0]
	s.classify()
	s.bound()
	if s.visit(0, 0) {
		return s.path
	}
	return nil
}

// classify gives candidates in the same groups the same class.
func (s *spreader) classify() {
	s.class = s.class[:0]
	ids := make(map[string]int32)
	var signature []byte
	for _, k := range s.keys {
		signature = signature[:0]
		for d := range s.groupings {
			for _, id := range s.groupings[d].groups[k.slot()] {
				signature = binary.AppendUvarint(signature, uint64(id)+1)
			}
			signature = append(signature, 0)
		}
		id, known := ids[string(signature)]
		if !known {
			id = int32(len(ids))
			ids[string(signature)] = id
		}
		s.class = append(s.class, id)
	}
	s.barred = resized(s.barred, len(ids))
	for i := range s.barred {
		s.barred[i] = -1
	}
}

// bound works out what the candidates from each one on can offer.
func (s *spreader) bound() {
	s.last = resized(s.last, len(s.groupings))
	for d := range s.groupings {
		s.last[d] = resized(s.last[d], len(s.groupings[d].ids))
		for id := range s.last[d] {
			s.last[d][id] = -1
		}
		for i, k := range s.keys {
			for _, id := range s.groupings[d].groups[k.slot()] {
				s.last[d][id] = int32(i)
			}
		}
	}
	s.rests = resized(s.rests, len(s.keys)+1)
	s.rests[len(s.keys)] = rest{}
	for i, k := range slices.Backward(s.keys) {
		s.rests[i] = rest{s.rests[i+1].total + k.holds(), max(s.rests[i+1].most, k.holds())}
	}
}

// visit completes the path with candidates from the i-th on, if that can be done. Where it cannot with one
// candidate, it cannot, with the same path, with another of its class that has no more capacity.
func (s *spreader) visit(i int, holds int64) bool {
	var before []bar
	for ; i < len(s.keys) && s.taken < s.clusters.max && s.steps > 0 && s.inReach(i, holds); i++ {
		k, class := s.keys[i], s.class[i]
		if k.holds() <= s.barred[class] {
			continue
		}
		s.steps--
		s.tally(k.slot(), 1)
		s.path = append(s.path, int32(i))
		if !s.exceeds() && s.visit(i+1, holds+k.holds()) {
			return true
		}
		s.tally(k.slot(), -1)
		s.path = s.path[:len(s.path)-1]
		before = append(before, bar{class, s.barred[class]})
		s.barred[class] = k.holds()
	}
	for _, b := range slices.Backward(before) {
		s.barred[b.class] = b.holds
	}
	return s.met() && holds >= s.holds
}

// bar is how much capacity a class was barred from.
type bar struct {
	class int32
	holds int64
}

// inReach reports whether the candidates from the i-th on may have what is still to be covered.
func (s *spreader) inReach(i int, holds int64) bool {
	left := min(len(s.keys)-i, s.clusters.max-s.taken)
	if s.taken+left < s.clusters.min || holds+min(s.rests[i].total, int64(left)*s.rests[i].most) < s.holds {
		return false
	}
	for d, least := range s.least {
		lacking := least - s.counts[d]
		for id := 0; lacking > 0 && id < len(s.last[d]); id++ {
			if s.seen[d][id] == 0 && s.last[d][id] >= int32(i) {
				lacking--
			}
		}
		if lacking > 0 {
			return false
		}
	}
	return true
}

// offered is how many groups the candidates cover.
func (s *spreader) offered(d int) (groups int) {
	for _, last := range s.last[d] {
		if last >= 0 {
			groups++
		}
	}
	return groups
}

// problem says why a search found nothing.
func (s *spreader) problem() string {
	switch {
	case len(s.keys) == 0:
		return "no cluster that fits has capacity for a replica"
	case len(s.keys) < s.clusters.min:
		return fmt.Sprintf("spread constraint cluster asks for %d clusters, %d fit", s.clusters.min, len(s.keys))
	}
	for d, least := range s.least {
		if offered := s.offered(d); offered < least {
			return fmt.Sprintf("spread constraint %s, %d fit", s.groupings[d].asks(least), offered)
		}
	}
	switch {
	case s.steps == 0:
		return fmt.Sprintf("no choice among %d cluster(s) was found that meets the spread constraints, in %d steps", len(s.keys), maxSteps)
	case s.holds > 0:
		return fmt.Sprintf("no choice among %d cluster(s) meets the spread constraints with capacity for %d replicas", len(s.keys), s.holds)
	default:
		return fmt.Sprintf("no choice among %d cluster(s) meets the spread constraints", len(s.keys))
	}
}
