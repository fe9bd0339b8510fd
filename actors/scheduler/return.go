package scheduler

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// judgeReturns looks at those that are away, once the instant's decisions are made: those of a later affinity group return
// as a whole to an earlier one, the others cluster by cluster.
func (s *Scheduler) judgeReturns(now time.Time, out *actors.Outbox) {
	for _, e := range s.failbacks.toJudge(s.queue.batch) {
		if !e.open() {
			continue
		}
		s.failbacks.keep(e)
		switch m := e.asked; {
		case m.Home == nil:
		case toGroup(m) || m.Home.MayReturn:
			s.judgeGroup(now, e, out)
		case len(m.Home.Shares) > 0:
			s.judgeShares(now, e, out)
		}
	}
}

// judgeGroup tells a binding when an earlier affinity group than its own can take it, or no longer can, and
// lets it return when its time has come and not too many others are returning.
func (s *Scheduler) judgeGroup(now time.Time, e *entry, out *actors.Outbox) {
	d, possible := s.failbacks.groupPlan(now, e.asked)
	switch {
	case possible && e.asked.Home.ReturnDue:
		if s.failbacks.mayBegin(e.asked) {
			s.failBack(now, e, d, out)
		}
	case possible != e.asked.Home.MayReturn:
		says := *e.asked.Home
		says.MayReturn = possible
		e.asked.Home = &says
		out.TellBinding(e.asked.Binding, &messages.ReturnJudged{Possible: possible, Affinity: d.Affinity})
	}
}

// judgeShares tells a binding which clusters can take back the shares that they ran before, or no longer can, and gives
// those back whose time has come, unless it is leaving clusters or too many others are returning.
func (s *Scheduler) judgeShares(now time.Time, e *entry, out *actors.Outbox) {
	says := *e.asked.Home
	says.Shares = slices.Clone(says.Shares)
	var back []string
	for i := range says.Shares {
		h := &says.Shares[i]
		able := (says.ToGroup || h.Kept) && s.failbacks.takesBack(now, e.asked, h.TargetCluster)
		switch {
		case able != h.Able:
			h.Able, h.Due = able, false
			out.TellBinding(e.asked.Binding, &messages.ReturnJudged{Possible: able, Cluster: messages.ClusterName(h.Name)})
		case able && h.Due:
			back = append(back, h.Name)
		}
	}
	e.asked.Home = &says
	if len(back) == 0 || !free(e.asked, back) || !s.failbacks.mayBegin(e.asked) {
		return
	}
	if d := sharePlan(e.asked, back); !sameTargets(d.Targets, e.asked.Targets) && s.quotas.refusal(e.asked, d.Targets) == "" {
		s.failBack(now, e, d, out)
	}
}

// failBack gives a binding its earlier placement. The clusters that it leaves for that have a handover, as if evicted from.
func (s *Scheduler) failBack(now time.Time, e *entry, d placement.Decision, out *actors.Outbox) {
	next := *e.asked
	left := leftFor(next.Targets, d.Targets)
	says := *next.Home
	says.MayReturn, says.ReturnDue, says.Returning = false, false, true
	next.Home = &says
	next.Targets, next.Affinity, next.Applied, next.LastScheduled = d.Targets, d.Affinity, next.Placement, now
	next.Evicting = append(slices.Clip(next.Evicting), left...)
	next.Unreplaced = s.quotas.unreplaced(e.asked, left, d.Targets)
	s.starts.note(&next, e.asked.Targets)
	s.account(e.asked, &next)
	e.asks(next)
	delete(s.failbacks.away, next.Binding)
	s.failbacks.note(next.Binding, &says)
	out.TellBinding(next.Binding, &messages.PlacementDecided{
		Request: next.Request, Outcome: messages.PlacementChosen, Targets: d.Targets, Affinity: d.Affinity,
		Leaving: left, Move: api.EvictionReasonFailback, Trigger: "failback", Reason: api.ReasonSuccess, Message: d.Message,
	})
}
