package placement

import (
	"fmt"
	"slices"
	"time"

	"leeward/actors/rules/division"
	"leeward/actors/rules/karmada"
	"leeward/messages"
	"leeward/messages/api"
)

// Request asks where a resource is to run.
type Request struct {
	// Placement is the policy's; nil asks for nothing. A Planner knows it by its address, so requests
	// of one policy should share it. It must not change.
	Placement *api.Placement
	// APIVersion and Kind are the resource's.
	APIVersion, Kind string
	// Workload is set for a resource with replicas (perhaps none at present); anything else goes to
	// every chosen cluster as it is.
	Workload     bool
	Replicas     int32
	Requirements *api.ReplicaRequirements
	// Set is what a workload of several pod templates runs. It goes whole to every chosen cluster, and there
	// are no replicas to divide. Nil: the workload has no or one template.
	Set *messages.ComponentSet
	// UID decides ties.
	UID string
	// Previous is where the resource runs. These clusters are preferred, and fit despite their taints.
	Previous []api.TargetCluster
	// Evicting are clusters that the resource is leaving, Leaving those that it is to leave: they do not fit.
	Evicting, Leaving []messages.ClusterName
	// Cooling are clusters that the resource left for its own sickness a short time ago: they do not fit.
	Cooling []messages.ClusterName
	// Full are clusters that say that they have no room for more replicas of the resource.
	Full []messages.ClusterName
	// Busy are clusters that start as many copies for others as they may: they do not fit unless it runs there.
	Busy []Busy
	// Untold are clusters that are told nothing for now: they do not fit unless it runs there, and take nothing more.
	Untold []string
	// Together are the clusters that run others of the resource's group, and Apart those that run others
	// which it must not share a cluster with. Empty: any cluster will do.
	Together, Apart []messages.ClusterName
	// Affinity is the name of the affinity term in use; empty: none, or the placement has none.
	Affinity string
	// Fresh decides everything anew: from the first term on, and whatever the replicas' present places.
	Fresh bool
	// Return keeps off clusters whose taints have been tolerated for long enough, whatever the settings: what returns
	// by itself is not to leave again at once.
	Return bool
}

// Busy is a cluster that starts as many copies as it may, and how many that are, in words.
type Busy struct {
	Cluster messages.ClusterName
	Most    string
}

// Decision is the answer. With an empty Reason, Targets are the new places, in the order of their
// names, and Affinity is the term that they come from. Otherwise the request is not met: Reason is one of
// api.ReasonNoClusterFit, api.ReasonUnschedulable and api.ReasonSchedulerError, Message says more. Part of
// the replicas may have found a place even so: Targets are those, and Missing counts the others.
type Decision struct {
	Targets  []api.TargetCluster
	Affinity string
	Reason   string
	Message  string
	Missing  int32
	// Rejections are the clusters that did not fit, where the request is not met.
	Rejections []messages.Rejection
}

// Partial reports whether some replicas, but not all, found a place.
func (d *Decision) Partial() bool { return d.Missing > 0 }

// Clears reports whether a resource must give up its present places: no cluster fits. Any other
// failure leaves it where it is.
func (d *Decision) Clears() bool { return d.Reason == api.ReasonNoClusterFit }

// Planner decides on requests over one fleet. It keeps placements ready for use, and its scratch
// space; a decision holds on to neither. It is for one goroutine, as the fleet is.
type Planner struct {
	fleet   *Fleet
	ways    karmada.Placing
	divider division.Divider

	ready  map[*api.Placement]*rule
	limit  int    // of ready, before it is swept
	plans  uint64 // decisions taken so far
	swept  uint64 // how many they were at the last sweep
	served map[kind]*service

	// By slot, for the request at hand:
	roles []role
	prev  []int32 // replicas
	turn  []int32 // place in Previous

	busy       []Busy  // those of the request
	touched    []int32 // slots with a role
	slots      []int32 // those that fit
	misfits    []misfit
	blames     []int32 // by misfit: the place of its cause in a list
	needs      []need
	setNeeds   []need // of the whole set
	slot       [1]int32
	room       []int64
	avoidable  bool // some of them are to be avoided
	keys       []key
	rest       []key
	candidates []division.Candidate
	regions    []region
	places     []int32 // by region: its place in a list of regions
	search     search
	whole      []key // all that fit, where keys are those chosen
	spreader   spreader
}

// role is the part that a cluster plays in a request.
type role uint16

const (
	kept      role = 1 << iota // it is in Previous
	departing                  // it is in Evicting
	resting                    // it is in Cooling
	joined                     // it is in Together
	shunned                    // it is in Apart
	full                       // it is in Full
	outgoing                   // it is in Leaving
	busy                       // it is in Busy
	untold                     // it is in Untold
)

type kind struct{ apiVersion, kind string }

// service says, by slot, which clusters are known not to serve a kind.
type service struct {
	unserved []bool
	seen     version
}

var anywhere api.Placement

// NewPlanner returns a planner over a fleet, which may change between decisions. Of the settings it
// takes the division method, how tolerations match, and how placement is stricter or more obliging than in
// Karmada. The seed decides ties where Karmada's outcome is random.
func NewPlanner(f *Fleet, s *messages.Settings, seed uint64) *Planner {
	return &Planner{
		fleet:   f,
		ways:    karmada.Of(s).Placing(),
		divider: division.Divider{Method: s.DivisionMethod, Seed: seed},
		ready:   make(map[*api.Placement]*rule),
		limit:   minReady,
		served:  make(map[kind]*service),
	}
}

