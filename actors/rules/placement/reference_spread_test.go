package placement_test

import (
	"slices"
	"sort"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// constraint is a spread constraint as it counts where spread is exact.
type constraint struct {
	api.SpreadConstraint
	least, most int
}

// constraintsOf reads spread constraints to the letter; a later one for clusters or regions replaces an
// earlier one. Fewer replicas than groups go to as many groups as there are replicas.
func constraintsOf(p *api.Placement, replicas int) (all []constraint) {
	for _, c := range p.SpreadConstraints {
		k := constraint{c, c.MinGroups, c.MaxGroups}
		if k.SpreadByField == "" && k.SpreadByLabel == "" {
			k.SpreadByField = api.SpreadByCluster
		}
		if k.most == 0 {
			k.most = 1 << 20
		}
		if replicas > 0 {
			k.least = min(k.least, replicas)
		}
		all = slices.DeleteFunc(all, func(o constraint) bool {
			return o.SpreadByField == api.SpreadByCluster && k.SpreadByField == api.SpreadByCluster
		})
		all = append(all, k)
	}
	return all
}

func (c *constraint) groups(v *messages.ClusterView) []string {
	switch c.SpreadByField {
	case api.SpreadByCluster:
		return []string{string(v.Name)}
	case api.SpreadByRegion:
		return []string{v.Region}
	case api.SpreadByProvider:
		return []string{v.Provider}
	case api.SpreadByZone:
		return v.Zones
	default:
		return []string{v.Labels[c.SpreadByLabel]}
	}
}

func (c *constraint) covers(options []option) int {
	seen := make(map[string]bool)
	for _, o := range options {
		for _, g := range c.groups(o.view) {
			seen[g] = true
		}
	}
	return len(seen)
}

func meet(all []constraint, options []option) bool {
	for _, c := range all {
		if n := c.covers(options); n < c.least || n > c.most {
			return false
		}
	}
	return true
}

func lacking(all []constraint, options []option) (sum int) {
	for _, c := range all {
		sum += max(0, c.least-c.covers(options))
	}
	return sum
}

// dividedByCapacity is how many replicas must find capacity.
func dividedByCapacity(r *placement.Request, p *api.Placement) int {
	s := p.ReplicaScheduling
	byCapacity := r.Workload && !isDuplicated(p) && (s.ReplicaDivisionPreference == api.Aggregated ||
		s.ReplicaDivisionPreference == api.Weighted && s.WeightPreference != nil && s.WeightPreference.DynamicWeight != "")
	if !byCapacity {
		return 0
	}
	return int(r.Replicas)
}

// chooseExactly is Karmada's choice if that meets all constraints with capacity enough, else the first of
// all subsets that does.
func chooseExactly(r *placement.Request, p *api.Placement, options []option, part bool) ([]option, string) {
	replicas := dividedByCapacity(r, p)
	all := constraintsOf(p, replicas)
	holds := replicas
	if part {
		holds = 0
	}
	if chosen, problem := choose(r, unlimited(p), slices.Clone(options), part); problem == "" && len(chosen) > 0 && meet(all, chosen) && sumOf(chosen) >= int64(holds) {
		return chosen, ""
	}
	return chooseFirst(all, replicas, holds, options)
}

// unlimited writes the upper bounds that are omitted.
func unlimited(p *api.Placement) *api.Placement {
	q := *p
	q.SpreadConstraints = slices.Clone(p.SpreadConstraints)
	byCluster := false
	for i := range q.SpreadConstraints {
		c := &q.SpreadConstraints[i]
		byCluster = byCluster || c.SpreadByField == api.SpreadByCluster || c.SpreadByField == "" && c.SpreadByLabel == ""
		if c.MaxGroups == 0 {
			c.MaxGroups = 1 << 20
		}
	}
	if byRegion := slices.ContainsFunc(q.SpreadConstraints, func(c api.SpreadConstraint) bool { return c.SpreadByField == api.SpreadByRegion }); byRegion && !byCluster {
		q.SpreadConstraints = append(q.SpreadConstraints, api.SpreadConstraint{SpreadByField: api.SpreadByCluster, MaxGroups: 1 << 20})
	}
	return &q
}

func chooseFirst(all []constraint, replicas, holds int, options []option) ([]option, string) {
	if replicas > 0 {
		options = slices.DeleteFunc(slices.Clone(options), func(o option) bool { return o.holds == 0 })
	}
	var first func(chosen, rest []option) []option
	first = func(chosen, rest []option) []option {
		switch {
		case len(rest) > 0:
			if with := first(append(slices.Clone(chosen), rest[0]), rest[1:]); with != nil {
				return with
			}
			return first(chosen, rest[1:])
		case len(chosen) > 0 && meet(all, chosen) && sumOf(chosen) >= int64(holds) && (replicas == 0 || len(chosen) <= replicas):
			return chosen
		default:
			return nil
		}
	}
	if chosen := first([]option{}, options); chosen != nil {
		return chosen, ""
	}
	return nil, "no choice"
}

// divideAndCover divides and gives single replicas to further clusters until those that have any cover what is
// asked for; if that ends before, among other clusters.
func (n *reference) divideAndCover(r *placement.Request, p *api.Placement, term *api.ClusterAffinityTerm, options, chosen []option) ([]api.TargetCluster, *failure) {
	all := constraintsOf(p, dividedByCapacity(r, p))
	targets, err := n.assign(r, p, term, chosen)
	if err != nil || dividedByCapacity(r, p) == 0 {
		return targets, err
	}
	covered, ok := cover(all, chosen, targets)
	if ok {
		return covered, nil
	}
	again, problem := chooseFirst(all, dividedByCapacity(r, p), dividedByCapacity(r, p), options)
	if problem != "" {
		return covered, nil
	}
	if targets, err = n.assign(r, p, term, again); err != nil {
		return nil, err
	}
	covered, _ = cover(all, again, targets)
	return covered, nil
}

func cover(all []constraint, chosen []option, targets []api.TargetCluster) ([]api.TargetCluster, bool) {
	for i := range chosen {
		chosen[i].seats = replicasOn(targets, string(chosen[i].view.Name))
	}
	for lacking(all, seated(chosen)) > 0 {
		taker := slices.IndexFunc(chosen, func(o option) bool {
			return o.seats == 0 && o.holds > 0 && lacking(all, append(seated(chosen), o)) < lacking(all, seated(chosen))
		})
		if taker < 0 {
			return named(chosen, false), false
		}
		chosen[taker].seats = 1
		var givers []*option
		for i := range chosen {
			if o := &chosen[i]; i != taker && (o.seats > 1 || o.seats == 1 && spared(all, chosen, o)) {
				givers = append(givers, o)
			}
		}
		if len(givers) == 0 {
			chosen[taker].seats = 0
			return named(chosen, false), false
		}
		slices.Reverse(givers) // the least preferred first
		sort.SliceStable(givers, func(i, j int) bool { return givers[i].seats > givers[j].seats })
		sort.SliceStable(givers, func(i, j int) bool { return givers[i].seats-givers[i].prev > givers[j].seats-givers[j].prev })
		givers[0].seats--
	}
	return named(chosen, false), true
}

func seated(options []option) (some []option) {
	for _, o := range options {
		if o.seats > 0 {
			some = append(some, o)
		}
	}
	return some
}

func spared(all []constraint, chosen []option, o *option) bool {
	before := lacking(all, seated(chosen))
	o.seats--
	defer func() { o.seats++ }()
	return lacking(all, seated(chosen)) == before
}

func replicasOn(targets []api.TargetCluster, name string) int32 {
	for _, t := range targets {
		if t.Name == name {
			return t.Replicas
		}
	}
	return 0
}
