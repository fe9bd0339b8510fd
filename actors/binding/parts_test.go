package binding

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// The parts by themselves, without a Binding around them.

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func looking(change func(*view)) *view {
	v := &view{name: "default/web", declared: declared{settings: &messages.Settings{}}}
	change(v)
	return v
}

func TestACountdownThatIsDueWaitsForOthersAndNotForTime(t *testing.T) {
	c := countdown{at: began}
	require.Equal(t, began, c.deadline())
	c.due = true
	require.Zero(t, c.deadline())
	require.Zero(t, (&countdown{}).deadline())
}

func TestClaimsKeepTheLastOfEachPolicyAndTheirOwner(t *testing.T) {
	v := looking(func(*view) {})
	cs := claims{owner: "a"}
	cs.apply(&messages.ClaimMade{Policy: "a", Priority: 1})
	cs.apply(&messages.ClaimMade{Policy: "b", Priority: 9})
	cs.apply(&messages.ClaimMade{Policy: "a", Priority: 2})
	require.True(t, cs.settling)
	require.Len(t, cs.made, 2)
	require.Equal(t, int32(2), cs.best(v).Priority)
	cs.apply(&messages.ClaimWithdrawn{Policy: "a"})
	require.Empty(t, cs.owner)
	require.Equal(t, messages.PropagationName("b"), cs.best(v).Policy)
}

func TestAFailbackWaitsForItsStabilization(t *testing.T) {
	v := looking(func(v *view) {
		seconds := int32(60)
		v.spec.Failover = &api.FailoverBehavior{Cluster: &api.ClusterFailover{
			Failback: &api.Failback{Mode: api.FailbackAutomatic, StabilizationSeconds: &seconds},
		}}
		v.targets = []target{{cluster: "m2", replicas: 2}}
	})
	var out actors.Outbox
	f := &failback{shares: []preferred{{TargetCluster: api.TargetCluster{Name: "m1", Replicas: 2}}}}
	require.Zero(t, f.deadline(v))
	f.apply(v, began, &messages.ReturnJudged{Cluster: "m1", Possible: true}, &out)
	require.Equal(t, began.Add(time.Minute), f.deadline(v))
	f.apply(v, began.Add(time.Second), &messages.ReturnJudged{Cluster: "m1"}, &out)
	require.Zero(t, f.deadline(v))
	require.Equal(t, []messages.Fact{
		&messages.ShareFailbackScheduled{Binding: v.name, Cluster: "m1", At: began.Add(time.Minute)},
		&messages.ShareFailbackCancelled{Binding: v.name, Cluster: "m1"},
	}, out.Facts())
	require.False(t, f.returned(v))
	v.targets[0].cluster = "m1"
	require.True(t, f.returned(v))
}

func TestDependenciesHearOnlyWhatIsNew(t *testing.T) {
	v := looking(func(v *view) {
		v.created, v.spec.PropagateDeps = true, true
		v.workload = &messages.Workload{Dependencies: []messages.BindingName{"default/config"}}
		v.targets = []target{{cluster: "m1", replicas: 1}}
	})
	var out actors.Outbox
	ds := &dependencies{}
	ds.tell(v, &out)
	require.Len(t, out.Mail(), 1)
	out.Reset()
	ds.tell(v, &out)
	require.Empty(t, out.Mail())
	ds.forget("default/config")
	ds.tell(v, &out)
	require.Len(t, out.Mail(), 1)
}

func TestAHandoverEndsAtItsEarliestTask(t *testing.T) {
	v := looking(func(v *view) {
		v.handover.tasks = []task{
			{GracefulEvictionTask: api.GracefulEvictionTask{FromCluster: "m1", CreationTimestamp: &metav1.Time{Time: began}}, recheck: began.Add(time.Hour)},
			{GracefulEvictionTask: api.GracefulEvictionTask{FromCluster: "m2", CreationTimestamp: &metav1.Time{Time: began.Add(time.Second)}}, recheck: began.Add(time.Minute)},
		}
	})
	h := &v.handover
	require.Equal(t, began.Add(time.Minute), h.deadline(v))
	require.Equal(t, began.Add(time.Second), h.handoverBegan())
	require.True(t, h.underWay())
	h.tasks[0].overdue, h.tasks[1].overdue = true, true
	require.False(t, h.underWay())
	var out actors.Outbox
	h.apply(v, &messages.ReportTrial{Cluster: "m2"}, &out)
	require.True(t, h.tasks[1].trial)
	h.end(v, began.Add(time.Minute), 1, messages.EndedHealthy, &out)
	require.Equal(t, began.Add(time.Hour), h.deadline(v))
	require.Contains(t, out.Mail(), actors.Mail{
		To:      messages.Address{Kind: messages.KindGovernor},
		Message: &messages.TrialConcluded{Binding: v.name, Cluster: "m2", Serves: true},
	})
}

