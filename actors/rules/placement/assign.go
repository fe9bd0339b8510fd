package placement

import (
	"fmt"
	"slices"

	"leeward/actors/rules/division"
	"leeward/messages"
	"leeward/messages/api"
)

// assign divides the replicas among the chosen clusters, or just names them.
func (p *Planner) assign(a *attempt) Decision {
	switch strategy := a.rule.strategy; {
	case a.Set != nil:
		return Decision{Targets: p.allOf(a.Set), Affinity: a.term.name}
	case !a.Workload:
		return Decision{Targets: p.all(0), Affinity: a.term.name}
	case strategy == duplicated && a.Replicas == 0:
		return Decision{Affinity: a.term.name}
	case strategy == duplicated:
		return Decision{Targets: p.all(a.Replicas), Affinity: a.term.name}
	case strategy == static:
		p.weigh(a.rule.weights)
		p.divider.Static(a.demand(), p.candidates)
		return Decision{Targets: p.targets(), Affinity: a.term.name}
	case strategy.byCapacity():
		return p.assignByCapacity(a)
	default:
		s := a.rule.placement.ReplicaScheduling
		message := fmt.Sprintf("replicaScheduling %s with preference %q is not supported", s.ReplicaSchedulingType, s.ReplicaDivisionPreference)
		return Decision{Reason: api.ReasonSchedulerError, Message: message}
	}
}

// assignByCapacity divides the replicas by free capacity. If there is not enough, that is a failure; but it
// comes with the places that there are, where part of the replicas will do.
func (p *Planner) assignByCapacity(a *attempt) Decision {
	missing := p.divide(a, a.demand())
	if missing == 0 && !p.cover(a) && p.chooseBySearch(a, int64(a.Replicas)) == "" {
		p.line(true)
		missing = p.divide(a, a.demand())
		p.cover(a)
	}
	if missing == 0 {
		return Decision{Targets: p.targets(), Affinity: a.term.name}
	}
	d := Decision{
		Reason:  api.ReasonUnschedulable,
		Message: p.shortage(a, missing),
	}
	if a.part && missing < int64(a.Replicas) {
		some := a.demand()
		some.Replicas -= int32(missing)
		p.divide(a, some)
		p.cover(a)
		d.Targets, d.Missing, d.Affinity = p.targets(), int32(missing), a.term.name
	}
	return d
}

// shortage says how many replicas find no capacity, and whether clusters that have some may not give it.
func (p *Planner) shortage(a *attempt, missing int64) string {
	text := fmt.Sprintf("%d of %d replicas exceed the capacity of the %d chosen cluster(s)", missing, a.Replicas, len(p.slots))
	frozen := 0
	for _, slot := range p.slots {
		if p.frozen(a, slot) {
			frozen++
		}
	}
	if frozen == 0 {
		return text
	}
	return fmt.Sprintf("%s, of which %d may take no more", text, frozen)
}

func (r *Request) demand() division.Demand {
	return division.Demand{Replicas: r.Replicas, UID: r.UID, Fresh: r.Fresh}
}

// all names all chosen clusters with the same replicas.
func (p *Planner) all(replicas int32) []api.TargetCluster {
	targets := make([]api.TargetCluster, len(p.slots))
	for i, slot := range p.slots {
		targets[i] = api.TargetCluster{Name: p.fleet.names[slot], Replicas: replicas}
	}
	return targets
}

// allOf names all chosen clusters with the whole set.
func (p *Planner) allOf(s *messages.ComponentSet) []api.TargetCluster {
	targets := p.all(0)
	for i := range targets {
		targets[i].Components = s.Targets
	}
	return targets
}

// weigh makes every chosen cluster a candidate with its static weight.
func (p *Planner) weigh(weights []int64) {
	p.candidates = p.candidates[:0]
	for _, slot := range p.slots {
		p.candidates = append(p.candidates, division.Candidate{Rank: slot, Prev: p.prev[slot], Weight: weights[slot]})
	}
}

// divide divides by free capacity. Where the term overflows, each tier in turn takes as much as it
// can. It returns how many replicas remain.
func (p *Planner) divide(a *attempt, demand division.Demand) (missing int64) {
	if len(a.term.tiers) == 1 {
		return p.divideTier(a, demand, p.candidates)
	}
	tiers := a.term.tier
	slices.SortStableFunc(p.candidates, func(a, b division.Candidate) int { return int(tiers[a.Rank]) - int(tiers[b.Rank]) })
	left := int64(demand.Replicas)
	for from := 0; from < len(p.candidates); {
		capacity, to := int64(0), from
		for ; to < len(p.candidates) && tiers[p.candidates[to].Rank] == tiers[p.candidates[from].Rank]; to++ {
			capacity += p.candidates[to].Free + int64(p.candidates[to].Prev)
		}
		if left > 0 {
			demand.Replicas = int32(min(left, capacity))
			left -= int64(demand.Replicas)
			p.divideTier(a, demand, p.candidates[from:to])
		}
		from = to
	}
	return left
}

// targets lists the candidates that got replicas, in the order of their names.
func (p *Planner) targets() []api.TargetCluster {
	byName := func(a, b division.Candidate) int { return int(a.Rank - b.Rank) }
	winners := 0
	for i := range p.candidates {
		if p.candidates[i].Seats > 0 {
			winners++
		}
	}
	if winners == 0 {
		return nil
	}
	if !slices.IsSortedFunc(p.candidates, byName) {
		slices.SortFunc(p.candidates, byName)
	}
	targets := make([]api.TargetCluster, 0, winners)
	for i := range p.candidates {
		if c := &p.candidates[i]; c.Seats > 0 {
			targets = append(targets, api.TargetCluster{Name: p.fleet.names[c.Rank], Replicas: c.Seats})
		}
	}
	return targets
}
