package scheduler

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/failback"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// homeward is what the scheduler knows of bindings that run in a later affinity group than their first, or
// elsewhere than before a failure.
type homeward struct {
	// away are those that are to return; returning are those whose return is under way.
	away      map[messages.BindingName]*entry
	returning map[messages.BindingName]bool
	// held is what people hold: who runs there stays for the time being.
	held map[messages.HoldScope]bool
	// news is set when the fleet changed, or a return or a hold ended: all that are away are looked at again.
	news bool
}

func newHomeward() homeward {
	return homeward{away: map[messages.BindingName]*entry{}, returning: map[messages.BindingName]bool{}, held: map[messages.HoldScope]bool{}}
}

// heard takes a binding's word on whether its return is under way.
func (h *homeward) heard(name messages.BindingName, says *messages.Homeward) {
	switch {
	case says != nil && says.Returning:
		h.returning[name] = true
	case h.returning[name]:
		delete(h.returning, name)
		h.news = true
	}
}

func (h *homeward) gone(name messages.BindingName) {
	delete(h.away, name)
	h.heard(name, nil)
}

// returnsHeld notes what people hold, or hold no longer.
func (s *Scheduler) returnsHeld(now time.Time, m *messages.ReturnsHeld, out *actors.Outbox) {
	if !m.Held {
		delete(s.home.held, m.HoldScope)
		s.home.news = true
		out.WakeAt(now)
		return
	}
	s.home.held[m.HoldScope] = true
}

