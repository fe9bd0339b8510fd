package karmada

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/client/clienttest"
	"leeward/runtime/daemon/build"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/election"
	"leeward/runtime/fleet/shadow"
)

// stage is an API server with the fleet of shop, and what remains of Karmada where Leeward acts: a stand-in for its binding controller and
// its agents. Works are made of spec.clusters and of graceful eviction tasks that keep their copy, and deleted where neither asks for them;
// agents report each as healthy unless they are silent; and the binding shows what they report. Each step is one write, under the name of
// Karmada's controller, and is made when a test has it made: nothing decides by itself there.
type stage struct {
	t      *testing.T
	server *clienttest.Server
	clock  *clock.Mock
	// silent are the clusters whose agents report nothing, ill those whose copies are not healthy.
	silent, ill map[string]bool
	bound       []string
	// made counts the Works that were made.
	made int
}

const (
	opted     = "leeward"
	ownLease  = "/apis/coordination.k8s.io/v1/namespaces/leeward-system/leases/leewardd-karmada"
	karmadas  = "karmada-controller-manager"
	ofBinding = "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings/"
)

// newStage has some workloads of two replicas on m1 and m2, of the scheduler name.
func newStage(t *testing.T, schedulerName string, names ...string) *stage {
	t.Helper()
	return newStageAmong(t, []string{"m1", "m2", "m3"}, schedulerName, names...)
}

// newStageAmong is newStage with workloads that may run on some clusters.
func newStageAmong(t *testing.T, among []string, schedulerName string, names ...string) *stage {
	t.Helper()
	s := &stage{t: t, clock: clock.NewMock(), silent: map[string]bool{}, ill: map[string]bool{}}
	s.clock.Set(start)
	objects := map[string]string{}
	for _, c := range []string{"m1", "m2", "m3", "m4"} {
		o := clusterOf(c)
		objects[pathOf(keyOf(o))] = textOf(t, o)
	}
	for _, name := range names {
		o := (&bindingOf{clusters: placed("m1", "m2")}).object(placementOf(among...))
		about, spec := o["metadata"].(map[string]any), o["spec"].(map[string]any)
		about["name"] = name + "-deployment"
		about["aLabelOfTheFuture"] = []any{1, map[string]any{"b": nil}}
		spec["resource"].(map[string]any)["name"] = name
		spec["schedulerName"] = schedulerName
		spec["aFieldOfTheFuture"] = map[string]any{"x": []any{1.5, "y"}}
		spec["clusters"].([]any)[0].(map[string]any)["ofTheFuture"] = "kept"
		o["status"].(map[string]any)["aFieldOfTheFuture"] = "z"
		delete(spec, "gracefulEvictionTasks")
		objects[pathOf(keyOf(o))] = textOf(t, o)
		s.bound = append(s.bound, name)
	}
	s.server = clienttest.New(t, objects)
	s.server.Date(s.clock.Now)
	s.karmada()
	return s
}

func textOf(t *testing.T, o any) string {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	return string(text)
}

// placementOf is on two of some clusters, with no toleration.
func placementOf(among ...string) map[string]any {
	return map[string]any{
		"clusterAffinity":   map[string]any{"clusterNames": among},
		"spreadConstraints": []any{map[string]any{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}},
		"replicaScheduling": map[string]any{"replicaSchedulingType": "Duplicated"},
	}
}

// karmada has the binding controller and the agents do what there is to do.
func (s *stage) karmada() {
	for _, name := range s.bound {
		b := s.server.Get(ofBinding + name + "-deployment")
		if b == nil {
			continue
		}
		wanted := map[string]int64{}
		clusters, _, _ := unstructured.NestedSlice(b.Object, "spec", "clusters")
		for _, c := range clusters {
			wanted[c.(map[string]any)["name"].(string)] = c.(map[string]any)["replicas"].(int64)
		}
		tasks, _, _ := unstructured.NestedSlice(b.Object, "spec", "gracefulEvictionTasks")
		for _, k := range tasks {
			if k := k.(map[string]any); k["purgeMode"] != "Directly" {
				wanted[k["fromCluster"].(string)] = k["replicas"].(int64)
			}
		}
		healthy := []any{}
		for _, c := range []string{"m1", "m2", "m3", "m4"} {
			s.copy(name, c, wanted[c])
			if wanted[c] > 0 && !s.silent[c] {
				healthy = append(healthy, map[string]any{"clusterName": c, "health": s.health(c), "applied": true, "status": map[string]any{"readyReplicas": wanted[c]}})
			}
		}
		s.server.Change("", ofBinding+name+"-deployment", func(o *unstructured.Unstructured) {
			require.NoError(s.t, unstructured.SetNestedSlice(o.Object, healthy, "status", "aggregatedStatus"))
		})
	}
}

