package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func budgeting(s *messages.Settings) { s.EvictionBudgets = true }

// budgets are one for the binding's namespace, and one for those that are labelled gold.
func budgets() *messages.BudgetsSet {
	gold := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
	return &messages.BudgetsSet{Budgets: []messages.Budget{
		{Name: "default/all", Spec: &api.EvictionBudgetSpec{}},
		{Name: "gold", Spec: &api.EvictionBudgetSpec{Workloads: api.WorkloadSelector{LabelSelector: gold}}},
	}}
}

// observed is what the governor was last told of the workload in a step; nil: nothing.
func observed(n *actorstest.Network) (last *messages.WorkloadObserved) {
	for _, m := range actorstest.MailTo(n.Mail(), governor) {
		if m, ok := m.(*messages.WorkloadObserved); ok {
			last = m
		}
	}
	return last
}

func share(cluster messages.ClusterName, replicas, serving int32, d messages.EvictionStage) messages.ServingShare {
	return messages.ServingShare{Cluster: cluster, Replicas: replicas, Serving: serving, Stage: d}
}

func TestWithoutBudgetsNoGovernorIsToldOfAWorkload(t *testing.T) {
	b := placed(t, settings(budgeting), duplicated(), "m1:2")
	require.Nil(t, observed(b.tell(report("m1", api.Healthy, 2, 1))))
	b = placed(t, settings(), duplicated(), "m1:2")
	require.Nil(t, observed(b.tell(budgets())), "budgets do not count")
}

func TestTheGovernorIsToldOfAnEvictionStepByStep(t *testing.T) {
	b := placed(t, settings(budgeting, destinationFirst), divided(), "m1:2")
	want := &messages.WorkloadObserved{
		Binding: name, Budgets: []messages.BudgetName{"default/all"}, Expected: 2,
		Shares: []messages.ServingShare{share("m1", 2, 2, messages.Stays)},
	}
	require.Equal(t, want, observed(b.tell(budgets())))
	require.Equal(t, []messages.ServingShare{share("m1", 2, 1, messages.Stays)}, observed(b.tell(report("m1", api.Unhealthy, 1, 1))).Shares)
	require.Nil(t, observed(b.tell(report("m1", api.Unhealthy, 1, 1))), "that is no news")
	b.tell(report("m1", api.Healthy, 2, 1))
	require.Equal(t, []messages.ServingShare{share("m1", 2, 2, messages.Asks)}, observed(b.tell(tainted("m1", b.Now(), "down"))).Shares)
	require.Equal(t, []messages.ServingShare{share("m1", 2, 2, messages.Permitted)}, observed(b.tell(permit("m1"))).Shares)
	left := observed(b.tell(b.replace("m1", "m2:2")))
	require.Equal(t, []messages.ServingShare{share("m2", 2, 0, messages.Stays), share("m1", 0, 2, messages.Leaves)}, left.Shares)
	require.Equal(t, int64(2), left.Expected)
}

func TestWhereThereAreBudgetsPermitsAreAskedFor(t *testing.T) {
	b := placed(t, settings(budgeting, destinationFirst, unlimited), divided(), "m1:2")
	b.tell(&messages.BudgetsSet{Budgets: budgets().Budgets[1:]})
	b.tell(tainted("m1", b.Now(), "down")).Told(governor, wish("m1", b.Now()))
}

func TestAWorkloadThatIsEvictedImmediatelySaysSo(t *testing.T) {
	b := placed(t, settings(budgeting, purgeDirectly), divided(), "m1:2")
	b.tell(report("m1", api.Healthy, 2, 1))
	require.True(t, observed(b.tell(budgets())).PurgedDirectly)
	b.tell(tainted("m1", b.Now(), "down"))
	left := observed(b.tell(permit("m1")))
	require.Equal(t, []messages.ServingShare{share("m1", 0, 0, messages.Leaves)}, left.Shares, "what is purged serves no more")
	require.Equal(t, int64(2), left.Expected, "two have no place")
}

