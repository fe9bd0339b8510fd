package failover_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
)

const web = messages.BindingName("shop/web")

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// told folds facts, one a second from second 1 on, and keeps the steps and the failovers that they are about.
type told struct {
	fold  failover.Fold
	now   time.Time
	steps []string
	all   []*failover.Failover
}

var names = [...]string{"scheduled", "blocked", "evicted", "placed", "available", "released", "removed", "cancelled"}

func tell(facts ...messages.Fact) *told {
	t := &told{fold: failover.Fold{}, now: start}
	t.tell(facts...)
	return t
}

func (t *told) tell(facts ...messages.Fact) {
	for _, f := range facts {
		t.now = t.now.Add(time.Second)
		t.fold.Take(t.now, f, t.step)
	}
}

func (t *told) step(at time.Time, s failover.Step, f *failover.Failover) {
	if !slices.Contains(t.all, f) {
		t.all = append(t.all, f)
	}
	t.steps = append(t.steps, fmt.Sprintf("%d %s %s", int(at.Sub(start).Seconds()), f.Cluster, names[s]))
}

func on(names ...string) (all []api.TargetCluster) {
	for _, n := range names {
		all = append(all, api.TargetCluster{Name: n, Replicas: 2})
	}
	return all
}

func countdown(c messages.ClusterName, reason string) *messages.EvictionScheduled {
	return &messages.EvictionScheduled{Binding: web, Cluster: c, Grounds: messages.Grounds{Reason: reason, Deadline: start.Add(time.Minute)}}
}

func blocked(c messages.ClusterName, reason string) *messages.EvictionBlocked {
	return &messages.EvictionBlocked{Binding: web, Cluster: c, Reason: reason, Grounds: messages.Grounds{Reason: api.EvictionReasonTaintUntolerated}}
}

func evicted(c messages.ClusterName, reason string) *messages.EvictionStarted {
	return &messages.EvictionStarted{Binding: web, Cluster: c, Task: api.GracefulEvictionTask{FromCluster: string(c), Reason: reason}, Grounds: messages.Grounds{Reason: reason}}
}

func placed(from messages.ClusterName, clusters ...string) *messages.Scheduled {
	return &messages.Scheduled{Binding: web, Clusters: on(clusters...), Takeovers: []messages.Takeover{{From: from, By: on(clusters...)}}}
}

func health(c messages.ClusterName, h api.ResourceHealth) messages.Fact {
	return &messages.HealthChanged{Binding: web, Cluster: c, Health: h}
}

func ended(c messages.ClusterName, why string) messages.Fact {
	return &messages.EvictionEnded{Binding: web, Cluster: c, Reason: why}
}

func forgotten(c messages.ClusterName) messages.Fact {
	return &messages.HealthForgotten{Binding: web, Cluster: c}
}

func stopped(c messages.ClusterName) messages.Fact {
	return &messages.EvictionCancelled{Binding: web, Cluster: c, Reason: "no NoExecute taint remains"}
}

func withdrawn(c messages.ClusterName, clusters ...string) messages.Fact {
	return &messages.EvictionWithdrawn{Binding: web, Cluster: c, Reason: "m1 is Ready", Clusters: on(clusters...)}
}

const (
	tainted   = api.EvictionReasonTaintUntolerated
	unhealthy = api.EvictionReasonApplicationFailure
)

// TestAFailoverTellsEachOfItsSteps holds every field of one that takes all steps.
func TestAFailoverTellsEachOfItsSteps(t *testing.T) {
	held, begun := blocked("m1", "EvictionRate"), evicted("m1", tainted)
	f := tell(countdown("m1", tainted), held, begun, placed("m1", "m2"), health("m2", api.Unhealthy),
		health("m2", api.Healthy), health("m1", api.Healthy), ended("m1", messages.EndedHealthy), forgotten("m1"))
	after := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	require.Len(t, f.all, 1)
	require.EqualExportedValues(t, failover.Failover{
		Key: failover.Key{Binding: web, Cluster: "m1"}, Cause: &begun.Grounds, Scheduled: after(1), BlockedBy: held,
		Eviction: begun, Evicted: after(3), Placed: after(4), To: on("m2"), Available: after(6),
		Released: after(8), Reason: messages.EndedHealthy,
	}, *f.all[0])
	require.Equal(t, "9 m1 removed", f.steps[len(f.steps)-1])
	require.Empty(t, f.fold, "nothing is kept of what is over")
}

