package podscheduler

import (
	"time"

	"leeward/actors/rules/podplacement"
	"leeward/messages"
)

// Attend has a listener hear of each pod immediately before it is decided on. It may ask Explain, and change nothing.
func (s *PodScheduler) Attend(listener func(now time.Time, pod messages.PodName)) {
	s.attended = listener
}

// Explain asks again what decide asks about a pending pod, of the nodes as they are now; nil: the pod is not pending. It changes nothing
// that a decision rests on, and must not run beside Receive.
func (s *PodScheduler) Explain(now time.Time, pod messages.PodName) *podplacement.Explanation {
	e := s.pods[pod]
	if e == nil || !e.pending() {
		return nil
	}
	if e.kind.failed != nil {
		return &podplacement.Explanation{Decision: podplacement.Decision{Why: e.kind.failed.Error()}}
	}
	s.planner.At(now)
	x := s.planner.Explain(e.kind.shape, string(pod))
	x.Why = s.orPreempts(e.view.Priority, x.Why)
	return &x
}
