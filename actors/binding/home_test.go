package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// sharing is a policy of divided replicas that return after a minute.
func sharing() *api.PropagationSpec {
	p := divided()
	p.Failover = returning().Failover
	return p
}

func home(clusters ...string) *messages.FailbackTargetsChanged {
	return &messages.FailbackTargetsChanged{Binding: name, Clusters: targets(clusters...)}
}

// displaced returns a binding of four replicas that lost one cluster of its home, m2, to others.
func displaced(t *testing.T, policy *api.PropagationSpec, replicas int32, now ...string) *subject {
	t.Helper()
	b := drive(t, settings(destinationFirst, withdrawing, reportedHealth))
	b.tell(workload(replicas), claim("default/p", policy))
	b.tell(b.place("m1:2", "m2:2"))
	b.tell(report("m1", api.Healthy, 2, 1), report("m2", api.Healthy, 2, 2))
	b.tell(tainted("m2", b.Now(), "down"), permit("m2"))
	n := b.tell(b.replace("m2", now...))
	require.Equal(t, home("m1:2", "m2:2"), n.Facts()[0])
	for _, c := range targets(now...) {
		b.tell(report(c.Name, api.Healthy, c.Replicas, 0))
	}
	require.Empty(t, b.asked.Evicting, "the handover is done")
	b.tell(&messages.CopyRemoved{Cluster: "m2"})
	return b
}

func ables(b *subject) (able []bool) {
	for _, s := range b.asked.Home.Shares {
		able = append(able, s.Able)
	}
	return able
}

var m2Able = &messages.ReturnJudged{Possible: true, Cluster: "m2"}

// comeBack is the scheduler's consent to a return.
func (s *subject) comeBack(leaving []messages.ClusterName, clusters ...string) *messages.PlacementDecided {
	p := s.place(clusters...)
	p.Leaving, p.Move = leaving, api.EvictionReasonFailback
	return p
}

func TestAShareReturnsWhenItsClusterHasBeenAbleForLongEnough(t *testing.T) {
	b := displaced(t, sharing(), 4, "m1:4")
	require.Equal(t, []bool{false, false}, ables(b))
	b.tell(m2Able).Recorded(&messages.ShareFailbackScheduled{Binding: name, Cluster: "m2", At: b.Now().Add(time.Minute)}).WakesIn(time.Minute)
	b.tell(m2Able, &messages.ReturnJudged{Possible: true, Cluster: "m9"}).Quiet()
	b.advance(time.Minute - 1).Quiet()
	b.advance(1)
	require.Equal(t, []bool{false, true}, ables(b))
	require.True(t, b.asked.Home.Shares[1].Due)
}

func TestAShareWhoseClusterFailsAgainWaitsAgain(t *testing.T) {
	b := displaced(t, sharing(), 4, "m1:4")
	b.tell(m2Able)
	b.advance(30 * time.Second)
	b.tell(&messages.ReturnJudged{Cluster: "m2"}).Recorded(&messages.ShareFailbackCancelled{Binding: name, Cluster: "m2"}).Sleeps()
	b.tell(&messages.ReturnJudged{Cluster: "m2"}).Quiet()
}

func TestASurvivorShrinksWhenHomeServes(t *testing.T) {
	b := displaced(t, sharing(), 4, "m1:4")
	b.tell(m2Able)
	b.advance(time.Minute)
	n := b.tell(b.comeBack(nil, "m1:2", "m2:2")).Told(memberAt("m1")).Told(memberAt("m2"), run(2, 4)).WakesIn(10 * time.Minute)
	require.Equal(t, []string{"FailbackStarted", "Scheduled", "ScaleDownBlocked", "FailbackTargetsChanged"}, kinds(n))
	require.Equal(t, targets("m1:4"), actorstest.FactsOf[*messages.ScaleDownBlocked](n.Facts())[0].Clusters)
	b.advance(time.Second)
	n = b.tell(report("m2", api.Healthy, 2, 4)).Told(memberAt("m1"), run(2, 5))
	require.Contains(t, n.Facts(), &messages.ScaleDownEnded{Binding: name, Reason: messages.EndedHealthy, After: time.Second})
	require.False(t, b.asked.Home.Returning)
	require.Empty(t, b.asked.Home.Shares)
}

