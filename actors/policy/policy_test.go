package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/policy"
	"leeward/messages"
	"leeward/messages/api"
)

var member1 = messages.Address{Kind: messages.KindCluster, Name: "member1"}

// down adds a taint while Ready is not True, and removes it while it is.
func down() *api.ClusterTaintPolicySpec {
	isTrue := []metav1.ConditionStatus{"True"}
	return &api.ClusterTaintPolicySpec{
		AddOnConditions:    []api.MatchCondition{{ConditionType: "Ready", Operator: api.MatchNotIn, StatusValues: isTrue}},
		RemoveOnConditions: []api.MatchCondition{{ConditionType: "Ready", Operator: api.MatchIn, StatusValues: isTrue}},
		Taints:             []api.PolicyTaint{{Key: "down", Effect: "NoExecute"}},
	}
}

func aboutClusters(names ...string) *api.ClusterTaintPolicySpec {
	spec := down()
	spec.TargetClusters = &api.ClusterAffinity{ClusterNames: names}
	return spec
}

func judge(conditions ...metav1.Condition) *messages.JudgeCluster {
	return &messages.JudgeCluster{Generation: 7, View: &messages.ClusterView{Name: "member1", Conditions: conditions}}
}

var (
	notReady = metav1.Condition{Type: "Ready", Status: "False", Reason: "NetworkDown", Message: "link lost"}
	isReady  = metav1.Condition{Type: "Ready", Status: "True"}
)

// asks is a verdict on a cluster that the policy selects, with no wishes yet.
func asks() messages.VerdictGiven {
	return messages.VerdictGiven{Policy: "down", Generation: 7, Selects: true, Taints: down().Taints}
}

func leavesAlone() *messages.VerdictGiven {
	v := asks()
	v.Selects = false
	return &v
}

func asksToAdd(cause string) *messages.VerdictGiven {
	v := asks()
	v.Add, v.AddCause, v.Evicts = true, cause, true
	return &v
}

func asksToRemove(cause string) *messages.VerdictGiven {
	v := asks()
	v.Remove, v.RemoveCause = true, cause
	return &v
}

func asksNothing() *messages.VerdictGiven {
	v := asks()
	return &v
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		settings messages.Settings
		spec     *api.ClusterTaintPolicySpec
		question *messages.JudgeCluster
		want     *messages.VerdictGiven
	}{
		"a condition that matches adds":                 {on(""), down(), judge(notReady), asksToAdd("Ready=False (NetworkDown: link lost)")},
		"a condition that matches removes":              {on(""), down(), judge(isReady), asksToRemove("Ready=True")},
		"a condition that is not reported is ignored":   {on(""), down(), judge(), asksNothing()},
		"or taken for a status by setting":              {on("Unknown"), down(), judge(), asksToAdd("Ready=Unknown (not reported)")},
		"a cluster that is selected is judged":          {on(""), aboutClusters("member1"), judge(isReady), asksToRemove("Ready=True")},
		"a cluster that is not selected is not touched": {on(""), aboutClusters("member2"), judge(notReady), leavesAlone()},
		"an invalid affinity selects no cluster":        {on(""), invalid(), judge(notReady), leavesAlone()},
		"with the gate off nothing is asked for":        {messages.Settings{}, down(), judge(notReady), asksNothing()},
	} {
		t.Run(name, func(t *testing.T) {
			d := actorstest.Drive(t, policy.New("down", c.settings))
			d.Tell(&messages.PolicyApplied{Spec: c.spec})
			d.Tell(c.question).Recorded().Told(member1, c.want)
		})
	}
}

func on(missing metav1.ConditionStatus) messages.Settings {
	return messages.Settings{Failover: true, MissingConditionStatus: missing}
}

func invalid() *api.ClusterTaintPolicySpec {
	spec := down()
	spec.TargetClusters = &api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Near"}},
	}}
	return spec
}

func TestAPolicyWithoutASpecAsksForNothing(t *testing.T) {
	d := actorstest.Drive(t, policy.New("down", on("")))
	d.Tell(judge(notReady)).Told(member1, &messages.VerdictGiven{Policy: "down", Generation: 7})
}

func TestAPolicySaysWhenItsVerdictWillChange(t *testing.T) {
	spec := down()
	spec.AddOnConditions[0].For = &metav1.Duration{Duration: 5 * time.Minute}
	d := actorstest.Drive(t, policy.New("down", on("")))
	d.Tell(&messages.PolicyApplied{Spec: spec})
	since := notReady
	since.LastTransitionTime = metav1.Time{Time: d.Now()}
	waits := asksNothing()
	waits.Due, waits.Evicts = d.Now().Add(5*time.Minute), true
	d.Tell(judge(since)).Told(member1, waits)
	d.Advance(5 * time.Minute)
	d.Tell(judge(since)).Told(member1, asksToAdd("Ready=False (NetworkDown: link lost) for 5m"))
}

func TestTheLastSpecHolds(t *testing.T) {
	d := actorstest.Drive(t, policy.New("down", on("")))
	d.Tell(&messages.PolicyApplied{Spec: down()}, &messages.PolicyApplied{Spec: aboutClusters("member2")}).Quiet()
	d.Tell(judge(notReady)).Told(member1, leavesAlone())
}

func TestAPolicySaysThatItIsIgnored(t *testing.T) {
	ignored := &messages.PolicyIgnored{Policy: "down", Reason: "feature gate Failover is off"}
	d := actorstest.Drive(t, policy.New("down", messages.Settings{}))
	d.Tell(&messages.PolicyApplied{Spec: down()}).Recorded(ignored)
	d.Tell(&messages.SettingsChanged{Settings: on("")}).Quiet()
	d.Tell(judge(notReady)).Told(member1, asksToAdd("Ready=False (NetworkDown: link lost)"))
	d.Tell(&messages.SettingsChanged{Settings: messages.Settings{}}).Recorded(ignored)
	d.Tell(&messages.SettingsChanged{Settings: messages.Settings{}}).Quiet()
	d.Tell(judge(notReady)).Told(member1, asksNothing())
	d.Tell(&messages.Woken{}).Quiet()
}

func TestAStrangeMessageIsABrokenInvariant(t *testing.T) {
	require.PanicsWithValue(t, "policy down: unknown message <nil>", func() {
		policy.New("down", on("")).Receive(actorstest.Start, nil, &actors.Outbox{})
	})
}
