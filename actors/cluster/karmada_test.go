package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/actors/policy"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// fleet is one cluster with the policies that judge it, as Karmada's recordings a01 to a21 have them.
type fleet struct {
	*actorstest.Network
	t testing.TB
	// born is when the last policy was created; each is an hour older than the next.
	born time.Time
}

// newFleet has one cluster with Ready=True that has joined.
func newFleet(t testing.TB, choose actorstest.Choose, change func(*messages.Settings)) *fleet {
	f := &fleet{Network: actorstest.NewNetwork(t, choose), t: t, born: actorstest.Start}
	actorstest.Join(f.Network, self, cluster.New(name, settings(change), 0))
	f.tell(joined(ready("True")))
	return f
}

// tell is a step: the cluster hears the messages.
func (f *fleet) tell(ms ...messages.Message) *actorstest.Network {
	f.t.Helper()
	f.Post(self, ms...)
	return f.Advance(0)
}

// create lists a new policy, younger than all others.
func (f *fleet) create(name string, spec *api.ClusterTaintPolicySpec) {
	f.t.Helper()
	f.born = f.born.Add(time.Hour)
	actorstest.Join(f.Network, policyAt(name), policy.New(messages.PolicyName(name), settings(nil)))
	f.apply(name, spec)
}

// apply gives a policy another spec.
func (f *fleet) apply(name string, spec *api.ClusterTaintPolicySpec) {
	f.t.Helper()
	f.Post(policyAt(name), &messages.PolicyApplied{Spec: spec})
	f.tell(&messages.PolicyListed{Name: messages.PolicyName(name), CreatedAt: f.born, Targeted: true})
}

// has requires the taints that the cluster shows when it is looked at.
func (f *fleet) has(specs ...string) {
	f.t.Helper()
	f.tell(&messages.LabelsEdited{Labels: map[string]*string{"look": nil}})
	look := f.Now().String()
	n := f.tell(&messages.LabelsEdited{Labels: map[string]*string{"look": &look}})
	views := actorstest.MailTo(n.Mail(), scheduler)
	found := []string{}
	for _, t := range views[len(views)-1].(*messages.ClusterViewed).View.Taints {
		found = append(found, taint.String(&t))
	}
	require.Equal(f.t, append([]string{}, specs...), found)
}

// rule adds a taint on some conditions and removes it on others, each "Type Operator Status".
func rule(taintSpec string, add, remove []api.MatchCondition) *api.ClusterTaintPolicySpec {
	t := parsed(taintSpec, time.Time{})
	return &api.ClusterTaintPolicySpec{
		AddOnConditions: add, RemoveOnConditions: remove,
		Taints: []api.PolicyTaint{{Key: t.Key, Value: t.Value, Effect: t.Effect}},
	}
}

func when(kind string, operator api.MatchOperator, statuses ...metav1.ConditionStatus) []api.MatchCondition {
	return []api.MatchCondition{{ConditionType: kind, Operator: operator, StatusValues: statuses}}
}

func TestA01AConditionAddsAndRemovesATaint(t *testing.T) {
	f := newFleet(t, nil, nil)
	f.create("p", rule("x:NoSchedule", when("X", "NotIn", "True"), when("X", "In", "True")))
	f.has()
	f.tell(report("X", "False"))
	f.has("x:NoSchedule")
	f.tell(report("X", "True"))
	f.has()
	f.tell(report("X", "Unknown"))
	f.has("x:NoSchedule")
	f.tell(report("X", ""))
	f.has("x:NoSchedule")
}

func TestA02TwoConditionsAreBothNeeded(t *testing.T) {
	f := newFleet(t, nil, nil)
	f.create("p", rule("x:NoSchedule", append(when("X", "In", "True"), when("Ready", "NotIn", "True")...), nil))
	f.tell(report("X", "True"))
	f.has()
	f.tell(report("Ready", "False"))
	f.has("x:NoSchedule", notReadyNoSchedule)
	f.tell(report("Ready", "Unknown"))
	f.has("x:NoSchedule", unreachableNoSchedule)
}

func TestA03WhereAddAndRemoveBothMatchRemovalWins(t *testing.T) {
	f := newFleet(t, nil, nil)
	f.tell(edit("x:NoSchedule"))
	f.create("p", rule("x:NoSchedule", when("X", "In", "True"), when("X", "In", "True", "Unknown")))
	f.tell(report("X", "True"))
	f.has()
	n := f.tell(report("X", "Unknown"))
	n.Recorded(changed("X", "Unknown"))
	f.tell(report("X", "False"))
	f.has()
}

