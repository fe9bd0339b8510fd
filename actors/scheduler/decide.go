package scheduler

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// decide brings one binding's placement up to date.
func (s *Scheduler) decide(now time.Time, e *entry, out *actors.Outbox) {
	trigger := e.trigger
	e.trigger = ""
	switch {
	case s.scaledToZero(e.asked):
		s.placeNowhere(now, e, trigger, out)
		return
	case len(e.asked.Leaving) > 0:
		s.decideLeaving(now, e, out)
		return
	case len(e.asked.Seeking) > 0:
		s.seek(now, e, out)
		return
	}
	cause := s.plans.needsPlacing(e.asked)
	if cause == "" {
		s.keep(e, out)
		return
	}
	if trigger == "" {
		trigger = triggerOf(cause, e)
	}
	s.conclude(now, e, s.plans.plan(now, e.asked, s.plans.request(e.asked)), evictions{}, trigger, out)
}

// scaledToZero reports whether a workload should run no replicas, for which no cluster has to fit.
func (s *Scheduler) scaledToZero(m *messages.PlaceBinding) bool {
	return !s.ways().ZeroReplicasNeedCluster() && m.HasReplicas && m.Replicas == 0 && m.Set == nil
}

// placeNowhere takes a workload off its clusters, those that it waits to leave included.
func (s *Scheduler) placeNowhere(now time.Time, e *entry, trigger string, out *actors.Outbox) {
	e.asked.Leaving, e.asked.Seeking = nil, nil
	if trigger == "" {
		trigger = triggerOf(s.plans.needsPlacing(e.asked), e)
	}
	s.conclude(now, e, placement.Decision{Affinity: e.asked.Affinity}, evictions{}, trigger, out)
}

// evictions are the clusters that a decision evicts a binding from, and why not from the others that it must be evicted from.
type evictions struct {
	clusters []messages.ClusterName
	obstacle *messages.Obstacle
}

// decideLeaving lets the binding be evicted from what a placement is found without. What it cannot be evicted from gains nothing,
// and is tried again when the fleet changes.
func (s *Scheduler) decideLeaving(now time.Time, e *entry, out *actors.Outbox) {
	d, n, first := s.plans.wayOut(now, e.asked, e.asked.Leaving)
	if n == 0 {
		s.decideStaying(now, e, obstacleOf(first), out)
		return
	}
	s.conclude(now, e, d, evictionsOf(e, n, first), messages.TriggerEviction, out)
}

// seek looks for a placement without the clusters that the binding must leave and has no permit for.
func (s *Scheduler) seek(now time.Time, e *entry, out *actors.Outbox) {
	d, n, all := s.plans.wayOut(now, e.asked, e.asked.Seeking)
	if n == 0 {
		s.decideStaying(now, e, obstacleOf(all), out)
		return
	}
	s.keepGrowth(e.asked, d.Targets)
	next := *e.asked
	found := next.Seeking[:n]
	next.Seeking = next.Seeking[n:]
	s.account(e.asked, &next)
	e.asks(next)
	s.queue.settle(e, len(next.Seeking) > 0)
	e.answered, e.failure = true, failure{}
	out.TellBinding(next.Binding, &messages.DestinationFound{Request: next.Request, Clusters: found})
	out.WakeAt(now)
}

// decideStaying places what else has to be placed while no eviction can start.
func (s *Scheduler) decideStaying(now time.Time, e *entry, o *messages.Obstacle, out *actors.Outbox) {
	cause := s.plans.needsPlacing(e.asked)
	if cause == "" {
		s.block(e, o, placement.Decision{}, "", out)
		return
	}
	d, trigger := s.plans.plan(now, e.asked, s.plans.request(e.asked)), triggerOf(cause, e)
	if (len(d.Targets) > 0 || d.Reason == "") && !asPlaced(e.asked, &d) {
		s.conclude(now, e, d, evictions{obstacle: o}, trigger, out)
		return
	}
	s.block(e, o, d, trigger, out)
}

// evictionsOf are those from the first n of the clusters that a binding must be evicted from, where the first decision was to do
// without all of them.
func evictionsOf(e *entry, n int, first placement.Decision) evictions {
	d := evictions{clusters: e.asked.Leaving[:n]}
	if n < len(e.asked.Leaving) {
		d.obstacle = obstacleOf(first)
	}
	return d
}

// obstacleOf is why a placement without the clusters that a binding must leave is none.
func obstacleOf(d placement.Decision) *messages.Obstacle {
	if d.Reason == "" {
		return &messages.Obstacle{Reason: api.ReasonNoClusterFit, Message: "no cluster would remain"}
	}
	return &messages.Obstacle{Reason: d.Reason, Message: d.Message, Rejections: d.Rejections}
}

// conclude makes a decision the binding's own and tells it, unless it is no news.
func (s *Scheduler) conclude(now time.Time, e *entry, d placement.Decision, evicts evictions, trigger string, out *actors.Outbox) {
	same := len(evicts.clusters) == 0 && asPlaced(e.asked, &d)
	switch {
	case d.Reason != "" && (!d.Partial() || same):
		s.fail(e, d, trigger, out)
	case same:
		s.keep(e, out)
	default:
		s.choose(now, e, d, evicts, trigger, out)
	}
}

// asPlaced reports whether a decision is what a binding has: its targets, chosen in the same group, by the same placement, and since
// it was asked for again.
func asPlaced(m *messages.PlaceBinding, d *placement.Decision) bool {
	return sameTargets(d.Targets, m.Targets) && d.Affinity == m.Affinity && samePlacement(m) && !fresh(m)
}

