package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

// when returns one match condition.
func when(kind, operator string, values ...metav1.ConditionStatus) api.MatchCondition {
	return api.MatchCondition{ConditionType: kind, Operator: api.MatchOperator(operator), StatusValues: values}
}

// reporting returns a cluster with these conditions, given as type and status in turn.
func reporting(pairs ...string) *messages.ClusterView {
	v := &messages.ClusterView{Name: "member1"}
	for i := 0; i < len(pairs); i += 2 {
		v.Conditions = append(v.Conditions, metav1.Condition{Type: pairs[i], Status: metav1.ConditionStatus(pairs[i+1])})
	}
	return v
}

type list = []api.MatchCondition

func TestConditionsMatch(t *testing.T) {
	for _, c := range []struct {
		name    string
		list    list
		missing metav1.ConditionStatus
		want    bool
	}{
		{"19.1/1 an empty list asks for nothing", nil, "", false},
		{"19.1/2 Ready In [False]", list{when("Ready", "In", "False")}, "", true},
		{"19.1/3 Ready NotIn [True]", list{when("Ready", "NotIn", "True")}, "", true},
		{"19.1/4 X In [Unknown], X absent", list{when("X", "In", "Unknown")}, "", false},
		{"19.1/4 X NotIn [True], X absent", list{when("X", "NotIn", "True")}, "", false},
		{"19.1/5 Ready In []", list{when("Ready", "In")}, "", false},
		{"19.1/5 Ready NotIn []", list{when("Ready", "NotIn")}, "", true},
		{"19.1/6 an unknown operator", list{when("Ready", "Bogus", "False")}, "", false},
		{"19.1/7 Ready In [False] and Ready NotIn [False]", list{when("Ready", "In", "False"), when("Ready", "NotIn", "False")}, "", false},
		{"Ready In [True]", list{when("Ready", "In", "True")}, "", false},
		{"Ready In [True False]", list{when("Ready", "In", "True", "False")}, "", true},
		{"the same type twice, both hold", list{when("Ready", "In", "False"), when("Ready", "NotIn", "True")}, "", true},
		{"K17: X absent counts as Unknown, NotIn [True]", list{when("X", "NotIn", "True")}, metav1.ConditionUnknown, true},
		{"K17: X absent counts as Unknown, In [Unknown]", list{when("X", "In", "Unknown")}, metav1.ConditionUnknown, true},
		{"K17: X absent counts as True, NotIn [True]", list{when("X", "NotIn", "True")}, metav1.ConditionTrue, false},
		{"K17: a condition that is there is as it is", list{when("Ready", "In", "Unknown")}, metav1.ConditionUnknown, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := reporting("Ready", "False")
			add := policy.Judge(&api.ClusterTaintPolicySpec{AddOnConditions: c.list}, v, c.missing)
			require.Equal(t, c.want, add.Add)
			require.Equal(t, c.want, add.AddCause != "")
			require.False(t, add.Remove)
			remove := policy.Judge(&api.ClusterTaintPolicySpec{RemoveOnConditions: c.list}, v, c.missing)
			require.Equal(t, c.want, remove.Remove)
			require.Equal(t, c.want, remove.RemoveCause != "")
			require.False(t, remove.Add)
		})
	}
}

func TestBothListsMayAsk(t *testing.T) {
	spec := &api.ClusterTaintPolicySpec{
		AddOnConditions:    list{when("Ready", "NotIn", "True"), when("NetworkAvailable", "NotIn", "True")},
		RemoveOnConditions: list{when("Ready", "In", "False")},
	}
	require.Equal(t, policy.Verdict{Add: true, Remove: true, AddCause: "Ready=False, NetworkAvailable=Unknown", RemoveCause: "Ready=False"},
		policy.Judge(spec, reporting("Ready", "False", "NetworkAvailable", "Unknown"), ""))
	require.Equal(t, policy.Verdict{Remove: true, RemoveCause: "Ready=False"},
		policy.Judge(spec, reporting("Ready", "False", "NetworkAvailable", "True"), ""), "the list is ANDed")
	require.Zero(t, policy.Judge(spec, reporting(), ""))
}

func TestCauseNamesTheConditions(t *testing.T) {
	v := &messages.ClusterView{Conditions: []metav1.Condition{
		{Type: "Ready", Status: "False", Reason: "NetworkDown", Message: "link lost"},
		{Type: "DNS", Status: "Unknown", Reason: "NoProbe"},
		{Type: "Disk", Status: "False", Message: "2 of 3 bad"},
		{Type: "Power", Status: "False"},
	}}
	for _, c := range []struct {
		name string
		list list
		want string
	}{
		{"reason and message", list{when("Ready", "NotIn", "True")}, "Ready=False (NetworkDown: link lost)"},
		{"a reason alone", list{when("DNS", "NotIn", "True")}, "DNS=Unknown (NoProbe)"},
		{"a message alone", list{when("Disk", "NotIn", "True")}, "Disk=False (2 of 3 bad)"},
		{"neither", list{when("Power", "NotIn", "True")}, "Power=False"},
		{"not reported", list{when("X", "NotIn", "True")}, "X=Unknown (not reported)"},
		{"several, in the order of the policy", list{when("Power", "NotIn", "True"), when("DNS", "NotIn", "True")}, "Power=False, DNS=Unknown (NoProbe)"},
		{"one type is named once", list{when("Power", "NotIn", "True"), when("Power", "In", "False")}, "Power=False"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := policy.Judge(&api.ClusterTaintPolicySpec{AddOnConditions: c.list}, v, metav1.ConditionUnknown)
			require.Equal(t, c.want, got.AddCause)
		})
	}
}
