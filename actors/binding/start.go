package binding

import (
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
)

// starting are the targets on which no copy was healthy yet, if anybody counts them.
func (v *view) starting() (clusters []messages.ClusterName) {
	if !v.settings.CountsStarts() {
		return nil
	}
	for i := range v.targets {
		if v.starts(v.targets[i].cluster) {
			clusters = append(clusters, v.targets[i].cluster)
		}
	}
	return clusters
}

// starts reports whether no copy was healthy on a cluster yet.
func (v *view) starts(cluster messages.ClusterName) bool {
	c := v.copy(cluster)
	return c == nil || !c.reported || !c.startingSince.IsZero()
}

// handsOver reports whether some cluster is being left in time. A hand-over that is overdue keeps nobody else waiting.
func (v *view) handsOver() bool {
	for i := range v.tasks {
		if !v.tasks[i].overdue {
			return true
		}
	}
	return false
}

// handoverBegan is when the last hand-over did, of those under way.
func (v *view) handoverBegan() (began time.Time) {
	for i := range v.tasks {
		if at := v.tasks[i].CreationTimestamp; at != nil {
			began = actors.Later(began, at.Time)
		}
	}
	return began
}

// outOfTime reports whether a task says that its hand-over took too long.
func outOfTime(o eviction.Outcome) bool {
	return o.Why == eviction.Timeout || o.Why == eviction.LastCopy
}

// startsFailed tells the governor of the copies that should be healthy by now.
func (b *Binding) startsFailed(began time.Time, out *actors.Outbox) {
	if b.settings.StartFailureLimit == 0 {
		return
	}
	for _, c := range b.starting() {
		out.TellGovernor(&messages.StartFailed{Binding: b.name, Cluster: c, Began: began})
	}
}

// givenUp tells the governor of a copy that took over, and is left for its health before it ever had any.
func (b *Binding) givenUp(t *target, out *actors.Outbox) {
	if b.settings.StartFailureLimit == 0 || !t.leave.sick() || !b.handsOver() || !b.starts(t.cluster) {
		return
	}
	if began := b.tookOver(t.cluster); !began.IsZero() {
		out.TellGovernor(&messages.StartFailed{Binding: b.name, Cluster: t.cluster, Began: began})
	}
}

// tookOver is when the last hand-over to a cluster began, of those under way; zero: there is none. What is left in the same
// step has nobody yet that took over.
func (v *view) tookOver(c messages.ClusterName) (began time.Time) {
	for i := range v.tasks {
		if k := &v.tasks[i]; k.isReplacedBy(c) && k.CreationTimestamp != nil {
			began = actors.Later(began, k.CreationTimestamp.Time)
		}
	}
	return began
}
