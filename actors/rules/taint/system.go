package taint

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// Swap is one change of the taints that the system keeps by itself: all of one effect, the key to add
// (empty: none) and the keys to remove.
type Swap struct {
	Effect corev1.TaintEffect
	Add    string
	Remove []string
}

// System returns the change that a cluster's Ready condition asks for: not-ready while it is False or
// not known at all, unreachable while it is Unknown, none while it is True, always NoSchedule. A
// cluster that never reported keeps an unreachable taint. Source: Karmada's cluster controller.
func System(ready metav1.ConditionStatus, known bool) Swap {
	if !known {
		return Swap{Effect: corev1.TaintEffectNoSchedule, Add: api.TaintNotReady}
	}
	return swap(ready, corev1.TaintEffectNoSchedule)
}

// Legacy returns the change of the NoExecute twins: once Ready has been False or Unknown for timeout,
// counted from since, the twin comes and its opposite goes; at True both go together. Until then
// nothing changes, and due is when to ask again; it is zero where only a new condition can change the
// answer. A zero timeout switches the twins off. Source: Karmada up to 1.13,
// --failover-eviction-timeout.
func Legacy(ready metav1.ConditionStatus, since time.Time, timeout time.Duration, now time.Time) (s Swap, due time.Time) {
	if timeout <= 0 {
		return Swap{}, time.Time{}
	}
	s = swap(ready, corev1.TaintEffectNoExecute)
	if at := since.Add(timeout); s.Add != "" && now.Before(at) {
		return Swap{}, at
	}
	return s, time.Time{}
}

// Terminating returns the change of a cluster that is being deleted, or no longer, as it was made again. Source: Karmada up to 1.13.
func Terminating(deleting bool) Swap {
	if !deleting {
		return Swap{Effect: corev1.TaintEffectNoExecute, Remove: []string{api.TaintTerminating}}
	}
	return Swap{Effect: corev1.TaintEffectNoExecute, Add: api.TaintTerminating}
}

// Draining returns the changes of a cluster that people have emptied, or no longer: it takes nothing new,
// and what runs there leaves.
func Draining(on bool) []Swap {
	if !on {
		return []Swap{
			{Effect: corev1.TaintEffectNoSchedule, Remove: []string{api.TaintUnschedulable}},
			{Effect: corev1.TaintEffectNoExecute, Remove: []string{api.TaintDraining}},
		}
	}
	return []Swap{
		{Effect: corev1.TaintEffectNoSchedule, Add: api.TaintUnschedulable},
		{Effect: corev1.TaintEffectNoExecute, Add: api.TaintDraining},
	}
}

// swap is the table of the Ready condition; a status that is none of the three changes nothing.
func swap(ready metav1.ConditionStatus, effect corev1.TaintEffect) Swap {
	switch ready {
	case metav1.ConditionTrue:
		return Swap{Effect: effect, Remove: []string{api.TaintNotReady, api.TaintUnreachable}}
	case metav1.ConditionFalse:
		return Swap{Effect: effect, Add: api.TaintNotReady, Remove: []string{api.TaintUnreachable}}
	case metav1.ConditionUnknown:
		return Swap{Effect: effect, Add: api.TaintUnreachable, Remove: []string{api.TaintNotReady}}
	default:
		return Swap{}
	}
}

// Apply returns the taints after the swap, in one step, and whether that is a change. A taint that is
// there already keeps its value and its timeAdded; a new one is added at now.
func (s Swap) Apply(taints []corev1.Taint, now time.Time) (after []corev1.Taint, changed bool) {
	after = taints
	for _, key := range s.Remove {
		var gone bool
		after, gone = Remove(after, key, s.Effect)
		changed = changed || gone
	}
	if s.Add == "" || Find(after, s.Add, s.Effect) >= 0 {
		return after, changed
	}
	return Add(after, corev1.Taint{Key: s.Add, Effect: s.Effect, TimeAdded: &metav1.Time{Time: now}})
}

// NextRelist returns the first instant after now at which a cluster that has been tainted since then
// is looked at again for bindings and tolerations that changed meanwhile; now itself where period is
// zero, for then changes are seen immediately. A change at the very instant of a look waits for the next:
// it has to pass the scheduler first. Source: Karmada's taint manager, which looks every ten seconds.
func NextRelist(since time.Time, period time.Duration, now time.Time) time.Time {
	if period <= 0 {
		return now
	}
	if now.Before(since) {
		return since
	}
	return now.Add(period - now.Sub(since)%period)
}
