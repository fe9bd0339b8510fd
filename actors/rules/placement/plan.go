package placement

import (
	"fmt"
	"slices"
	"time"

	"leeward/messages/api"
)

// Plan decides where a resource is to run, trying the terms of its placement in order, from the one in
// use on. If all fail, the first that has capacity for part of the replicas counts, where part will do; else
// the first failure, or the first that will pass when others have started.
func (p *Planner) Plan(now time.Time, r *Request) Decision {
	rule := p.open(r)
	defer p.end()
	var first Decision
	passing := false
	for i := rule.firstTerm(r.Affinity, r.Fresh); i < len(rule.terms); i++ {
		a := p.attempt(now, r, rule, i)
		d := p.try(&a)
		if d.Reason == "" {
			return d
		}
		if first.Reason == "" || !passing && p.passing() {
			first, passing = p.explained(d), p.passing()
		}
	}
	if p.ways.Partial && rule.strategy.byCapacity() {
		if d := p.planPart(now, r, rule); d.Partial() {
			d.Rejections = first.Rejections
			return d
		}
	}
	first.Affinity = r.Affinity
	return first
}

// passing reports whether the last attempt failed for want of a cluster that only starts too many others.
func (p *Planner) passing() bool {
	return len(p.busy) > 0 && slices.ContainsFunc(p.misfits, func(m misfit) bool { return m.verdict == starting })
}

// explained adds to a failure which clusters did not fit.
func (p *Planner) explained(d Decision) Decision {
	d.Rejections = p.rejections()
	if d.Reason == api.ReasonNoClusterFit {
		d.Message = p.diagnosis(d.Rejections)
		return d
	}
	for i := range d.Rejections {
		if r := &d.Rejections[i]; r.Reason == reasons[suspended] { // people may lift that
			d.Message += fmt.Sprintf("; %d %s", len(r.Clusters), r.Reason)
		}
	}
	return d
}

// planPart places as many replicas as it can, with the first term that has capacity for any.
func (p *Planner) planPart(now time.Time, r *Request, rule *rule) (d Decision) {
	for i := rule.firstTerm(r.Affinity, r.Fresh); i < len(rule.terms) && !d.Partial(); i++ {
		a := p.attempt(now, r, rule, i)
		a.part = true
		d = p.try(&a)
	}
	return d
}

// try decides with one term: it filters, chooses and divides. Capacity is looked at only where clusters are
// chosen or replicas divided by it.
func (p *Planner) try(a *attempt) Decision {
	p.filter(a)
	if len(p.slots) == 0 {
		return Decision{Reason: api.ReasonNoClusterFit}
	}
	if a.Workload && a.rule.strategy.byCapacity() || a.rule.spread.mode != everywhere {
		p.measure(a)
		if problem := p.choose(a); problem != "" {
			return Decision{Reason: api.ReasonSchedulerError, Message: problem}
		}
	}
	return p.assign(a)
}

// filter notes the clusters that fit, and why the others do not. Most are settled by what is known beforehand; only the others
// are looked at.
func (p *Planner) filter(a *attempt) {
	p.slots, p.misfits = p.slots[:0], p.misfits[:0]
	verdicts, marks, roles, unserved := a.term.verdicts, p.fleet.marks, p.roles, a.unserved
	deep := len(a.term.tiers) > 1 || len(a.Together) > 0 || a.Set != nil
	for slot := range verdicts {
		plain := verdicts[slot] == fits && marks[slot] == 0 && roles[slot]&(departing|outgoing|shunned|resting|busy|untold) == 0 && !unserved[slot] && !deep
		if plain || p.passes(a, int32(slot)) {
			p.slots = append(p.slots, int32(slot))
		}
	}
}

// passes reports whether a cluster fits, and notes why if it does not.
func (p *Planner) passes(a *attempt, slot int32) bool {
	v, taint := p.verdict(a, slot)
	if v != fits {
		p.misfits = append(p.misfits, misfit{slot: slot, taint: int16(taint), verdict: v})
	}
	return v == fits
}

// open begins a request, and returns its placement made ready.
func (p *Planner) open(r *Request) *rule {
	p.cast.begin(p.fleet, r)
	if r.Set != nil {
		p.setNeeds = p.fleet.needsOfSet(r.Set, p.setNeeds[:0])
	}
	return p.rules.of(r.Placement)
}

func (p *Planner) attempt(now time.Time, r *Request, rule *rule, term int) attempt {
	return attempt{Request: r, now: now, rule: rule, term: &rule.terms[term], unserved: p.services.unserved(kind{r.APIVersion, r.Kind})}
}
