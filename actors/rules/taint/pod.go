package taint

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
)

// Allowance is how long the tolerations of a pod cover the taints of its node once its countdown has begun, with what decided it.
type Allowance struct {
	Outcome Stay
	// Seconds is what the countdown lasts, for Until: 0 where the toleration says 0 or less.
	Seconds int64
	// Taint and Toleration are the indices of the pair that decided. -1: no taint or no toleration did.
	Taint, Toleration int
}

// AllowanceOf returns how long tolerations allow a pod on a node with these taints, counted from whenever the
// controller saw them: timeAdded does not matter. Only NoExecute taints count. The first one that nothing tolerates,
// in the order of the node, ends the matter. Otherwise the least seconds count of the tolerations that apply;
// one without seconds contributes nothing.
//
// With MatchFirst one toleration applies to each taint, the first in list order that tolerates it. With MatchMinimum all that
// tolerate it apply, so their order does not matter. For a deadline that survives restarts see Deadline.
//
// Source: the taint eviction controller of Kubernetes 1.37 for MatchFirst, its device taints for MatchMinimum.
func AllowanceOf(taints []corev1.Taint, tolerations []corev1.Toleration, r Rule) Allowance {
	a := Allowance{Outcome: Forever, Taint: -1, Toleration: -1}
	for i := range taints {
		if taints[i].Effect != corev1.TaintEffectNoExecute {
			continue
		}
		first := covering(&taints[i], tolerations, r.Numeric)
		if first < 0 {
			return Allowance{Outcome: Untolerated, Taint: i, Toleration: -1}
		}
		j := first
		if r.Match == messages.MatchMinimum {
			j = leastOf(&taints[i], first, tolerations, r.Numeric)
		}
		if tolerations[j].TolerationSeconds == nil {
			continue
		}
		if s := max(*tolerations[j].TolerationSeconds, 0); a.Outcome == Forever || s < a.Seconds {
			a = Allowance{Outcome: Until, Seconds: s, Taint: i, Toleration: j}
		}
	}
	return a
}

// leastOf returns the index of the toleration with the least seconds among all that tolerate a taint; where none has seconds, first, which
// is the one that tolerates it first.
func leastOf(taint *corev1.Taint, first int, tolerations []corev1.Toleration, numeric bool) int {
	best := first
	for j := first + 1; j < len(tolerations); j++ {
		s, least := tolerations[j].TolerationSeconds, tolerations[best].TolerationSeconds
		if s != nil && (least == nil || *s < *least) && Tolerates(&tolerations[j], taint, numeric) {
			best = j
		}
	}
	return best
}

// After returns the instant at which a countdown that begins at an instant ends, for Until. Beyond 292 years it is held there.
func (a Allowance) After(begun time.Time) time.Time {
	at := due(begun, a.Seconds)
	return time.Unix(at.seconds, at.nanos).UTC()
}

// SameNoExecute reports whether two lists have the same NoExecute taints in the same order, values included: only another set
// makes the pods of a node be looked at again. timeAdded counts only where it decides, which is for Deadline.
func SameNoExecute(a, b []corev1.Taint, timeAdded bool) bool {
	i, j := nextNoExecute(a, 0), nextNoExecute(b, 0)
	for i < len(a) && j < len(b) {
		if !Same(&a[i], &b[j]) || a[i].Value != b[j].Value || timeAdded && !a[i].TimeAdded.Equal(b[j].TimeAdded) {
			return false
		}
		i, j = nextNoExecute(a, i+1), nextNoExecute(b, j+1)
	}
	return i == len(a) && j == len(b)
}

// nextNoExecute returns the index of the first NoExecute taint from i on, the length of the list if there is none.
func nextNoExecute(taints []corev1.Taint, i int) int {
	for i < len(taints) && taints[i].Effect != corev1.TaintEffectNoExecute {
		i++
	}
	return i
}
