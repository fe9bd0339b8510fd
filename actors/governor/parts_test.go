package governor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// The parts by themselves, without a Governor around them.

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }

func asks(binding messages.BindingName, priority int32) *messages.RequestEviction {
	return &messages.RequestEviction{Binding: binding, Cluster: "m1", Priority: priority}
}

// queued are the domains of a fleet and a queue in which some bindings ask to be evicted from m1.
func queued(requests ...*messages.RequestEviction) (*domains, *queue) {
	ds := newDomains()
	q := newQueue(&ds.fleet)
	for _, r := range requests {
		q.add(r, r.Priority, kindOf(r, false), ds.cluster(r.Cluster))
	}
	return &ds, &q
}

func TestTheQueueKnowsItsMostUrgentRequestAndWhatIsBlocked(t *testing.T) {
	ds, q := queued(asks("default/low", 1), asks("default/high", 9))
	root := q.roots[2]
	require.Equal(t, messages.BindingName("default/high"), root.head.Binding)
	require.Equal(t, began, q.due(began))
	require.True(t, q.drop(key{"default/high", "m1"}))
	require.False(t, q.drop(key{"default/high", "m1"}))
	require.Equal(t, messages.BindingName("default/low"), root.head.Binding)

	cluster := ds.cluster("m1").queue[namespaced]
	cluster.why = &wait{until: after(30)}
	q.block(cluster)
	require.Nil(t, root.head)
	told := 0
	q.eachFresh(func(n *node) { told++ })
	require.Equal(t, 1, told, "a request that was dropped is not told")
	require.Equal(t, after(30), q.due(began))
	q.relocate(ds.cluster("m1"), ds.region("eu"))
	require.Nil(t, root.head, "a blocked cluster remains blocked in another region")
	q.retryDue(after(29))
	require.Nil(t, root.head)
	q.retryDue(after(30))
	require.NotNil(t, root.head)
	require.Same(t, ds.region("eu").queue[namespaced], cluster.parent)
}

func TestAReleasedBindingIsQueuedWithThoseThatWaitForNothing(t *testing.T) {
	ds, q := queued(asks("default/web", 0), asks("default/api", 0))
	q.reclassify("default/web", ds.clusters, true)
	require.Equal(t, messages.BindingName("default/web"), q.byKind[released].head.Binding)
	require.Equal(t, messages.BindingName("default/api"), q.byKind[namespaced].head.Binding)
	q.reclassify("default/web", ds.clusters, false)
	require.Nil(t, q.byKind[released].head)
}

func TestHoldsBlockTheirScopeUntilTheyExpire(t *testing.T) {
	_, q := queued(asks("default/web", 0))
	h := newHolds()
	var out actors.Outbox
	of := messages.HoldScope{Binding: "default/web"}
	word := &messages.HoldChanged{HoldScope: of, Reason: "freeze", Until: after(60)}
	require.True(t, h.change(began, word, &out))
	require.False(t, h.change(began, word, &out), "the same word is no news")
	n := q.requests[key{"default/web", "m1"}]
	require.Equal(t, &wait{reason: "Held", message: "evictions of this workload are held: freeze", until: after(60), ends: after(60)}, h.blocks(began, n))
	require.Nil(t, h.blocks(began, q.roots[2]))
	require.Equal(t, after(60), h.ends)
	require.False(t, h.expire(after(59), &out))
	require.True(t, h.expire(after(60), &out))
	require.Nil(t, h.blocks(began, n))
	require.Zero(t, h.ends)
	require.Equal(t, []messages.Fact{
		&messages.HoldPlaced{HoldScope: of, Reason: "freeze", Until: after(60)},
		&messages.HoldEnded{HoldScope: of, Reason: messages.HoldExpired},
	}, out.Facts())
}

