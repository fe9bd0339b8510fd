package picture

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

var began = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// open returns an empty store that keeps so many changes of each table; 0: as many as the daemon does.
func open(t testing.TB, history int) *engine.Engine {
	t.Helper()
	tables := engine.Tables()
	for i := range tables {
		tables[i].History = history
	}
	e, err := engine.Open(engine.Config{Resources: tables, Clock: clock.New()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func keyOf(r *catalog.Resource, o api.Object) string {
	return engine.Key(r.Name(), o.GetNamespace(), o.GetName())
}

// put stores an object whatever there was.
func put(t testing.TB, e *engine.Engine, r *catalog.Resource, o api.Object) {
	t.Helper()
	key := keyOf(r, o)
	require.NoError(t, e.Commit(engine.Update(key, o, e.Table(r.Name()).Version(key))))
}

func remove(t testing.TB, e *engine.Engine, r *catalog.Resource, o api.Object) {
	t.Helper()
	key := keyOf(r, o)
	if v := e.Table(r.Name()).Version(key); v != 0 {
		require.NoError(t, e.Commit(engine.Delete(key, v)))
	}
}

func clusterOf(name string, ready metav1.ConditionStatus, taints ...string) *api.Cluster {
	c := &api.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Region = "eu"
	c.Status.Conditions = []metav1.Condition{{Type: api.ConditionReady, Status: ready, Reason: "R", Message: "m", LastTransitionTime: metav1.Time{Time: began}}}
	c.Status.ResourceSummary = &api.ResourceSummary{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64")}}
	for _, key := range taints {
		c.Spec.Taints = append(c.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute})
	}
	return c
}

// bindingOf is one with two replicas on each cluster, available on all of them.
func bindingOf(name string, clusters ...string) *api.ResourceBinding {
	b := &api.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	b.Spec.Replicas = int32(2 * len(clusters))
	b.Spec.Placement = &api.Placement{}
	b.Spec.ReplicaRequirements = &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}}
	for _, c := range clusters {
		b.Spec.Clusters = append(b.Spec.Clusters, api.TargetCluster{Name: c, Replicas: 2})
		b.Status.AggregatedStatus = append(b.Status.AggregatedStatus, api.AggregatedStatusItem{ClusterName: c, Health: api.Healthy, ReadyReplicas: 2})
	}
	return b
}

func evicting(b *api.ResourceBinding, cluster string, s api.EvictionState, after time.Duration) *api.ResourceBinding {
	b.Status.Evictions = append(b.Status.Evictions, api.Eviction{
		Cluster: cluster, State: s, Taint: "failed:NoExecute", Reason: "EvictionRate", Message: "waits for a permit", Deadline: metav1.NewMicroTime(began.Add(after)),
	})
	return b
}

// shown is what a viewer shows: what he was told, put together as the page does.
type shown struct {
	Totals    json.RawMessage
	Governor  json.RawMessage
	Clusters  map[string]json.RawMessage
	Evictions map[string]json.RawMessage
}

func (s *shown) hear(t testing.TB, text []byte) {
	t.Helper()
	var m Message
	require.NoError(t, json.Unmarshal(text, &m))
	if m.Format != "" {
		*s = shown{Clusters: map[string]json.RawMessage{}, Evictions: map[string]json.RawMessage{}}
	}
	if m.Totals != nil {
		s.Totals = m.Totals
	}
	if m.Governor != nil {
		s.Governor = m.Governor
	}
	for of, rows := range map[*map[string]json.RawMessage]map[string]json.RawMessage{&s.Clusters: m.Clusters, &s.Evictions: m.Evictions} {
		for key, row := range rows {
			if string(row) == "null" {
				delete(*of, key)
			} else {
				(*of)[key] = row
			}
		}
	}
}

// totals are those of what is shown.
func (s *shown) totals(t testing.TB) (all Totals) {
	t.Helper()
	require.NoError(t, json.Unmarshal(s.Totals, &all))
	return all
}

func TestAPictureCountsAndNamesWhatIsStored(t *testing.T) {
	e := open(t, 0)
	put(t, e, catalog.Clusters, clusterOf("m1", metav1.ConditionFalse, "failed"))
	put(t, e, catalog.Clusters, clusterOf("m2", metav1.ConditionTrue))
	put(t, e, catalog.Bindings, bindingOf("calm", "m2"))
	put(t, e, catalog.Bindings, evicting(bindingOf("waits", "m1"), "m1", api.EvictionBlocked, time.Minute))
	put(t, e, catalog.Bindings, evicting(bindingOf("later", "m1", "m2"), "m1", api.EvictionScheduled, time.Hour))
	refused := bindingOf("refused")
	refused.Spec.Replicas = 3
	put(t, e, catalog.Bindings, refused)
	unreported := bindingOf("unreported", "m2")
	unreported.Status.AggregatedStatus = nil
	put(t, e, catalog.Bindings, unreported)
	rate := 0.5
	put(t, e, catalog.Governors, &api.Governor{
		ObjectMeta: metav1.ObjectMeta{Name: api.GovernorName}, Spec: api.GovernorSpec{Pause: &api.Hold{Reason: "the network is rebuilt"}},
		Status: api.GovernorStatus{Governance: api.Governance{State: "Blackout", EvictionsPerSecond: &rate, Breaker: &api.BreakerStatus{State: "Open"}}},
	})

	var s shown
	s.hear(t, encode(follow(e).draw().whole(began)))
	require.Equal(t, Totals{
		Clusters: Ready{All: 2, Ready: 1, Tainted: 1}, Workloads: States{Settled: 1, Unhealthy: 1, Scheduled: 1, Blocked: 1, Unschedulable: 1},
		Replicas: Replicas{Placed: 10, Available: 8, Unschedulable: 3}, Evictions: Progress{Scheduled: 1, Blocked: 1}, BlockedBy: map[string]int{"EvictionRate": 1},
	}, s.totals(t))
	require.JSONEq(t, `{"region":"eu","ready":"False","reason":"R: m","since":"2026-05-01T12:00:00Z","taints":["failed:NoExecute"],"taintCount":1,
		"workloads":2,"replicas":4,"available":4,"evictions":{"scheduled":1,"blocked":1,"evicting":0},"cpu":1000,"cpuCapacity":64000}`, string(s.Clusters["m1"]))
	require.JSONEq(t, `{"namespace":"shop","name":"waits","cluster":"m1","state":"Blocked","deadline":"2026-05-01T12:01:00.000000Z","taint":"failed:NoExecute",
		"reason":"EvictionRate","message":"waits for a permit"}`, string(s.Evictions["shop/waits m1"]))
	require.JSONEq(t, `{"state":"Blackout","rate":0.5,"breaker":{"state":"Open"},"pause":{"reason":"the network is rebuilt"}}`, string(s.Governor))
}

func TestAPictureTellsWhenWhatGoesOnBegan(t *testing.T) {
	t.Parallel()
	e := open(t, 0)
	at := metav1.NewTime(began.Add(-time.Minute))
	c := clusterOf("m1", metav1.ConditionTrue, "failed", "other")
	c.Spec.Taints[1].TimeAdded = &at
	put(t, e, catalog.Clusters, c)
	b := evicting(bindingOf("web", "m1"), "m1", api.EvictionEvicting, time.Minute)
	b.Spec.GracefulEvictionTasks = []api.GracefulEvictionTask{{FromCluster: "m2"}, {FromCluster: "m1", CreationTimestamp: &at}}
	put(t, e, catalog.Bindings, b)
	var seen Seen
	require.NoError(t, seen.Take(encode(follow(e).draw().whole(began))))
	require.Len(t, seen.Clusters["m1"].TaintedAt, 2)
	require.Nil(t, seen.Clusters["m1"].TaintedAt[0])
	require.True(t, at.Equal(seen.Clusters["m1"].TaintedAt[1]))
	require.True(t, at.Equal(seen.Evictions["shop/web m1"].Since))
}

// TestWhatChangedIsTheWholePicture tries many sequences of changes: what a viewer was told bit by bit is what one sees who comes later,
// also where more changed than the store remembers.
func TestWhatChangedIsTheWholePicture(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		dice := rand.New(rand.NewPCG(seed, 1))
		e := open(t, 32)
		f := follow(e)
		told := f.draw()
		var s shown
		var seen Seen
		s.hear(t, encode(told.whole(began)))
		require.NoError(t, seen.Take(encode(told.whole(began))))
		for range 30 {
			for range dice.IntN(60) {
				change(t, e, dice)
			}
			require.NoError(t, f.catchUp())
			drawn := f.draw()
			if m := drawn.changedSince(told, began); m != nil {
				text := encode(m)
				s.hear(t, text)
				require.NoError(t, seen.Take(text))
			}
			told = drawn
			var later shown
			var laterSeen Seen
			whole := encode(follow(e).draw().whole(began))
			later.hear(t, whole)
			require.Equal(t, later, s, "seed %d", seed)
			require.NoError(t, laterSeen.Take(whole))
			require.Equal(t, laterSeen, seen, "seed %d", seed)
		}
	}
}