func TestFactsAreFoldedIntoSteps(t *testing.T) {
	deleted := &messages.BindingDeleted{Binding: web}
	for name, c := range map[string]struct {
		facts []messages.Fact
		steps string
		kept  int
	}{
		"cancelled before its deadline":            {[]messages.Fact{countdown("m1", tainted), stopped("m1")}, "1 m1 scheduled, 2 m1 cancelled", 0},
		"blocked, then cancelled":                  {[]messages.Fact{blocked("m1", "Held"), stopped("m1")}, "1 m1 blocked, 2 m1 cancelled", 0},
		"blocked for two reasons, then evicted":    {[]messages.Fact{blocked("m1", "EvictionRate"), blocked("m1", "NoClusterFit"), evicted("m1", tainted)}, "1 m1 blocked, 2 m1 blocked, 3 m1 evicted", 1},
		"no longer a target while it counts down":  {[]messages.Fact{countdown("m1", tainted), placed("", "m2")}, "1 m1 scheduled, 2 m1 cancelled", 0},
		"still a target while it counts down":      {[]messages.Fact{countdown("m1", tainted), placed("", "m1", "m2")}, "1 m1 scheduled", 1},
		"a result that is void":                    {[]messages.Fact{countdown("m1", tainted), &messages.ScheduleFailed{Binding: web, Cleared: true}}, "1 m1 scheduled, 2 m1 cancelled", 0},
		"a result that holds":                      {[]messages.Fact{countdown("m1", tainted), &messages.ScheduleFailed{Binding: web}}, "1 m1 scheduled", 1},
		"descheduled, but not from all":            {[]messages.Fact{countdown("m1", tainted), &messages.BindingDescheduled{Binding: web, Clusters: on("m1")}}, "1 m1 scheduled", 1},
		"the placement without it is confirmed":    {[]messages.Fact{countdown("m2", tainted), evicted("m1", tainted), &messages.PlacementConfirmed{Binding: web}}, "1 m2 scheduled, 2 m1 evicted, 3 m1 placed", 1},
		"placed once":                              {[]messages.Fact{evicted("m1", tainted), placed("m1", "m2"), placed("m1", "m3")}, "1 m1 evicted, 2 m1 placed", 1},
		"two together":                             {[]messages.Fact{evicted("m1", tainted), evicted("m2", tainted), placed("m1", "m3"), health("m3", api.Healthy), ended("m2", messages.EndedHealthy)}, "1 m1 evicted, 2 m2 evicted, 3 m1 placed, 3 m2 placed, 4 m1 available, 4 m2 available, 5 m2 released", 1},
		"a handover that is withdrawn":             {[]messages.Fact{evicted("m1", tainted), placed("m1", "m2"), withdrawn("m1", "m1")}, "1 m1 evicted, 2 m1 placed, 3 m1 cancelled", 0},
		"withdrawn, and another goes on":           {[]messages.Fact{evicted("m1", tainted), evicted("m2", tainted), withdrawn("m1", "m1")}, "1 m1 evicted, 2 m2 evicted, 3 m1 cancelled", 1},
		"an end of the countdown of a handover":    {[]messages.Fact{evicted("m1", tainted), stopped("m1")}, "1 m1 evicted", 1},
		"evicted twice, its old copy removed":      {[]messages.Fact{evicted("m1", tainted), ended("m1", "timeout"), forgotten("m1"), placed("", "m1"), evicted("m1", tainted)}, "1 m1 evicted, 2 m1 released, 3 m1 removed, 5 m1 evicted", 1},
		"evicted twice, its old copy still there":  {[]messages.Fact{evicted("m1", tainted), ended("m1", "timeout"), placed("", "m1"), evicted("m1", tainted), ended("m1", "timeout"), forgotten("m1")}, "1 m1 evicted, 2 m1 released, 4 m1 evicted, 5 m1 released, 6 m1 removed", 0},
		"evicted again during its handover":        {[]messages.Fact{evicted("m1", tainted), placed("m1", "m1"), evicted("m1", tainted), ended("m1", "timeout")}, "1 m1 evicted, 2 m1 placed, 3 m1 evicted, 4 m1 released, 4 m1 released", 1},
		"deleted while it counts down":             {[]messages.Fact{countdown("m1", tainted), deleted}, "1 m1 scheduled, 2 m1 cancelled", 0},
		"deleted during the handover":              {[]messages.Fact{evicted("m1", tainted), deleted, ended("m1", messages.EndedDeleted)}, "1 m1 evicted, 2 m1 cancelled", 0},
		"deleted after the handover":               {[]messages.Fact{evicted("m1", tainted), ended("m1", "timeout"), deleted}, "1 m1 evicted, 2 m1 released", 0},
		"a countdown that a restart tells again":   {[]messages.Fact{countdown("m1", tainted), countdown("m1", tainted), stopped("m1"), stopped("m1")}, "1 m1 scheduled, 2 m1 scheduled, 3 m1 cancelled", 0},
		"a handover that a restart tells again":    {[]messages.Fact{evicted("m1", tainted), placed("m1", "m2"), evicted("m1", tainted), placed("m1", "m2"), ended("m1", "timeout"), ended("m1", "timeout")}, "1 m1 evicted, 2 m1 placed, 5 m1 released", 1},
		"what began before the first fact":         {[]messages.Fact{placed("m1", "m2"), health("m2", api.Healthy), ended("m1", "timeout"), forgotten("m1"), stopped("m1"), withdrawn("m1")}, "", 0},
		"failover of an application":               {[]messages.Fact{countdown("m1", unhealthy), evicted("m1", unhealthy), placed("m1", "m2"), ended("m1", messages.EndedTimeout)}, "1 m1 scheduled, 2 m1 evicted, 3 m1 placed, 4 m1 released", 1},
		"an old copy that fails and starts again":  {[]messages.Fact{evicted("m1", tainted), forgotten("m1"), ended("m1", "timeout"), forgotten("m1")}, "1 m1 evicted, 3 m1 released, 4 m1 removed", 0},
		"an old copy that is preserved":            {[]messages.Fact{evicted("m1", tainted), ended("m1", "timeout"), &messages.CopyPreserved{Binding: web, Cluster: "m1"}}, "1 m1 evicted, 2 m1 released", 0},
		"a cluster that is removed":                {[]messages.Fact{evicted("m1", tainted), countdown("m2", tainted), &messages.ClusterRemoved{Cluster: "m1"}}, "1 m1 evicted, 2 m2 scheduled, 3 m1 cancelled", 1},
		"what is about no failover":                {[]messages.Fact{&messages.BindingCreated{Binding: web}, &messages.TaintAdded{Cluster: "m1"}}, "", 0},
		"an end that is told of another binding":   {[]messages.Fact{evicted("m1", tainted), &messages.EvictionEnded{Binding: "shop/db", Cluster: "m1"}}, "1 m1 evicted", 1},
		"an end that is told of another cluster":   {[]messages.Fact{evicted("m1", tainted), ended("m2", "timeout"), withdrawn("m3"), forgotten("m2")}, "1 m1 evicted", 1},
		"released, and its countdown begins again": {[]messages.Fact{evicted("m1", tainted), ended("m1", "timeout"), countdown("m1", tainted), stopped("m1"), forgotten("m1")}, "1 m1 evicted, 2 m1 released, 3 m1 scheduled, 4 m1 cancelled, 5 m1 removed", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := tell(c.facts...)
			require.Equal(t, c.steps, strings.Join(f.steps, ", "))
			require.Len(t, f.fold, min(1, c.kept))
			for _, b := range f.fold {
				kept := 0
				for range b.Handovers() {
					kept++
				}
				require.LessOrEqual(t, kept, c.kept)
			}
		})
	}
}

