package placement

import (
	"slices"
	"time"

	"leeward/actors/rules/affinity"
	"leeward/messages"
	"leeward/messages/api"
)

// rule is a placement made ready for one fleet. Its verdicts follow the shape of the clusters; taints
// and capacity, which change often, are looked at again for every decision.
type rule struct {
	placement *api.Placement
	strategy  strategy
	spread    spread
	// groupings are what the placement spreads by besides clusters; only where spread is exact.
	groupings []grouping
	terms     []term
	weighers  []weigher
	weights   []int64 // by slot; only where there are weighers
	seen      version
	used      uint64 // by which decision last
}

// term is one of the ordered groups of clusters that a placement names; a placement that names none,
// or only one, has a single term without a name.
type term struct {
	name string
	// tiers are the term's own affinity and those that it overflows into. Nil selects no cluster.
	tiers []*affinity.Matcher
	// verdicts say, by slot, whether the cluster is selected and has what the spread constraints name;
	// tier, which tier selects it first.
	verdicts []fitness
	tier     []uint16
}

type weigher struct {
	matcher *affinity.Matcher
	weight  int64
}

// strategy is how replicas go to clusters.
type strategy uint8

const (
	duplicated strategy = iota
	static
	dynamic
	aggregated
	unsupported
)

// byCapacity reports whether replicas go where there is capacity for them.
func (s strategy) byCapacity() bool { return s == dynamic || s == aggregated }

// spread is what the spread constraints amount to. Where it is exact, every constraint counts.
type spread struct {
	mode            spreadMode
	cluster, region bounds
	exact           bool
}

type spreadMode uint8

const (
	everywhere spreadMode = iota
	byCluster
	byRegion
	byNothingKnown
)

// compile makes a placement ready. A selector that is invalid selects nothing, as in Karmada;
// admission does not let one pass.
func compile(p *api.Placement, exact bool) *rule {
	r := &rule{placement: p, strategy: strategyOf(p.ReplicaScheduling)}
	r.spread = spreadOf(p, r.strategy, exact)
	if exact && r.spread.mode != everywhere {
		r.groupings = groupingsOf(p.SpreadConstraints)
	}
	for i := range p.ClusterAffinities {
		a := &p.ClusterAffinities[i]
		t := term{name: a.AffinityName, tiers: []*affinity.Matcher{matcher(&a.ClusterAffinity)}}
		for j := range a.OverflowAffinities {
			t.tiers = append(t.tiers, matcher(&a.OverflowAffinities[j].ClusterAffinity))
		}
		r.terms = append(r.terms, t)
	}
	if len(r.terms) == 0 {
		r.terms = []term{{tiers: []*affinity.Matcher{matcher(p.ClusterAffinity)}}}
	}
	if r.strategy == static && p.ReplicaScheduling.WeightPreference != nil {
		for _, w := range p.ReplicaScheduling.WeightPreference.StaticWeightList {
			r.weighers = append(r.weighers, weigher{matcher(&w.TargetCluster), w.Weight})
		}
	}
	return r
}

func matcher(a *api.ClusterAffinity) *affinity.Matcher {
	m, err := affinity.Compile(a)
	if err != nil {
		return nil
	}
	return m
}

func strategyOf(s *api.ReplicaSchedulingStrategy) strategy {
	switch {
	case s == nil || s.ReplicaSchedulingType == api.Duplicated:
		return duplicated
	case s.ReplicaSchedulingType != api.Divided && s.ReplicaSchedulingType != "":
		return unsupported
	case s.ReplicaDivisionPreference == api.Aggregated:
		return aggregated
	case s.ReplicaDivisionPreference != api.Weighted:
		return unsupported
	case s.WeightPreference != nil && s.WeightPreference.DynamicWeight != "":
		return dynamic
	default:
		return static
	}
}

