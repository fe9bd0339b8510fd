package binding

import (
	"cmp"
	"time"

	"leeward/messages"
)

// request is what the scheduler was asked, and how it answered.
type request struct {
	// number counts what was asked; since is when the oldest unanswered need arose, zero without.
	number                      uint64
	since                       time.Time
	lastScheduled, rescheduleAt time.Time
}

// wish is what the scheduler must know of the resource and of the clusters that run it.
func (q *request) wish(v *view, now time.Time) *messages.PlaceBinding {
	m := &messages.PlaceBinding{
		Suspended: !v.schedulable(), Binding: v.name, Request: q.number, Placement: v.spec.Placement, Applied: v.applied,
		APIVersion: v.spec.Resource.APIVersion, Kind: v.spec.Resource.Kind, UID: v.spec.Resource.UID,
		HasReplicas: v.hasReplicas(), Replicas: v.spec.Replicas, Requirements: v.spec.ReplicaRequirements,
		Set: v.set(), Targets: v.targets.shown(), Affinity: v.affinity, Groups: v.spec.WorkloadAffinityGroups,
		RescheduleAt: q.rescheduleAt, LastScheduled: q.lastScheduled, Priority: v.priority(), Since: q.since,
		Untold: v.untold(),
	}
	m.Leaving, m.Seeking = v.leaving()
	m.Purges = v.purges(now, m.Leaving) || v.purges(now, m.Seeking)
	m.Cooling, m.Full = v.keepClear(now), v.full()
	for i := range v.handover.tasks {
		if !v.reopened(&v.handover.tasks[i]) {
			m.Evicting = append(m.Evicting, messages.ClusterName(v.handover.tasks[i].FromCluster))
		}
	}
	m.Unreplaced, m.Starting = v.unreplaced(), v.starting()
	m.Late = len(m.Starting) > 0 && !v.handover.underWay()
	return m
}

// wish is what the scheduler must know of the failback; nil: there is none.
func (f *failback) wish(v *view) *messages.FailbackState {
	if f == nil && !v.failsBack() {
		return nil
	}
	w := cmp.Or(f, &failback{})
	wish := &messages.FailbackState{
		ToGroup: v.failsBack(), MayReturn: !w.at.IsZero(), ReturnDue: w.asked, Returning: f.returning(v),
	}
	for i := range w.shares {
		s := &w.shares[i]
		wish.Shares = append(wish.Shares, messages.PreferredShare{TargetCluster: s.TargetCluster, Able: !s.at.IsZero(), Due: s.asked, Kept: s.kept})
	}
	return wish
}

// asWished reports whether the result is what is asked for at present: it has the replicas, it was placed by
// this placement, and no fresh one was asked for since.
func (q *request) asWished(v *view) bool {
	wanted := int64(v.spec.Replicas)
	if v.duplicated() {
		wanted *= int64(len(v.targets))
	}
	return len(v.targets) > 0 && v.targets.replicas() == wanted && !q.rescheduleAt.After(q.lastScheduled) && v.placedAsAsked()
}
