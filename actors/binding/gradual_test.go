package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// gradually is a policy by which old copies give way replica by replica.
func gradually(policy *api.PropagationSpec) *api.PropagationSpec {
	policy.Failover = &api.FailoverBehavior{Cluster: &api.ClusterFailover{PurgeMode: api.PurgeGracefully, Handover: api.HandoverGradual}}
	return policy
}

// handingOver returns a binding of six replicas that leaves m2, whose two go to m1 and m3 as the fourth and the fifth.
func handingOver(t *testing.T, s messages.Settings) *subject {
	t.Helper()
	b := drive(t, s)
	b.tell(workload(6), claim("default/p", gradually(divided())))
	b.tell(b.place("m1:2", "m2:2", "m3:2"))
	for i, c := range []string{"m1", "m2", "m3"} {
		b.tell(report(c, api.Healthy, 2, int64(i+1)))
	}
	b.tell(tainted("m2", b.Now(), "down"))
	b.tell(permit("m2"))
	b.tell(b.place("m1:3", "m3:3"))
	return b
}

func released(cluster messages.ClusterName, before, replicas int32, why string) *messages.ReplicasReleased {
	return &messages.ReplicasReleased{Binding: name, Cluster: cluster, Before: before, Replicas: replicas, Reason: why}
}

const fiveOfSix = "5 of 6 replicas are available in the new placement"

func TestAnOldCopyGivesWayReplicaByReplica(t *testing.T) {
	b := handingOver(t, settings())
	b.tell(report("m1", api.Healthy, 3, 4)).
		Recorded(health("m1", api.Healthy, 3), released("m2", 2, 1, fiveOfSix)).Told(memberAt("m2"), run(1, 6))
	b.tell(b.keep())
	b.tell(report("m3", api.Healthy, 3, 5)).Recorded(health("m3", api.Healthy, 3), ended("m2", messages.EndedHealthy, 0)).Told(memberAt("m2"), removal)
}

func TestReplicasThatServeWhileTheirCopyIsNotHealthyCount(t *testing.T) {
	b := handingOver(t, settings())
	b.tell(report("m1", api.Unhealthy, 3, 4)).Told(memberAt("m2"), run(1, 6))
}

func TestAnOldCopyNeverGrowsAndKeepsItsLastReplica(t *testing.T) {
	b := handingOver(t, settings())
	b.tell(report("m1", api.Healthy, 3, 4))
	b.tell(b.keep())
	b.tell(report("m1", api.Unhealthy, 0, 4)).Told(memberAt("m2"))
	b.tell(report("m1", api.Unhealthy, 3, 4)).Told(memberAt("m2"))
	b.tell(report("m3", api.Unhealthy, 3, 5)).Told(memberAt("m2"))
	b.advance(10*time.Minute).Recorded(ended("m2", messages.EndedTimeout, 10*time.Minute)).Told(memberAt("m2"), removal)
}

func TestNothingIsReleasedBeforeTheSchedulerHasLooked(t *testing.T) {
	b := handingOver(t, settings())
	b.tell(workload(6), edited(6, 2), report("m1", api.Healthy, 3, 4)).Told(memberAt("m2"))
}

func TestReplicasOfAnOldTemplateReleaseNothing(t *testing.T) {
	b := handingOver(t, settings())
	b.tell(edited(6, 2))
	b.tell(b.keep())
	b.tell(report("m1", api.Healthy, 3, 4)).Told(memberAt("m2"))
	b.tell(ofRevision(report("m1", api.Healthy, 3, 6), 2)).Told(memberAt("m2"))
	b.tell(ofRevision(report("m3", api.Healthy, 2, 5), 2)).Told(memberAt("m2"), run(1, 8))
}

