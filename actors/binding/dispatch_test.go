package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// suspending is a policy that dispatches nothing to some clusters; without any, nothing at all.
func suspending(policy *api.PropagationSpec, clusters ...string) *api.PropagationSpec {
	policy.Suspension = &api.Suspension{DispatchingOnClusters: &api.SuspensionClusters{ClusterNames: clusters}}
	if len(clusters) == 0 {
		policy.Suspension = &api.Suspension{Dispatching: new(true)}
	}
	return policy
}

func withheld(cluster messages.ClusterName) *messages.DispatchSuspended {
	return &messages.DispatchSuspended{Binding: name, Cluster: cluster}
}

func resumed(cluster messages.ClusterName) *messages.DispatchResumed {
	return &messages.DispatchResumed{Binding: name, Cluster: cluster}
}

// dispatches are the facts about dispatching in a step.
func dispatches(n *actorstest.Network) (list []messages.Fact) {
	for _, f := range n.Facts() {
		switch f.(type) {
		case *messages.DispatchSuspended, *messages.DispatchResumed:
			list = append(list, f)
		}
	}
	return list
}

func requireDispatches(t *testing.T, n *actorstest.Network, facts ...messages.Fact) {
	t.Helper()
	require.Equal(t, facts, dispatches(n))
}

func TestASuspendedClusterIsToldNothingNew(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(2), claim("default/p", suspending(duplicated(), "m2")))
	n := b.tell(b.place("m1:2", "m2:2")).Told(memberAt("m1"), run(2, 1)).Told(memberAt("m2"))
	requireDispatches(t, n, withheld("m2"))

	n = b.tell(edited(2, 2)).Told(memberAt("m1"), runRevision(2, 2, 2)).Told(memberAt("m2"))
	requireDispatches(t, n)
	n = b.tell(claim("default/p", duplicated())).Told(memberAt("m1")).Told(memberAt("m2"), runRevision(2, 2, 3))
	requireDispatches(t, n, resumed("m2"))
}

func TestACopyThatIsAsItWasAskedForWaitsForNothing(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2")
	requireDispatches(t, b.tell(claim("default/p", suspending(duplicated()))).Told(memberAt("m1")))
	requireDispatches(t, b.tell(claim("default/p", duplicated())).Told(memberAt("m1")))
}

func TestWhatIsSuspendedIsToldEvenIfItIsAsBefore(t *testing.T) {
	b := placed(t, settings(), divided(), "m1:2")
	b.tell(workload(3), claim("default/p", suspending(divided())))
	requireDispatches(t, b.tell(b.place("m1:3")), withheld("m1"))
	b.tell(workload(2))
	b.tell(b.place("m1:2")).Told(memberAt("m1"))
	b.tell(claim("default/p", divided())).Told(memberAt("m1"), run(2, 2))
}

func TestTheHandoverWaitsForASuspendedCluster(t *testing.T) {
	b := placed(t, settings(keepLastCopy), suspending(duplicated(), "m2"), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	requireDispatches(t, b.tell(b.place("m2:2")).Told(memberAt("m2")), withheld("m2"))
	b.advance(10 * time.Minute).Recorded(&messages.HandoverBlocked{Binding: name, Cluster: "m1", Message: "m2 reports nothing"}).Told(memberAt("m1"))
	b.tell(claim("default/p", duplicated())).Told(memberAt("m2"), run(2, 2))
	b.tell(b.keep())
	b.tell(report("m2", api.Healthy, 2, 2)).Told(memberAt("m1"), removal)
}

func TestACopyGoesThoughDispatchingIsSuspended(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(claim("default/p", suspending(duplicated())))
	b.tell(b.place("m1:2")).Told(memberAt("m2"), removal)
}

func TestACopyThatWasNeverDispatchedGoesToo(t *testing.T) {
	b := placed(t, settings(), suspending(duplicated(), "m2"), "m1:2")
	b.tell(workload(2))
	b.tell(claim("default/p", suspending(divided(), "m2")))
	b.tell(b.place("m1:1", "m2:1"))
	b.tell(claim("default/p", suspending(duplicated(), "m2")))
	b.tell(b.place("m1:2")).Told(memberAt("m2"), removal)
	b.tell(&messages.CopyRemoved{Cluster: "m2"}).Recorded(&messages.DispatchResumed{Binding: name, Cluster: "m2", Gone: true})
}

func TestAnOldCopyGivesNothingWayWhileItsClusterIsSuspended(t *testing.T) {
	b := handingOver(t, settings())
	b.tell(claim("default/p", suspending(gradually(divided()), "m2")))
	b.tell(b.keep())
	b.tell(report("m1", api.Healthy, 3, 4)).Recorded(health("m1", api.Healthy, 3)).Told(memberAt("m2"))
	b.tell(claim("default/p", gradually(divided())))
	b.tell(b.keep()).Told(memberAt("m2"), run(1, 6))
}

// suspendedSince is a binding as the store has it: m2 was not told of a change, nor m3 of its copy.
func suspendedSince(policy *api.PropagationSpec, since time.Time) *messages.BindingApplied {
	m := stored(policy, since)
	m.Spec.Suspension = policy.Suspension
	m.Spec.GracefulEvictionTasks = nil
	m.Status.AggregatedStatus = m.Status.AggregatedStatus[1:]
	m.Status.DispatchSuspended = []string{"m2", "m3"}
	return m
}

func TestARestartDispatchesNothing(t *testing.T) {
	b := drive(t, settings())
	policy := suspending(duplicated())
	asIs := adopted(2, 1)
	asIs.AsIs = true
	b.tell(suspendedSince(policy, b.Now()), workload(2), claim("default/p", policy)).Recorded().
		Told(memberAt("m2"), asIs).Told(memberAt("m3"))
	n := b.tell(claim("default/p", duplicated())).Told(memberAt("m2"), run(2, 2)).Told(memberAt("m3"), run(2, 3))
	requireDispatches(t, n, resumed("m2"), resumed("m3"))
}
