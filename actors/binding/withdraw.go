package binding

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/eviction"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// takenBack is why a task is withdrawn when its cluster no longer evicts the workload.
func (k *task) takenBack() string {
	if k.Reason != api.EvictionReasonFailback {
		return "the cluster recovered before the handover ended"
	}
	return "the target of the failback failed before the handover ended"
}

// cameBack notes whether a task's cluster no longer evicts the workload, so that the task is withdrawn
// while that still helps: the old copy runs replicas and the handover is not done.
func (k *task) cameBack(v *view, now time.Time, taints []corev1.Taint) {
	tolerations, _ := v.ways().Tolerations(v.spec.Placement, v.applied)
	judged := taint.Deadline(taints, tolerations, v.ways().Rule())
	stays := judged.Outcome == taint.Forever || judged.Outcome == taint.Until && judged.At.After(now)
	runs := eviction.KeepsCopy(&k.GracefulEvictionTask) && (k.Replicas == nil || *k.Replicas > 0)
	k.back = stays && runs && k.Reason == api.EvictionReasonTaintUntolerated
}

// withdraws reports whether a task is taken back when its cluster no longer evicts the workload.
func (v *view) withdraws(k *task) bool {
	old := int32(0)
	if k.Replicas != nil {
		old = *k.Replicas
	}
	switch c := v.copy(messages.ClusterName(k.FromCluster)); {
	case k.Reason != api.EvictionReasonTaintUntolerated || v.strategy() == "":
		return v.ways().WithdrawsOnRecovery()
	case v.strategy() == api.ReconnectKeepReplacement || c == nil || c.health != api.Healthy:
		return false
	case v.strategy() == api.ReconnectKeepHealthiest:
		return v.readyOn(k.FromCluster, old) >= v.readyGained(k.ReplacedBy)
	default:
		return true
	}
}

// readyGained counts the replicas ready of what clusters have more than before.
func (v *view) readyGained(gained []api.TargetCluster) (ready int32) {
	for _, g := range gained {
		if t := v.targets.of(messages.ClusterName(g.Name)); t != nil {
			ready += max(0, v.readyOn(g.Name, t.replicas)-(t.replicas-g.Replicas))
		}
	}
	return ready
}

// stillOn is the target that the cluster of a task is again when that is taken back.
func (v *view) stillOn(k *task) api.TargetCluster {
	t := api.TargetCluster{Name: k.FromCluster}
	if k.Replicas != nil {
		t.Replicas = *k.Replicas
	}
	if s := v.set(); s != nil {
		t.Components = s.Targets
	}
	return t
}

// reopened reports whether the scheduler may choose the cluster of a task again: it was evicted from by choice, and people
// ask for another placement since.
func (v *view) reopened(k *task) bool { return k.byChoice() && !v.placedAsAsked() }

// byChoice reports whether the eviction from the cluster is by choice, so that the old copy there, which runs, can remain.
func (k *task) byChoice() bool {
	moved := k.Reason == api.EvictionReasonReschedule || k.Reason == api.EvictionReasonRebalance
	return moved && eviction.KeepsCopy(&k.GracefulEvictionTask)
}

// reopens reports whether that is so of any task.
func (v *view) reopens() bool {
	for i := range v.handover.tasks {
		if v.reopened(&v.handover.tasks[i]) {
			return true
		}
	}
	return false
}
