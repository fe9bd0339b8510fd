package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

func TestEvicts(t *testing.T) {
	notReady := &messages.ClusterView{Conditions: []metav1.Condition{
		{Type: "Ready", Status: "False", LastTransitionTime: metav1.Time{Time: now.Add(-time.Minute)}},
	}}
	down := []api.PolicyTaint{{Key: "cordon", Effect: noSchedule}, {Key: "down", Effect: noExecute}}
	lasting := func(c api.MatchCondition, d time.Duration) []api.MatchCondition {
		c.For = &metav1.Duration{Duration: d}
		return []api.MatchCondition{c}
	}
	failed := api.MatchCondition{ConditionType: "Ready", Operator: api.MatchIn, StatusValues: []metav1.ConditionStatus{"False"}}
	silent := api.MatchCondition{ConditionType: "Ready", Operator: api.MatchIn, StatusValues: []metav1.ConditionStatus{"Unknown"}}
	missing := api.MatchCondition{ConditionType: "Disk", Operator: api.MatchNotIn, StatusValues: []metav1.ConditionStatus{"True"}}
	list := func(c ...api.MatchCondition) []api.MatchCondition { return c }
	for _, c := range []struct {
		name string
		spec api.ClusterTaintPolicySpec
		want bool
	}{
		{"it adds NoExecute", api.ClusterTaintPolicySpec{Taints: down, AddOnConditions: list(failed)}, true},
		{"it will when the condition has lasted", api.ClusterTaintPolicySpec{Taints: down, AddOnConditions: lasting(failed, time.Hour)}, true},
		{"it adds NoSchedule only", api.ClusterTaintPolicySpec{Taints: down[:1], AddOnConditions: list(failed)}, false},
		{"it is about another status", api.ClusterTaintPolicySpec{Taints: down, AddOnConditions: list(silent)}, false},
		{"one condition of two does not hold", api.ClusterTaintPolicySpec{Taints: down, AddOnConditions: list(failed, silent)}, false},
		{"it is about a condition that is not reported", api.ClusterTaintPolicySpec{Taints: down, AddOnConditions: list(missing)}, false},
		{"it adds on no condition", api.ClusterTaintPolicySpec{Taints: down}, false},
		{"it only reports", api.ClusterTaintPolicySpec{Taints: down, AddOnConditions: list(failed), ReportOnly: true}, false},
		{"it removes what it adds", api.ClusterTaintPolicySpec{Taints: down, AddOnConditions: list(failed), RemoveOnConditions: list(failed)}, false},
		{"it removes before it adds", api.ClusterTaintPolicySpec{Taints: down, AddOnConditions: lasting(failed, time.Hour), RemoveOnConditions: lasting(failed, 59*time.Minute)}, false},
		{"it adds before it removes", api.ClusterTaintPolicySpec{Taints: down, AddOnConditions: lasting(failed, 59*time.Minute), RemoveOnConditions: lasting(failed, time.Hour)}, true},
		{"both have held before", api.ClusterTaintPolicySpec{Taints: down, AddOnConditions: lasting(failed, time.Second), RemoveOnConditions: lasting(failed, 2*time.Second)}, false},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, policy.Evicts(&c.spec, notReady, "", now)) })
	}
}
