package scheduler

import (
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// Receive routes a message to its transition. While the decisions of an instant are under way it keeps what else comes,
// so that they rest on the same fleet whatever their number.
func (s *Scheduler) Receive(now time.Time, m messages.ToScheduler, out *actors.Outbox) {
	if _, goes := m.(*messages.GoOn); len(s.queue.batch) > 0 && !goes {
		s.queue.held = append(s.queue.held, m)
		return
	}
	switch m := m.(type) {
	case *messages.ClusterViewed:
		s.clusterViewed(now, m, out)
	case *messages.ClusterGone:
		s.clusterGone(now, m, out)
	case *messages.PlaceBinding:
		e := s.queue.entry(m.Binding)
		s.take(now, e, m, out)
		e.answered = false
	case *messages.TasksEnded:
		s.tasksEnded(now, m, out)
	case *messages.BindingGone:
		s.bindingGone(now, m.Binding, out)
	case *messages.QuotaApplied:
		s.quotas.apply(m, s.queue.entries)
		s.free(now, out)
	case *messages.QuotaDeleted:
		if s.quotas.remove(m) {
			s.free(now, out)
		}
	case *messages.StartsLimited:
		if s.starts.limit(m) {
			s.free(now, out)
		}
	case *messages.ReturnsHeld:
		if !s.failbacks.hold(m) {
			out.WakeAt(now)
		}
	case *messages.SettingsChanged:
		s.settingsChanged(now, m.Settings, out)
	case *messages.Woken:
		s.decideAll(now, out)
	case *messages.GoOn:
		s.decideSome(now, out)
	default:
		panic(fmt.Sprintf("scheduler: unknown message %T", m))
	}
}

func (s *Scheduler) clusterViewed(now time.Time, m *messages.ClusterViewed, out *actors.Outbox) {
	s.plans.fleet.Put(m.View)
	s.failbacks.news = true
	if m.SpecChanged {
		s.queue.changed = append(s.queue.changed, m.View.Name)
	} else {
		s.queue.freed = true
	}
	out.WakeAt(now)
}

// clusterGone has the bindings that wait told why they do without the cluster.
func (s *Scheduler) clusterGone(now time.Time, m *messages.ClusterGone, out *actors.Outbox) {
	s.plans.fleet.Drop(m.Name)
	if s.ways().RetriesForGoneCluster() {
		s.free(now, out)
	}
}

// tasksEnded brings a binding's request up to date. It needs no answer where it keeps its targets.
func (s *Scheduler) tasksEnded(now time.Time, m *messages.TasksEnded, out *actors.Outbox) {
	e := s.queue.entries[m.Binding]
	if e == nil {
		return
	}
	next := *e.asked
	next.Request, next.Since, next.Targets, next.Cooling, next.Full, next.Home = m.Request, now, m.Targets, m.Cooling, m.Full, m.Home
	next.Evicting, next.Leaving, next.Seeking, next.Purges, next.Unreplaced = nil, nil, nil, false, 0
	next.Starting, next.Late = m.Starting, true
	s.take(now, e, &next, out)
	e.answered, e.failure = true, failure{}
}

// take takes over a binding's request, to decide on it at the end of the instant.
func (s *Scheduler) take(now time.Time, e *entry, m *messages.PlaceBinding, out *actors.Outbox) {
	s.starts.tell(e.asked, m, out)
	s.account(e.asked, m)
	s.failbacks.note(m.Binding, m.Home)
	e.rescaled = e.asked != nil && (e.asked.Replicas != m.Replicas || e.rescaled && !e.answered)
	e.asks(*m)
	s.queue.mark(e)
	out.WakeAt(now)
}

func (s *Scheduler) bindingGone(now time.Time, b messages.BindingName, out *actors.Outbox) {
	e := s.queue.entries[b]
	if e == nil {
		return
	}
	s.account(e.asked, nil)
	s.queue.end(e)
	s.failbacks.forget(b)
	out.WakeAt(now)
}

// settingsChanged keeps what is reserved, and counted, in step with whether anything is.
func (s *Scheduler) settingsChanged(now time.Time, next messages.Settings, out *actors.Outbox) {
	if next.CapacityReservation != s.settings.CapacityReservation {
		sign := int32(1)
		if s.settings.CapacityReservation {
			sign = -1
		}
		for _, name := range s.queue.names() {
			s.reservations.reserve(s.queue.entries[name].asked, sign)
		}
	}
	s.census.restart(next.Breaks(), s.queue.entries)
	s.settings = next
	s.plans.planner = placement.NewPlanner(s.plans.fleet, &s.settings, s.seed)
	s.free(now, out)
}

// free has the bindings that wait tried again at the end of the instant.
func (s *Scheduler) free(now time.Time, out *actors.Outbox) {
	s.queue.freed = true
	out.WakeAt(now)
}

// decideAll serves what the instant brought, in canonical order.
func (s *Scheduler) decideAll(now time.Time, out *actors.Outbox) {
	s.freeGrowth()
	s.markByFleet()
	s.queue.begin()
	s.decideSome(now, out)
}

// freeGrowth gives back what was kept for bindings that asked for a permit.
func (s *Scheduler) freeGrowth() {
	for _, growth := range s.reservations.kept {
		s.occupy(growth, nil)
	}
	s.queue.freed = s.queue.freed || len(s.reservations.kept) > 0
	s.reservations.kept = nil
}

// markByFleet marks the bindings that changes of the fleet concern: those that a changed cluster could serve or did serve,
// and, when capacity may be free, those that wait. Those that wait could use more clusters than those that have targets.
func (s *Scheduler) markByFleet() {
	q := &s.queue
	if len(q.changed) > 0 {
		slices.Sort(q.changed)
		q.markChanged(q.entries, func(e *entry, c messages.ClusterName) bool {
			return api.ReplicasOn(e.asked.Targets, string(c)) > 0 || s.plans.planner.CouldUse(e.asked.Placement, e.asked.Affinity, c)
		})
		if s.ways().RetriesForAnyGroup() {
			q.markChanged(q.waiting, func(e *entry, c messages.ClusterName) bool {
				return s.plans.planner.CouldEverUse(e.asked.Placement, c)
			})
		}
	}
	q.markFreed()
	s.failbacks.news = s.failbacks.news || q.freed
	q.changed, q.freed = nil, false
}

// decisionsPerTurn is how many decisions are made before the bindings hear of them. In a storm the lanes of the others
// work on the first while the next are made, and no mailbox keeps a hundred thousand of them.
const decisionsPerTurn = 256

// decideSome makes the next decisions, and has itself told to go on if there are more.
func (s *Scheduler) decideSome(now time.Time, out *actors.Outbox) {
	entries, more := s.queue.next(decisionsPerTurn)
	for _, e := range entries {
		e.dirty = false
		if e.open() {
			if s.attended != nil {
				s.attended(now, e.asked.Binding)
			}
			s.decide(now, e, out)
		}
	}
	if more {
		out.TellScheduler(&messages.GoOn{})
		return
	}
	s.judgeReturns(now, out)
	s.census.tell(out)
	s.finish(now, out)
}

// finish lets those try again that wait, if capacity may be free now, and hears what came meanwhile.
func (s *Scheduler) finish(now time.Time, out *actors.Outbox) {
	held := s.queue.finish()
	s.queue.freed = s.queue.freed || s.quotas.relieved
	s.quotas.relieved = false
	if s.queue.freed && len(s.queue.waiting) > 0 {
		out.WakeAt(now)
	}
	for _, m := range held {
		s.Receive(now, m, out)
	}
}
