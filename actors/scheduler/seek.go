package scheduler

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// lapse ends the leave to go of what is held: it held for the instant.
func lapse(m *messages.PlaceBinding) {
	if m.Lapses {
		m.Leaving, m.Seeking = nil, append(slices.Clip(m.Seeking), m.Leaving...)
	}
}

// seek looks for a placement without the clusters that the binding must leave and has no leave to.
func (s *Scheduler) seek(now time.Time, e *entry, out *actors.Outbox) {
	d, n, all := s.wayOut(now, e, e.asked.Seeking)
	if n == 0 {
		s.decideStaying(now, e, obstacleOf(all), out)
		return
	}
	s.keepRoom(e.asked, d.Targets)
	next := *e.asked
	found := next.Seeking[:n]
	next.Seeking = next.Seeking[n:]
	s.account(e.asked, &next)
	e.hears(next)
	s.settle(e, len(next.Seeking) > 0)
	e.answered, e.failure = true, failure{}
	out.TellBinding(next.Binding, &messages.DestinationFound{Request: next.Request, Clusters: found})
	out.WakeAt(now)
}

// keepRoom keeps what a placement gains from those that come later in the order of urgency, until the binding has asked
// for leave: the governor answers before the scheduler's next turn.
func (s *Scheduler) keepRoom(m *messages.PlaceBinding, next []api.TargetCluster) {
	room := &messages.PlaceBinding{HasReplicas: m.HasReplicas, Requirements: m.Requirements, Set: m.Set}
	for _, t := range next {
		more := t.Replicas - api.ReplicasOn(m.Targets, t.Name)
		if came := !hasTarget(m.Targets, t.Name); came || more > 0 {
			room.Targets = append(room.Targets, api.TargetCluster{Name: t.Name, Replicas: more})
			if came && s.settings.CountsStarts() {
				room.Starting = append(room.Starting, messages.ClusterName(t.Name))
			}
		}
	}
	s.occupy(nil, room)
	s.kept = append(s.kept, room)
}

// occupy has one word's room and starts taken in place of another's; either may be nil.
func (s *Scheduler) occupy(before, after *messages.PlaceBinding) {
	s.moveStarts(before, after)
	if s.settings.CapacityReservation {
		s.reserve(before, -1)
		s.reserve(after, 1)
	}
}

// freeRoom has what was kept for others.
func (s *Scheduler) freeRoom() {
	for _, room := range s.kept {
		s.occupy(room, nil)
	}
	s.freed = s.freed || len(s.kept) > 0
	s.kept = nil
}