// TestReasons holds what the ends say that no fact about the failover names.
func TestReasons(t *testing.T) {
	for name, c := range map[string]struct {
		end    messages.Fact
		reason string
	}{
		"a countdown":           {stopped("m1"), "no NoExecute taint remains"},
		"a withdrawal":          {withdrawn("m1"), "the cluster is no longer a target"},
		"the binding's end":     {&messages.BindingDeleted{Binding: web}, "the binding was deleted"},
		"the cluster's end":     {&messages.ClusterRemoved{Cluster: "m1"}, "the cluster was removed"},
		"another placement":     {placed("", "m2"), "the cluster is no longer a target"},
		"a deadline goes on":    {countdown("m1", unhealthy), ""},
		"nothing to do with it": {placed("", "m1"), ""},
	} {
		f := tell(countdown("m1", tainted), c.end)
		require.Equal(t, c.reason, f.all[0].Reason, name)
		require.Equal(t, c.reason != "", f.all[0].Cancelled.Equal(start.Add(2*time.Second)), name)
	}
	f := tell(countdown("m1", tainted), countdown("m1", unhealthy))
	require.Equal(t, unhealthy, f.all[0].Cause.Reason, "the cause is the one told last")
	require.Equal(t, start.Add(time.Second), f.all[0].Scheduled, "the countdown began with the first")
	f = tell(evicted("m1", tainted), withdrawn("m1", "m1"))
	require.Equal(t, "m1 is Ready", f.all[0].Reason)
}

