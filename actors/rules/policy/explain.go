package policy

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// Holds reports whether the condition counts at an instant.
func (c *ConditionExplained) Holds(now time.Time) bool { return c.Matches && !c.From.After(now) }

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
