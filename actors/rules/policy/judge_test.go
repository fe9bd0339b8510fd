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
			add := policy.Judge(&api.ClusterTaintPolicySpec{AddOnConditions: c.list}, v, c.missing, now)
			require.Equal(t, c.want, add.Add)
			require.Equal(t, c.want, add.AddCause != "")
			require.False(t, add.Remove)
			remove := policy.Judge(&api.ClusterTaintPolicySpec{RemoveOnConditions: c.list}, v, c.missing, now)
			require.Equal(t, c.want, remove.Remove)
			require.Equal(t, c.want, remove.RemoveCause != "")
			require.False(t, remove.Add)
		})
	}
}

// lasting returns a match condition that must hold for a while.
func lasting(m api.MatchCondition, d time.Duration) api.MatchCondition {
	m.For = &metav1.Duration{Duration: d}
	return m
}

// defaulting returns a match condition that takes a missing one to have a status.
func defaulting(m api.MatchCondition, status metav1.ConditionStatus) api.MatchCondition {
	m.DefaultStatus = status
	return m
}

func TestConditionsMustLast(t *testing.T) {
	v := reporting("Ready", "False", "Network", "False")
	v.Conditions[0].LastTransitionTime = metav1.Time{Time: now.Add(-3 * time.Minute)}
	v.Conditions[1].LastTransitionTime = metav1.Time{Time: now.Add(-time.Minute)}
	v.Created = now.Add(-time.Hour)
	v.Removed = []api.RemovedCondition{{Type: "Disk", At: metav1.Time{Time: now.Add(-2 * time.Minute)}}}
	ready, network := when("Ready", "In", "False"), when("Network", "In", "False")
	disk, gpu := when("Disk", "NotIn", "True"), when("GPU", "NotIn", "True")
	for _, c := range []struct {
		name string
		list list
		due  time.Duration // 0: now or never
		want string        // the cause
	}{
		{"no time at all", list{lasting(ready, 0)}, 0, "Ready=False"},
		{"long enough", list{lasting(ready, 2*time.Minute)}, 0, "Ready=False for 2m"},
		{"to the very instant", list{lasting(ready, 3*time.Minute)}, 0, "Ready=False for 3m"},
		{"a nanosecond too short", list{lasting(ready, 3*time.Minute+1)}, 1, ""},
		{"both long enough", list{lasting(ready, time.Minute), lasting(network, time.Minute)}, 0, "Ready=False for 1m, Network=False for 1m"},
		{"the last to be long enough decides", list{lasting(ready, 4*time.Minute), lasting(network, 4*time.Minute)}, 3 * time.Minute, ""},
		{"a condition that does not match is not waited for", list{lasting(ready, 4*time.Minute), when("Network", "In", "True")}, 0, ""},
		{"one lasts, the other need not", list{lasting(ready, time.Minute), network}, 0, "Ready=False for 1m, Network=False"},
		{"missing since it was removed", list{lasting(disk, 3*time.Minute)}, time.Minute, ""},
		{"missing long enough", list{lasting(disk, 2*time.Minute)}, 0, "Disk=Unknown (not reported) for 2m"},
		{"never reported counts from the cluster's creation", list{lasting(gpu, time.Hour)}, 0, "GPU=Unknown (not reported) for 1h"},
		{"never reported, not long enough", list{lasting(gpu, time.Hour+time.Second)}, time.Second, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := policy.Verdict{Add: c.want != "", AddCause: c.want}
			if c.due != 0 {
				want.Due = now.Add(c.due)
			}
			require.Equal(t, want, policy.Judge(&api.ClusterTaintPolicySpec{AddOnConditions: c.list}, v, "Unknown", now))
		})
	}
}

func TestTheListThatIsDueFirstSetsTheTime(t *testing.T) {
	v := reporting("Ready", "False")
	v.Conditions[0].LastTransitionTime = metav1.Time{Time: now}
	after := func(d time.Duration) list { return list{lasting(when("Ready", "In", "False"), d)} }
	for _, c := range []struct{ add, remove, due time.Duration }{
		{time.Minute, 2 * time.Minute, time.Minute}, {2 * time.Minute, time.Minute, time.Minute}, {0, time.Minute, time.Minute}, {0, 0, 0},
	} {
		got := policy.Judge(&api.ClusterTaintPolicySpec{AddOnConditions: after(c.add), RemoveOnConditions: after(c.remove)}, v, "", now)
		require.Equal(t, c.add == 0, got.Add)
		require.Equal(t, c.remove == 0, got.Remove)
		if c.due == 0 {
			require.Zero(t, got.Due)
		} else {
			require.Equal(t, now.Add(c.due), got.Due)
		}
	}
}

func TestAConditionHasItsOwnDefault(t *testing.T) {
	absent := when("X", "NotIn", "True")
	for _, c := range []struct {
		name    string
		m       api.MatchCondition
		missing metav1.ConditionStatus
		want    string
	}{
		{"where the setting has none", defaulting(absent, "False"), "", "X=False (not reported)"},
		{"where the setting has another", defaulting(absent, "False"), "Unknown", "X=False (not reported)"},
		{"that does not match, whatever the setting", defaulting(absent, "True"), "Unknown", ""},
		{"that is not needed", defaulting(when("Ready", "In", "True"), "False"), "", "Ready=True"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := policy.Judge(&api.ClusterTaintPolicySpec{AddOnConditions: list{c.m}}, reporting("Ready", "True"), c.missing, now)
			require.Equal(t, policy.Verdict{Add: c.want != "", AddCause: c.want}, got)
		})
	}
}

func TestBothListsMayAsk(t *testing.T) {
	spec := &api.ClusterTaintPolicySpec{
		AddOnConditions:    list{when("Ready", "NotIn", "True"), when("NetworkAvailable", "NotIn", "True")},
		RemoveOnConditions: list{when("Ready", "In", "False")},
	}
	require.Equal(t, policy.Verdict{Add: true, Remove: true, AddCause: "Ready=False, NetworkAvailable=Unknown", RemoveCause: "Ready=False"},
		policy.Judge(spec, reporting("Ready", "False", "NetworkAvailable", "Unknown"), "", now))
	require.Equal(t, policy.Verdict{Remove: true, RemoveCause: "Ready=False"},
		policy.Judge(spec, reporting("Ready", "False", "NetworkAvailable", "True"), "", now), "the list is ANDed")
	require.Zero(t, policy.Judge(spec, reporting(), "", now))
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
			got := policy.Judge(&api.ClusterTaintPolicySpec{AddOnConditions: c.list}, v, metav1.ConditionUnknown, now)
			require.Equal(t, c.want, got.AddCause)
		})
	}
}
