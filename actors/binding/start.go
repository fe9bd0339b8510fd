package binding

import (
	"time"

	"leeward/actors"
	"leeward/messages"
)

// starts reports whether no copy was healthy on a cluster yet.
func (v *view) starts(cluster messages.ClusterName) bool {
	c := v.copy(cluster)
	return c == nil || !c.reported || !c.startingSince.IsZero()
}

// starting are the targets on which no copy was healthy yet, where the governor or the scheduler counts them.
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

// underWay reports whether the handover from some cluster is in time. One that is overdue keeps no other workload waiting.
func (h *handover) underWay() bool {
	for i := range h.tasks {
		if !h.tasks[i].overdue {
			return true
		}
	}
	return false
}

// tookOver is when the last handover to a cluster began, of those under way; zero: there is none. What is evicted in the same
// step has no replacement yet.
func (h *handover) tookOver(c messages.ClusterName) (began time.Time) {
	for i := range h.tasks {
		if k := &h.tasks[i]; k.isReplacedBy(c) && k.CreationTimestamp != nil {
			began = actors.Later(began, k.CreationTimestamp.Time)
		}
	}
	return began
}

// handoverBegan is when the last handover did, of those under way.
func (h *handover) handoverBegan() (began time.Time) {
	for i := range h.tasks {
		if at := h.tasks[i].CreationTimestamp; at != nil {
			began = actors.Later(began, at.Time)
		}
	}
	return began
}

// startsFailed tells the governor of the copies that should be healthy by now.
func (h *handover) startsFailed(v *view, began time.Time, out *actors.Outbox) {
	if v.settings.StartFailureLimit == 0 {
		return
	}
	for _, c := range v.starting() {
		out.TellGovernor(&messages.StartFailed{Binding: v.name, Cluster: c, Began: began})
	}
}

// givenUp tells the governor of a copy that took over, and is evicted for its health before it ever had any.
func (h *handover) givenUp(v *view, t *target, out *actors.Outbox) {
	if v.settings.StartFailureLimit == 0 || !t.countdown.unhealthy() || !v.handover.underWay() || !v.starts(t.cluster) {
		return
	}
	if began := v.handover.tookOver(t.cluster); !began.IsZero() {
		out.TellGovernor(&messages.StartFailed{Binding: v.name, Cluster: t.cluster, Began: began})
	}
}
