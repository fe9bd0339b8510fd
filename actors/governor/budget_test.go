package governor_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

var budgeting = messages.Settings{EvictionBudgets: true}

// keep is a budget that wants so many replicas to serve.
func keep(name messages.BudgetName, available string) messages.Budget {
	return messages.Budget{Name: name, Spec: &api.EvictionBudgetSpec{MinAvailable: new(intstr.Parse(available))}}
}

// slow is a budget that lets so many replicas move in a minute.
func slow(name messages.BudgetName, replicas int) messages.Budget {
	return messages.Budget{Name: name, Spec: &api.EvictionBudgetSpec{MaxMoved: &api.MaxMoved{Replicas: intstr.FromInt(replicas), WindowSeconds: 60}}}
}

// single has a budget hold for each workload by itself.
func single(b messages.Budget) messages.Budget {
	b.Spec.PerWorkload = true
	return b
}

func set(budgets ...messages.Budget) *messages.BudgetsSet {
	return &messages.BudgetsSet{Budgets: budgets}
}

// on is a workload under budget all, evicted directly, that runs and serves with so many replicas on clusters.
func on(binding messages.BindingName, replicas int32, clusters ...messages.ClusterName) *messages.WorkloadObserved {
	m := &messages.WorkloadObserved{Binding: binding, Budgets: []messages.BudgetName{"all"}, PurgedDirectly: true}
	for _, c := range clusters {
		m.Expected += int64(replicas)
		m.Shares = append(m.Shares, messages.ServingShare{Cluster: c, Replicas: replicas, Serving: replicas})
	}
	return m
}

// changed returns a copy of what is known of a workload with another first share.
func changed(m *messages.WorkloadObserved, serving int32, d messages.EvictionStage) *messages.WorkloadObserved {
	c := *m
	c.Shares = append([]messages.ServingShare(nil), m.Shares...)
	c.Shares[0].Serving, c.Shares[0].Stage = serving, d
	return &c
}

// funded returns a governor that knows budgets and three workloads a, b and c, of two replicas each on e1.
func funded(t *testing.T, budgets ...messages.Budget) *driver {
	t.Helper()
	d := drive(t, budgeting)
	d.Tell(set(budgets...), on("a", 2, "e1"), on("b", 2, "e1"), on("c", 2, "e1"))
	return d
}

// listed are the budgets that changed in a step, as "name healthy/expected allowed, waiting".
func listed(n *actorstest.Network) (list []string) {
	for _, f := range actorstest.FactsOf[*messages.BudgetChanged](n.Facts()) {
		s := &f.Status
		list = append(list, fmt.Sprintf("%s %d/%d %d, %d", f.Budget, s.CurrentHealthy, s.ExpectedReplicas, s.DisruptionsAllowed, s.Waiting))
	}
	return list
}

func TestABudgetLetsAsManyGoAsItCanSpare(t *testing.T) {
	d := drive(t, budgeting)
	n := d.Tell(set(keep("all", "4")), on("a", 2, "e1"), on("b", 2, "e1"), on("c", 2, "e1"))
	require.Equal(t, []string{"all 6/6 2, 0"}, listed(n))
	n = d.Tell(from("e1", "a", "b", "c")...)
	require.Equal(t, []string{"a/e1"}, gone(n))
	require.Equal(t, []string{"all 4/6 0, 2"}, listed(n))
	word := "budget all: 4 of 6 replicas available, 4 required; the eviction takes 2 immediately"
	n.Told(bindingAt("b"), &messages.EvictionDelayed{Cluster: "e1", Reason: "BudgetSpent", Message: word})
	d.QuietFor(24 * time.Hour)

	require.Empty(t, gone(d.Tell(changed(on("a", 2, "e2"), 1, messages.Stays))), "one of two serves again")
	require.Equal(t, []string{"b/e1"}, gone(d.Tell(on("a", 2, "e2"))))
	d.Tell(&messages.WithdrawRequest{Binding: "c", Cluster: "e1"})
	require.Equal(t, []string{"all 4/6 0, 0"}, listed(d.Network))
}

