package placement

import (
	"cmp"
	"slices"
)

// region is a group of candidates that are in one region.
type region struct {
	name    string
	id      int32
	leader  key   // the best cluster
	running bool  // some cluster has the resource
	count   int64 // clusters
	weight  int64
	holds   int64 // of the clusters walked so far
	score   int64 // of the same
	walked  int64
	settled bool
}

// countHolding counts a cluster that has capacity for all replicas.
func (g *region) countHolding(k key, replicas int64) {
	if k.holds() >= replicas {
		g.walked++
		g.score += k.score()
	}
}

// walk counts a cluster unless those before it are enough, in number and in capacity.
func (g *region) walk(k key, clusters, replicas int64) {
	if g.settled {
		return
	}
	g.walked++
	g.holds += k.holds()
	g.score += k.score()
	g.settled = g.walked >= clusters && g.holds >= replicas
}

// weigh rates a region: a thousand for each cluster that can take all replicas or, if they are divided,
// for each replica of the region's share that it can take; plus the mean score of those clusters.
func (g *region) weigh(duplicated bool, replicas int64) {
	units := min(g.holds, replicas)
	if duplicated {
		units = g.walked
	}
	g.weight = 1000 * units
	if g.walked > 0 {
		g.weight += g.score / g.walked
	}
}

func perGroup(replicas int32, groups int) int64 {
	n := int64(max(1, groups))
	return (int64(replicas) + n - 1) / n
}

// search finds the best combination of regions. It keeps its scratch space.
type search struct {
	regions []region
	limits  bounds
	target  int64

	// heaviest[i][n] is the greatest weight of n regions from the i-th on, largest[n] the greatest
	// count of any n.
	heaviest [][]int64
	largest  []int64

	path          []int // indices, ascending
	weight, count int64 // of the path

	found                 bool
	best                  []int
	bestWeight, bestCount int64
}

// run returns the regions chosen, the heaviest first; none if no combination will do. A combination
// will do if it has as many regions as the limits say and at least target clusters, and if it does not
// begin with one that will do. Combinations are compared by weight, by number of clusters, and then in
// the order in which a depth-first walk finds them, small regions first. Of the best one, in turn, the
// shortest beginning is taken that will do.
//
// Karmada walks through all combinations. Here the greatest weight that a beginning can come to cuts
// the walk short, and in the common case, where the fewest regions always have clusters enough, there
// is nothing to walk through.
func (s *search) run(regions []region, limits bounds, target int64) []region {
	slices.SortFunc(regions, func(a, b region) int {
		return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(b.weight, a.weight), cmp.Compare(a.name, b.name))
	})
	s.regions, s.limits, s.target = regions, limits, target
	s.path, s.best, s.found = s.path[:0], s.best[:0], false
	if limits.min > limits.max || limits.min > len(regions) {
		return nil
	}
	if s.anyWillDo() {
		slices.SortFunc(regions, heavierLarger)
		chosen := regions[:limits.min]
		slices.SortFunc(chosen, heavier)
		return chosen
	}
	s.bound()
	s.visit(0)
	chosen := make([]region, 0, len(s.best))
	for _, i := range s.best {
		chosen = append(chosen, regions[i])
	}
	slices.SortFunc(chosen, heavier)
	return s.shortest(chosen)
}

func heavier(a, b region) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.name, b.name))
}

func heavierLarger(a, b region) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name))
}

// anyWillDo reports whether any combination of as few regions as allowed has clusters enough.
func (s *search) anyWillDo() bool {
	count := int64(0)
	for i := range s.limits.min {
		count += s.regions[i].count
	}
	return s.limits.min > 0 && count >= s.target
}

// bound works out how heavy and how large combinations can get.
func (s *search) bound() {
	n := len(s.regions)
	most := min(n, s.limits.max)
	s.heaviest = slices.Grow(s.heaviest[:0], n+1)[:n+1]
	var sorted []int64
	for i := n; i >= 0; i-- {
		if i < n {
			w := s.regions[i].weight
			at, _ := slices.BinarySearchFunc(sorted, w, func(a, b int64) int { return cmp.Compare(b, a) })
			sorted = slices.Insert(sorted, at, w)
		}
		s.heaviest[i] = sums(sorted, most)
	}
	counts := make([]int64, 0, n)
	for i := range s.regions {
		counts = append(counts, s.regions[n-1-i].count)
	}
	s.largest = sums(counts, most)
}

// sums returns the sums of the first 0, 1, ... n values; beyond the last value they stay.
func sums(values []int64, n int) []int64 {
	s := make([]int64, n+1)
	for i := range n {
		s[i+1] = s[i]
		if i < len(values) {
			s[i+1] += values[i]
		}
	}
	return s
}

// visit walks through the combinations that begin with the path and go on from region i.
func (s *search) visit(i int) {
	if s.count >= s.target && len(s.path) >= s.limits.min {
		if s.beaten(s.weight, s.count) {
			s.best, s.bestWeight, s.bestCount, s.found = append(s.best[:0], s.path...), s.weight, s.count, true
		}
		return
	}
	for ; i < len(s.regions); i++ {
		more := s.atMost(i)
		if s.count+s.largest[s.limitLeft()] < s.target || !s.beaten(s.weight+s.heaviest[i][more], s.count+s.largest[more]) {
			return
		}
		r := &s.regions[i]
		s.path, s.weight, s.count = append(s.path, i), s.weight+r.weight, s.count+r.count
		s.visit(i + 1)
		s.path, s.weight, s.count = s.path[:len(s.path)-1], s.weight-r.weight, s.count-r.count
	}
}

// beaten reports whether a combination of this weight and count is better than the best so far. One as
// good is not: it was found later.
func (s *search) beaten(weight, count int64) bool {
	return !s.found || weight > s.bestWeight || weight == s.bestWeight && count > s.bestCount
}

func (s *search) limitLeft() int { return min(len(s.regions), s.limits.max) - len(s.path) }

// atMost returns how many regions, at most, the path can take on from region i before it will do: each
// adds at least as many clusters as region i has.
func (s *search) atMost(i int) int {
	each := s.regions[i].count
	more := (s.target - s.count + each - 1) / each
	return min(s.limitLeft(), max(int(more), s.limits.min-len(s.path)))
}

// shortest returns the shortest beginning of a combination that will do on its own.
func (s *search) shortest(chosen []region) []region {
	count := int64(0)
	last := int64(0) // the greatest number of clusters: the walk adds that region last
	for n := range chosen {
		count += chosen[n].count
		last = max(last, chosen[n].count)
		enough := count >= s.target && n+1 >= s.limits.min
		if early := count-last >= s.target && n >= s.limits.min; enough && !early {
			return chosen[:n+1]
		}
	}
	return chosen
}
