package failover

import (
	"time"

	"leeward/messages"
)

// Role says what a fact is to the failovers of its binding.
type Role uint8

// The roles. A fact has none where it is about no failover.
const (
	// Folded is the role of what Take takes in.
	Folded Role = 1 << iota
	// Begins is the role of what may be the first fact of a failover.
	Begins
	// Evicts is the role of a step of the eviction from the cluster that the fact names; it is nothing else.
	Evicts
	// Notes is the role of what happens during a handover and is no step of it.
	Notes
	// Owner is the role of what the owner of the workload is told, who may know no bindings. Source: Karmada, whose Events are
	// about both.
	Owner
	// Retracts is the role of what takes back an eviction that began.
	Retracts
)

// Is reports whether the role includes another.
func (r Role) Is(other Role) bool { return r&other != 0 }

// RoleOf is the table of the facts that have a role: a new one gets its row here, and all that read failovers follow.
func RoleOf(f messages.Fact) Role {
	switch f := f.(type) {
	case *messages.EvictionScheduled, *messages.EvictionBlocked, *messages.EvictionStarted:
		return Folded | Begins | Evicts | Owner
	case *messages.EvictionCancelled, *messages.EvictionEnded:
		return Folded | Evicts | Owner
	case *messages.EvictionWithdrawn:
		return Folded | Evicts | Owner | Retracts
	case *messages.Scheduled:
		if f.Trigger == messages.TriggerEviction {
			return Folded | Owner
		}
		return Folded
	case *messages.PlacementConfirmed, *messages.ScheduleFailed, *messages.BindingDescheduled, *messages.HealthChanged,
		*messages.HealthForgotten, *messages.CopyPreserved, *messages.BindingDeleted:
		return Folded
	case *messages.ReplicasReleased, *messages.HandoverBlocked:
		return Notes
	}
	return 0
}

// About returns the binding whose failovers a fact may be a step of; false: it is none of any.
func About(f messages.Fact) (messages.BindingName, bool) {
	if RoleOf(f).Is(Folded) {
		return f.(messages.AboutBinding).AboutBinding(), true
	}
	return "", false
}

// Retracted returns those of a binding's facts that say nothing together: of each eviction that began and was withdrawn among
// them, the fact of its start and that of its end.
func Retracted(facts []messages.Fact) (void []messages.Fact) {
	var b Binding
	for _, f := range facts {
		b.Take(time.Time{}, f, func(_ time.Time, _ Step, o *Failover) {
			if RoleOf(f).Is(Retracts) && o.Eviction != nil { // it may end one that was only scheduled, too, of another cluster
				void = append(void, o.Eviction, f)
			}
		})
	}
	return void
}