// spreadOf reads the spread constraints. Static weights make them void, except as filters.
func spreadOf(p *api.Placement, s strategy, exact bool) spread {
	if len(p.SpreadConstraints) == 0 || s == static && !emptyWeights(p.ReplicaScheduling.WeightPreference) {
		return spread{mode: everywhere}
	}
	result := spread{mode: byNothingKnown, exact: exact}
	if exact {
		result.cluster.max = noLimit
	}
	for i := range p.SpreadConstraints {
		c := &p.SpreadConstraints[i]
		limits := boundsOf(c, exact)
		switch {
		case c.SpreadByField == api.SpreadByRegion:
			result.mode, result.region = byRegion, limits
		case c.SpreadByField == api.SpreadByCluster, c.SpreadByField == "" && c.SpreadByLabel == "":
			result.cluster = limits
			if result.mode == byNothingKnown {
				result.mode = byCluster
			}
		}
	}
	return result
}

// emptyWeights reports whether a preference is given that prefers nothing. Karmada weighs clusters the
// same then, but does not take that for static weights where it reads the spread constraints.
func emptyWeights(w *api.WeightPreference) bool {
	return w != nil && len(w.StaticWeightList) == 0
}

// follow brings the verdicts and weights up to the fleet's present shape.
func (r *rule) follow(f *Fleet) {
	if r.seen.era != f.era {
		for i := range r.terms {
			t := &r.terms[i]
			t.verdicts, t.tier = resized(t.verdicts, f.Len()), resized(t.tier, f.Len())
		}
		for i := range r.groupings {
			r.groupings[i].groups = resized(r.groupings[i].groups, f.Len())
		}
		r.weights = resized(r.weights, f.Len())
	}
	f.catchUp(&r.seen, func(slot int32) { r.judge(slot, f.views[slot]) })
}

func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

func (r *rule) judge(slot int32, v *messages.ClusterView) {
	lacking := r.lacks(v)
	for i := range r.groupings {
		r.groupings[i].file(slot, v)
	}
	for i := range r.terms {
		t := &r.terms[i]
		t.verdicts[slot], t.tier[slot] = offAffinity, 0
		for tier, m := range t.tiers {
			if m != nil && m.Matches(v) {
				t.verdicts[slot], t.tier[slot] = lacking, uint16(min(tier, maxTiers-1))
				break
			}
		}
	}
	weight := int64(0)
	for _, w := range r.weighers {
		if w.weight > weight && w.matcher != nil && w.matcher.Matches(v) {
			weight = w.weight
		}
	}
	r.weights[slot] = weight
}

// lacks returns which property a spread constraint names that the cluster does not have.
func (r *rule) lacks(v *messages.ClusterView) fitness {
	for i := range r.placement.SpreadConstraints {
		switch r.placement.SpreadConstraints[i].SpreadByField {
		case api.SpreadByProvider:
			if v.Provider == "" {
				return noProvider
			}
		case api.SpreadByRegion:
			if v.Region == "" {
				return noRegion
			}
		case api.SpreadByZone:
			if len(v.Zones) == 0 {
				return noZone
			}
		}
		if label := r.placement.SpreadConstraints[i].SpreadByLabel; label != "" && r.spread.exact && v.Labels[label] == "" {
			return noLabel
		}
	}
	return fits
}

// firstTerm returns the index of the term to begin with: the one in use, or the first if none is in
// use, if it is gone or if everything must be decided afresh.
func (r *rule) firstTerm(observed string, fresh bool) int {
	if fresh {
		return 0
	}
	return max(0, slices.IndexFunc(r.terms, func(t term) bool { return observed != "" && t.name == observed }))
}

// attempt is one request, tried with one term of its placement.
type attempt struct {
	*Request
	now      time.Time
	rule     *rule
	term     *term
	unserved []bool // by slot: the cluster is known not to serve the API
	part     bool   // part of the replicas will do
}

// dividedByCapacity is how many replicas must find capacity on the clusters chosen.
func (a *attempt) dividedByCapacity() int64 {
	if a.Workload && a.rule.strategy.byCapacity() {
		return int64(a.Replicas)
	}
	return 0
}
