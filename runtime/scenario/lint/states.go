package lint

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/spelling"
)

// mostTypes is how many condition types are enumerated together: four statuses of each.
const mostTypes = 5

// statuses are those that a condition may have; empty: it is not reported. The usual ones come first.
var statuses = []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown, ""}

// state is one assignment of statuses to condition types.
type state struct {
	types    []string
	statuses []metav1.ConditionStatus
}

// long is when any condition has lasted as long as any policy asks.
var long = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// view is a cluster in the state.
func (s state) view() *messages.ClusterView {
	v := &messages.ClusterView{Name: "m1", Created: time.Unix(0, 0)}
	for i, t := range s.types {
		if s.statuses[i] != "" {
			v.Conditions = append(v.Conditions, metav1.Condition{Type: t, Status: s.statuses[i], LastTransitionTime: metav1.Unix(0, 0)})
		}
	}
	return v
}

// String returns "Ready=False, Disk not reported".
func (s state) String() string {
	var parts []string
	for i, t := range s.types {
		if s.statuses[i] == "" {
			parts = append(parts, t+" not reported")
		} else {
			parts = append(parts, t+"="+string(s.statuses[i]))
		}
	}
	return spelling.Few(parts, mostNames)
}

// judge asks a policy about the state, once everything has lasted long enough.
func (s state) judge(p *api.ClusterTaintPolicySpec, settings *messages.Settings) policy.Verdict {
	return policy.Judge(p, s.view(), settings.MissingConditionStatus, long)
}

// typesOf are the condition types that policies ask about, each once.
func typesOf(all ...*api.ClusterTaintPolicySpec) (types []string) {
	for _, p := range all {
		for _, m := range slices.Concat(p.AddOnConditions, p.RemoveOnConditions) {
			if !slices.Contains(types, m.ConditionType) {
				types = append(types, m.ConditionType)
			}
		}
	}
	return types
}

// find returns the first state of some types that meets a condition; a type with many others about it is not enumerated.
func find(types []string, meets func(state) bool) (state, bool) {
	if len(types) > mostTypes {
		return state{}, false
	}
	n := 1
	for range types {
		n *= len(statuses)
	}
	for i := range n {
		s := state{types: types, statuses: make([]metav1.ConditionStatus, len(types))}
		rest := i
		for j := range types {
			s.statuses[j] = statuses[rest%len(statuses)]
			rest /= len(statuses)
		}
		if !impossible(s) && meets(s) {
			return s, true
		}
	}
	return state{}, false
}

// impossible reports whether the state is of a cluster without the conditions that every cluster has.
func impossible(s state) bool {
	for i, t := range s.types {
		if s.statuses[i] == "" && alwaysReported(t) {
			return true
		}
	}
	return false
}

// alwaysReported reports whether the control plane itself keeps a condition of every cluster.
func alwaysReported(kind string) bool {
	return kind == api.ConditionReady || kind == api.ConditionCompleteAPIEnablements
}