// TestTheStatusOfABudgetSaysAll follows two budgets of everything, one of them for each workload by itself.
func TestTheStatusOfABudgetSaysAll(t *testing.T) {
	status := func(n *actorstest.Network) map[messages.BudgetName]api.EvictionBudgetStatus {
		all := map[messages.BudgetName]api.EvictionBudgetStatus{}
		for _, f := range actorstest.FactsOf[*messages.BudgetChanged](n.Facts()) {
			all[f.Budget] = f.Status
		}
		return all
	}
	d := drive(t, budgeting)
	both := func(m *messages.WorkloadObserved) *messages.WorkloadObserved {
		m.Budgets = append(m.Budgets, "each")
		return m
	}
	each := single(slow("each", 2))
	each.Spec.MinAvailable = new(intstr.FromString("50%"))
	unselected := api.EvictionBudgetStatus{Message: "it selects no workload"}
	require.Equal(t, map[messages.BudgetName]api.EvictionBudgetStatus{"all": unselected, "each": unselected}, status(d.Tell(set(keep("all", "5"), each))))
	require.Equal(t, map[messages.BudgetName]api.EvictionBudgetStatus{
		"all":  {ExpectedWorkloads: 2, ExpectedReplicas: 6, CurrentHealthy: 6, DesiredHealthy: 5, DisruptionsAllowed: 1},
		"each": {ExpectedWorkloads: 2, ExpectedReplicas: 6, CurrentHealthy: 6, DesiredHealthy: 3, DisruptionsAllowed: 3},
	}, status(d.Tell(both(on("a", 1, "e1", "u1")), both(on("b", 2, "e1", "u1")))))

	permitted := metav1.MicroTime{Time: d.Now()}
	require.Equal(t, map[messages.BudgetName]api.EvictionBudgetStatus{
		"all": {
			ExpectedWorkloads: 2, ExpectedReplicas: 6, CurrentHealthy: 5, DesiredHealthy: 5, Waiting: 1,
			Message: "budget all: the eviction takes 2 of 6 replicas immediately, and 5 are required; the eviction cannot start under these conditions",
		},
		"each": {
			ExpectedWorkloads: 2, ExpectedReplicas: 6, CurrentHealthy: 5, DesiredHealthy: 3, DisruptionsAllowed: 2,
			Moved: []api.BudgetMove{{At: permitted, Binding: "a", Replicas: 1}},
		},
	}, status(d.Tell(from("e1", "a", "b")...)))

	d.Advance(10 * time.Second)
	left := metav1.MicroTime{Time: d.Now()}
	d.Tell(both(changed(on("a", 1, "e1", "u1"), 0, messages.Leaves)))
	require.Equal(t, []api.BudgetMove{{At: left, Binding: "a", Replicas: 1}}, status(d.Network)["each"].Moved, "it counts from when it leaves")
	d.Advance(time.Minute)
	require.Empty(t, status(d.Network)["each"].Moved)
	require.Equal(t, int64(2), status(d.Network)["each"].DisruptionsAllowed)
}

func TestABudgetOfMovesCountsWhatDoesNotServe(t *testing.T) {
	d := funded(t, slow("all", 1))
	unhealthy := changed(on("a", 2, "e1"), 0, messages.Stays)
	require.Empty(t, gone(d.Tell(unhealthy, from("e1", "a")[0])), "two would move")
	require.Equal(t, []string{"a/e2"}, gone(d.Tell(from("e2", "a")...)), "nothing of it runs there")
}

func TestWhoIsAskedToLeaveServesUntilItMay(t *testing.T) {
	d := funded(t, keep("all", "4"))
	d.Tell(changed(on("c", 2, "e1"), 2, messages.Asks)).Quiet()
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(from("e1", "a")...)))
}

func TestWhatAWorkloadCostsIsAskedAgainWhereItNoLongerRuns(t *testing.T) {
	for name, news := range map[string]*messages.WorkloadObserved{
		"it serves elsewhere": {Binding: "a", Budgets: []messages.BudgetName{"all"}, PurgedDirectly: true, Expected: 2, Shares: []messages.ServingShare{
			{Cluster: "e1", Replicas: 2}, {Cluster: "e2", Replicas: 2, Serving: 2},
		}},
		"it is gone from there": on("a", 2, "e2"),
	} {
		t.Run(name, func(t *testing.T) {
			d := funded(t, keep("all", "100%"))
			require.Empty(t, gone(d.Tell(from("e1", "a")...)))
			require.Equal(t, []string{"a/e1"}, gone(d.Tell(news)), "as many serve as before, and leaving takes none of them away")
		})
	}
}

