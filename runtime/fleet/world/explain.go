package world

import (
	"strings"
	"time"

	"leeward/actors/rules/podplacement"
	"leeward/actors/scheduler"
	"leeward/messages"
	"leeward/runtime/fleet/nodetier"
)

// ExplainPlacement is what the scheduler would decide now on a binding, and why; nil: it knows no such binding, or does not run.
// It changes nothing. It is for the goroutine of the world, on one lane: between instants, or from a listener of AttendPlacements.
func (w *World) ExplainPlacement(b messages.BindingName) *scheduler.Explanation {
	if w.down || w.scheduler == nil {
		return nil
	}
	return w.scheduler.Explain(w.now, b)
}

// AttendPlacements has a listener hear of each binding immediately before the scheduler decides on it, so that ExplainPlacement is of
// what that decision rests on.
func (w *World) AttendPlacements(listener func(at time.Time, b messages.BindingName)) {
	w.attended = listener
	w.scheduler.Attend(listener)
}

// TierOf is where a node or a pod is, by its full name, and its name there: that of a member cluster's has the cluster in front. Nil:
// there is no such cluster, or it has no nodes.
func TierOf[N ~string](w *World, full N) (tier *nodetier.Tier, name N) {
	if w.nodes != nil {
		return w.nodes, full
	}
	cluster, local, _ := strings.Cut(string(full), "/")
	return w.NodesOf(messages.ClusterName(cluster)), N(local)
}

// ExplainPod is what the scheduler of pods would decide now on a pending pod, by its full name, and why; nil: it is not pending. It
// changes nothing. It is for the goroutine of the world: between instants, or from a listener of AttendPods.
func (w *World) ExplainPod(at time.Time, full messages.PodName) *podplacement.Explanation {
	tier, name := TierOf(w, full)
	if tier == nil {
		return nil
	}
	return tier.ExplainPod(at, name)
}

// AttendPods has a listener hear of each pod, by its full name, immediately before a scheduler decides on it, so that ExplainPod is of what
// that decision rests on. The nodes of clusters that join later are heard, too.
func (w *World) AttendPods(listener func(at time.Time, full messages.PodName)) {
	w.podsAttended = listener
	if w.nodes != nil {
		w.nodes.AttendPods(listener)
	}
	for name, m := range w.members { // order-free: each for itself
		m.attend(name, listener)
	}
}

func (m *memberTier) attend(cluster messages.ClusterName, listener func(at time.Time, full messages.PodName)) {
	if listener != nil {
		m.tier.AttendPods(func(at time.Time, pod messages.PodName) {
			listener(at, messages.PodName(string(cluster)+"/"+string(pod)))
		})
	}
}
