package nodetier

import (
	"time"

	"leeward/actors/rules/podplacement"
	"leeward/messages"
)

// ExplainPod is what the scheduler would decide now on a pending pod, and why; nil: the pod is not pending. It changes nothing. It is for
// the goroutine of the kernel: between instants, or from a listener of AttendPods.
func (t *Tier) ExplainPod(now time.Time, pod messages.PodName) *podplacement.Explanation {
	return t.scheduler.Explain(now, pod)
}

// AttendPods has a listener hear of each pod immediately before the scheduler decides on it.
func (t *Tier) AttendPods(listener func(at time.Time, pod messages.PodName)) {
	t.scheduler.Attend(listener)
}

// Down reports whether the controllers of nodes and pods are stopped.
func (t *Tier) Down() bool { return t.down }
