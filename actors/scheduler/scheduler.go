package scheduler

import (
	"time"

	"leeward/actors/rules/karmada"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// Scheduler places the bindings of one capacity domain.
type Scheduler struct {
	settings     messages.Settings
	seed         uint64
	queue        queue
	reservations reservations
	groups       groups
	starts       starts
	quotas       quotas
	census       census
	plans        plans
	failbacks    failbacks
	// attended hears which binding is decided on next; nil, but where an explanation is asked for.
	attended func(now time.Time, b messages.BindingName)
}

// New returns a scheduler of an empty fleet. The seed breaks ties that Karmada leaves to chance.
func New(settings messages.Settings, seed uint64) *Scheduler {
	s := &Scheduler{settings: settings, seed: seed, queue: newQueue(), groups: groups{}}
	fleet := placement.NewFleet()
	s.reservations = reservations{settings: &s.settings, fleet: fleet}
	s.starts = newStarts(&s.settings)
	s.quotas = quotas{settings: &s.settings, byNamespace: map[string]*usage{}}
	s.census = newCensus(&s.settings)
	s.plans = plans{settings: &s.settings, fleet: fleet, groups: s.groups, starts: &s.starts, quotas: &s.quotas}
	s.plans.planner = placement.NewPlanner(fleet, &s.settings, seed)
	s.failbacks = newFailbacks(&s.settings, &s.plans)
	return s
}

// ways are Karmada's ways, as far as the settings have them.
func (s *Scheduler) ways() karmada.Ways { return karmada.Of(&s.settings) }

// account has every part count a binding's new targets in place of its old ones; either may be nil.
func (s *Scheduler) account(before, after *messages.PlaceBinding) {
	s.quotas.charge(before, after)
	s.census.count(before, after)
	fewer, grouped := s.starts.move(before, after), s.groups.move(before, after)
	freed := s.reservations.move(before, after)
	s.queue.freed = s.queue.freed || fewer || grouped || freed
}

// keepGrowth keeps what a placement gains from those that come later in the order of urgency, until the binding has asked
// for a permit: the governor answers before the scheduler's next turn.
func (s *Scheduler) keepGrowth(m *messages.PlaceBinding, next []api.TargetCluster) {
	growth := &messages.PlaceBinding{HasReplicas: m.HasReplicas, Requirements: m.Requirements, Set: m.Set}
	for _, t := range next {
		more := t.Replicas - api.ReplicasOn(m.Targets, t.Name)
		if came := !hasTarget(m.Targets, t.Name); came || more > 0 {
			growth.Targets = append(growth.Targets, api.TargetCluster{Name: t.Name, Replicas: more})
			if came && s.settings.CountsStarts() {
				growth.Starting = append(growth.Starting, messages.ClusterName(t.Name))
			}
		}
	}
	s.occupy(nil, growth)
	s.reservations.kept = append(s.reservations.kept, growth)
}

// occupy takes capacity and starts for one request in place of another; either may be nil.
func (s *Scheduler) occupy(before, after *messages.PlaceBinding) {
	s.starts.move(before, after)
	if s.settings.CapacityReservation {
		s.reservations.reserve(before, -1)
		s.reservations.reserve(after, 1)
	}
}
