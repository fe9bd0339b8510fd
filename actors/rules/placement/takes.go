package placement

import (
	"time"

	"leeward/messages/api"
)

// Takes reports whether a cluster fits a resource, by the affinity term in use, and has capacity for so many more
// of its replicas.
func (p *Planner) Takes(now time.Time, r *Request, more api.TargetCluster) bool {
	slot := p.fleet.slot(more.Name, -1)
	if slot < 0 {
		return false
	}
	rule := p.open(r)
	defer p.end()
	a := p.attempt(now, r, rule, rule.firstTerm(r.Affinity, false))
	if v, _ := p.verdict(&a, slot); v != fits || p.frozen(&a, slot) {
		return false
	}
	if !a.Workload || more.Replicas == 0 {
		return true
	}
	p.slots = append(p.slots[:0], slot)
	p.needs = p.fleet.needs(r.Requirements, p.needs[:0])
	p.holds = p.fleet.capacity.holds(p.slots, p.needs, p.holds[:0])
	return p.holds[0] >= int64(more.Replicas)
}
