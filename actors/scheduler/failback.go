package scheduler

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// homeward is what the scheduler knows of bindings that run in a later affinity group than their first.
type homeward struct {
	// away are those that are to return; returning are those whose return is under way.
	away      map[messages.BindingName]*entry
	returning map[messages.BindingName]bool
	// news is set when the fleet changed, or a return ended: all that are away are looked at again.
	news bool
}

func newHomeward() homeward {
	return homeward{away: map[messages.BindingName]*entry{}, returning: map[messages.BindingName]bool{}}
}

// heard takes a binding's word on whether its return is under way.
func (h *homeward) heard(name messages.BindingName, returning bool) {
	switch {
	case returning:
		h.returning[name] = true
	case h.returning[name]:
		delete(h.returning, name)
		h.news = true
	}
}

func (h *homeward) gone(name messages.BindingName) {
	delete(h.away, name)
	h.heard(name, false)
}

// judgeReturns looks at those that are away, in canonical order, once the instant's decisions are made.
func (s *Scheduler) judgeReturns(now time.Time, decided []*entry, out *actors.Outbox) {
	entries := decided
	if s.home.news {
		s.home.news = false
		for _, e := range s.home.away { // order-free: sorted below
			if !slices.Contains(decided, e) {
				entries = append(entries, e)
			}
		}
		slices.SortFunc(entries, urgency)
	}
	for _, e := range entries {
		if e.open() {
			s.judgeReturn(now, e, out)
		}
	}
}

// judgeReturn tells a binding when an earlier affinity group than its own can take it, or no longer can, and
// lets it return when its time has come and not too many others are on their way.
func (s *Scheduler) judgeReturn(now time.Time, e *entry, out *actors.Outbox) {
	d, possible := s.homePlan(now, e)
	switch {
	case possible && e.asked.ReturnDue:
		if limit := s.settings.ConcurrentReturns; limit == 0 || len(s.home.returning) < limit {
			s.comeHome(now, e, d, out)
		}
	case possible != e.asked.MayReturn:
		next := *e.asked
		next.MayReturn = possible
		e.asked = &next
		out.TellBinding(next.Binding, &messages.ReturnJudged{Possible: possible, Affinity: d.Affinity})
	}
}

// homePlan is the placement in an earlier group, if the binding is to return to one and it has room for all.
func (s *Scheduler) homePlan(now time.Time, e *entry) (placement.Decision, bool) {
	m := e.asked
	at := termOf(m.Placement, m.Affinity)
	if !m.Failback || at <= 0 || len(m.Targets) == 0 {
		delete(s.home.away, m.Binding)
		return placement.Decision{}, false
	}
	s.home.away[m.Binding] = e
	if len(m.Evicting) > 0 || len(m.Leaving) > 0 {
		return placement.Decision{}, false
	}
	r := s.request(m)
	r.Fresh = true
	d := s.planner.Plan(now, r)
	if earlier := termOf(m.Placement, d.Affinity); d.Reason != "" || len(d.Targets) == 0 || earlier < 0 || earlier >= at {
		return placement.Decision{}, false
	}
	return d, true
}

// termOf is the place of an affinity group in its placement; negative: it has no such group.
func termOf(p *api.Placement, name string) int {
	if p == nil {
		return -1
	}
	return slices.IndexFunc(p.ClusterAffinities, func(t api.ClusterAffinityTerm) bool { return t.AffinityName == name })
}

// comeHome gives a binding its earlier group. The clusters that it leaves for it hand over as if evicted.
func (s *Scheduler) comeHome(now time.Time, e *entry, d placement.Decision, out *actors.Outbox) {
	next := *e.asked
	var left []messages.ClusterName
	for _, t := range next.Targets {
		if !slices.ContainsFunc(d.Targets, func(n api.TargetCluster) bool { return n.Name == t.Name }) {
			left = append(left, messages.ClusterName(t.Name))
		}
	}
	next.Targets, next.Affinity, next.Applied, next.LastScheduled = d.Targets, d.Affinity, next.Placement, now
	next.Evicting = append(slices.Clip(next.Evicting), left...)
	next.MayReturn, next.ReturnDue, next.Returning = false, false, true
	s.account(e.asked, &next)
	e.asked, e.answered = &next, true
	delete(s.home.away, next.Binding)
	s.home.heard(next.Binding, true)
	out.TellBinding(next.Binding, &messages.PlacementDecided{
		Request: next.Request, Outcome: messages.PlacementChosen, Targets: d.Targets, Affinity: d.Affinity,
		Leaving: left, Return: true, Trigger: "failback", Reason: api.ReasonSuccess, Message: d.Message,
	})
}
