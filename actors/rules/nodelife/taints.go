// Package nodelife holds the rules of the node lifecycle: which taints the conditions of a node ask for, how many nodes of a zone may be
// ill before its evictions slow down or stop, and at what rate its nodes are tainted.
//
// Everything is a pure function of its arguments, and lists that come in are never written to. Source: the node lifecycle controller of
// Kubernetes 1.37, read and probed.
package nodelife

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
)

// byCondition are the NoSchedule taints that the conditions of a node ask for, in the order in which they are added.
var byCondition = []struct {
	condition corev1.NodeConditionType
	status    corev1.ConditionStatus
	key       string
}{
	{corev1.NodeReady, corev1.ConditionFalse, corev1.TaintNodeNotReady},
	{corev1.NodeReady, corev1.ConditionUnknown, corev1.TaintNodeUnreachable},
	{corev1.NodeMemoryPressure, corev1.ConditionTrue, corev1.TaintNodeMemoryPressure},
	{corev1.NodeDiskPressure, corev1.ConditionTrue, corev1.TaintNodeDiskPressure},
	{corev1.NodeNetworkUnavailable, corev1.ConditionTrue, corev1.TaintNodeNetworkUnavailable},
	{corev1.NodePIDPressure, corev1.ConditionTrue, corev1.TaintNodePIDPressure},
}

// Owned reports whether the controller owns a taint: NoSchedule with the key of a condition or of a cordon. It adds and removes
// such a taint as conditions ask, also one that people wrote. The same keys with another effect are not its own.
func Owned(t *corev1.Taint) bool {
	if t.Effect != corev1.TaintEffectNoSchedule {
		return false
	}
	if t.Key == corev1.TaintNodeUnschedulable {
		return true
	}
	for _, c := range byCondition {
		if c.key == t.Key {
			return true
		}
	}
	return false
}

// Change is how the owned taints of a node must change. Both lists are taints without value and timeAdded.
type Change struct {
	Add, Remove []corev1.Taint
	// Because names for each of Add, and then of Remove, what asks for it: a condition with its status, as "Ready=False", "no condition Ready"
	// where there is none, or "spec.unschedulable".
	Because []string
}

// NoSchedule returns how the NoSchedule taints that the controller owns must change for them to say what the conditions and the
// cordon of a node say. A condition that is not there asks for nothing. The controller writes Add first and Remove after it.
func NoSchedule(taints []corev1.Taint, conditions []corev1.NodeCondition, unschedulable bool) (c Change) {
	var asked []corev1.Taint
	ask := func(key, because string) {
		asked = append(asked, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		if taint.Find(taints, key, corev1.TaintEffectNoSchedule) < 0 {
			c.Add = append(c.Add, asked[len(asked)-1])
			c.Because = append(c.Because, because)
		}
	}
	for _, by := range byCondition {
		if status(conditions, by.condition) == by.status {
			ask(by.key, Because(by.condition, by.status))
		}
	}
	if unschedulable {
		ask(corev1.TaintNodeUnschedulable, "spec.unschedulable")
	}
	for i := range taints {
		if Owned(&taints[i]) && taint.Find(asked, taints[i].Key, corev1.TaintEffectNoSchedule) < 0 {
			c.Remove = append(c.Remove, corev1.Taint{Key: taints[i].Key, Effect: corev1.TaintEffectNoSchedule})
			c.Because = append(c.Because, because(taints[i].Key, conditions))
		}
	}
	return c
}

// because names what an owned taint is about: a condition, as it is now, or the cordon.
func because(key string, conditions []corev1.NodeCondition) string {
	for _, by := range byCondition {
		if by.key == key {
			return Because(by.condition, status(conditions, by.condition))
		}
	}
	return "spec.unschedulable"
}

// Because names a condition and its status, as "Ready=False"; without a status, that there is no such condition.
func Because(condition corev1.NodeConditionType, status corev1.ConditionStatus) string {
	if status == "" {
		return "no condition " + string(condition)
	}
	return string(condition) + "=" + string(status)
}

// NoExecute returns the change that the Ready condition of a node asks for: not-ready while it is False, unreachable while it is Unknown,
// neither while it is True. A node without the condition keeps what it has.
func NoExecute(ready corev1.ConditionStatus) taint.Swap {
	s := taint.Swap{Effect: corev1.TaintEffectNoExecute}
	switch ready {
	case corev1.ConditionTrue:
		s.Remove = []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}
	case corev1.ConditionFalse:
		s.Add, s.Remove = corev1.TaintNodeNotReady, []string{corev1.TaintNodeUnreachable}
	case corev1.ConditionUnknown:
		s.Add, s.Remove = corev1.TaintNodeUnreachable, []string{corev1.TaintNodeNotReady}
	default:
		return taint.Swap{}
	}
	return s
}

// Step is what the controller does about the NoExecute taint of a node.
type Step uint8

// The steps; the zero value does nothing.
const (
	// Stay: the taints are as Ready asks.
	Stay Step = iota
	// Exchange: the node has the opposite taint, which is swapped immediately, outside the rate limiter.
	Exchange
	// Queue: the node waits in the queue of its zone for its taint.
	Queue
	// Clear: the node is Ready; its taints go and it leaves the queue.
	Clear
)

// StepOf returns what the controller does about the NoExecute taints of a node whose Ready condition has this status; empty: it has none.
func StepOf(taints []corev1.Taint, ready corev1.ConditionStatus) Step {
	s := NoExecute(ready)
	has := func(key string) bool { return taint.Find(taints, key, s.Effect) >= 0 }
	switch {
	case ready == corev1.ConditionTrue:
		return Clear
	case s.Add == "":
		return Stay
	case slices.ContainsFunc(s.Remove, has):
		return Exchange
	case has(s.Add):
		return Stay
	}
	return Queue
}

// Ready returns the status of a node's Ready condition, empty if it has none.
func Ready(conditions []corev1.NodeCondition) corev1.ConditionStatus {
	return status(conditions, corev1.NodeReady)
}

// status returns the status of the first condition of a type, empty if there is none.
func status(conditions []corev1.NodeCondition, of corev1.NodeConditionType) corev1.ConditionStatus {
	for i := range conditions {
		if conditions[i].Type == of {
			return conditions[i].Status
		}
	}
	return ""
}