func TestA05EditedAndDeletedPoliciesLeaveTheirTaints(t *testing.T) {
	f := newFleet(t, nil, nil)
	f.create("p", rule("x:NoSchedule", when("X", "In", "True"), when("X", "In", "False")))
	f.tell(report("X", "True"))
	f.apply("p", rule("y:NoSchedule", when("X", "In", "True"), when("X", "In", "False")))
	f.has("x:NoSchedule", "y:NoSchedule")
	elsewhere := rule("y:NoSchedule", when("X", "In", "True"), when("X", "In", "False"))
	elsewhere.TargetClusters = &api.ClusterAffinity{ClusterNames: []string{"member2"}}
	f.apply("p", elsewhere)
	f.tell(report("X", "False"))
	f.has("x:NoSchedule", "y:NoSchedule")
	f.tell(&messages.PolicyDropped{Name: "p"})
	f.has("x:NoSchedule", "y:NoSchedule")
}

func TestA06AnAdderAndAYoungerRemoverLeaveNothing(t *testing.T) {
	f := newFleet(t, nil, nil)
	f.create("adder", rule("x:NoSchedule", when("X", "In", "True"), nil))
	f.create("remover", rule("x:NoSchedule", nil, when("X", "In", "True")))
	f.tell(report("X", "True")).Recorded(changed("X", "True"))
}

func TestA07ARemoverAndAYoungerAdderLeaveTheTaint(t *testing.T) {
	f := newFleet(t, nil, nil)
	f.create("remover", rule("x:NoSchedule", nil, when("X", "In", "True")))
	f.create("adder", rule("x:NoSchedule", when("X", "In", "True"), nil))
	f.tell(report("X", "True"))
	f.has("x:NoSchedule")
	f.Advance(time.Second)
	f.tell(report("Other", "True")).Recorded(changed("Other", "True"))
}

func TestA08ALabelIsNoticedWithTheNextCondition(t *testing.T) {
	gold := "gold"
	f := newFleet(t, nil, nil)
	spec := rule("x:NoSchedule", when("Ready", "In", "True"), nil)
	spec.TargetClusters = &api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": gold}}}
	f.create("p", spec)
	f.tell(&messages.LabelsEdited{Labels: map[string]*string{"tier": &gold}})
	f.has()
	f.tell(report("Other", "True"))
	f.has("x:NoSchedule")
}

func TestA09TheValueDoesNotMatter(t *testing.T) {
	f := newFleet(t, nil, nil)
	f.tell(edit("x=old:NoSchedule"))
	f.create("p", rule("x=new:NoSchedule", when("X", "In", "True"), when("X", "In", "False")))
	f.tell(report("X", "True"))
	f.has("x=old:NoSchedule")
	f.tell(report("X", "False"))
	f.has()
}

func TestA10ATaintRemovedByHandComesBackWithTheNextCondition(t *testing.T) {
	f := newFleet(t, nil, nil)
	f.create("p", rule("x:NoSchedule", when("X", "In", "True"), nil))
	f.tell(report("X", "True"))
	f.tell(edit("x:NoSchedule-"))
	f.has()
	f.tell(report("Other", "True"))
	f.has("x:NoSchedule")
}

func TestA20ANoExecutePolicyTellsTheBindings(t *testing.T) {
	f := newFleet(t, nil, nil)
	f.create("p", rule("x:NoExecute", when("X", "In", "True"), when("X", "In", "False")))
	f.tell(&messages.BindingPlaced{Binding: "web"})
	n := f.tell(report("X", "True"))
	require.Len(t, actorstest.MailTo(n.Mail(), bindingAt("web")), 1)
}

func TestA21ATaintThatCameBackCountsFromThen(t *testing.T) {
	f := newFleet(t, nil, nil)
	f.create("p", rule("x:NoExecute", when("X", "In", "True"), when("X", "In", "False")))
	f.tell(report("X", "True"))
	f.Advance(2 * time.Second)
	f.tell(report("X", "False"))
	f.Advance(time.Second)
	added := actorstest.FactsOf[*messages.TaintAdded](f.tell(report("X", "True")).Facts())
	require.Equal(t, f.Now(), added[0].Taint.TimeAdded.Time)
}