func TestABudgetThatIsEditedGoesOnCounting(t *testing.T) {
	moves := func(b messages.Budget) *driver {
		d := funded(t, b)
		require.Equal(t, []string{"a/e1"}, gone(d.Tell(from("e1", "a", "b")...)))
		d.Tell(changed(on("a", 2, "e1"), 0, messages.Leaves))
		return d
	}
	t.Run("what moved", func(t *testing.T) {
		d := moves(slow("all", 2))
		require.Empty(t, gone(d.Tell(set(slow("all", 3)))))
		require.Equal(t, []string{"b/e1"}, gone(d.Tell(set(slow("all", 4)))))
	})
	t.Run("again, where it counts otherwise", func(t *testing.T) {
		d := moves(slow("all", 2))
		require.Equal(t, []string{"b/e1"}, gone(d.Tell(set(single(slow("all", 2))))))
	})
	t.Run("again, where it did not limit moves meanwhile", func(t *testing.T) {
		d := moves(slow("all", 2))
		require.Equal(t, []string{"b/e1"}, gone(d.Tell(set(keep("all", "1")))))
		d.Tell(on("b", 2, "e1"))
		d.Tell(set(slow("all", 2)))
		require.Equal(t, []string{"c/e1"}, gone(d.Tell(from("e1", "c")...)))
	})
	t.Run("what moved of workloads that are gone", func(t *testing.T) {
		d := moves(slow("all", 2))
		d.Tell(&messages.WithdrawRequest{Binding: "b", Cluster: "e1"})
		for _, b := range []messages.BindingName{"a", "b", "c"} {
			d.Tell(&messages.WorkloadObserved{Binding: b})
		}
		d.Tell(on("d", 2, "e1"))
		require.Empty(t, gone(d.Tell(from("e1", "d")...)))
		require.Equal(t, []string{"d/e1"}, gone(d.Advance(time.Minute)))
	})
}

func TestBudgetsThatBeginToCountAreShown(t *testing.T) {
	d := drive(t, messages.Settings{})
	d.Tell(set(keep("all", "1")), on("a", 2, "e1")).Quiet()
	require.Equal(t, []string{"all 2/2 1, 0"}, listed(d.Tell(&messages.SettingsChanged{Settings: budgeting})))
}

// TestWhoWaitsForOneThingAfterAnotherIsToldOfEach has a request wait for a rate, then for a budget, then for the rate again.
func TestWhoWaitsForOneThingAfterAnotherIsToldOfEach(t *testing.T) {
	s := budgeting
	s.ClusterEvictionRate = 0.1
	d := drive(t, s)
	d.Tell(set(keep("all", "4")), on("a", 2, "e1"), on("b", 2, "e1"), on("c", 2, "e1"))
	rate := slowed("e1", "cluster e1 is limited to 0.1 evictions a second")
	spent := heldBack("e1", "BudgetSpent", "budget all: 4 of 6 replicas available, 4 required; the eviction takes 2 immediately")
	d.Tell(from("e1", "a", "b", "c")...).Told(bindingAt("b"), rate)
	d.Advance(10*time.Second).Told(bindingAt("b"), spent).Told(bindingAt("c"), spent)
	require.Equal(t, []string{"z/e1"}, gone(d.Tell(from("e1", "z")...)), "no budget is about it")
	d.Tell(on("a", 2, "u1")).Told(bindingAt("b"), rate)
	require.Equal(t, []string{"b/e1"}, gone(d.Advance(10*time.Second)))
}

func TestWhoWaitsIsToldOnceOfAllThatIsNew(t *testing.T) {
	s := guarded()
	s.EvictionBudgets = true
	d := drive(t, s)
	d.Tell(set(keep("all", "4")), on("a", 2, "u2"), on("b", 2, "u2"), on("c", 2, "u2"))
	require.Equal(t, []string{"a/u2"}, gone(d.Tell(from("u2", "a", "b")...)))
	n := d.Tell(append(most[:3:3], changed(on("c", 2, "u2"), 1, messages.Stays))...)
	require.Equal(t, []string{"PartialDisruption"}, states(n))
	require.Len(t, waits("b", n), 1)
}

func TestABindingThatIsHeldKeepsNoOtherFromABudget(t *testing.T) {
	d := funded(t, keep("all", "4"))
	d.Tell(on("large", 3, "e2"), changed(on("c", 2, "e1"), 1, messages.Stays), set(keep("all", "6")))
	first := urgent("large", 9, 0)
	first.Cluster = "e2"
	require.Empty(t, gone(d.Tell(append(from("e1", "a"), first)...)), "large waits for three, and goes first")
	large := messages.HoldScope{Binding: "large"}
	n := d.Tell(hold(large, "migration"), on("b", 2, "e1"))
	require.Equal(t, []string{"a/e1"}, gone(n))
	n.Told(bindingAt("large"), heldBack("e2", "Held", "evictions of this workload are held: migration"))
}