// choose gives the binding new targets. It waits on if it may not leave all clusters that it must, or if
// not all of its replicas have a place.
func (s *Scheduler) choose(now time.Time, e *entry, d placement.Decision, evicts evictions, trigger string, out *actors.Outbox) {
	held, seeking := e.asked.Leaving[len(evicts.clusters):], e.asked.Seeking
	move, moved := s.plans.moveTo(e.asked, d.Targets, evicts.clusters)
	if len(moved) > 0 {
		evicts.clusters = append(slices.Clip(evicts.clusters), moved...)
		goes := func(c messages.ClusterName) bool { return slices.Contains(moved, c) }
		held, seeking = slices.DeleteFunc(slices.Clone(held), goes), slices.DeleteFunc(slices.Clone(seeking), goes)
	}
	s.queue.settle(e, len(held)+len(seeking) > 0 || d.Partial())
	told := held
	if len(told) == 0 && len(evicts.clusters) == 0 { // what it has no permit for is held by the same
		told = seeking
	}
	if len(told) == 0 {
		evicts.obstacle = nil
	}
	e.failure = failureOf(evicts.obstacle, d) // so that it is not told again when what it was evicted from is free
	next := *e.asked
	next.Targets, next.Affinity, next.Applied = d.Targets, d.Affinity, e.asked.Placement
	next.Evicting = append(slices.Clip(next.Evicting), evicts.clusters...)
	next.Unreplaced = s.quotas.unreplaced(e.asked, evicts.clusters, d.Targets)
	next.Leaving, next.Seeking, next.LastScheduled = held, seeking, now
	lapse(&next)
	s.starts.note(&next, e.asked.Targets)
	s.account(e.asked, &next)
	e.asks(next)
	e.answered = true
	if len(seeking) > 0 && len(evicts.clusters) > 0 {
		s.queue.mark(e) // for there may be a placement without those now, or another reason why there is none
		out.WakeAt(now)
	}
	out.TellBinding(next.Binding, &messages.PlacementDecided{
		Request: next.Request, Outcome: messages.PlacementChosen, Targets: d.Targets, Affinity: d.Affinity, Missing: d.Missing,
		Leaving: evicts.clusters, Move: move, Held: told, Obstacle: evicts.obstacle, Trigger: trigger,
		Reason: cmp.Or(d.Reason, api.ReasonSuccess), Message: d.Message, Rejections: d.Rejections,
	})
}

func (s *Scheduler) keep(e *entry, out *actors.Outbox) {
	s.queue.settle(e, false)
	e.failure = failure{}
	if e.answered {
		return
	}
	e.answered = true
	out.TellBinding(e.asked.Binding, &messages.PlacementDecided{
		Request: e.asked.Request, Outcome: messages.PlacementKept, Reason: api.ReasonSuccess,
	})
}

// fail tells a failure once. Where no cluster fits, the old result is void, as in Karmada; otherwise it
// remains.
func (s *Scheduler) fail(e *entry, d placement.Decision, trigger string, out *actors.Outbox) {
	s.queue.settle(e, true)
	cleared := d.Clears() && s.ways().ClearsTargets()
	told := failure{d.Reason, d.Message}
	if e.answered && e.failure == told {
		return
	}
	e.answered, e.failure = true, told
	if cleared && len(e.asked.Targets) > 0 {
		next := *e.asked
		next.Targets, next.Starting, next.Applied = nil, nil, e.asked.Placement
		s.account(e.asked, &next)
		e.asks(next)
	}
	out.TellBinding(e.asked.Binding, &messages.PlacementDecided{
		Request: e.asked.Request, Outcome: messages.PlacementFailed, Reason: d.Reason, Message: d.Message,
		Missing: d.Missing, Rejections: d.Rejections, Cleared: cleared, Trigger: trigger,
	})
}

// block tells the binding why it cannot be evicted yet, and of a decision for the clusters where it remains that failed,
// if there was one.
func (s *Scheduler) block(e *entry, o *messages.Obstacle, d placement.Decision, trigger string, out *actors.Outbox) {
	told := failureOf(o, d)
	s.queue.settle(e, true)
	if e.answered && e.failure == told {
		return
	}
	e.answered, e.failure = true, told
	held := e.asked.Leaving
	if len(held) == 0 {
		held = e.asked.Seeking
	}
	m := &messages.PlacementDecided{
		Request: e.asked.Request, Outcome: messages.PlacementKept, Held: held, Obstacle: o, Reason: api.ReasonSuccess,
	}
	lapse(e.asked)
	if d.Reason != "" {
		m.Outcome, m.Reason, m.Message, m.Missing = messages.PlacementFailed, d.Reason, d.Message, d.Missing
		m.Rejections, m.Trigger = d.Rejections, trigger
	}
	out.TellBinding(e.asked.Binding, m)
}

// failureOf is what a binding is told of in vain: of what it must leave, and of what no cluster can take where it remains.
func failureOf(o *messages.Obstacle, d placement.Decision) failure {
	switch {
	case o == nil:
		return failure{d.Reason, d.Message}
	case d.Reason == "":
		return failure{o.Reason, o.Message}
	default:
		return failure{d.Reason, d.Message + "\n" + o.Message}
	}
}

// triggerOf says in words why a binding is placed.
func triggerOf(cause placement.Cause, e *entry) string {
	switch m := e.asked; {
	case m.Applied == nil:
		return "first placement"
	case cause == placement.CausePlacement:
		return "placement changed"
	case cause == placement.CauseReplicas && len(m.Evicting) > 0 && !e.rescaled:
		return messages.TriggerEviction
	case cause == placement.CauseReplicas, cause == placement.CauseAlways && scaled(m):
		return "replicas changed"
	case cause == placement.CauseRequest:
		return "reschedule requested"
	case cause == placement.CauseDeletion:
		return "cluster deleted"
	case len(m.Evicting) > 0:
		return messages.TriggerEviction
	default:
		return "binding changed"
	}
}