func TestCopiesThatNothingHasReplacedAreStillExpected(t *testing.T) {
	b := placed(t, settings(budgeting), duplicated(), "m1:2", "m2:2")
	require.Equal(t, int64(4), observed(b.tell(budgets())).Expected)
	b.tell(tainted("m1", b.Now(), "down"))
	left := observed(b.tell(permit("m1")))
	require.Equal(t, []messages.ServingShare{share("m2", 2, 2, messages.Stays), share("m1", 0, 2, messages.Leaves)}, left.Shares)
	require.Equal(t, int64(4), left.Expected)
}

func TestAResourceWithoutReplicasCountsAsOne(t *testing.T) {
	b := drive(t, settings(budgeting))
	plain := &messages.WorkloadApplied{Workload: &messages.Workload{Binding: name, APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "web"}}
	b.tell(budgets(), plain, claim("default/p", duplicated()))
	b.tell(b.place("m1"))
	n := observed(b.tell(report("m1", api.Healthy, 0, 1)))
	require.Equal(t, []messages.ServingShare{share("m1", 1, 1, messages.Stays)}, n.Shares)
	require.Equal(t, int64(1), n.Expected)
}

func TestLabelsAndAnnotationsOfTheResourceCount(t *testing.T) {
	b := placed(t, settings(budgeting), divided(), "m1:2")
	b.tell(budgets())
	gold := workload(2)
	gold.Workload.Labels = map[string]string{"tier": "gold"}
	require.Equal(t, []messages.BudgetName{"default/all", "gold"}, observed(b.tell(gold)).Budgets)
	let := workload(2)
	let.Workload.Annotations = map[string]string{api.AnnotationExceedBudget: "ticket 7"}
	require.Equal(t, "ticket 7", observed(b.tell(let)).Exceeds)
}

func TestWhatIsNoLongerSelectedSaysSoOnce(t *testing.T) {
	for what, m := range map[string]messages.ToBinding{
		"the budgets are gone":    &messages.BudgetsSet{},
		"they count no longer":    &messages.SettingsChanged{Settings: settings()},
		"the workload is deleted": &messages.WorkloadDeleted{},
	} {
		t.Run(what, func(t *testing.T) {
			b := placed(t, settings(budgeting), divided(), "m1:2")
			b.tell(budgets())
			require.Equal(t, &messages.WorkloadObserved{Binding: name}, observed(b.tell(m)))
			require.Nil(t, observed(b.advance(time.Hour)))
		})
	}
}

// It has neither targets nor a placement of its own: nothing of it is ever evicted.
func TestWhatOthersNeedTakesNothingFromABudget(t *testing.T) {
	b := drive(t, settings(budgeting))
	all := &messages.WorkloadObserved{Binding: name, Budgets: []messages.BudgetName{"default/all"}}
	require.Equal(t, all, observed(b.tell(budgets(), workload(0), requiring("default/api", "m1", "m2"))))
}

// bounded returns a binding that serves on m1 and m2, of which m1 must be evicted from and has a permit, under a budget.
func bounded(t *testing.T, s messages.Settings, mode api.PurgeMode, spec *api.EvictionBudgetSpec) *subject {
	t.Helper()
	p := divided()
	p.Failover = &api.FailoverBehavior{Cluster: &api.ClusterFailover{PurgeMode: mode}}
	b := placed(t, s, p, "m1:2", "m2:2")
	b.tell(report("m1", api.Healthy, 2, 1), report("m2", api.Healthy, 2, 1))
	b.tell(&messages.BudgetsSet{Budgets: []messages.Budget{{Name: "default/all", Spec: spec}}})
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	return b
}