func (s *stage) health(cluster string) string {
	if s.ill[cluster] {
		return string(api.Unhealthy)
	}
	return string(api.Healthy)
}

// copy has a cluster have a Work of so many replicas; 0: none.
func (s *stage) copy(name, cluster string, replicas int64) {
	path := "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-" + cluster + "/works/" + name + "-abc"
	switch there := s.server.Get(path); {
	case replicas == 0 && there != nil:
		s.server.Remove(path)
	case replicas > 0 && there == nil:
		s.made++
		s.server.Put(path, textOf(s.t, s.work(name, cluster, replicas, 1)))
	case replicas > 0:
		generation, uid := there.GetGeneration(), there.GetUID()
		next := &unstructured.Unstructured{}
		if next.Object = s.work(name, cluster, replicas, generation); textOf(s.t, next.Object["spec"]) != textOf(s.t, there.Object["spec"]) {
			next.Object = s.work(name, cluster, replicas, generation+1)
		}
		next.SetUID(uid)
		if text := textOf(s.t, next.Object); text != textOf(s.t, withoutVersion(there)) {
			s.server.Put(path, text)
		}
	}
}

func withoutVersion(o *unstructured.Unstructured) map[string]any {
	o = o.DeepCopy()
	unstructured.RemoveNestedField(o.Object, "metadata", "resourceVersion")
	return o.Object
}

// work is a Work, with what its agent says of it.
func (s *stage) work(name, cluster string, replicas, generation int64) map[string]any {
	o := workOf(cluster)
	about := o["metadata"].(map[string]any)
	about["name"], about["generation"], about["uid"] = name+"-abc", generation, fmt.Sprint("w", s.made)
	about["annotations"] = map[string]any{"resourcebinding.karmada.io/namespace": "shop", "resourcebinding.karmada.io/name": name + "-deployment"}
	manifest := o["spec"].(map[string]any)["workload"].(map[string]any)["manifests"].([]any)[0].(map[string]any)
	manifest["spec"].(map[string]any)["replicas"] = replicas
	status := o["status"].(map[string]any)
	status["conditions"].([]any)[0].(map[string]any)["observedGeneration"] = generation
	said := status["manifestStatuses"].([]any)[0].(map[string]any)
	if said["status"] = map[string]any{"readyReplicas": replicas}; s.ill[cluster] {
		said["health"], said["status"] = "Unhealthy", map[string]any{"readyReplicas": int64(0)}
	}
	if s.silent[cluster] {
		delete(o, "status")
	}
	return o
}

// heals has the agent of a cluster report, too.
func (s *stage) heals(cluster string) { delete(s.silent, cluster) }

// taint has a user taint a cluster, or untaint it.
func (s *stage) taint(cluster string, keys ...string) {
	s.server.Put(clusters+"/"+cluster, textOf(s.t, clusterOf(cluster, keys...)))
}