func TestStatesJudgeWhatTheyCounted(t *testing.T) {
	ds, q := queued()
	s := states{settings: &messages.Settings{BlackoutThreshold: 1, UnhealthyClusterThreshold: 0.5}, domains: ds}
	var out actors.Outbox
	require.Zero(t, s.due(began))
	require.True(t, s.observe(ds.cluster("m1"), ds.region("eu"), true))
	ds.cluster("m1").within = ds.region("eu")
	require.False(t, s.observe(ds.cluster("m1"), ds.region("eu"), true), "it was unhealthy before")
	require.True(t, s.observe(ds.cluster("m2"), ds.region(""), true))
	require.Equal(t, 2, ds.fleet.state.clusters)
	require.Equal(t, began, s.due(began))
	require.True(t, s.judge(began, &out))
	require.False(t, s.judge(began, &out), "nothing was counted since")
	require.Equal(t, "Blackout", s.blocks(began, q.roots[2]).reason)
	require.Equal(t, []actors.Mail{
		{To: messages.Address{Kind: messages.KindCluster, Name: "m1"}, Message: &messages.BlackoutDeclared{Blind: true}},
		{To: messages.Address{Kind: messages.KindCluster, Name: "m2"}, Message: &messages.BlackoutDeclared{Blind: true}},
	}, out.Mail())
	s.forget(ds.cluster("m1"))
	require.Equal(t, 1, ds.fleet.state.clusters)
}

func TestAPermitComesBackInItsInstantOnly(t *testing.T) {
	_, q := queued(asks("default/web", 3))
	n, k := q.requests[key{"default/web", "m1"}], key{"default/web", "m1"}
	var p permits
	p.issue(began, n)
	require.Nil(t, p.takeBack(after(1), k))
	require.Same(t, n, p.takeBack(began, k))
	require.Nil(t, p.takeBack(began, k), "once")
	require.Equal(t, []messages.Permit{{Binding: "default/web", Cluster: "m1", Priority: 3}}, p.returned)
	var out actors.Outbox
	p.record(began, &out)
	require.Empty(t, out.Facts(), "no limit counts it")
	require.Empty(t, p.returned)
}

func TestTheLimiterChargesDomainsAndWorkers(t *testing.T) {
	ds, q := queued(asks("default/web", 0))
	l := limiter{settings: &messages.Settings{FleetEvictionRate: 0.1, EvictionWorkers: 1, ResourceEvictionRate: 0.5}, permits: &permits{}}
	l.employ(q.byKind[:unlimited])
	root, kind := q.roots[2], q.byKind[namespaced]
	require.Nil(t, l.blocks(began, root))
	require.Nil(t, l.blocks(began, kind))
	l.charge(began, root.scope)
	l.charge(began, kind.scope)
	require.Equal(t, &wait{reason: "EvictionRate", message: "the fleet is limited to 0.1 evictions a second", until: after(10)}, l.blocks(began, root))
	require.Equal(t, &wait{until: after(2)}, l.blocks(began, kind), "a worker's rest is not told")
	require.Equal(t, "waiting for one of 1 eviction workers, which take 2s for each eviction", l.busy(began, q.requests[key{"default/web", "m1"}]).message)
	require.Equal(t, []*domain{&ds.fleet}, l.permits.noted)
	l.refund(root)
	require.Nil(t, l.blocks(began, root))
	require.NotNil(t, l.blocks(began, kind), "the time of a worker is spent")
}

func TestABreakerOpensForWhatWasChargedAndLetsNothingPassUncounted(t *testing.T) {
	ds, q := queued(asks("default/a", 0), asks("default/b", 0))
	bs := breakers{
		settings: &messages.Settings{FleetBreakerShare: 0.5, BreakerMinimum: 1, BreakerWindow: time.Minute, BreakerCooldown: time.Minute},
		domains:  ds, queue: q, permits: &permits{},
	}
	root := q.roots[2]
	require.Equal(t, &wait{}, bs.blocks(began, root), "it is not known how many copies there are")
	bs.count(&messages.CopiesCounted{Clusters: []messages.ClusterCopies{{Cluster: "m1", Copies: 2}}})
	require.Equal(t, 2, ds.fleet.breaker.copies)
	require.Nil(t, bs.blocks(began, root))
	require.False(t, bs.charge(began, q.requests[key{"default/a", "m1"}]))
	require.Equal(t, &wait{reason: "BreakerOpen", message: "the fleet: 1 of 2 copies evicted within 1m: no more evictions"}, bs.blocks(began, root))
	require.Equal(t, after(60), bs.due(began))
	var out actors.Outbox
	bs.recordOpened(began, &out)
	bs.recordOpened(began, &out)
	require.Equal(t, []messages.Fact{&messages.BreakerChanged{
		State: "Open", Message: "1 of 2 copies evicted within 1m: no more evictions", Until: after(60), Moved: 1, Copies: 2,
	}}, out.Facts(), "once")
}