func TestNothingIsReleasedWhileReplicasHaveNoPlace(t *testing.T) {
	b := drive(t, settings(keepLastCopy))
	b.tell(workload(6), claim("default/p", gradually(divided())))
	b.tell(b.place("m1:2", "m2:4"))
	b.tell(report("m1", api.Healthy, 2, 1), report("m2", api.Healthy, 4, 2))
	b.tell(tainted("m2", b.Now(), "down"))
	b.tell(permit("m2"))
	partly := b.place("m1:3")
	partly.Missing = 3
	b.tell(partly)
	b.tell(report("m1", api.Healthy, 3, 3)).Told(memberAt("m2"))
	b.tell(b.place("m1:3", "m3:3")).Told(memberAt("m2"), run(3, 5))
	b.tell(b.keep())
	b.tell(report("m3", api.Unhealthy, 2, 4)).Told(memberAt("m2"), run(1, 6))
}

func TestADuplicatedCopyGivesWayAsItsSubstituteStarts(t *testing.T) {
	b := leaving(t, settings(), gradually(duplicated()), "m2:2", "m3:2")
	b.tell(report("m3", api.Unhealthy, 1, 3)).Told(memberAt("m1"), run(1, 4))
}

func TestOfSeveralOldCopiesTheOldestGivesWayFirst(t *testing.T) {
	actorstest.EveryWay(func(choose actorstest.Choose) {
		b := drive(t, settings())
		b.tell(workload(6), claim("default/p", gradually(divided())))
		b.tell(b.place("m1:3", "m2:3"))
		b.tell(report("m1", api.Healthy, 3, 1), report("m2", api.Healthy, 3, 2))
		b.tell(tainted("m1", b.Now(), "down"), tainted("m2", b.Now(), "down"))
		b.tell(actorstest.Interleave(choose, actorstest.Alone[messages.ToBinding](permit("m2"), permit("m1"))...)...)
		b.tell(b.place("m3:6"))
		b.tell(report("m3", api.Unhealthy, 4, 3)).Told(memberAt("m1"), run(0, 4)).Told(memberAt("m2"), run(2, 5))
	})
}

func TestARestartGoesOnWhereAHandoverWas(t *testing.T) {
	b := drive(t, settings())
	m := stored(gradually(divided()), b.Now())
	m.Spec.Replicas, m.Spec.Clusters = 4, targets("m2:2", "m3:2")
	m.Spec.GracefulEvictionTasks[0].Handover, m.Spec.GracefulEvictionTasks[0].Replicas = api.HandoverGradual, new(int32(2))
	b.tell(m, workload(4)).Told(memberAt("m1"), adopted(2, 1))
	b.tell(b.keep())
	b.tell(report("m3", api.Unhealthy, 1, 3)).Told(memberAt("m1"), run(1, 4))
}

func TestAClusterThatComesBackKeepsWhatItStillRuns(t *testing.T) {
	b := handingOver(t, settings(withdrawing))
	b.tell(report("m1", api.Healthy, 3, 4))
	b.tell(b.keep())
	b.tell(healed("m2")).Recorded(withdrawn("m2", "m1:3", "m3:2", "m2:1"))
}

func TestADuplicatedCopyComesBackInFull(t *testing.T) {
	b := leaving(t, settings(withdrawing), gradually(duplicated()), "m2:2", "m3:2")
	b.tell(report("m3", api.Unhealthy, 1, 3))
	b.tell(b.keep())
	b.tell(healed("m1")).Recorded(withdrawn("m1", "m2:2", "m1:1"))
	require.Equal(t, targets("m2:2", "m1:1"), b.asked.Targets, "the scheduler evens it out")
}

func TestACopyWithoutReplicasDoesNotComeBack(t *testing.T) {
	b := drive(t, settings(withdrawing))
	b.tell(workload(6), claim("default/p", gradually(divided())))
	b.tell(b.place("m1:3", "m2:3"))
	b.tell(report("m1", api.Healthy, 3, 1), report("m2", api.Healthy, 3, 2))
	b.tell(tainted("m1", b.Now(), "down"), tainted("m2", b.Now(), "down"))
	b.tell(permit("m1"), permit("m2"))
	b.tell(b.place("m3:6"))
	b.tell(report("m3", api.Unhealthy, 4, 3)).Told(memberAt("m1"), run(0, 4))
	b.tell(b.keep())
	b.tell(healed("m1")).Quiet()
	b.tell(healed("m2")).Recorded(withdrawn("m2", "m3:4", "m2:2"))
}