// change changes one object by chance.
func change(t *testing.T, e *engine.Engine, dice *rand.Rand) {
	name := fmt.Sprint("m", dice.IntN(6))
	b := bindingOf(fmt.Sprint("web-", dice.IntN(250)), name)
	switch dice.IntN(9) {
	case 0:
		put(t, e, catalog.Clusters, clusterOf(name, metav1.ConditionFalse, "failed"))
	case 1:
		put(t, e, catalog.Clusters, clusterOf(name, metav1.ConditionTrue))
	case 2:
		remove(t, e, catalog.Clusters, clusterOf(name, metav1.ConditionTrue))
	case 3:
		remove(t, e, catalog.Bindings, b)
	case 4:
		put(t, e, catalog.Governors, &api.Governor{ObjectMeta: metav1.ObjectMeta{Name: api.GovernorName}, Status: api.GovernorStatus{Governance: api.Governance{State: name}}})
	case 5:
		put(t, e, catalog.ClusterBindings, &api.ClusterResourceBinding{ObjectMeta: metav1.ObjectMeta{Name: b.Name}, Spec: b.Spec, Status: b.Status})
	default:
		put(t, e, catalog.Bindings, evicting(b, name, states[dice.IntN(3)], time.Duration(dice.IntN(9))*time.Minute))
	}
}