// isHeld reports whether people hold a binding where it runs.
func (h *homeward) isHeld(m *messages.PlaceBinding) bool {
	if len(h.held) == 0 {
		return false
	}
	return h.held[messages.HoldScope{}] || h.held[messages.HoldScope{Binding: m.Binding}] ||
		slices.ContainsFunc(m.Targets, func(t api.TargetCluster) bool {
			return h.held[messages.HoldScope{Cluster: messages.ClusterName(t.Name)}]
		})
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

// judgeReturn looks at one binding: those of a later affinity group return as a whole to an earlier one, the
// others cluster by cluster.
func (s *Scheduler) judgeReturn(now time.Time, e *entry, out *actors.Outbox) {
	m := e.asked
	if !away(m) {
		delete(s.home.away, m.Binding)
	} else {
		s.home.away[m.Binding] = e
	}
	switch {
	case m.Home == nil:
	case toGroup(m) || m.Home.MayReturn:
		s.judgeGroup(now, e, out)
	case len(m.Home.Shares) > 0:
		s.judgeShares(now, e, out)
	}
}

// away reports whether a binding is to return, now or later.
func away(m *messages.PlaceBinding) bool {
	return m.Home != nil && len(m.Targets) > 0 && (toGroup(m) || len(m.Home.Shares) > 0)
}

// toGroup reports whether a binding is to return to an earlier affinity group.
func toGroup(m *messages.PlaceBinding) bool {
	return m.Home.ToGroup && termOf(m.Placement, m.Affinity) > 0
}

// mayGo reports whether the return of a binding may begin now.
func (s *Scheduler) mayGo(m *messages.PlaceBinding) bool {
	limit := s.settings.ConcurrentReturns
	return (limit == 0 || len(s.home.returning) < limit) && !s.home.isHeld(m)
}

// judgeGroup tells a binding when an earlier affinity group than its own can take it, or no longer can, and
// lets it return when its time has come and not too many others are on their way.
func (s *Scheduler) judgeGroup(now time.Time, e *entry, out *actors.Outbox) {
	d, possible := s.groupPlan(now, e)
	switch {
	case possible && e.asked.Home.ReturnDue:
		if s.mayGo(e.asked) {
			s.comeHome(now, e, d, out)
		}
	case possible != e.asked.Home.MayReturn:
		says := *e.asked.Home
		says.MayReturn = possible
		e.says(&says)
		out.TellBinding(e.asked.Binding, &messages.ReturnJudged{Possible: possible, Affinity: d.Affinity})
	}
}

// says brings a binding's word on its return up to date.
func (e *entry) says(h *messages.Homeward) {
	e.asked.Home = h
}

// groupPlan is the placement in an earlier group, if one has room for all.
func (s *Scheduler) groupPlan(now time.Time, e *entry) (placement.Decision, bool) {
	m := e.asked
	if !away(m) || !toGroup(m) || moving(m) {
		return placement.Decision{}, false
	}
	r := s.request(m)
	r.Fresh, r.Return = true, true
	d := s.plan(now, m, r)
	if earlier := termOf(m.Placement, d.Affinity); d.Reason != "" || len(d.Targets) == 0 || earlier < 0 || earlier >= termOf(m.Placement, m.Affinity) {
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

// judgeShares tells a binding which clusters of its home can take their shares, or no longer can, and gives
// those back whose time has come, unless it is leaving clusters or too many others are on their way.
func (s *Scheduler) judgeShares(now time.Time, e *entry, out *actors.Outbox) {
	says := *e.asked.Home
	says.Shares = slices.Clone(says.Shares)
	var back []string
	for i := range says.Shares {
		h := &says.Shares[i]
		able := (says.ToGroup || h.Kept) && s.takesBack(now, e.asked, h.TargetCluster)
		switch {
		case able != h.Able:
			h.Able, h.Due = able, false
			out.TellBinding(e.asked.Binding, &messages.ReturnJudged{Possible: able, Cluster: messages.ClusterName(h.Name)})
		case able && h.Due:
			back = append(back, h.Name)
		}
	}
	e.says(&says)
	if len(back) == 0 || !s.free(e.asked, back) || !s.mayGo(e.asked) {
		return
	}
	if d := s.sharePlan(e.asked, back); !sameTargets(d.Targets, e.asked.Targets) && s.refusal(e.asked, d.Targets) == "" {
		s.comeHome(now, e, d, out)
	}
}

// takesBack reports whether a cluster of home lacks its share, or some of it, and can take that. What runs
// nowhere is not away but without a place.
func (s *Scheduler) takesBack(now time.Time, m *messages.PlaceBinding, h api.TargetCluster) bool {
	lack, lacks := failback.Lacks(m.Targets, h)
	r := s.request(m)
	r.Return = true
	return lacks && len(m.Targets) > 0 && s.planner.Takes(now, r, api.TargetCluster{Name: h.Name, Replicas: lack})
}

// free reports whether nothing else moves a binding, and none of its replicas waits for room or a quota. Where groups of clusters are counted by anything but
// clusters, it returns as a whole or not at all, for home alone is known to be what the policy asks for.
func (s *Scheduler) free(m *messages.PlaceBinding, back []string) bool {
	if moving(m) || divided(m) && replicasOf(m.Targets) != int64(m.Replicas) {
		return false
	}
	byGroups := slices.ContainsFunc(m.Placement.SpreadConstraints, func(c api.SpreadConstraint) bool {
		return c.SpreadByLabel != "" || c.SpreadByField != "" && c.SpreadByField != api.SpreadByCluster
	})
	return !byGroups || !slices.ContainsFunc(m.Home.Shares, func(h messages.HomeShare) bool {
		_, lacks := failback.Lacks(m.Targets, h.TargetCluster)
		return lacks && !slices.Contains(back, h.Name)
	})
}

// sharePlan is the placement in which some clusters have back what they ran at home.
func (s *Scheduler) sharePlan(m *messages.PlaceBinding, back []string) placement.Decision {
	home := make([]api.TargetCluster, len(m.Home.Shares))
	for i := range m.Home.Shares {
		home[i] = m.Home.Shares[i].TargetCluster
	}
	return placement.Decision{Targets: failback.Return(m.Targets, home, back, divided(m)), Affinity: m.Affinity}
}

func divided(m *messages.PlaceBinding) bool {
	return m.HasReplicas && m.Placement.ReplicaScheduling.Divides()
}

// comeHome gives a binding its earlier place. The clusters that it leaves for that hand over as if evicted.
func (s *Scheduler) comeHome(now time.Time, e *entry, d placement.Decision, out *actors.Outbox) {
	next := *e.asked
	left := leftFor(next.Targets, d.Targets)
	says := *next.Home
	says.MayReturn, says.ReturnDue, says.Returning = false, false, true
	next.Home = &says
	next.Targets, next.Affinity, next.Applied, next.LastScheduled = d.Targets, d.Affinity, next.Placement, now
	next.Evicting = append(slices.Clip(next.Evicting), left...)
	next.Unreplaced = s.unreplaced(e.asked, left, d.Targets)
	s.startsOn(&next, e.asked.Targets)
	s.account(e.asked, &next)
	e.hears(next)
	delete(s.home.away, next.Binding)
	s.home.heard(next.Binding, &says)
	out.TellBinding(next.Binding, &messages.PlacementDecided{
		Request: next.Request, Outcome: messages.PlacementChosen, Targets: d.Targets, Affinity: d.Affinity,
		Leaving: left, Move: api.EvictionReasonFailback, Trigger: "failback", Reason: api.ReasonSuccess, Message: d.Message,
	})
}