// Plan decides where a resource is to run, trying the terms of its placement in order, from the one in
// use on. If all fail, the first that has room for part of the replicas counts, where part will do; else
// the first failure, or the first that will pass when others have started.
func (p *Planner) Plan(now time.Time, r *Request) Decision {
	rule := p.open(r)
	defer p.close()
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
	if p.ways.Partial && rule.strategy.byRoom() {
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

// planPart places as many replicas as it can, with the first term that has room for any.
func (p *Planner) planPart(now time.Time, r *Request, rule *rule) (d Decision) {
	for i := rule.firstTerm(r.Affinity, r.Fresh); i < len(rule.terms) && !d.Partial(); i++ {
		a := p.attempt(now, r, rule, i)
		a.part = true
		d = p.try(&a)
	}
	return d
}

// try decides with one term: it filters, chooses and divides. Room is looked at only where clusters are
// chosen or replicas divided by it.
func (p *Planner) try(a *attempt) Decision {
	p.filter(a)
	if len(p.slots) == 0 {
		return Decision{Reason: api.ReasonNoClusterFit}
	}
	if a.Workload && a.rule.strategy.byRoom() || a.rule.spread.mode != everywhere {
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

// open notes what part each cluster plays in a request, and returns the placement made ready.
func (p *Planner) open(r *Request) *rule {
	if len(p.roles) != p.fleet.Len() {
		n := p.fleet.Len()
		p.roles, p.prev, p.turn = make([]role, n), make([]int32, n), make([]int32, n)
	}
	slot := int32(-1)
	for i := range r.Previous {
		if slot = p.fleet.slot(r.Previous[i].Name, slot); slot >= 0 && p.roles[slot] == 0 {
			p.roles[slot] = kept
			p.prev[slot], p.turn[slot] = max(0, r.Previous[i].Replicas), int32(i)
			p.touched = append(p.touched, slot)
		}
	}
	if r.Set != nil {
		p.setNeeds = p.fleet.needsOfSet(r.Set, p.setNeeds[:0])
	}
	p.cast(r.Evicting, departing)
	p.cast(r.Leaving, outgoing)
	p.cast(r.Cooling, resting)
	p.cast(r.Together, joined)
	p.cast(r.Apart, shunned)
	p.cast(r.Full, full)
	for _, name := range r.Untold {
		p.castOne(messages.ClusterName(name), untold)
	}
	p.busy = r.Busy
	for i := range r.Busy {
		p.castOne(r.Busy[i].Cluster, busy)
	}
	return p.rule(r.Placement)
}

// cast gives clusters a role, as far as they are there.
func (p *Planner) cast(clusters []messages.ClusterName, part role) {
	for _, name := range clusters {
		p.castOne(name, part)
	}
}

func (p *Planner) castOne(name messages.ClusterName, part role) {
	if slot := p.fleet.slot(string(name), -1); slot >= 0 {
		p.roles[slot] |= part
		p.touched = append(p.touched, slot)
	}
}

// mostOn is how many copies a busy cluster may start, in words.
func (p *Planner) mostOn(slot int32) string {
	for i := range p.busy {
		if p.busy[i].Cluster == p.fleet.views[slot].Name {
			return p.busy[i].Most
		}
	}
	return ""
}

// close forgets the request.
func (p *Planner) close() {
	for _, slot := range p.touched {
		p.roles[slot], p.prev[slot], p.turn[slot] = 0, 0, 0
	}
	p.touched = p.touched[:0]
}

func (p *Planner) attempt(now time.Time, r *Request, rule *rule, term int) attempt {
	return attempt{Request: r, now: now, rule: rule, term: &rule.terms[term], unserved: p.unserved(kind{r.APIVersion, r.Kind})}
}

// unserved returns which clusters are known not to serve a kind.
func (p *Planner) unserved(k kind) []bool {
	s := p.served[k]
	if s == nil {
		s = &service{}
		p.served[k] = s
	}
	if s.seen.era != p.fleet.era {
		s.unserved = resized(s.unserved, p.fleet.Len())
	}
	p.fleet.catchUp(&s.seen, func(slot int32) { s.unserved[slot] = unservedBy(p.fleet.views[slot], k) })
	return s.unserved
}

// minReady is how many placements are kept at least.
const minReady = 1024

// rule returns a placement made ready.
func (p *Planner) rule(placement *api.Placement) *rule {
	if placement == nil {
		placement = &anywhere
	}
	p.plans++
	r := p.ready[placement]
	if r == nil {
		p.sweep()
		r = compile(placement, p.ways.ExactSpread)
		p.ready[placement] = r
	}
	r.used = p.plans
	r.follow(p.fleet)
	return r
}

// sweep drops the placements that were not used since the last sweep, once there are too many. One
// dropped too early is only made ready again.
func (p *Planner) sweep() {
	if len(p.ready) < p.limit {
		return
	}
	for placement, r := range p.ready { // order-free: each stands or falls by itself
		if r.used < p.swept {
			delete(p.ready, placement)
		}
	}
	p.swept, p.limit = p.plans, max(minReady, 2*len(p.ready))
}
