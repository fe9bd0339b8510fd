package scheduler

import (
	"slices"
	"time"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// Explanation is what the scheduler would decide on a binding, and why: the question that it asks the planner, and the answer with
// what led to it.
type Explanation struct {
	// Suspended is set where the binding is not placed for the time being, ZeroReplicas where it runs none, for which no cluster
	// has to fit: nothing is asked then.
	Suspended, ZeroReplicas bool
	// Calls is what calls for a placement; empty: nothing does, and the targets stay.
	Calls placement.Cause
	// Placed is set where the binding was placed before; Targets are what it has, Affinity the term that they come from.
	Placed   bool
	Targets  []api.TargetCluster
	Affinity string
	// Without are the clusters that it must leave, and that the planner is asked to do without.
	Without []messages.ClusterName
	// Plan is the planner's answer, Decision what the scheduler makes of it: a quota or a budget may refuse it.
	Plan     placement.Explanation
	Decision placement.Decision
}

// Attend has a listener hear of each binding immediately before it is decided on. It may ask Explain, and change nothing.
func (s *Scheduler) Attend(listener func(now time.Time, b messages.BindingName)) {
	s.attended = listener
}

// Explain asks again what decide asks, of the fleet as it is now; nil: there is no such binding. It changes nothing that a
// decision rests on, and must not run beside Receive.
func (s *Scheduler) Explain(now time.Time, b messages.BindingName) *Explanation {
	e := s.queue.entries[b]
	if e == nil || e.asked == nil {
		return nil
	}
	m := e.asked
	x := &Explanation{
		Suspended: m.Suspended, ZeroReplicas: s.scaledToZero(m), Placed: m.Applied != nil,
		Targets: slices.Clone(m.Targets), Affinity: m.Affinity,
	}
	if x.Suspended || x.ZeroReplicas {
		return x
	}
	x.Calls = s.plans.needsPlacing(m)
	must := m.Leaving
	if len(must) == 0 {
		must = m.Seeking
	}
	if len(must) == 0 {
		x.Decision = s.plans.plan(now, m, s.plans.request(m))
		x.Plan = s.plans.planner.Explain(now, s.plans.request(m))
		return x
	}
	d, n, first := s.plans.wayOut(now, m, must)
	x.Decision = d
	if n == 0 {
		n, x.Decision = len(must), first
	}
	x.Without = slices.Clone(must[:n])
	x.Plan = s.plans.planner.Explain(now, s.plans.without(m, must[:n]))
	return x
}
