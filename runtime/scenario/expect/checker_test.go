package expect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario/expect"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// run plays facts and hands every settled instant to a checker.
type run struct {
	t       *testing.T
	store   *store.Store
	journal *journal.Journal
	checker *expect.Checker
	seen    int
}

func play(t *testing.T, expectations ...expect.Expectation) *run {
	t.Helper()
	for i := range expectations {
		expectations[i].Source = "x.yaml:7"
	}
	return &run{t: t, store: store.New(1), journal: journal.New(start), checker: expect.NewChecker(expectations, start)}
}

// at makes facts true at an instant and settles it.
func (r *run) at(offset time.Duration, facts ...messages.Fact) {
	now := start.Add(offset)
	for _, f := range facts {
		r.journal.Append(now, messages.Address{}, f)
		r.store.Apply(now, f)
	}
	r.checker.Settled(now, r.store, r.journal.Entries()[r.seen:])
	r.seen = r.journal.Len()
}

// put stores objects and settles the start.
func (r *run) put(objects ...api.Object) {
	for _, o := range objects {
		r.store.Put(o)
	}
	r.at(0)
}

func (r *run) end(offset time.Duration) []expect.Result { return r.checker.Finish(start.Add(offset)) }

func cluster(name string) *api.Cluster {
	return &api.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
}

func added(name, key string) *messages.TaintAdded {
	return &messages.TaintAdded{Cluster: messages.ClusterName(name), Taint: corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute}}
}

func removed(name, key string) *messages.TaintRemoved {
	return &messages.TaintRemoved{Cluster: messages.ClusterName(name), Taint: corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute}}
}

func tainted(mode expect.Mode, from, until time.Duration) expect.Expectation {
	return expect.Expectation{Mode: mode, From: from, Until: until, Subject: &expect.Taint{Cluster: "m1", Key: "down"}}
}

const (
	s  = time.Second
	no = "its taints are other:NoExecute"
)

// A cluster is tainted down:NoExecute from 10 s to 20 s, and has another taint all the time.
func TestStatesAreJudgedOverTime(t *testing.T) {
	for name, c := range map[string]struct {
		expectation expect.Expectation
		failedAt    float64
		reason      string
		metAt       float64
	}{
		"at the very instant of the change it holds":   {expectation: tainted(expect.At, 10*s, 10*s), metAt: 10},
		"at an instant at which nothing happens":       {expectation: tainted(expect.At, 15*s, 15*s), metAt: 15},
		"just before the change it does not":           {expectation: tainted(expect.At, 10*s-1, 10*s-1), failedAt: 9.999999999, reason: no},
		"just before the end it still does":            {expectation: tainted(expect.At, 20*s-1, 20*s-1), metAt: 19.999999999},
		"at the end of the change it does not":         {expectation: tainted(expect.At, 20*s, 20*s), failedAt: 20, reason: no},
		"an instant after the last change":             {expectation: tainted(expect.At, 50*s, 50*s), failedAt: 50, reason: no},
		"an instant that the run does not reach":       {expectation: tainted(expect.At, 2*time.Hour, 2*time.Hour), failedAt: 60, reason: "the run ended at 1m"},
		"within is met when it first holds":            {expectation: tainted(expect.Within, 0, 30*s), metAt: 10},
		"within is met when it holds already":          {expectation: tainted(expect.Within, 12*s, 30*s), metAt: 12},
		"within reaches to its last instant":           {expectation: tainted(expect.Within, 0, 10*s), metAt: 10},
		"within is too short":                          {expectation: tainted(expect.Within, 0, 10*s-1), failedAt: 9.999999999, reason: "not once; at the end " + no},
		"within begins too late":                       {expectation: tainted(expect.Within, 20*s, 40*s), failedAt: 40, reason: "not once; at the end " + no},
		"within is longer than the run":                {expectation: tainted(expect.Within, 20*s, 90*s), failedAt: 60, reason: "not once; the run ended at 1m, " + no},
		"always fails at the start":                    {expectation: tainted(expect.Always, 0, span.Max), reason: no},
		"always holds in its window":                   {expectation: tainted(expect.Always, 10*s, 20*s-1), metAt: 60},
		"always fails where its window ends too late":  {expectation: tainted(expect.Always, 10*s, 20*s), failedAt: 20, reason: no},
		"always fails where its window begins between": {expectation: tainted(expect.Always, 5*s, span.Max), failedAt: 5, reason: no},
		"never fails when it first holds":              {expectation: tainted(expect.Never, 0, span.Max), failedAt: 10, reason: "it did: its taints are other:NoExecute, down:NoExecute"},
		"never fails where its window begins between":  {expectation: tainted(expect.Never, 15*s, span.Max), failedAt: 15, reason: "it did: its taints are other:NoExecute, down:NoExecute"},
		"never holds after the window":                 {expectation: tainted(expect.Never, 20*s, span.Max), metAt: 60},
		"never holds before the window":                {expectation: tainted(expect.Never, 0, 10*s-1), metAt: 60},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, c.expectation)
			m1 := cluster("m1")
			m1.Spec.Taints = []corev1.Taint{added("m1", "other").Taint}
			r.put(m1)
			r.at(10*s, added("m1", "down"))
			r.at(12*s, added("m2", "down"))
			r.at(20*s, removed("m1", "down"))
			got := r.end(60 * s)[0]
			require.Equal(t, c.reason, got.Reason)
			require.Equal(t, c.reason == "", got.Passed)
			require.Equal(t, c.failedAt+c.metAt, got.At)
		})
	}
}

