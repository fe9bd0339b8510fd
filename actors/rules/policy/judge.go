// Package policy holds the rules of ClusterTaintPolicy: what a policy asks for given a cluster's
// conditions, in which order policies act, and the one change of taints that comes of all of them.
// Pure functions of values: no state, no clock, and no argument is ever written to.
//
// Sources: Karmada's "Cluster Taint Management" and its ClusterTaintPolicy controller.
package policy

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// Verdict is what one policy asks for. Each cause names the conditions that asked, as
// "Ready=False (NetworkDown: link lost)"; it is empty where nothing is asked.
type Verdict struct {
	Add, Remove           bool
	AddCause, RemoveCause string
}

// Judge asks one policy about one cluster. Whether the policy targets the cluster at all is the
// caller's question. The conditions of a list are ANDed and an empty list asks for nothing. Add and
// Remove may both be true: Apply lets Remove win.
//
// Where the cluster does not report a condition's type, the condition holds for neither operator; a
// missing that is not empty is taken for the status of such a condition instead.
func Judge(spec *api.ClusterTaintPolicySpec, v *messages.ClusterView, missing metav1.ConditionStatus) Verdict {
	var j Verdict
	if j.Add = hold(spec.AddOnConditions, v, missing); j.Add {
		j.AddCause = cause(spec.AddOnConditions, v, missing)
	}
	if j.Remove = hold(spec.RemoveOnConditions, v, missing); j.Remove {
		j.RemoveCause = cause(spec.RemoveOnConditions, v, missing)
	}
	return j
}

// hold reports whether the list asks for something: all of its conditions hold, and there are some.
func hold(list []api.MatchCondition, v *messages.ClusterView, missing metav1.ConditionStatus) bool {
	fails := func(m api.MatchCondition) bool { return !holds(&m, v, missing) }
	return len(list) > 0 && !slices.ContainsFunc(list, fails)
}

// holds asks one condition; an unknown operator never holds.
func holds(m *api.MatchCondition, v *messages.ClusterView, missing metav1.ConditionStatus) bool {
	status := missing
	if c := v.Condition(m.ConditionType); c != nil {
		status = c.Status
	} else if missing == "" {
		return false
	}
	switch m.Operator {
	case api.MatchIn:
		return slices.Contains(m.StatusValues, status)
	case api.MatchNotIn:
		return !slices.Contains(m.StatusValues, status)
	default:
		return false
	}
}

// cause names the conditions of a list that holds, each type once.
func cause(list []api.MatchCondition, v *messages.ClusterView, missing metav1.ConditionStatus) string {
	var texts []string
	for i := range list {
		kind := list[i].ConditionType
		text := kind + "=" + string(missing) + " (not reported)"
		if c := v.Condition(kind); c != nil {
			text = Cause(c)
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}

// Cause returns a condition as the cause of a taint: "Ready=False (NetworkDown: link lost)", without
// what the condition leaves empty.
func Cause(c *metav1.Condition) string {
	text := c.Type + "=" + string(c.Status)
	switch {
	case c.Reason == "" && c.Message == "":
		return text
	case c.Message == "":
		return text + " (" + c.Reason + ")"
	case c.Reason == "":
		return text + " (" + c.Message + ")"
	default:
		return text + " (" + c.Reason + ": " + c.Message + ")"
	}
}
