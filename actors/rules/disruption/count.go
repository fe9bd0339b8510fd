// Package disruption has the rules of PodDisruptionBudgets of policy/v1: how pods are counted, and which pod the Eviction API may evict.
// Source: the disruption controller and the eviction subresource of Kubernetes 1.37.
package disruption

import (
	"fmt"
	"iter"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Confirmed is how long a pod in status.disruptedPods counts as disrupted although nothing deletes it. Source: DeletionTimeout of the
// disruption controller.
const Confirmed = 2 * time.Minute

// Pod is what a budget counts of a pod that it selects.
type Pod struct {
	Name               string
	Ready, Terminating bool
	// Owner is its controller, empty for none.
	Owner string
}

// Healthy reports whether a pod counts as available.
func (p *Pod) Healthy() bool { return p.Ready && !p.Terminating }

// Counts is the status of a budget.
type Counts struct {
	// Expected is how many pods there should be, Healthy how many are ready and are not being deleted, Desired how many must be, and Allowed how
	// many evictions the budget allows.
	Expected, Healthy, Desired, Allowed int32
	// Problem is why the budget cannot be computed; it allows nothing then.
	Problem string
}

// Selector returns what a budget selects in its namespace: nothing without a selector, everything with an empty one.
func Selector(b *policyv1.PodDisruptionBudgetSpec) (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(b.Selector)
}

// Count counts the pods that a budget selects. scale is how many pods an owner must have; false: the owner has no such number.
func Count(now time.Time, b *policyv1.PodDisruptionBudget, pods iter.Seq[Pod], scale func(owner string) (int32, bool)) Counts {
	var c Counts
	var selected int32
	var scaled int64
	owners := map[string]bool{} // those that were added
	problem, named := "", ""
	for p := range pods {
		selected++
		if p.Healthy() && !disrupted(now, b, p.Name) {
			c.Healthy++
		}
		if p.Owner == "" || owners[p.Owner] {
			continue // a pod without an owner adds nothing to what percentages are of
		}
		if n, known := scale(p.Owner); known {
			owners[p.Owner] = true
			scaled += int64(n)
		} else { // the pod that is named must not depend on the order
			named = least(named, p.Name)
			problem = fmt.Sprintf("found no controllers for pod %q", named)
		}
	}
	switch minimum, maximum := b.Spec.MinAvailable, b.Spec.MaxUnavailable; {
	case maximum != nil:
		c.Expected = bounded(scaled)
		c.Desired = max(0, c.Expected-share(maximum, c.Expected))
	case minimum != nil && minimum.Type == intstr.String:
		c.Expected = bounded(scaled)
		c.Desired = share(minimum, c.Expected)
	case minimum != nil:
		c.Expected, c.Desired, problem = selected, minimum.IntVal, ""
	default:
		problem = ""
	}
	if c.Problem = problem; problem == "" && c.Expected > 0 {
		c.Allowed = max(0, c.Healthy-c.Desired)
	}
	return c
}

// least is the smaller of two names, so that what is said does not depend on the order of pods.
func least(a, b string) string {
	if a == "" || b < a {
		return b
	}
	return a
}

// bounded keeps a sum of scales in the range of the API.
func bounded(n int64) int32 { return int32(min(n, 1<<31-1)) }

// share is a number, or so many percent of the whole, rounded up. What is no percentage was not admitted.
func share(p *intstr.IntOrString, whole int32) int32 {
	n, err := intstr.GetScaledValueFromIntOrPercent(p, int(whole), true)
	if err != nil {
		return 0
	}
	return int32(min(n, 1<<31-1))
}

// disrupted reports whether an eviction of a pod was allowed lately, which nothing has confirmed yet.
func disrupted(now time.Time, b *policyv1.PodDisruptionBudget, pod string) bool {
	at, listed := b.Status.DisruptedPods[pod]
	return listed && at.Add(Confirmed).After(now)
}

// Recheck is when the next pod in status.disruptedPods counts again; zero: there is none.
func Recheck(now time.Time, b *policyv1.PodDisruptionBudget) (next time.Time) {
	for _, at := range b.Status.DisruptedPods { // order-free: the earliest
		if until := at.Add(Confirmed); until.After(now) && (next.IsZero() || until.Before(next)) {
			next = until
		}
	}
	return next
}