func started(binding, on string) *messages.EvictionStarted {
	return &messages.EvictionStarted{Binding: messages.BindingName(binding), Cluster: messages.ClusterName(on)}
}

// Evictions start at 10 s (default/a on m1), 20 s (default/b on m1) and 20 s (default/a on m2).
func TestEventsAreCountedOverTime(t *testing.T) {
	event := func(mode expect.Mode, from, until time.Duration, b expect.Bounds, e expect.Event) expect.Expectation {
		e.Kind = "EvictionStarted"
		return expect.Expectation{Mode: mode, From: from, Until: until, Count: b, Subject: &e}
	}
	all, onM1, ofB := expect.Event{}, expect.Event{Cluster: "m1"}, expect.Event{Binding: "default/b"}
	for name, c := range map[string]struct {
		expectation expect.Expectation
		passed      bool
		at          float64
		reason      string
	}{
		"at the instant":              {event(expect.At, 10*s, 10*s, expect.Bounds{}, all), true, 10, ""},
		"at another instant":          {event(expect.At, 11*s, 11*s, expect.Bounds{}, all), false, 11, "it did not happen"},
		"within":                      {event(expect.Within, 0, 30*s, expect.Bounds{}, ofB), true, 20, ""},
		"within, too early":           {event(expect.Within, 0, 19*s, expect.Bounds{}, ofB), false, 19, "it did not happen"},
		"never, of another cluster":   {event(expect.Never, 0, span.Max, expect.Bounds{}, expect.Event{Cluster: "m9"}), true, 60, ""},
		"never, in a window without":  {event(expect.Never, 11*s, 19*s, expect.Bounds{}, all), true, 60, ""},
		"never, but it did":           {event(expect.Never, 11*s, span.Max, expect.Bounds{}, onM1), false, 20, `it happened: EvictionStarted of default/b on m1`},
		"total at most":               {event(expect.Total, 0, span.Max, expect.Bounds{Max: 3}, all), true, 60, ""},
		"total, one too many":         {event(expect.Total, 0, span.Max, expect.Exactly(1), onM1), false, 20, `it happened 2 times, the last one: EvictionStarted of default/b on m1`},
		"total, one too few":          {event(expect.Total, 0, span.Max, expect.Bounds{Min: 4, Max: expect.Unbounded}, all), false, 60, "it happened 3 times"},
		"total of a window":           {event(expect.Total, 15*s, span.Max, expect.Exactly(2), all), true, 60, ""},
		"total, with a field":         {event(expect.Total, 0, span.Max, expect.Exactly(1), expect.Event{Fields: map[string]any{"task": map[string]any{"replicas": int64(2)}}}), true, 60, ""},
		"a window that never came":    {event(expect.Never, 2*time.Hour, span.Max, expect.Bounds{}, all), false, 60, "the run ended at 1m"},
		"total of none where none is": {event(expect.Total, 0, 5*s, expect.Exactly(0), all), true, 60, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, c.expectation)
			two := int32(2)
			first := started("default/a", "m1")
			first.Task.Replicas = &two
			r.at(10*s, first, &messages.BindingDeleted{Binding: "default/a"})
			r.at(20*s, started("default/b", "m1"), started("default/a", "m2"))
			got := r.end(60 * s)[0]
			require.Equal(t, c.passed, got.Passed, got)
			require.Equal(t, c.at, got.At)
			if c.reason == "" {
				require.Empty(t, got.Reason)
			}
			require.Contains(t, got.Reason, c.reason)
		})
	}
}