// is where a workload runs, "m1:2 m3:2", what evicts it, "-m2", and, if its status lags behind, "?".
func (s *stage) is(name string) string {
	o := s.server.Get(ofBinding + name + "-deployment")
	var b api.ResourceBinding
	require.NoError(s.t, json.Unmarshal([]byte(textOf(s.t, o.Object)), &b))
	var words []string
	for _, c := range b.Spec.Clusters {
		words = append(words, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
	}
	slices.Sort(words)
	for _, k := range b.Spec.GracefulEvictionTasks {
		words = append(words, "-"+k.FromCluster)
	}
	if b.Status.SchedulerObservedGeneration != b.Generation {
		words = append(words, "?")
	}
	return strings.Join(words, " ")
}

// until waits until all workloads are as wanted, while Karmada's controllers act.
func (s *stage) until(wanted string) {
	s.t.Helper()
	so := func() bool {
		s.karmada()
		return !slices.ContainsFunc(s.bound, func(name string) bool { return s.is(name) != wanted })
	}
	require.Eventually(s.t, so, 20*time.Second, time.Millisecond, "they are not %q, but: %s", wanted, s)
}

// String is where the workloads run.
func (s *stage) String() string {
	var all []string
	for _, name := range s.bound {
		all = append(all, s.is(name))
	}
	return strings.Join(all, "; ")
}

// actor is a daemon that acts.
type actor struct {
	*Attachment
	stage   *stage
	log     lines
	metrics *telemetry.Attached
	ended   chan error
	kill    context.CancelFunc
	faults  *faults
}

// faults stand between a daemon and its server.
type faults struct {
	mu sync.Mutex
	// writes are the requests that wrote, so far, but for those of its Lease and of Events.
	writes []string
	// conflicts are those that were answered with 409.
	conflicts int
	// dies is after how many of them the process is dead: the answer to the last does not come; 0: never. loses: nor does the last get there.
	dies  int
	loses bool
	dead  bool
	// refuses answers a write in place of the server; nil, or nil returned: the server does.
	refuses func(n int) *http.Response
}

var errDead = errors.New("the process is dead")

// through is one way to the server, with the faults of all.
type through struct {
	*faults
	next http.RoundTripper
}

// RoundTrip makes a request.
func (f through) RoundTrip(q *http.Request) (*http.Response, error) {
	f.mu.Lock()
	writes := q.Method != http.MethodGet && !strings.Contains(q.URL.Path, "/leases") && !strings.Contains(q.URL.Path, "/events")
	if f.dead {
		f.mu.Unlock()
		return nil, errDead
	}
	if writes {
		f.writes = append(f.writes, q.Method+" "+q.URL.Path+" "+bodyOf(q))
		f.dead = f.dies > 0 && len(f.writes) >= f.dies
	}
	dead, refuses, n := f.dead, f.refuses, len(f.writes)
	f.mu.Unlock()
	if writes && refuses != nil {
		if r := refuses(n); r != nil {
			r.Request = q
			return r, nil
		}
	}
	if writes && dead && f.loses {
		return nil, errDead
	}
	r, err := f.next.RoundTrip(q)
	if writes && dead {
		if err == nil {
			err = errors.Join(r.Body.Close(), errDead)
		}
		return nil, err
	}
	if err == nil && r.StatusCode == http.StatusConflict && writes {
		f.mu.Lock()
		f.conflicts++
		f.mu.Unlock()
	}
	return r, err
}

func bodyOf(q *http.Request) string {
	read, err := q.GetBody()
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(read)
	return string(text) + fmt.Sprint(err)
}

func (f *faults) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.writes)
}

// acts starts a daemon that acts, of scheduler names with commas in between.
func (s *stage) acts(schedulerNames string, change ...func(*Config, *faults)) *actor {
	s.t.Helper()
	settings, problems := config.Resolve("leeward", nil)
	require.Empty(s.t, problems)
	a := &actor{stage: s, metrics: telemetry.NewAttached(build.Build{}), ended: make(chan error, 1), faults: &faults{}}
	c := Config{
		Client: &rest.Config{Host: s.server.URL(), ContentConfig: rest.ContentConfig{ContentType: "application/json"}, WrapTransport: func(next http.RoundTripper) http.RoundTripper {
			return through{a.faults, next}
		}},
		Settings: settings, Clock: s.clock, Log: zerolog.New(&a.log), Metrics: a.metrics, Compared: func(*shadow.Comparison) {},
		Act: &Acting{
			Schedulers: strings.Split(schedulerNames, ","), GracefulEviction: true, ApplicationFailover: true, Namespace: "leeward-system", Identity: fmt.Sprintf("a%p", a),
			Timing: election.Timing{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 20 * time.Millisecond},
		},
	}
	for _, with := range change {
		with(&c, a.faults)
	}
	var err error
	a.Attachment, err = New(c)
	require.NoError(s.t, err)
	ctx, kill := context.WithCancel(context.Background())
	a.kill = kill
	go func() { a.ended <- a.Run(ctx) }()
	s.t.Cleanup(kill)
	return a
}

// leads waits until the daemon acts.
func (a *actor) leads() *actor {
	a.stage.t.Helper()
	require.Eventually(a.stage.t, a.began.Load, 20*time.Second, time.Millisecond)
	return a
}

// stop stops the daemon.
func (a *actor) stop() {
	a.stage.t.Helper()
	a.kill()
	require.NoError(a.stage.t, <-a.ended)
}

func TestAFailoverFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	before := a.faults.count()
	s.silent["m3"] = true
	s.taint("m2", "failed")
	s.until("m1:2 m3:2 -m2")
	require.NotNil(t, s.server.Get("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m2/works/web-abc"), "the old copy stays until the new one is healthy")
	s.heals("m3")
	s.until("m1:2 m3:2")
	s.karmada() // it may have ended after they did what there was to do
	require.Nil(t, s.server.Get("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m2/works/web-abc"))
	a.stop() // so that nothing is under way
	require.LessOrEqual(t, a.faults.count()-before, 4+a.faults.conflicts, "%v", a.faults.writes)
}
