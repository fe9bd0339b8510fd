package policy_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/rules/policy"
	"leeward/messages/api"
)

// A policy asks for something exactly where there are conditions and each of them is explained to hold.
func TestTheConditionsExplainedAgreeWithTheVerdict(t *testing.T) {
	statuses := []metav1.ConditionStatus{"True", "False", "Unknown"}
	for seed := range actorstest.Cases(2000) {
		r := rand.New(rand.NewPCG(seed, 5))
		v := reporting("Ready", string(statuses[r.IntN(3)]))
		v.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-time.Duration(r.IntN(90)) * time.Second))
		var of list
		for range r.IntN(3) {
			m := when([]string{"Ready", "X"}[r.IntN(2)], []string{"In", "NotIn", "Bogus"}[r.IntN(3)], statuses[r.IntN(3)])
			if r.IntN(3) == 0 {
				m.For = &metav1.Duration{Duration: time.Minute}
			}
			of = append(of, m)
		}
		missing := append(statuses, "")[r.IntN(4)]
		holds := len(of) > 0
		for _, c := range policy.Explain(of, v, missing) {
			holds = holds && c.Matches && !c.From.After(now)
		}
		require.Equal(t, policy.Judge(&api.ClusterTaintPolicySpec{AddOnConditions: of}, v, missing, now).Add, holds, "seed %d: %v", seed, of)
	}
}

func TestAConditionIsExplained(t *testing.T) {
	m := when("Ready", "NotIn", "True", "Unknown")
	m.For = &metav1.Duration{Duration: time.Minute}
	got := policy.Explain(list{m, when("X", "In", "True")}, reporting("Ready", "False"), "")
	require.Equal(t, "Ready NotIn [True Unknown] for 1m", got[0].Wanted)
	require.Equal(t, "Ready=False", got[0].Found)
	require.True(t, got[0].Matches)
	require.Equal(t, policy.ConditionExplained{Wanted: "X In [True]", Found: "X is not reported"}, got[1])
	require.Equal(t, "X=True (not reported)", policy.Explain(list{when("X", "In", "True")}, reporting(), "True")[0].Found)
}