func TestSentences(t *testing.T) {
	web := &expect.Binding{Name: "shop/web", Wants: []expect.Want{
		expect.Clusters{{Cluster: "m3", Replicas: 2}, {Cluster: "m1", Replicas: -1}},
		expect.Tasks{expect.TaskFrom("m2")},
	}}
	eviction := &expect.Event{Kind: "EvictionStarted", Cluster: "m1", Binding: "shop/web", Fields: map[string]any{"grounds": map[string]any{"reason": "R"}}}
	down := &expect.Taint{Cluster: "m1", Key: "down", Effect: "NoExecute"}
	for want, e := range map[string]expect.Expectation{
		`at 10s: binding shop/web runs on m1, m3=2; evicting from m2 (x.yaml:7)`:                                            {Mode: expect.At, From: 10 * s, Until: 10 * s, Subject: web},
		`within 5m after 1m: cluster m1 has the taint down:NoExecute (x.yaml:7)`:                                            {Mode: expect.Within, From: time.Minute, Until: 6 * time.Minute, Subject: down},
		`within 5m: cluster m1 has no taint down (x.yaml:7)`:                                                                {Mode: expect.Within, Until: 5 * time.Minute, Subject: &expect.Taint{Cluster: "m1", Key: "down", Absent: true}},
		`always from 1m until 2m: cluster m1 has the taint down:NoExecute (x.yaml:7)`:                                       {Mode: expect.Always, From: time.Minute, Until: 2 * time.Minute, Subject: down},
		`never: event EvictionStarted of shop/web on m1 with {"grounds":{"reason":"R"}} (x.yaml:7)`:                         {Mode: expect.Never, Until: span.Max, Subject: eviction},
		`in all from 1m: event Restarted happens at most 1 time (x.yaml:7)`:                                                 {Mode: expect.Total, From: time.Minute, Until: span.Max, Count: expect.Bounds{Max: 1}, Subject: &expect.Event{Kind: "Restarted"}},
		`in all: event Restarted happens 2 to 3 times (x.yaml:7)`:                                                           {Mode: expect.Total, Until: span.Max, Count: expect.Bounds{Min: 2, Max: 3}, Subject: &expect.Event{Kind: "Restarted"}},
		`never: Cluster m1 matches {"spec":{"taints":[]}} (x.yaml:7)`:                                                       {Mode: expect.Never, Until: span.Max, Subject: object(map[string]any{"kind": "Cluster", "spec": map[string]any{"taints": []any{}}})},
		`always: binding shop/web has at least 2 available replicas; is not healthy; uses the affinity group eu (x.yaml:7)`: {Mode: expect.Always, Until: span.Max, Subject: &expect.Binding{Name: "shop/web", Wants: []expect.Want{expect.Number{Of: expect.Available, Bounds: expect.Bounds{Min: 2, Max: expect.Unbounded}}, expect.Healthy(false), expect.Affinity("eu")}}},
	} {
		e.Source = "x.yaml:7"
		require.Equal(t, want, e.String())
	}
}

func object(want map[string]any) *expect.Object {
	return &expect.Object{Key: store.ClusterKey("m1"), Want: want}
}

func TestObjectsOfOtherKindsAreSeenToChange(t *testing.T) {
	rebalancer := func(result string) *api.WorkloadRebalancer {
		return &api.WorkloadRebalancer{
			TypeMeta:   metav1.TypeMeta{APIVersion: api.AppsGroupVersion, Kind: "WorkloadRebalancer"},
			ObjectMeta: metav1.ObjectMeta{Name: "all"},
			Status:     api.WorkloadRebalancerStatus{ObservedWorkloads: []api.ObservedWorkload{{Result: result}}},
		}
	}
	done := &expect.Object{Key: api.KeyOf(rebalancer("")), Want: map[string]any{"status": map[string]any{"observedWorkloads": []any{map[string]any{"result": "Successful"}}}}}
	r := play(t, expect.Expectation{Mode: expect.Within, Until: time.Minute, Subject: done})
	r.put(rebalancer("Failed"))
	r.store.Put(rebalancer("Successful"))
	r.at(5*s, &messages.CopyStopped{Binding: "default/a", Cluster: "m1"})
	require.Equal(t, 5.0, r.end(time.Minute)[0].At)
}

func TestRunsWithoutAnInstantProveNothing(t *testing.T) {
	r := play(t, tainted(expect.At, 0, 0), tainted(expect.Always, 0, span.Max), tainted(expect.Never, 0, span.Max))
	for _, result := range r.end(0) {
		require.False(t, result.Passed, result)
	}
}

func TestFactsThatMayBeAboutAnythingAreLookedInto(t *testing.T) {
	key := api.Key{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "c"}
	for name, fact := range map[string]messages.Fact{
		"a manifest that is applied": &messages.ObjectApplied{Object: "Cluster m1"},
		"an object that is deleted":  &messages.ObjectDeleted{Object: "Cluster m1"},
		"a restart":                  &messages.Restarted{},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, tainted(expect.Within, 0, span.Max), expect.Expectation{Mode: expect.Never, Until: span.Max, Subject: &expect.Object{Key: key}})
			r.put(cluster("m1"))
			m1 := cluster("m1")
			m1.Spec.Taints = []corev1.Taint{added("m1", "down").Taint}
			r.store.Put(m1)
			r.at(5*s, fact)
			results := r.end(time.Minute)
			require.Equal(t, 5.0, results[0].At)
			require.True(t, results[1].Passed)
		})
	}
}

