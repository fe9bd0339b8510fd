package disruption

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// What the Eviction API says when it refuses.
const (
	Violates = "Cannot evict pod as it would violate the pod's disruption budget."
	Several  = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
)

// Budget is a budget as it is counted.
type Budget struct {
	Object *policyv1.PodDisruptionBudget
	Counts Counts
}

// Refusal is why a pod must not be evicted.
type Refusal struct {
	// Error is what the API says. Later: the status is 429 Too Many Requests, else 500 Internal Server Error.
	Error string
	Later bool
	// Budget is the name of the budget that refuses, in the namespace of the pod, and Detail what it lacks.
	Budget, Detail string
}

// Evict returns why a pod must not be evicted, nil if it may. budgets are those that select it. unready pods are evicted whatever their
// budget says where that is set.
func Evict(pod *corev1.Pod, budgets []Budget, unready bool) *Refusal {
	switch {
	case ignores(pod), len(budgets) == 0:
		return nil
	case len(budgets) > 1:
		return &Refusal{Error: Several}
	}
	b := &budgets[0]
	if !Ready(pod) && (unready || b.sparesUnready()) {
		return nil
	}
	name := b.Object.Name
	switch {
	case b.Counts.Problem != "":
		return &Refusal{
			Error: Violates, Later: true, Budget: name,
			Detail: fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", name, b.Counts.Problem),
		}
	case b.Counts.Allowed <= 0:
		return &Refusal{
			Error: Violates, Later: true, Budget: name,
			Detail: fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", name, b.Counts.Desired, b.Counts.Healthy),
		}
	}
	return nil
}

// Spends reports whether an eviction that Evict allows takes one of the disruptions that the budget of the pod allows.
func Spends(pod *corev1.Pod, budgets []Budget) bool {
	return len(budgets) == 1 && !ignores(pod) && (Ready(pod) || !budgets[0].sparesUnready())
}

// Stored is a budget as its stored status counts it: what the disruption controller wrote there last.
func Stored(o *policyv1.PodDisruptionBudget) Budget {
	b := Budget{Object: o, Counts: Counts{
		Expected: o.Status.ExpectedPods, Healthy: o.Status.CurrentHealthy, Desired: o.Status.DesiredHealthy, Allowed: o.Status.DisruptionsAllowed,
	}}
	for i := range o.Status.Conditions {
		if c := &o.Status.Conditions[i]; c.Type == policyv1.DisruptionAllowedCondition && c.Reason == policyv1.SyncFailedReason {
			b.Counts.Problem = c.Message
		}
	}
	return b
}

// ignores reports whether a pod is evicted without a look at budgets: it serves no user, or is being deleted.
func ignores(pod *corev1.Pod) bool {
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return true
	}
	return pod.DeletionTimestamp != nil
}

// sparesUnready reports whether a pod that is not ready may be evicted although the budget allows no disruption: it does not count.
func (b *Budget) sparesUnready() bool {
	if policy := b.Object.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return b.Counts.Desired > 0 && b.Counts.Healthy >= b.Counts.Desired
}

// Ready reports whether a pod has the condition Ready.
func Ready(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