func TestAPictureHasABoundWhateverIsStored(t *testing.T) {
	t.Parallel()
	e := open(t, 0)
	long := strings.Repeat("ü<&", 300)
	for i := range 2 * mostClusters {
		c := clusterOf(fmt.Sprint("m", i), metav1.ConditionTrue)
		c.Spec.Region, c.Spec.Provider, c.Status.WorkloadsStay = long, long, long
		for n := range 40 {
			c.Spec.Taints = append(c.Spec.Taints, corev1.Taint{Key: fmt.Sprint("k", n), Value: long, Effect: corev1.TaintEffectNoSchedule})
		}
		put(t, e, catalog.Clusters, c)
	}
	for i := range 5 * mostEvictions {
		b := evicting(bindingOf(fmt.Sprint("web-", i), "m1"), "m1", states[i%2], time.Minute)
		v := &b.Status.Evictions[0]
		v.Taint, v.Policy, v.Reason, v.Message, v.Cluster = long, long, fmt.Sprint(i, long), long, fmt.Sprint(long, i)
		b.Status.Evictions = append(b.Status.Evictions, api.Eviction{Cluster: "m1", State: "MadeUp"})
		put(t, e, catalog.Bindings, b)
	}
	status := api.GovernorStatus{}
	for i := range 500 {
		status.Holds = append(status.Holds, api.HoldStatus{Binding: fmt.Sprint(i), Reason: long})
		status.Regions = append(status.Regions, api.RegionGovernance{Name: fmt.Sprint(i), Governance: api.Governance{Message: long}})
	}
	put(t, e, catalog.Governors, &api.Governor{ObjectMeta: metav1.ObjectMeta{Name: api.GovernorName}, Status: status})
	text := encode(follow(e).draw().whole(began))
	require.Less(t, len(text), 8<<20)
	var s shown
	s.hear(t, text)
	require.Len(t, s.Clusters, mostClusters)
	require.Len(t, s.Evictions, 2*mostEvictions)
	require.Len(t, s.totals(t).BlockedBy, mostReasons+1, "the others are summed up")
	require.Equal(t, 2*mostClusters, s.totals(t).Clusters.All, "what is not named is counted")
}

// TestEveryFieldIsDocumented reads the section of docs/viewer-data.md.
func TestEveryFieldIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/viewer-data.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## The live picture\n")
	require.True(t, found)
	var read func(of reflect.Type)
	read = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			read(of.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if of.PkgPath() != reflect.TypeFor[Message]().PkgPath() {
			return // a time
		}
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "" {
				require.Regexp(t, "[`.]"+name+"[`.[]", section, of.Name())
			}
			read(field.Type)
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[Message](), reflect.TypeFor[Totals](), reflect.TypeFor[Cluster](), reflect.TypeFor[Eviction](), reflect.TypeFor[Governor](), reflect.TypeFor[Found]()} {
		read(of)
	}
}