func TestClustersGoAndComeBack(t *testing.T) {
	r := play(t, tainted(expect.At, 15*s, 15*s), tainted(expect.Within, 20*s, 30*s),
		expect.Expectation{Mode: expect.Always, Until: span.Max, Subject: object(map[string]any{"kind": "Cluster"})})
	m1 := cluster("m1")
	m1.Spec.Taints = []corev1.Taint{added("m1", "down").Taint}
	r.put(m1)
	r.store.Delete(store.ClusterKey("m1"))
	r.at(10*s, &messages.ClusterRemoved{Cluster: "m1"})
	again := cluster("m1")
	again.Spec.Taints = []corev1.Taint{added("m1", "down").Taint}
	r.store.Put(again)
	r.at(25*s, &messages.ObjectApplied{Object: "Cluster m1", Created: true})
	results := r.end(time.Minute)
	require.Equal(t, "there is no cluster m1", results[0].Reason)
	require.Equal(t, 25.0, results[1].At)
	require.Equal(t, expect.Result{Text: results[2].Text, At: 10, Reason: "there is no Cluster m1", Line: 7, About: store.ClusterKey("m1")}, results[2])
}

func TestClusterResourceBindingsHaveNoNamespace(t *testing.T) {
	r := play(t, expect.Expectation{Mode: expect.Within, Until: span.Max, Subject: &expect.Binding{
		Name: "crd", Wants: []expect.Want{expect.Clusters{{Cluster: "m1", Replicas: -1}}},
	}})
	r.put(&api.ClusterResourceBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.WorkGroupVersion, Kind: "ClusterResourceBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: "crd"},
	})
	r.at(3*s, &messages.Scheduled{Binding: "crd", Clusters: []api.TargetCluster{{Name: "m1"}}})
	require.Equal(t, 3.0, r.end(time.Minute)[0].At)
}

func TestDecidedExpectationsStayDecided(t *testing.T) {
	r := play(t, tainted(expect.Never, 0, span.Max), tainted(expect.Within, 0, span.Max))
	r.put(cluster("m1"))
	r.at(1*s, added("m1", "down"))
	r.at(2*s, removed("m1", "down"))
	r.at(3*s, added("m1", "down"))
	for _, result := range r.end(time.Minute) {
		require.Equal(t, 1.0, result.At)
	}
}

func TestAnyOfSeveralOutcomesWillDo(t *testing.T) {
	either := expect.AnyOf{&expect.Taint{Cluster: "m1", Key: "down"}, &expect.Taint{Cluster: "m1", Key: "slow"}}
	r := play(t, expect.Expectation{Mode: expect.Always, From: time.Second, Until: 2 * time.Second, Subject: either},
		expect.Expectation{Mode: expect.At, From: 3 * time.Second, Until: 3 * time.Second, Subject: either})
	r.put(cluster("m1"))
	r.at(time.Second, added("m1", "down"))
	r.at(2*time.Second, added("m1", "slow"), removed("m1", "down"))
	r.at(3*time.Second, removed("m1", "slow"))
	results := r.end(4 * time.Second)
	require.True(t, results[0].Passed)
	require.Equal(t, "always from 1s until 2s: cluster m1 has the taint down, or cluster m1 has the taint slow (x.yaml:7)", results[0].Text)
	require.False(t, results[1].Passed)
	require.Equal(t, "it has no taints", results[1].Reason)
}

func TestAFailureNamesTheClustersFromWhichNothingEvicts(t *testing.T) {
	const line = "m1 is not Ready, but no ClusterTaintPolicy adds NoExecute for it: its workloads stay"
	staysOn := func(name string) *messages.WorkloadsStay {
		return &messages.WorkloadsStay{Cluster: messages.ClusterName(name), Reason: "no ClusterTaintPolicy adds NoExecute for it"}
	}
	reasonAt := func(at time.Duration) string {
		r := play(t, tainted(expect.At, at, at))
		r.put(cluster("m1"))
		r.at(1*s, staysOn("m1"))
		r.at(5*s, &messages.WorkloadsStay{Cluster: "m1"})
		r.at(7*s, staysOn("m1"), staysOn("m2"), staysOn("m3"), staysOn("m4"), staysOn("m5"))
		return r.end(10 * s)[0].Reason
	}
	require.NotContains(t, reasonAt(0), "not Ready")
	require.Equal(t, "it has no taints\n"+line, reasonAt(1*s))
	require.Equal(t, "it has no taints\n"+line, reasonAt(5*s-1))
	require.Equal(t, "it has no taints", reasonAt(5*s))
	require.Equal(t, 3, strings.Count(reasonAt(8*s), "its workloads stay"))
	require.Contains(t, reasonAt(8*s), "\nand so for 2 more clusters")
}
