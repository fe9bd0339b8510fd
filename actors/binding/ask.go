package binding

import (
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// ask tells the scheduler how things stand now, because something that matters to it changed. What it
// decided on older words is void, also where it may not be asked.
func (b *Binding) ask(now time.Time, out *actors.Outbox) {
	b.request++
	b.scheduled = false
	if b.waitsSince.IsZero() {
		b.waitsSince = now
	}
	if !b.schedulable() {
		b.returnPermits(out) // nobody looks for a destination in this instant
	}
	if !b.managed || b.spec.Placement == nil {
		return
	}
	out.TellScheduler(b.wish(now))
}

// mention tells the scheduler of a task that ended. Where the binding has its place and nothing else is under way
// the scheduler answers only if that changes: two messages less for each failover.
func (b *Binding) mention(now time.Time, out *actors.Outbox) {
	if !b.scheduled || !b.waitsSince.IsZero() || len(b.tasks) > 0 || b.shrinks() || !b.schedulable() {
		b.ask(now, out)
		return
	}
	b.request++
	out.TellScheduler(&messages.TasksEnded{
		Binding: b.name, Request: b.request, Targets: b.clusters(), Cooling: b.keepClear(now), Full: b.full(), Starting: b.starting(),
		Home: b.homeWish(),
	})
}

// wish is all that the scheduler is to know.
func (b *Binding) wish(now time.Time) *messages.PlaceBinding {
	m := &messages.PlaceBinding{
		Suspended: !b.schedulable(), Binding: b.name, Request: b.request, Placement: b.spec.Placement, Applied: b.applied,
		APIVersion: b.spec.Resource.APIVersion, Kind: b.spec.Resource.Kind, UID: b.spec.Resource.UID,
		HasReplicas: b.hasReplicas(), Replicas: b.spec.Replicas, Requirements: b.spec.ReplicaRequirements,
		Set: b.set(), Targets: b.clusters(), Affinity: b.affinity, Groups: b.spec.WorkloadAffinityGroups,
		RescheduleAt: b.rescheduleAt, LastScheduled: b.lastScheduled, Priority: b.priority(), Since: b.waitsSince,
		Home: b.homeWish(), Untold: b.untold(),
	}
	m.Leaving, m.Seeking = b.leaving()
	m.Lapses = len(m.Leaving) > 0 && b.lapses()
	m.Purges = b.purges(now, m.Leaving) || b.purges(now, m.Seeking)
	m.Alone = b.goesAlone()
	m.Cooling, m.Full = b.keepClear(now), b.full()
	for i := range b.tasks {
		if !b.reopened(&b.tasks[i]) {
			m.Evicting = append(m.Evicting, messages.ClusterName(b.tasks[i].FromCluster))
		}
	}
	m.Unreplaced, m.Starting = b.unreplaced(), b.starting()
	m.Late = len(m.Starting) > 0 && !b.handsOver()
	return m
}

// schedulable reports whether the scheduler is to place the binding: it is not suspended, and no other
// scheduler is to.
func (v *view) schedulable() bool {
	suspended := v.spec.Suspension != nil && v.spec.Suspension.Scheduling != nil && *v.spec.Suspension.Scheduling
	ours := v.spec.SchedulerName == "" || v.spec.SchedulerName == api.DefaultScheduler
	return v.managed && v.spec.Placement != nil && !suspended && ours
}

// hasReplicas reports whether the resource is a workload whose replicas can be divided.
func (v *view) hasReplicas() bool {
	if v.workload != nil {
		return v.workload.HasReplicas
	}
	return len(v.spec.Components) <= 1 && (v.spec.Replicas > 0 || v.spec.ReplicaRequirements != nil)
}

// scaledToZero reports whether the resource is a workload that is to run no replicas.
func (v *view) scaledToZero() bool {
	return v.hasReplicas() && v.spec.Replicas == 0 && v.set() == nil
}

func (v *view) priority() int32 {
	if v.spec.SchedulePriority == nil {
		return 0
	}
	return v.spec.SchedulePriority.Priority
}
