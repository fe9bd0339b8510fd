package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// The parts by themselves, without a Scheduler around them.

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// places is a binding of replicas that share clusters.
func places(binding messages.BindingName, targets ...api.TargetCluster) *messages.PlaceBinding {
	m := &messages.PlaceBinding{Binding: binding, HasReplicas: true, Targets: targets, Placement: &api.Placement{
		ReplicaScheduling: &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided},
	}}
	for _, t := range targets {
		m.Replicas += t.Replicas
	}
	return m
}

func on(cluster string, replicas int32) api.TargetCluster {
	return api.TargetCluster{Name: cluster, Replicas: replicas}
}

func TestTheQueueDecidesInOrderOfUrgencyAndInTurns(t *testing.T) {
	q := newQueue()
	for name, priority := range map[messages.BindingName]int32{"default/a": 1, "default/b": 9, "default/c": 1} {
		m := places(name)
		m.Priority = priority
		e := q.entry(name)
		e.asks(*m)
		q.mark(e)
		q.mark(e)
	}
	q.begin()
	first, more := q.next(2)
	require.True(t, more)
	require.Equal(t, []messages.BindingName{"default/b", "default/a"}, []messages.BindingName{first[0].asked.Binding, first[1].asked.Binding})
	q.held = append(q.held, &messages.ClusterGone{Name: "m1"})
	last, more := q.next(2)
	require.False(t, more)
	require.Len(t, last, 1)
	require.Equal(t, []messages.ToScheduler{&messages.ClusterGone{Name: "m1"}}, q.finish())
	require.Empty(t, q.batch)
	require.Empty(t, q.held)
}

func TestTheQueueNamesAllInOrder(t *testing.T) {
	q := newQueue()
	var want []messages.BindingName
	for c := 'a'; c <= 'z'; c++ {
		name := messages.BindingName("default/" + string(c))
		q.entry(name)
		want = append(want, name)
	}
	require.Equal(t, want, q.names())
}

func TestTheQueueMarksWhatAChangeConcerns(t *testing.T) {
	q := newQueue()
	for _, name := range []messages.BindingName{"default/a", "default/b"} {
		q.entry(name).asks(*places(name))
	}
	a, b := q.entries["default/a"], q.entries["default/b"]
	q.settle(b, true)
	b.failure = failure{reason: api.ReasonQuotaExceeded}
	q.markFreed()
	require.Empty(t, q.dirty, "nothing was freed")
	q.changed, q.freed = []messages.ClusterName{"m1", "m2"}, true
	q.markChanged(q.entries, func(e *entry, c messages.ClusterName) bool { return e == a && c == "m2" })
	q.markFreed()
	require.Equal(t, []*entry{a, b}, q.dirty)
	require.Equal(t, "cluster m2 changed", a.trigger)
	require.Equal(t, "quota or usage changed", b.trigger)
	q.end(b)
	require.Empty(t, q.waiting)
	require.False(t, b.open())
}

func TestReservationsSayWhereCapacityIsFree(t *testing.T) {
	r := reservations{settings: &messages.Settings{CapacityReservation: true}, fleet: placement.NewFleet()}
	two, one := places("default/web", on("m1", 2)), places("default/web", on("m1", 1))
	require.False(t, r.move(nil, two))
	require.False(t, r.move(two, two))
	require.True(t, r.move(two, one))
	require.False(t, r.move(one, two))
	require.True(t, r.move(two, nil))
	r.settings = &messages.Settings{}
	require.False(t, r.move(two, nil), "nothing is reserved")
}

func TestStartsCountUntilTheyEndAndLimitOnlyThoseThatMove(t *testing.T) {
	s := newStarts(&messages.Settings{MaxStartingPerCluster: 1})
	before := places("default/web", on("m1", 2))
	next := places("default/web", on("m2", 2))
	next.Evicting = []messages.ClusterName{"m1"}
	s.note(next, before.Targets)
	require.Equal(t, []messages.ClusterName{"m2"}, next.Starting)
	require.False(t, s.move(before, next))
	other := places("default/api", on("m1", 1))
	require.Empty(t, s.busy(other), "it does not move")
	other.Leaving = []messages.ClusterName{"m1"}
	require.Equal(t, []placement.BusyCluster{{Cluster: "m2", Most: "1"}}, s.busy(other))
	require.True(t, s.move(next, nil))
	require.Empty(t, s.busy(other))
	require.False(t, s.limit(&messages.StartsLimited{Cluster: "m3", Most: 1, Why: "2 starts failed"}))
	require.Equal(t, "1: 2 starts failed", s.whyOn("m3"))
	require.True(t, s.limit(&messages.StartsLimited{Cluster: "m3"}))
	require.Equal(t, "1", s.whyOn("m3"))
}

