// Package eviction holds the rules of leaving a cluster: what a graceful eviction task says, when it
// is done and the old copy may go, which purge modes keep that copy, and how long an unhealthy
// application is tolerated. Pure functions of values: no state and no clock.
//
// Sources: Karmada's "Failover Analysis" and "Application-level Failover", and its graceful eviction
// and application failover controllers.
package eviction

import (
	"time"

	"leeward/messages/api"
)

// Why is the reason of an Outcome.
type Why uint8

// The reasons. Those from Unsuppressed on drop the task.
const (
	// New: the task has no creation time yet; the caller gives it one.
	New Why = iota
	// Suppressed: a person keeps the old copy until further notice.
	Suppressed
	// Waiting: neither is the handover done nor the time up.
	Waiting
	// LastCopy: the task would be done, but no healthy copy runs elsewhere.
	LastCopy
	// Unsuppressed: a person let the old copy go.
	Unsuppressed
	// Timeout: the time for the handover is up.
	Timeout
	// Replaced: the new copies are scheduled and healthy.
	Replaced
	// ScaledToZero: no replicas are asked for, so that nothing has to take over.
	ScaledToZero
)

var whys = [...]string{
	New: "new", Suppressed: "suppressed", Waiting: "waiting", LastCopy: "last copy",
	Unsuppressed: "unsuppressed", Timeout: "timeout", Replaced: "healthy", ScaledToZero: "scaled to zero",
}

// String returns the reason as transcripts print it.
func (w Why) String() string { return whys[w] }

// Assessment says what becomes of a task.
type Assessment struct {
	Why Why
	// Recheck is when time alone changes that; zero: it does not.
	Recheck time.Time
}

// Drop reports whether the task is done: it leaves the binding, and the old copy goes.
func (o Assessment) Drop() bool { return o.Why >= Unsuppressed }

// Handover is what is known of the new placement; all tasks of a binding share it.
type Handover struct {
	// Timeout is for tasks that have no gracePeriodSeconds of their own. Zero: no wait.
	Timeout time.Duration
	// Scheduled: the scheduler has seen the binding as it is now.
	Scheduled bool
	// Healthy: every target is healthy, which is so too where there is none.
	Healthy bool
	// KeepLastCopy holds a task that is done or timed out while HealthyElsewhere is false: while no
	// healthy copy runs on any other cluster.
	KeepLastCopy, HealthyElsewhere bool
	// ScaledToZero: the workload is to run no replicas, so that no copy is worth keeping.
	ScaledToZero bool
}

// Assess decides one task at an instant. In this order: a task without creation time is new; a
// suppressed one stays, and one whose suppression was lifted goes, without further question; one whose
// new placement is scheduled and healthy goes, be it ever so late; one whose time is up goes, at the
// very instant it is up; any other waits. The purge mode does not matter here.
func Assess(task *api.GracefulEvictionTask, now time.Time, h Handover) Assessment {
	if task.CreationTimestamp.IsZero() {
		return Assessment{Why: New, Recheck: now.Add(grace(task, h.Timeout))}
	}
	if task.SuppressDeletion != nil {
		return suppression(*task.SuppressDeletion)
	}
	deadline := task.CreationTimestamp.Time.Add(grace(task, h.Timeout))
	expired := !now.Before(deadline)
	switch done := h.Scheduled && (h.Healthy || h.ScaledToZero); {
	case !expired && !done:
		return Assessment{Why: Waiting, Recheck: deadline}
	case h.ScaledToZero:
		return Assessment{Why: ScaledToZero}
	case h.KeepLastCopy && !h.HealthyElsewhere:
		return Assessment{Why: LastCopy}
	case done:
		return Assessment{Why: Replaced}
	default:
		return Assessment{Why: Timeout}
	}
}

func suppression(on bool) Assessment {
	if on {
		return Assessment{Why: Suppressed}
	}
	return Assessment{Why: Unsuppressed}
}

func grace(task *api.GracefulEvictionTask, timeout time.Duration) time.Duration {
	if task.GracePeriodSeconds != nil {
		return time.Duration(*task.GracePeriodSeconds) * time.Second
	}
	return timeout
}
