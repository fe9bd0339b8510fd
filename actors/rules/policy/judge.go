// Package policy holds the rules of ClusterTaintPolicy: what a policy asks for given a cluster's
// conditions, in which order policies act, and the one change of taints that comes of all of them.
// Pure functions of values: no state, no clock, and no argument is ever written to.
//
// Sources: Karmada's "Cluster Taint Management" and its ClusterTaintPolicy controller.
package policy

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// Verdict is what one policy asks for. Each cause names the conditions that asked, as
// "Ready=False (NetworkDown: link lost)"; it is empty where nothing is asked.
type Verdict struct {
	Add, Remove           bool
	AddCause, RemoveCause string
	// Due is when the verdict changes if no condition does; zero: not by waiting.
	Due time.Time
}

// Judge asks one policy about one cluster. Whether the policy targets the cluster at all is the
// caller's question. The conditions of a list are ANDed and an empty list asks for nothing. Add and
// Remove may both be true: Apply lets Remove win.
//
// Where the cluster does not report a condition's type, the condition holds for neither operator; its
// DefaultStatus, or else a missing that is not empty, is taken for its status instead. A condition with
// For holds once its status is that old; one that is missing is as old as its absence.
func Judge(spec *api.ClusterTaintPolicySpec, v *messages.ClusterView, missing metav1.ConditionStatus, now time.Time) (verdict Verdict) {
	if due, holds := holdsFrom(spec.AddOnConditions, v, missing); holds {
		verdict.take(due, now, &verdict.Add)
	}
	if due, holds := holdsFrom(spec.RemoveOnConditions, v, missing); holds {
		verdict.take(due, now, &verdict.Remove)
	}
	if verdict.Add {
		verdict.AddCause = cause(spec.AddOnConditions, v, missing)
	}
	if verdict.Remove {
		verdict.RemoveCause = cause(spec.RemoveOnConditions, v, missing)
	}
	return verdict
}

// take notes what holds from an instant on: now, or then.
func (v *Verdict) take(from, now time.Time, asked *bool) {
	switch {
	case !from.After(now):
		*asked = true
	case v.Due.IsZero() || from.Before(v.Due):
		v.Due = from
	}
}

// holdsFrom reports whether a list asks for something, for all of its conditions match and there are
// some, and from when on they do.
func holdsFrom(list []api.MatchCondition, v *messages.ClusterView, missing metav1.ConditionStatus) (from time.Time, holds bool) {
	for i := range list {
		m := &list[i]
		if !matches(m, v, missing) {
			return time.Time{}, false
		}
		if m.For == nil {
			continue
		}
		if at := since(m, v).Add(m.For.Duration); at.After(from) {
			from = at
		}
	}
	return from, len(list) > 0
}

// matches asks one condition; an unknown operator never matches.
func matches(m *api.MatchCondition, v *messages.ClusterView, missing metav1.ConditionStatus) bool {
	status := cmp.Or(m.DefaultStatus, missing)
	if c := v.Condition(m.ConditionType); c != nil {
		status = c.Status
	} else if status == "" {
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

// since is when a condition took its status, or was first missing.
func since(m *api.MatchCondition, v *messages.ClusterView) time.Time {
	if c := v.Condition(m.ConditionType); c != nil {
		return c.LastTransitionTime.Time
	}
	return v.MissingSince(m.ConditionType)
}

// cause names the conditions of a list that holds, each once.
func cause(list []api.MatchCondition, v *messages.ClusterView, missing metav1.ConditionStatus) string {
	var texts []string
	for i := range list {
		m := &list[i]
		text := m.ConditionType + "=" + string(cmp.Or(m.DefaultStatus, missing)) + " (not reported)"
		if c := v.Condition(m.ConditionType); c != nil {
			text = Cause(c)
		}
		if m.For != nil && m.For.Duration > 0 {
			text += " for " + messages.Period(m.For.Duration)
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

// Forsaken returns why a policy no longer asks for a taint that it added; empty where it does, or
// does not care: only a policy with CleanupOnChange takes such taints away. Selects says whether the
// policy selects the cluster.
func Forsaken(mode api.CleanupMode, selects bool, taints []api.PolicyTaint, t *corev1.Taint) string {
	has := func(p api.PolicyTaint) bool { return p.Key == t.Key && p.Effect == t.Effect }
	switch {
	case mode != api.CleanupOnChange:
		return ""
	case !selects:
		return "it no longer selects the cluster"
	case !slices.ContainsFunc(taints, has):
		return "it no longer has the taint"
	default:
		return ""
	}
}

// Evicts reports whether a policy adds a NoExecute taint to a cluster in this state: now or, where a condition must
// last, by waiting. It does not where the policy only reports, or removes the taint no later than it adds it. Whether
// the policy targets the cluster at all is the caller's question.
func Evicts(spec *api.ClusterTaintPolicySpec, v *messages.ClusterView, missing metav1.ConditionStatus, now time.Time) bool {
	added, adds := holdsFrom(spec.AddOnConditions, v, missing)
	if !adds || spec.ReportOnly || !slices.ContainsFunc(spec.Taints, noExecute) {
		return false
	}
	removed, removes := holdsFrom(spec.RemoveOnConditions, v, missing)
	return !removes || removed.After(now) && removed.After(added)
}

func noExecute(t api.PolicyTaint) bool { return t.Effect == corev1.TaintEffectNoExecute }