func TestABudgetCountsMoreReplicasThan32BitsHold(t *testing.T) {
	d := drive(t, budgeting)
	n := d.Tell(set(keep("all", "50%")), on("a", math.MaxInt32, "e1", "e2"), on("b", math.MaxInt32, "e1", "e2"))
	require.Equal(t, []string{"all 8589934588/8589934588 4294967294, 0"}, listed(n))
	n = d.Tell(from("e1", "a", "b")...)
	require.Equal(t, []string{"a/e1", "b/e1"}, gone(n))
	require.Equal(t, []string{"all 4294967294/8589934588 0, 0"}, listed(n))
	require.Empty(t, gone(d.Tell(from("e2", "a")...)))
}

func TestABudgetCountsAllThatDoesNotServeWhateverTheReason(t *testing.T) {
	d := funded(t, keep("all", "4"))
	require.Equal(t, []string{"all 4/6 0, 0"}, listed(d.Tell(changed(on("c", 2, "e1"), 0, messages.Leaves))))
	require.Empty(t, gone(d.Tell(from("e1", "a")...)))
}

func TestWhatDoesNotServeIsNeverKeptForItsBudget(t *testing.T) {
	for name, news := range map[string]messages.ToGovernor{
		"its copy is unhealthy":    changed(on("a", 2, "e1"), 0, messages.Stays),
		"its cluster is not Ready": down("e1", "eu"),
	} {
		t.Run(name, func(t *testing.T) {
			d := funded(t, keep("all", "100%"))
			require.Empty(t, gone(d.Tell(from("e1", "a")...)))
			require.Equal(t, []string{"a/e1"}, gone(d.Tell(news)))
		})
	}
	t.Run("it serves until its replacement does", func(t *testing.T) {
		d := funded(t, keep("all", "100%"))
		graceful := on("a", 2, "e1")
		graceful.PurgedDirectly = false
		require.Equal(t, []string{"a/e1"}, gone(d.Tell(graceful, from("e1", "a")[0])))
	})
}

func TestTheMostUrgentGoesFirstUnderABudgetAndNoneOvertakes(t *testing.T) {
	d := funded(t, keep("all", "4"))
	large := on("large", 3, "e2")
	d.Tell(large, changed(on("c", 2, "e1"), 1, messages.Stays), set(keep("all", "6"))) // eight of nine serve
	first := urgent("large", 9, 0)
	first.Cluster = "e2"
	n := d.Tell(append(from("e1", "a"), first)...)
	require.Empty(t, gone(n), "two could be spared for a, but large waits for three")
	n.Told(bindingAt("a"), &messages.EvictionDelayed{Cluster: "e1", Reason: "BudgetSpent", Message: "budget all: large is evicted first"})
	require.Equal(t, []string{"large/e2"}, gone(d.Tell(on("c", 2, "e1"))))
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(set(keep("all", "4")))))
}

func TestABudgetThatCanNeverBeMetSaysSoAndDelaysNoOther(t *testing.T) {
	d := funded(t, keep("all", "5"))
	d.Tell(on("small", 1, "e2"))
	d.Tell(set(keep("all", "6")))
	n := d.Tell(append(from("e1", "a"), from("e2", "small")...)...)
	require.Equal(t, []string{"small/e2"}, gone(n))
	n.Told(bindingAt("a"), &messages.EvictionDelayed{
		Cluster: "e1", Reason: "BudgetNeverMet",
		Message: "budget all: the eviction takes 2 of 7 replicas immediately, and 6 are required; the eviction cannot start under these conditions",
	})
	require.Empty(t, gone(d.Tell(on("small", 1, "u1"))))
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(on("more", 1, "u2"))), "two of eight can be spared")
}

func TestABudgetThatIsEditedOrGoesLetsThoseGoThatWait(t *testing.T) {
	for name, m := range map[string]messages.ToGovernor{
		"it asks for fewer":        set(keep("all", "2")),
		"it is gone":               set(),
		"it selects others":        &messages.WorkloadObserved{Binding: "b"},
		"a user says so":           exceeding("b"),
		"budgets do not count now": &messages.SettingsChanged{},
	} {
		t.Run(name, func(t *testing.T) {
			d := funded(t, keep("all", "4"))
			d.Tell(from("e1", "a", "b")...)
			require.Equal(t, []string{"b/e1"}, gone(d.Tell(m)))
		})
	}
}