func TestADisruptionAsksForPermitsWhereSomethingLimits(t *testing.T) {
	v := looking(func(v *view) { v.settings.EvictionNeedsDestination = true })
	var d *disruption
	require.False(t, d.permits(v, false))
	v.heldAnnounced(true)
	require.True(t, d.permits(v, true), "while people hold anybody, who is sick asks, too")
	v.heldAnnounced(false)
	v.settings.EvictionBudgets = true
	d = &disruption{}
	d.apply(v, &messages.BudgetsSet{Budgets: []messages.Budget{{Name: "default/any", Spec: &api.EvictionBudgetSpec{}}}})
	require.True(t, d.permits(v, false))
	require.False(t, d.permits(v, true))
}

func TestAPlacementIsAsWishedUntilAnotherIsAskedFor(t *testing.T) {
	v := looking(func(v *view) {
		v.spec.Placement, v.spec.Replicas = &api.Placement{}, 2
		v.applied = v.spec.Placement
		v.targets = []target{{cluster: "m1", replicas: 2}}
	})
	q := &request{lastScheduled: began}
	require.True(t, q.asWished(v))
	q.rescheduleAt = began.Add(time.Second)
	require.False(t, q.asWished(v))
}

func TestReplicasThatWaitAreGivenUpAfterTheirThreshold(t *testing.T) {
	v := looking(func(v *view) {
		v.settings.UnschedulableThreshold = time.Minute
		v.targets = []target{{cluster: "m1", replicas: 3}}
	})
	var out actors.Outbox
	u := &unschedulable{}
	u.count(v, began, "m1", 2, &out)
	require.Zero(t, u.deadline(v), "nobody gives them up without the descheduler")
	due, _ := u.due(v, began, "m1")
	require.Zero(t, due)
	due, since := u.due(v, began.Add(time.Hour), "m1")
	require.Equal(t, int32(2), due)
	require.Equal(t, began, since)
	require.Empty(t, u.list())
}

func TestTargetsAreListedWhileTheySayTheSame(t *testing.T) {
	ts := targets{{cluster: "m1", replicas: 2}, {cluster: "m2", replicas: 1}}
	list := []api.TargetCluster{{Name: "m1", Replicas: 2}, {Name: "m2", Replicas: 1}}
	require.Same(t, &list[0], &ts.asListed(list)[0])
	ts.of("m2").replicas = 3
	require.Equal(t, []api.TargetCluster{{Name: "m1", Replicas: 2}, {Name: "m2", Replicas: 3}}, ts.asListed(list))
	require.Nil(t, ts.of("m3"))
}

func TestTargetsThatShrinkRunOnWithWhatTheyHave(t *testing.T) {
	ts := targets{{cluster: "m1", replicas: 2}, {cluster: "m2", replicas: 1}}
	ts.keepShares(true)
	ts.of("m1").replicas, ts.of("m2").replicas = 1, 2
	require.Equal(t, []api.TargetCluster{{Name: "m1", Replicas: 2}}, ts.keeping())
	require.Zero(t, ts.of("m2").keeps)
}

func TestThePastForgetsTheOldestFailovers(t *testing.T) {
	var none *past
	require.Empty(t, none.failovers())
	require.False(t, none.goesRound(began, "m1"))
	var history []api.FailoverRecord
	for i := range eviction.Remembered + 1 {
		history = append(history, api.FailoverRecord{
			Reason: api.EvictionReasonApplicationFailure, FromCluster: "m1", StartTime: metav1.MicroTime{Time: began.Add(time.Duration(i))},
		})
	}
	p := pastOf(append(history, api.FailoverRecord{Reason: api.EvictionReasonTaintUntolerated, FromCluster: "m2"}))
	require.Len(t, p.failovers(), eviction.Remembered)
	require.Equal(t, hop{"m1", began.Add(1)}, p.failovers()[0])
	require.Nil(t, pastOf(nil))
}

func TestWhatIsDeclaredComesBeforeTheSettings(t *testing.T) {
	d := declared{settings: &messages.Settings{ApplicationFailoverLimit: 3, ApplicationFailoverWindow: time.Hour, ApplicationCooldown: time.Minute}}
	limit, window, cooldown := d.limits()
	require.Equal(t, []any{3, time.Hour, time.Minute}, []any{limit, window, cooldown})
	most := int32(1)
	d.spec.Failover = &api.FailoverBehavior{Application: &api.ApplicationFailover{Pace: &api.FailoverPace{MaxFailovers: &most}}}
	limit, window, _ = d.limits()
	require.Equal(t, []any{1, time.Hour}, []any{limit, window})
}
