package scheduler

import (
	"time"

	"leeward/actors"
	"leeward/messages"
)

func (s *Scheduler) placeBinding(now time.Time, m *messages.PlaceBinding, out *actors.Outbox) {
	e := s.entries[m.Binding]
	if e == nil {
		e = &entry{}
		s.entries[m.Binding] = e
	}
	s.hear(now, e, m, out)
	e.answered = false
}

// tasksEnded brings a binding's word up to date. It needs no answer where it keeps its place.
func (s *Scheduler) tasksEnded(now time.Time, m *messages.TasksEnded, out *actors.Outbox) {
	e := s.entries[m.Binding]
	if e == nil {
		return
	}
	next := *e.asked
	next.Request, next.Since, next.Targets, next.Cooling, next.Full, next.Home = m.Request, now, m.Targets, m.Cooling, m.Full, m.Home
	next.Evicting, next.Leaving, next.Seeking, next.Purges, next.Unreplaced = nil, nil, nil, false, 0
	next.Starting, next.Late = m.Starting, true
	s.hear(now, e, &next, out)
	e.answered, e.failure = true, failure{}
}

// hear takes over a binding's word, to decide on it at the end of the instant.
func (s *Scheduler) hear(now time.Time, e *entry, m *messages.PlaceBinding, out *actors.Outbox) {
	s.tellStarts(e.asked, m, out)
	s.account(e.asked, m)
	s.home.heard(m.Binding, m.Home)
	e.rescaled = e.asked != nil && (e.asked.Replicas != m.Replicas || e.rescaled && !e.answered)
	e.hears(*m)
	s.mark(e)
	out.WakeAt(now)
}

func (s *Scheduler) bindingGone(now time.Time, b messages.BindingName, out *actors.Outbox) {
	e := s.entries[b]
	if e == nil {
		return
	}
	s.account(e.asked, nil)
	e.asked = nil
	delete(s.entries, b)
	delete(s.waiting, b)
	s.home.gone(b)
	out.WakeAt(now)
}