func exceeding(binding messages.BindingName) *messages.WorkloadObserved {
	m := on(binding, 2, "e1")
	m.Exceeds = "ticket 7"
	return m
}

func TestWhatExceedsABudgetIsOnRecord(t *testing.T) {
	d := funded(t, keep("all", "4"))
	d.Tell(exceeding("b"))
	n := d.Tell(from("e1", "a", "b")...)
	require.Equal(t, []string{"a/e1", "b/e1"}, gone(n))
	require.Equal(t, []*messages.BudgetExceeded{{
		Budget: "all", Binding: "b", Cluster: "e1", AllowedBy: "its resource", Reason: "ticket 7",
		Message: "4 of 6 replicas available, 4 required; the eviction takes 2 immediately",
	}}, actorstest.FactsOf[*messages.BudgetExceeded](n.Facts()))
}

func TestWhatLeavesOneClusterMayExceedBudgets(t *testing.T) {
	d := funded(t, keep("all", "7"))
	d.Tell(on("d", 2, "e2"))
	require.Empty(t, gone(d.Tell(append(from("e1", "a"), from("e2", "d")...)...)))
	n := d.Tell(&messages.ExceedingAllowed{Cluster: "e1", Reason: "ticket 8"})
	require.Equal(t, []string{"a/e1"}, gone(n), "d leaves another cluster")
	require.Equal(t, []*messages.BudgetExceeded{{
		Budget: "all", Binding: "a", Cluster: "e1", AllowedBy: "cluster e1", Reason: "ticket 8",
		Message: "the eviction takes 2 of 8 replicas immediately, and 7 are required",
	}}, actorstest.FactsOf[*messages.BudgetExceeded](n.Facts()))
	d.Tell(&messages.ExceedingAllowed{Cluster: "e1"})
	require.Empty(t, gone(d.Tell(from("e1", "b")...)), "the word was taken back")
}

func TestAllBudgetsOfAWorkloadHaveToAgree(t *testing.T) {
	d := drive(t, budgeting)
	both := on("a", 2, "e1")
	both.Budgets = []messages.BudgetName{"all", "other"}
	d.Tell(set(keep("all", "2"), keep("other", "1")), both, on("b", 2, "e1"), on("c", 2, "e1"))
	n := d.Tell(from("e1", "a", "b")...)
	require.Equal(t, []string{"b/e1"}, gone(n))
	require.Equal(t, []string{"all 4/6 2, 0", "other 2/2 1, 1"}, listed(n))
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(set(keep("all", "2"), keep("other", "0")))))
}

func TestABudgetMayHoldForEachWorkloadByItself(t *testing.T) {
	d := drive(t, budgeting)
	d.Tell(set(single(keep("all", "50%"))), on("a", 2, "e1", "e2"), on("b", 2, "e1", "e2"))
	n := d.Tell(append(from("e1", "a", "b"), from("e2", "a", "b")...)...)
	require.Equal(t, []string{"a/e1", "b/e1"}, gone(n))
	require.Equal(t, []string{"all 4/8 0, 2"}, listed(n))
	moved := on("b", 2, "u1", "e2")
	require.Equal(t, []string{"b/e2"}, gone(d.Tell(moved)))
}

func TestMovesWaitForTheWindow(t *testing.T) {
	d := funded(t, slow("all", 3))
	n := d.Tell(from("e1", "a", "b", "c")...)
	require.Equal(t, []string{"a/e1"}, gone(n))
	d.Tell(changed(on("a", 2, "e1"), 2, messages.Permitted)).Quiet()
	d.QuietFor(time.Hour) // it has no destination yet
	left := d.Now()
	n = d.Tell(changed(on("a", 2, "e1"), 2, messages.Leaves))
	n.Told(bindingAt("b"), &messages.EvictionDelayed{
		Cluster: "e1", Reason: "BudgetSpent", Message: "budget all: 2 replicas moved of at most 3 within 1m0s; the eviction moves 2", Until: left.Add(time.Minute),
	})
	d.WakesIn(time.Minute)
	d.QuietFor(time.Minute - 1)
	require.Equal(t, []string{"b/e1"}, gone(d.Advance(1)))
	require.Equal(t, []string{"c/e1"}, gone(d.Tell(changed(on("b", 2, "e1"), 2, messages.Stays))), "b stays after all")
}