func TestWhatLeavesDirectlyTakesNothingAlongThatItsBudgetCounts(t *testing.T) {
	least := &api.EvictionBudgetSpec{MinAvailable: new(intstr.FromInt32(2))}
	graceful := settings(budgeting, destinationFirst, func(s *messages.Settings) { s.GracefulMoves = true })
	for name, c := range map[string]struct {
		settings messages.Settings
		mode     api.PurgeMode
		spec     *api.EvictionBudgetSpec
		alone    bool
	}{
		"directly, some have to serve":      {graceful, api.PurgeDirectly, least, true},
		"directly, some need not serve":     {graceful, api.PurgeDirectly, &api.EvictionBudgetSpec{MaxUnavailable: least.MinAvailable}, true},
		"directly, whichever copy serves":   {graceful, api.PurgeDirectly, &api.EvictionBudgetSpec{MaxMoved: &api.MaxMoved{}}, false},
		"directly, of others":               {graceful, api.PurgeDirectly, &api.EvictionBudgetSpec{MinAvailable: least.MinAvailable, Workloads: api.WorkloadSelector{MinPriority: new(int32(9))}}, false},
		"gracefully":                        {graceful, api.PurgeGracefully, least, false},
		"where moves are never graceful":    {settings(budgeting, destinationFirst), api.PurgeGracefully, least, true},
		"where budgets do not count at all": {settings(destinationFirst), api.PurgeDirectly, least, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := bounded(t, c.settings, c.mode, c.spec)
			require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving)
			require.Equal(t, c.alone, b.asked.Alone)
		})
	}
}

func TestWhoIsHeldForWhatWouldGoAlongNamesTheBudgetAndGoesOnceNothingElseServes(t *testing.T) {
	least := &api.EvictionBudgetSpec{MinAvailable: new(intstr.FromInt32(2))}
	b := bounded(t, settings(budgeting, destinationFirst), api.PurgeDirectly, least)
	h := b.holdBack("m1")
	h.Obstacle = &messages.Obstacle{Reason: api.ReasonBudgetSpent, Message: "m2 would go along"}
	n := b.tell(h)
	require.Equal(t, "budget default/all: m2 would go along", actorstest.FactsOf[*messages.EvictionBlocked](n.Facts())[0].Message)
	for what, m := range map[string]messages.ToBinding{
		"what would go along is unhealthy": report("m2", api.Unhealthy, 0, 1),
		"it is allowed":                    exceeding("ticket 7"),
		"the budget is gone":               &messages.BudgetsSet{},
	} {
		t.Run(what, func(t *testing.T) {
			b := bounded(t, settings(budgeting, destinationFirst), api.PurgeDirectly, least)
			h := b.holdBack("m1")
			h.Obstacle = &messages.Obstacle{Reason: api.ReasonBudgetSpent, Message: "m2 would go along"}
			b.tell(h, report("m1", api.Unhealthy, 0, 1))
			require.True(t, b.asked.Alone)
			b.tell(m)
			require.False(t, b.asked.Alone)
			require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Seeking)
		})
	}
}

func TestWhoIsHeldForWhatWouldGoAlongTriesAgainWhenABudgetIsEdited(t *testing.T) {
	b := bounded(t, settings(budgeting, destinationFirst), api.PurgeDirectly, &api.EvictionBudgetSpec{MinAvailable: new(intstr.FromInt32(2))})
	b.tell(b.holdBack("m1"))
	edited := &api.EvictionBudgetSpec{MinAvailable: new(intstr.FromInt32(0))}
	n := b.tell(&messages.BudgetsSet{Budgets: []messages.Budget{{Name: "default/all", Spec: edited}}})
	require.Len(t, actorstest.MailTo(n.Mail(), scheduler), 1)
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Seeking)
}

func TestWhatMovesAlongByAnAnnotationIsOnRecord(t *testing.T) {
	b := bounded(t, settings(budgeting, destinationFirst), api.PurgeDirectly, &api.EvictionBudgetSpec{MinAvailable: new(intstr.FromInt32(2))})
	b.tell(exceeding("ticket 7"))
	p := b.replace("m1", "m3:4")
	p.Move, p.Leaving = api.EvictionReasonReschedule, append(p.Leaving, "m2")
	require.Equal(t, []*messages.BudgetExceeded{{
		Budget: "default/all", Binding: name, Cluster: "m1", AllowedBy: "its resource", Reason: "ticket 7", Message: "the copies on m2 are removed at the same time",
	}}, actorstest.FactsOf[*messages.BudgetExceeded](b.tell(p).Facts()))
}

// exceeding is the workload that may exceed budgets.
func exceeding(why string) *messages.WorkloadApplied {
	m := workload(4)
	m.Workload.Annotations = map[string]string{api.AnnotationExceedBudget: why}
	return m
}