func TestBudgetsReserveWhatWasPermittedUntilItIsUsed(t *testing.T) {
	ds, q := queued(asks("default/web", 0), asks("default/api", 0))
	hs := newHolds()
	bs := newBudgets(&messages.Settings{EvictionBudgets: true}, ds, q, &hs)
	bs.set(&messages.BudgetsSet{Budgets: []messages.Budget{{Name: "all", Spec: &api.EvictionBudgetSpec{
		MinAvailable: new(intstr.FromInt32(2)), MaxMoved: &api.MaxMoved{Replicas: intstr.FromInt32(9), WindowSeconds: 60},
	}}}})
	runs := func(binding messages.BindingName, d messages.EvictionStage) *messages.WorkloadObserved {
		return &messages.WorkloadObserved{
			Binding: binding, Budgets: []messages.BudgetName{"all"}, PurgedDirectly: true, Expected: 2,
			Shares: []messages.ServingShare{{Cluster: "m1", Replicas: 2, Serving: 2, Stage: d}},
		}
	}
	bs.observe(began, runs("default/web", messages.Asks))
	bs.observe(began, runs("default/api", messages.Asks))
	web, other := q.requests[key{"default/web", "m1"}], q.requests[key{"default/api", "m1"}]
	require.Nil(t, bs.blocks(began, web))
	require.Nil(t, bs.blocks(began, other))
	var out actors.Outbox
	bs.charge(web.head, &out)
	require.Empty(t, out.Facts(), "nothing was exceeded")
	require.Nil(t, bs.blocks(began, q.roots[2]), "budgets are asked of requests only")
	why := bs.blocks(began, other)
	require.Equal(t, api.ReasonBudgetSpent, why.reason)
	require.Same(t, bs.byName["all"].usages[""], why.usage)
	require.Equal(t, int64(2), bs.workloads["default/web"].pending)

	bs.settle(began, &out)
	require.Zero(t, bs.due(began))
	bs.observe(began, runs("default/web", messages.Leaves))
	require.Zero(t, bs.workloads["default/web"].pending)
	require.Equal(t, began, bs.due(began))
	bs.settle(began, &out)
	require.Equal(t, after(60), bs.due(began), "the move leaves its window")
	require.Equal(t, []api.BudgetMove{{At: metav1.MicroTime{Time: began}, Replicas: 2}}, bs.byName["all"].moved(began))
}

func TestStartsThatFailLimitTheirCluster(t *testing.T) {
	s := newStarts(&messages.Settings{StartFailureLimit: 1, StartFailureWindow: time.Hour, StartBackoff: time.Minute})
	var out actors.Outbox
	require.Zero(t, s.due(began))
	s.fail(&messages.StartFailed{Binding: "default/web", Cluster: "m1", Began: began})
	require.Equal(t, after(5), s.due(after(5)))
	s.judge(after(5), &out)
	require.Equal(t, after(65), s.due(after(5)))
	require.Equal(t, &messages.StartsLimited{Cluster: "m1", Most: 1, Why: "1 start failed"}, out.Mail()[0].Message)
	s.succeed(&messages.StartsSucceeded{Clusters: []messages.ClusterName{"m1"}})
	s.judge(after(6), &out)
	require.Equal(t, &messages.StartsLimited{Cluster: "m1"}, out.Mail()[1].Message)
	require.Zero(t, s.due(after(6)))
}