func TestABindingKnowsItsTargets(t *testing.T) {
	b := failover.Stored(web, &api.BindingSpec{Clusters: on("m1", "m2"), GracefulEvictionTasks: []api.GracefulEvictionTask{
		{FromCluster: "m8"}, {FromCluster: "m9", CreationTimestamp: &metav1.Time{Time: start}},
	}})
	var steps []string
	take := func(f messages.Fact) []api.TargetCluster {
		b.Take(start, f, func(_ time.Time, s failover.Step, f *failover.Failover) {
			steps = append(steps, string(f.Cluster)+" "+names[s])
		})
		return b.Clusters
	}
	var began []time.Time
	for o := range b.Handovers() {
		began = append(began, o.Evicted)
	}
	require.Equal(t, []time.Time{time.Unix(0, 0), start}, began)
	require.Equal(t, on("m2"), take(evicted("m1", tainted)))
	require.Equal(t, on("m3"), take(placed("m1", "m3")))
	require.Equal(t, on("m3"), take(&messages.PlacementConfirmed{Binding: web}))
	require.Equal(t, on("m1", "m3"), take(withdrawn("m1", "m1", "m3")))
	require.Equal(t, on("m1"), take(&messages.BindingDescheduled{Binding: web, Clusters: on("m1")}))
	require.Equal(t, on("m1"), take(&messages.ScheduleFailed{Binding: web}))
	require.Empty(t, take(&messages.ScheduleFailed{Binding: web, Cleared: true}))
	take(ended("m9", messages.EndedTimeout))
	require.Equal(t, []string{"m1 evicted", "m8 placed", "m9 placed", "m1 placed", "m1 cancelled", "m9 released"}, steps)
}

// TestManyFailoversKeepNothing folds as many as a storm has, and keeps none.
func TestManyFailoversKeepNothing(t *testing.T) {
	fold, last := failover.Fold{}, 0
	step := func(_ time.Time, s failover.Step, _ *failover.Failover) {
		if s == failover.Removed {
			last++
		}
	}
	names := make([]messages.BindingName, 10_000)
	for i := range names {
		names[i] = messages.BindingName(fmt.Sprintf("shop/web-%d", i))
	}
	for _, facts := range []func(messages.BindingName) messages.Fact{
		func(b messages.BindingName) messages.Fact {
			return &messages.EvictionStarted{Binding: b, Cluster: "m1"}
		},
		func(b messages.BindingName) messages.Fact { return &messages.Scheduled{Binding: b, Clusters: on("m2")} },
		func(b messages.BindingName) messages.Fact { return &messages.EvictionEnded{Binding: b, Cluster: "m1"} },
		func(b messages.BindingName) messages.Fact {
			return &messages.HealthForgotten{Binding: b, Cluster: "m1"}
		},
	} {
		for _, b := range names {
			fold.Take(start, facts(b), step)
		}
	}
	require.Equal(t, len(names), last)
	require.Empty(t, fold)
}

// BenchmarkTake folds the facts of one failover, beside 100,000 others that are open.
func BenchmarkTake(b *testing.B) {
	fold, none := failover.Fold{}, func(time.Time, failover.Step, *failover.Failover) {}
	for i := range 100_000 {
		fold.Take(start, &messages.EvictionStarted{Binding: messages.BindingName(fmt.Sprintf("shop/web-%d", i)), Cluster: "m1"}, none)
	}
	facts := []messages.Fact{countdown("m1", tainted), evicted("m1", tainted), placed("m1", "m2"), health("m2", api.Healthy), ended("m1", messages.EndedHealthy), forgotten("m1")}
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range facts {
			fold.Take(start, f, none)
		}
	}
}
