package policy

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
)

// ConditionExplained is one condition of a policy, held against a cluster.
type ConditionExplained struct {
	// Wanted is the condition as the policy has it: "Ready NotIn [True] for 1m0s".
	Wanted string
	// Found is the cluster's: "Ready=False (NetworkDown: link lost)", or that it is not reported.
	Found string
	// Matches is set where the status does; From is when it has lasted as long as the policy asks for, zero where it does not match.
	Matches bool
	From    time.Time
}

// Explain holds each condition of a list against a cluster, by what Judge asks.
func Explain(list []api.MatchCondition, v *messages.ClusterView, missing metav1.ConditionStatus) []ConditionExplained {
	all := make([]ConditionExplained, len(list))
	for i := range list {
		one := list[i : i+1]
		x := ConditionExplained{Wanted: wanted(&list[i]), Found: list[i].ConditionType + " is not reported"}
		if c := v.Condition(list[i].ConditionType); c != nil {
			x.Found = Cause(c)
		} else if status := list[i].DefaultStatus; status != "" || missing != "" {
			x.Found = cause(one, v, missing)
		}
		x.From, x.Matches = holdsFrom(one, v, missing)
		all[i] = x
	}
	return all
}

func wanted(m *api.MatchCondition) string {
	values := lists.Of(m.StatusValues, func(s metav1.ConditionStatus) string { return string(s) })
	text := fmt.Sprintf("%s %s [%s]", m.ConditionType, m.Operator, strings.Join(values, " "))
	if m.For != nil && m.For.Duration > 0 {
		text += " for " + messages.Period(m.For.Duration)
	}
	return text
}

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
