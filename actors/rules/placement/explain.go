package placement

import (
	"time"

	"leeward/actors/rules/division"
	"leeward/messages"
	"leeward/messages/api"
)

// Explanation is a decision with what led to it: each affinity term that was tried, in order; the last is the one that counts
// where the request is met.
type Explanation struct {
	Decision Decision
	Terms    []TermExplained
}

// TermExplained is what one affinity term came to.
type TermExplained struct {
	// Name is empty where the placement has no or one affinity.
	Name string
	// Reason and Message say why the term did not do; empty: it did.
	Reason, Message string
	// ByCapacity is set where clusters are chosen, or replicas divided, by capacity.
	ByCapacity bool
	// Division is how the replicas were divided; zero where nothing was.
	Division division.Outline
	// Clusters are all of the fleet, in the order of their names.
	Clusters []ClusterExplained
}

// ClusterExplained is what a request found on one cluster.
type ClusterExplained struct {
	Cluster messages.ClusterName
	Region  string
	// Refused is why it does not fit; empty: it fits.
	Refused string
	// Score is what Karmada's scheduler gives it: 100 where the resource runs already. Tier is which affinity of the term
	// selects it, 0 for the first; Avoid is how strongly it is avoided, 0 for not at all.
	Score int64
	Tier  uint16
	Avoid uint8
	// Capacity is how many replicas, or whole sets, it can run, those that it has included; Unlimited where nothing counts.
	Capacity int64
	// Frozen is set where it keeps what it has and takes no more.
	Frozen bool
	// Chosen is set where the spread constraints leave it among those that get replicas, or nothing chooses.
	Chosen bool
	// Weight is its share in the division; zero where the replicas are not divided by weight.
	Weight int64
	// Previous and Replicas are what it had and what it gets; Target is set where it is one of the targets.
	Previous, Replicas int32
	Target             bool
}

// Unlimited is the Capacity of a cluster where nothing counts.
const Unlimited = int64(-1)

// Explain plans again, and tells what led to the decision. It asks what Plan asks, one affinity term after the other, and
// reads what that leaves behind: a decision costs no more for it.
func (p *Planner) Explain(now time.Time, r *Request) Explanation {
	x := Explanation{Decision: p.Plan(now, r)}
	rule := p.open(r)
	defer p.end()
	for i := rule.firstTerm(r.Affinity, r.Fresh); i < len(rule.terms); i++ {
		a := p.attempt(now, r, rule, i)
		t := p.explainTerm(&a)
		if t.Reason != "" && x.Decision.Partial() && t.Name == x.Decision.Affinity { // the term that has capacity for part of them
			a.part = true
			t = p.explainTerm(&a)
		}
		x.Terms = append(x.Terms, t)
		if t.Reason == "" {
			break
		}
	}
	return x
}

// explainTerm tries one term, and reads what that leaves behind.
func (p *Planner) explainTerm(a *attempt) TermExplained {
	t := TermExplained{Name: a.term.name, ByCapacity: a.Workload && a.rule.strategy.byCapacity() || a.rule.spread.mode != everywhere}
	t.Clusters = p.explainClusters(a)
	p.candidates = p.candidates[:0]
	d := p.try(a)
	t.Reason, t.Message = d.Reason, p.messageOf(&d)
	for _, slot := range p.slots {
		t.Clusters[slot].Chosen = d.Reason != api.ReasonSchedulerError
	}
	if a.Workload && a.Set == nil && a.rule.strategy != duplicated && len(p.candidates) > 0 {
		t.Division = p.outline(a)
		for i := range p.candidates {
			t.Clusters[p.candidates[i].Rank].Weight = p.candidates[i].Weight
		}
	}
	for _, target := range d.Targets {
		c := &t.Clusters[p.fleet.slot(target.Name, -1)]
		c.Target, c.Replicas = true, target.Replicas
	}
	return t
}

// messageOf says why the last attempt failed, as Plan does.
func (p *Planner) messageOf(d *Decision) string {
	if d.Reason == "" {
		return ""
	}
	return p.explained(*d).Message
}

// explainClusters judges every cluster, and measures those that fit.
func (p *Planner) explainClusters(a *attempt) []ClusterExplained {
	all := make([]ClusterExplained, p.fleet.Len())
	for slot := range all {
		v, taint := p.verdict(a, int32(slot))
		view := p.fleet.views[slot]
		c := p.causeOf(&misfit{slot: int32(slot), taint: int16(taint), verdict: v})
		all[slot] = ClusterExplained{
			Cluster: view.Name, Region: view.Region, Refused: c.String(), Capacity: Unlimited, Previous: p.prev[slot],
		}
		if detail := a.term.explain(view); v == offAffinity && detail != "" {
			all[slot].Refused += ": " + detail
		}
	}
	p.filter(a)
	if len(p.slots) == 0 {
		return all
	}
	p.measure(a)
	counted := a.Workload && (a.Replicas > 0 || a.Set != nil)
	for _, k := range p.keys {
		c := &all[k.slot()]
		c.Score, c.Tier, c.Avoid = k.score(), a.term.tier[k.slot()], p.avoid(a, k.slot())
		c.Frozen = p.frozen(a, k.slot())
		if counted {
			c.Capacity = k.holds()
		}
	}
	return all
}

// outline is how the division of the candidates began.
func (p *Planner) outline(a *attempt) division.Outline {
	if a.rule.strategy == static {
		return p.divider.OutlineStatic(a.demand(), p.candidates)
	}
	return p.divider.Outline(a.demand(), p.candidates, a.rule.strategy == aggregated)
}

// Rejection says why a cluster does not fit a request; the reason is empty if it does.
func (t *term) explain(v *messages.ClusterView) string {
	if t.tiers[0] == nil {
		return "its selector is invalid"
	}
	return t.tiers[0].Explain(v)
}