func TestMovesOutliveARestart(t *testing.T) {
	b := slow("all", 2)
	d := drive(t, budgeting)
	at := d.Now().Add(-20 * time.Second)
	b.Moved = []api.BudgetMove{{At: metav1.MicroTime{Time: at}, Replicas: 2}}
	d.Tell(set(b), on("a", 2, "e1"))
	require.Empty(t, gone(d.Tell(from("e1", "a")...)))
	d.WakesIn(40 * time.Second)
	require.Equal(t, []string{"a/e1"}, gone(d.Advance(40*time.Second)))
}

func TestAPermitThatIsNotUsedYetIsCounted(t *testing.T) {
	d := funded(t, keep("all", "4"))
	d.Tell(from("e1", "a", "b")...)
	d.Tell(changed(on("a", 2, "e1"), 2, messages.Permitted)).Quiet()
	require.Equal(t, []string{"b/e1"}, gone(d.Tell(on("a", 2, "e1"))), "a stays after all")
}

func TestARequestThatWaitsForItsClusterKeepsNoBudget(t *testing.T) {
	s := budgeting
	s.ClusterEvictionRate = 0.01
	d := drive(t, s)
	d.Tell(set(keep("all", "4")), on("a", 2, "e1"), on("b", 2, "e1"), on("c", 2, "e2"))
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(append(from("e1", "a", "b"), from("e2", "c")...)...)))
	require.Equal(t, []string{"c/e2"}, gone(d.Tell(on("a", 2, "u1"))), "b has to wait for e1 anyway")
}

func TestNoOrderOfNewsMatters(t *testing.T) {
	var facts []messages.Fact
	actorstest.EveryWay(func(choose actorstest.Choose) {
		d := drive(t, budgeting)
		n := d.Tell(actorstest.Interleave(choose, actorstest.Alone[messages.ToGovernor](
			set(keep("all", "3")), on("a", 2, "e1"), on("b", 2, "e1"), from("e1", "b")[0], from("e1", "a")[0])...)...)
		require.Empty(t, gone(n))
		n = d.Tell(on("c", 2, "u1"))
		require.Equal(t, []string{"a/e1"}, gone(n))
		if facts == nil {
			facts = n.Facts()
		}
		require.Equal(t, facts, n.Facts())
	})
}

// Of seed 1418: a workload tells of its first permit before it hears of the second.
func TestAPermitThatIsOnItsWayIsNotGivenBack(t *testing.T) {
	d := drive(t, budgeting)
	d.Tell(set(slow("all", 3)), on("a", 1, "e1", "e2"), on("b", 2, "e3"))
	asks := func(second messages.EvictionStage) *messages.WorkloadObserved {
		m := changed(on("a", 1, "e1", "e2"), 1, messages.Permitted)
		m.Shares[1].Stage = second
		return m
	}
	requests := append(from("e1", "a"), from("e2", "a")...)
	require.Len(t, gone(d.Tell(requests...)), 2)
	d.Tell(asks(messages.Asks))
	require.Empty(t, gone(d.Tell(from("e3", "b")...)), "two of three are to move")
	require.Equal(t, []string{"b/e3"}, gone(d.Tell(asks(messages.Stays))), "one stays after all")
}

// Each has a budget of its own, which all are asked for again in no order, and are told in that of their names.
func TestWhoWaitsForBudgetsIsToldInOrder(t *testing.T) {
	d := drive(t, budgeting)
	all := single(keep("all", "2"))
	d.Tell(set(all))
	var names []messages.BindingName
	for i := range 9 {
		names = append(names, messages.BindingName(fmt.Sprint("w", i)))
		d.Tell(on(names[i], 2, "e1"))
	}
	d.Tell(from("e1", names...)...)
	edited := single(keep("all", "3"))
	edited.Name = all.Name
	var told []messages.BindingName
	for _, mail := range d.Tell(set(edited)).Mail() {
		if _, delayed := mail.Message.(*messages.EvictionDelayed); delayed {
			told = append(told, messages.BindingName(mail.To.Name))
		}
	}
	require.Equal(t, names, told)
}

// TestReplicasBeyondWhatIsExpectedLetNothingMoreGo has a workload serve twice during its handover.
func TestReplicasBeyondWhatIsExpectedLetNothingMoreGo(t *testing.T) {
	d := funded(t, keep("all", "4"))
	twice := on("a", 2, "e1", "u1")
	twice.Expected = 2
	n := d.Tell(twice, changed(on("c", 2, "e1"), 0, messages.Stays))
	require.Equal(t, []string{"all 4/6 0, 0"}, listed(n))
	require.Empty(t, gone(d.Tell(from("e1", "b")...)))
}