func TestUnreplacedReplicasKeepTheirQuota(t *testing.T) {
	qs := quotas{settings: &messages.Settings{FailoverKeepsQuota: true}, byNamespace: map[string]*usage{}}
	m := places("default/web", on("m1", 2), on("m2", 1))
	require.Equal(t, int32(2), qs.unreplaced(m, []messages.ClusterName{"m1"}, []api.TargetCluster{on("m2", 1)}))
	require.Zero(t, qs.unreplaced(m, []messages.ClusterName{"m1"}, []api.TargetCluster{on("m2", 1), on("m3", 2)}))
	require.False(t, qs.remove(&messages.QuotaDeleted{Namespace: "default", Name: "all"}))
	qs.apply(&messages.QuotaApplied{Namespace: "default", Name: "all"}, map[messages.BindingName]*entry{})
	qs.charge(m, nil)
	require.False(t, qs.relieved, "what asks for nothing frees nothing")
	require.True(t, qs.remove(&messages.QuotaDeleted{Namespace: "default", Name: "all"}))
	require.Empty(t, qs.byNamespace)
}

func TestTheCensusTellsWhatChanged(t *testing.T) {
	c := newCensus(&messages.Settings{FleetBreakerShare: 0.5})
	var out actors.Outbox
	c.count(nil, places("default/web", on("m1", 2), on("m2", 1)))
	c.tell(&out)
	c.tell(&out)
	require.Equal(t, []actors.Mail{{To: messages.Address{Kind: messages.KindGovernor}, Message: &messages.CopiesCounted{
		Clusters:   []messages.ClusterCopies{{Cluster: "m1", Copies: 1}, {Cluster: "m2", Copies: 1}},
		Priorities: []messages.PriorityCopies{{Priority: 0, Copies: 2}},
	}}}, out.Mail())
	c.restart(false, nil)
	require.Empty(t, c.clusters.counts)
}

func TestFailbacksBeginAsFarAsAdminsAndTheLimitLetThem(t *testing.T) {
	f := newFailbacks(&messages.Settings{ConcurrentReturns: 1}, nil)
	web := &entry{}
	web.asks(*places("default/web", on("m2", 2)))
	web.asked.Home = &messages.FailbackState{Shares: []messages.PreferredShare{{TargetCluster: on("m1", 2)}}}
	f.keep(web)
	require.Contains(t, f.away, web.asked.Binding)
	require.True(t, f.mayBegin(web.asked))
	require.True(t, f.hold(&messages.ReturnsHeld{HoldScope: messages.HoldScope{Cluster: "m2"}, Held: true}))
	require.False(t, f.mayBegin(web.asked))
	require.Empty(t, f.toJudge(nil))
	require.False(t, f.hold(&messages.ReturnsHeld{HoldScope: messages.HoldScope{Cluster: "m2"}}))
	require.Equal(t, []*entry{web}, f.toJudge(nil), "a hold ended")
	require.Empty(t, f.toJudge(nil), "once")
	f.note("default/api", &messages.FailbackState{Returning: true})
	require.False(t, f.mayBegin(web.asked))
	f.forget("default/api")
	require.True(t, f.mayBegin(web.asked))
	require.True(t, free(web.asked, []string{"m1"}))
	require.Equal(t, []api.TargetCluster{on("m1", 2)}, sharePlan(web.asked, []string{"m1"}).Targets)
}

func TestPlansRefuseWhatADispatchOrALoneMoveForbids(t *testing.T) {
	fleet := placement.NewFleet()
	p := plans{settings: &messages.Settings{GracefulMoves: true}, fleet: fleet}
	m := places("default/web", on("m1", 2))
	m.Untold = &api.SuspensionClusters{ClusterNames: []string{"m2"}}
	moves := placement.Decision{Targets: []api.TargetCluster{on("m2", 2)}}
	refused := p.dispatched(m, moves)
	require.Equal(t, api.ReasonUnschedulable, refused.Reason)
	require.Equal(t, "m2 would take 2 replicas, but dispatching to it is suspended", refused.Message)
	m.Untold = nil
	require.Equal(t, moves, p.dispatched(m, moves))

	m.Alone = true
	require.Equal(t, moves, p.alone(m, moves, nil), "m1 was deleted")
	fleet.Put(&messages.ClusterView{Name: "m1"})
	require.Equal(t, api.ReasonBudgetSpent, p.alone(m, moves, nil).Reason)
	require.Equal(t, moves, p.alone(m, moves, []messages.ClusterName{"m1"}))
	why, moved := p.moveTo(m, moves.Targets, nil)
	require.Equal(t, api.EvictionReasonReschedule, why)
	require.Equal(t, []messages.ClusterName{"m1"}, moved)
	m.LastScheduled, m.RescheduleAt = began, began.Add(time.Second)
	why, _ = p.moveTo(m, moves.Targets, nil)
	require.Equal(t, api.EvictionReasonRebalance, why)
}