func TestASurvivorShrinksWhenTheTimeIsUp(t *testing.T) {
	b := displaced(t, sharing(), 4, "m1:4")
	b.tell(m2Able)
	b.advance(time.Minute)
	b.tell(b.comeBack(nil, "m1:2", "m2:2"))
	require.Equal(t, []string{"ScaleDownEnded"}, kinds(b.advance(10*time.Minute)))
}

func TestASubstituteStaysUntilHomeServes(t *testing.T) {
	b := displaced(t, sharing(), 4, "m1:2", "m3:2")
	b.tell(m2Able)
	b.advance(time.Minute)
	b.tell(b.comeBack([]messages.ClusterName{"m3"}, "m1:2", "m2:2")).Told(memberAt("m3")).Told(memberAt("m1"))
	require.Contains(t, kinds(b.tell(report("m2", api.Healthy, 2, 4)).Told(memberAt("m3"), removal)), "EvictionEnded")
}

func TestAReturnOfSharesIsTakenBackWhenItsClusterFails(t *testing.T) {
	b := displaced(t, sharing(), 4, "m1:2", "m3:2")
	b.tell(m2Able)
	b.advance(time.Minute)
	b.tell(b.comeBack([]messages.ClusterName{"m3"}, "m1:2", "m2:2"))
	n := b.tell(tainted("m2", b.Now(), "down"), permit("m2"))
	require.Contains(t, n.Facts(), home("m1:2", "m2:2"), "where it is to return to another time")
	require.Contains(t, n.Facts(), &messages.EvictionWithdrawn{
		Binding: name, Cluster: "m3", Reason: "the target of the failback failed before the handover ended", Clusters: targets("m1:2", "m3:2"),
	})
}

func TestAReturnOfSharesGoesOnWhenAnotherClusterFails(t *testing.T) {
	b := displaced(t, sharing(), 4, "m1:2", "m3:2")
	b.tell(m2Able)
	b.advance(time.Minute)
	b.tell(b.comeBack([]messages.ClusterName{"m3"}, "m1:2", "m2:2"))
	require.NotContains(t, kinds(b.tell(tainted("m1", b.Now(), "down"), permit("m1"))), "EvictionWithdrawn")
}

func TestHomeIsForgottenWhen(t *testing.T) {
	never := divided()
	for when, m := range map[string]messages.ToBinding{
		"the workload is scaled":               workload(5),
		"the placement changes":                claim("default/p", movedPolicy()),
		"the policy no longer lets it":         claim("default/p", never),
		"a fresh placement is asked for":       &messages.RescheduleTriggered{At: actorstest.Start.Add(time.Hour), By: "r"},
		"a user writes the binding's clusters": &messages.BindingApplied{Spec: &api.BindingSpec{Clusters: targets("m1:4")}, Status: &api.BindingStatus{Home: []api.PreferredShare{{TargetCluster: targets("m9:1")[0]}}}},
	} {
		t.Run(when, func(t *testing.T) {
			b := displaced(t, sharing(), 4, "m1:4")
			require.Contains(t, b.tell(m).Facts(), home())
			b.tell(m2Able).Quiet()
		})
	}
}

func TestAWorkloadThatIsCreatedAgainHasNoPreferredClusters(t *testing.T) {
	b := displaced(t, sharing(), 4, "m1:4")
	b.tell(&messages.WorkloadDeleted{})
	b.tell(workload(4), claim("default/p", sharing()))
	b.tell(b.place("m1:4"))
	b.tell(m2Able).Quiet()
	require.Empty(t, b.asked.Home.Shares)
}

func movedPolicy() *api.PropagationSpec {
	p := sharing()
	p.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{"m1"}}
	return p
}

func TestWhereAWorkloadIsOnlyOnItsWayIsNoHome(t *testing.T) {
	b := drive(t, settings(destinationFirst))
	b.tell(workload(4), claim("default/p", sharing()))
	b.tell(b.place("m1:2", "m2:2"))
	b.tell(workload(6), tainted("m2", b.Now(), "down"), permit("m2"))
	require.NotContains(t, kinds(b.tell(b.replace("m2", "m1:6"))), "FailbackTargetsChanged")
}

