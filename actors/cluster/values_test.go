package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// The cluster of these tests, and those that it writes to.
const name messages.ClusterName = "member1"

var (
	self      = messages.Address{Kind: messages.KindCluster, Name: string(name)}
	scheduler = messages.Address{Kind: messages.KindScheduler}
)

func policyAt(name string) messages.Address {
	return messages.Address{Kind: messages.KindPolicy, Name: name}
}

func bindingAt(name string) messages.Address {
	return messages.Address{Kind: messages.KindBinding, Name: name}
}

type driver = actorstest.Driver[messages.ToCluster]

// drive returns a cluster that has joined with Ready=True, in the exact settings unless changed.
func drive(t *testing.T, change func(*messages.Settings), policies ...messages.PolicyListed) *driver {
	t.Helper()
	d := actorstest.Drive(t, cluster.New(name, settings(change), 0))
	d.Tell(joined(ready("True"), policies...)).Recorded()
	return d
}

func settings(change func(*messages.Settings)) messages.Settings {
	s := messages.Settings{
		Failover: true, PolicyTieBreak: messages.TieByName,
		ClusterMonitorGracePeriod: 40 * time.Second, ClusterStartupGracePeriod: time.Minute,
	}
	if change != nil {
		change(&s)
	}
	return s
}

// object is a Cluster with some conditions.
func object(conditions ...metav1.Condition) *api.Cluster {
	return &api.Cluster{Spec: api.ClusterSpec{SyncMode: api.Pull}, Status: api.ClusterStatus{Conditions: conditions}}
}

func ready(status metav1.ConditionStatus) *api.Cluster {
	return object(metav1.Condition{Type: "Ready", Status: status})
}

func joined(o *api.Cluster, policies ...messages.PolicyListed) *messages.ClusterJoined {
	return &messages.ClusterJoined{Object: o, Policies: policies}
}

func listed(names ...messages.PolicyName) []messages.PolicyListed {
	policies := make([]messages.PolicyListed, len(names))
	for i := range names {
		policies[i] = messages.PolicyListed{Name: names[i], CreatedAt: actorstest.Start.Add(time.Duration(i) * time.Hour)}
	}
	return policies
}

func report(kind string, status metav1.ConditionStatus) *messages.ConditionReported {
	return &messages.ConditionReported{Type: kind, Status: status}
}

func changed(kind string, status metav1.ConditionStatus) *messages.ConditionChanged {
	return &messages.ConditionChanged{Cluster: name, Type: kind, Status: status}
}

// tainted and untainted are facts; the taint is written as kubectl does and was added at an instant,
// unless that is zero.
func tainted(spec string, at time.Time, cause api.TaintCause) *messages.TaintAdded {
	t := parsed(spec, at)
	cause.Key, cause.Effect = t.Key, t.Effect
	return &messages.TaintAdded{Cluster: name, Taint: t, Cause: cause}
}

func untainted(spec string, at time.Time, cause api.TaintCause) *messages.TaintRemoved {
	t := parsed(spec, at)
	cause.Key, cause.Effect = t.Key, t.Effect
	return &messages.TaintRemoved{Cluster: name, Taint: t, Cause: cause}
}

func parsed(spec string, at time.Time) corev1.Taint {
	changes, err := taint.Parse([]string{spec})
	if err != nil {
		panic(err)
	}
	t := changes.Add[0]
	if !at.IsZero() {
		t.TimeAdded = &metav1.Time{Time: at}
	}
	return t
}

var byHand = api.TaintCause{By: "user"}

func bySystem(because string) api.TaintCause { return api.TaintCause{By: "system", Because: because} }

func byPolicy(name, because string) api.TaintCause {
	return api.TaintCause{By: "policy", Policy: name, Because: because}
}

// edit asks for taints as kubectl taint does.
func edit(specs ...string) *messages.TaintsEdited {
	changes, err := taint.Parse(specs)
	if err != nil {
		panic(err)
	}
	m := &messages.TaintsEdited{}
	for _, t := range changes.Add {
		m.Edits = append(m.Edits, messages.TaintEdit{Taint: t})
	}
	for _, t := range changes.Remove {
		m.Edits = append(m.Edits, messages.TaintEdit{Taint: t, Remove: true})
	}
	return m
}

// taintsOf are the taints that the scheduler was last shown, as kubectl writes them.
func taintsOf(t *testing.T, n *actorstest.Network) []string {
	t.Helper()
	shown := actorstest.MailTo(n.Mail(), scheduler)
	require.NotEmpty(t, shown, "the scheduler was shown nothing in this step")
	specs := []string{}
	view := shown[len(shown)-1].(*messages.ClusterViewed).View
	for i := range view.Taints {
		specs = append(specs, taint.String(&view.Taints[i]))
	}
	return specs
}
