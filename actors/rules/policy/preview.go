package policy

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
)

// Preview is what a policy that only reports would have changed of a cluster's taints by now.
type Preview struct {
	// Add are the taints that the cluster would have, and has not; Remove those that it has, and would
	// have no longer.
	Add, Remove []corev1.Taint
	// Spared are the barred taints that its last ruling would have gone.
	Spared []corev1.Taint
}

// Next returns what the policy would have changed once it has ruled on a cluster with these taints, and
// the cause of what is new in it. What it would have done before stays done: that is undone by its own
// rulings, or by a cluster that comes to be so by itself. A ruling that asks for nothing brings a
// preview up to date with the taints. It could no more remove a barred taint than Apply does.
func (p Preview) Next(taints, barred []corev1.Taint, r *Ruling, now time.Time) (next Preview, cause string) {
	after, changes, spared := Apply(p.Imagine(taints), barred, []Ruling{*r}, now)
	next = Preview{Add: missing(after, taints), Remove: missing(taints, after)}
	for i := range spared {
		next.Spared, cause = append(next.Spared, spared[i].Taint), spared[i].Cause
	}
	for i := range changes {
		cause = changes[i].Cause
	}
	if r.Policy == "" { // no policy ruled
		next.Spared = missing(p.Spared, missing(p.Spared, barred))
	}
	return next, cause
}

// Empty reports whether the policy would have changed nothing, and spared nothing either.
func (p Preview) Empty() bool { return len(p.Add) == 0 && len(p.Remove) == 0 && len(p.Spared) == 0 }

// Imagine returns the taints that a cluster with these would have.
func (p Preview) Imagine(taints []corev1.Taint) []corev1.Taint {
	return append(missing(taints, p.Remove), missing(p.Add, taints)...)
}

// missing returns the taints of a list that another list has not.
func missing(list, other []corev1.Taint) (found []corev1.Taint) {
	for i := range list {
		if taint.Find(other, list[i].Key, list[i].Effect) < 0 {
			found = append(found, list[i])
		}
	}
	return found
}