func TestAWithdrawalIsAnArrival(t *testing.T) {
	b := drive(t, settings(destinationFirst, withdrawing))
	b.tell(workload(4), claim("default/p", sharing()))
	b.tell(b.place("m1:2", "m2:2"))
	b.tell(tainted("m2", b.Now(), "down"), permit("m2"))
	b.tell(b.replace("m2", "m1:4"))
	require.Contains(t, b.tell(healed("m2")).Facts(), home())
}

func TestADuplicatedCopyReturns(t *testing.T) {
	b := displaced(t, returning(), 2, "m1:2", "m3:2")
	b.tell(m2Able)
	b.advance(time.Minute)
	n := b.tell(b.comeBack([]messages.ClusterName{"m3"}, "m1:2", "m2:2")).Told(memberAt("m3"))
	require.Contains(t, n.Facts(), &messages.FailbackStarted{Binding: name, Clusters: targets("m2:2")})
}

func TestWhereNothingRemainsBehindTheNextMayReturnImmediately(t *testing.T) {
	b := displaced(t, returning(), 2, "m1:2")
	b.tell(m2Able)
	b.advance(time.Minute)
	before := b.asked.Request
	b.tell(b.comeBack(nil, "m1:2", "m2:2"))
	require.Greater(t, b.asked.Request, before)
	require.False(t, b.asked.Home.Returning)
}

func TestARestartKeepsHomeAndWhatIsHeld(t *testing.T) {
	b := drive(t, settings())
	m := stored(sharing(), b.Now().Add(-time.Hour))
	m.Spec.GracefulEvictionTasks, m.Spec.Clusters, m.Spec.Replicas = nil, targets("m1:2", "m3:2"), 4
	m.Status.AggregatedStatus = []api.AggregatedStatusItem{{ClusterName: "m1", Health: api.Healthy, ReadyReplicas: 4}}
	m.Status.Home = []api.PreferredShare{
		{TargetCluster: targets("m1:2")[0]},
		{TargetCluster: targets("m2:2")[0], ReturnAt: &metav1.MicroTime{Time: b.Now().Add(20 * time.Second)}},
	}
	m.Status.Shrinking = &api.Shrinking{
		Reason: api.EvictionReasonFailback, Since: metav1.MicroTime{Time: b.Now()}, Clusters: targets("m1:4"),
	}
	adopt := run(4, 1)
	adopt.Adopt = true
	b.tell(m).Told(memberAt("m1"), adopt).WakesIn(20 * time.Second)
	require.True(t, b.asked.Home.Returning)
	require.Equal(t, []bool{false, true}, ables(b))
}

func TestAFreshPlacementIsAHandover(t *testing.T) {
	b := placed(t, settings(), divided(), "m1:2", "m2:4")
	b.tell(&messages.RescheduleTriggered{At: b.Now().Add(time.Second), By: "again"})
	p := b.place("m2:2", "m3:4")
	p.Move, p.Leaving = api.EvictionReasonRebalance, []messages.ClusterName{"m1"}
	n := b.tell(p).Told(memberAt("m1")).Told(memberAt("m2")).Told(memberAt("m3"), run(4, 3))
	task := actorstest.FactsOf[*messages.EvictionStarted](n.Facts())[0].Task
	require.Equal(t, api.EvictionReasonRebalance, task.Reason)
	require.Equal(t, api.ProducerWorkloadRebalancer, task.Producer)
	require.Equal(t, targets("m2:4"), actorstest.FactsOf[*messages.ScaleDownBlocked](n.Facts())[0].Clusters)
	b.tell(report("m3", api.Healthy, 4, 3)).Told(memberAt("m1"), removal).Told(memberAt("m2"), run(2, 4))
}

func TestAClusterThatIsEvictedFromAnywayKeepsItsReason(t *testing.T) {
	b := placed(t, settings(destinationFirst), divided(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"), permit("m1"))
	p := b.place("m3:4")
	p.Move, p.Leaving = api.EvictionReasonRebalance, []messages.ClusterName{"m1", "m2"}
	tasks := actorstest.FactsOf[*messages.EvictionStarted](b.tell(p).Facts())
	require.Equal(t, api.EvictionReasonTaintUntolerated, tasks[0].Task.Reason)
	require.Equal(t, api.EvictionReasonRebalance, tasks[1].Task.Reason)
}
