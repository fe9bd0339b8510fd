package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// running is a daemon in this process.
type running struct {
	t      testing.TB
	config string // its file
	hup    chan os.Signal
	log    *lines
	client *rest.Config
	stop   func() error
}

// lines are what is logged, line by line, for a caller that waits for one.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() {
		select {
		case l.news <- struct{}{}:
		default:
		}
	}()
	return l.text.Write(p)
}

func (l *lines) has(what string) bool { return l.count(what) > 0 }

func (l *lines) count(what string) int { return strings.Count(l.all(), what) }

// all is what was logged so far.
func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await waits until something is logged.
func (l *lines) await(t testing.TB, what string) {
	t.Helper()
	l.awaitTimes(t, what, 1)
}

// awaitTimes waits until something is logged so often.
func (l *lines) awaitTimes(t testing.TB, what string, times int) {
	t.Helper()
	for l.count(what) < times {
		select {
		case <-l.news:
		case <-t.Context().Done():
			t.Fatalf("never logged: %s\n%s", what, l.all())
		}
	}
}

// start runs the daemon with a configuration until the test ends, or it is stopped.
func start(t testing.TB, configuration string) *running {
	t.Helper()
	return startIn(t, t.TempDir(), configuration)
}

// startIn is start with the data that a folder has.
func startIn(t testing.TB, dir, configuration string) *running {
	t.Helper()
	r := &running{t: t, config: filepath.Join(dir, "leewardd.yaml"), hup: make(chan os.Signal), log: &lines{news: make(chan struct{}, 1)}}
	r.configure(configuration)
	ctx, cancel := context.WithCancel(context.Background())
	out, tell := io.Pipe()
	ended := make(chan error, 1)
	c := rootCommand(r.hup)
	c.SetArgs([]string{"--config", r.config, "--data-dir", filepath.Join(dir, "data"), "--secure-port", "0"})
	c.SetOut(tell)
	c.SetErr(r.log)
	go func() {
		err := c.ExecuteContext(ctx)
		_ = tell.CloseWithError(io.EOF)
		ended <- err
	}()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { require.NoError(t, r.stop()) })
	if !r.connect(out) {
		require.NoError(t, r.stop())
		return nil
	}
	r.log.await(t, `"message":"started"`)
	return r
}

// connect reads where a daemon listens, once it does; false where it ends before.
func (r *running) connect(out io.Reader) bool {
	r.t.Helper()
	words := bufio.NewScanner(out)
	for words.Scan() {
		if file, found := strings.CutPrefix(words.Text(), "export KUBECONFIG="); found {
			var err error
			r.client, err = clientcmd.BuildConfigFromFlags("", file)
			require.NoError(r.t, err)
			r.client.QPS = -1
			return true
		}
	}
	return false
}

func (r *running) configure(text string) {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(r.config, []byte(text), 0o600))
}

// reload sends the signal and returns once the daemon has acted on it.
func (r *running) reload(text string) {
	r.t.Helper()
	r.configure(text)
	r.hup <- nil
	r.hup <- nil // taken once the first is done
}

func (r *running) read(path string) (code int, body string) {
	r.t.Helper()
	client, err := rest.HTTPClientFor(r.client)
	require.NoError(r.t, err)
	answer, err := client.Get(r.client.Host + path)
	require.NoError(r.t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(r.t, err)
	require.NoError(r.t, answer.Body.Close())
	return answer.StatusCode, string(text)
}

// awaitServed waits until the API serves a list, as that of a custom kind is some time after its definition was created.
func (r *running) awaitServed(path string) {
	r.t.Helper()
	served := func() bool {
		code, _ := r.read(path)
		return code == http.StatusOK
	}
	require.Eventually(r.t, served, 20*time.Second, 10*time.Millisecond)
}

// apply creates the objects of manifests.
func (r *running) apply(documents string) {
	r.t.Helper()
	client, err := dynamic.NewForConfig(r.client)
	require.NoError(r.t, err)
	for text := range strings.SplitSeq(documents, "---\n") {
		var o unstructured.Unstructured
		require.NoError(r.t, yaml.Unmarshal([]byte(text), &o.Object))
		kind := o.GroupVersionKind()
		resource := kind.GroupVersion().WithResource(plurals[kind.Kind])
		_, err := client.Resource(resource).Namespace(o.GetNamespace()).Create(r.t.Context(), &o, metav1.CreateOptions{})
		require.NoError(r.t, err)
	}
}

var plurals = map[string]string{
	"Cluster": "clusters", "Deployment": "deployments", "PropagationPolicy": "propagationpolicies", "ClusterPropagationPolicy": "clusterpropagationpolicies",
	"CustomResourceDefinition": "customresourcedefinitions", "Widget": "widgets",
}

// manifests are a workload, which tolerates a taint for an hour, and a cluster for it.
const manifests = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterTolerations: [{key: failed, operator: Exists, effect: NoExecute, tolerationSeconds: 3600}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}
`

func TestADaemonAnswersWhatItIsAndHowItFares(t *testing.T) {
	t.Parallel()
	r := start(t, "profile: karmada\n")
	code, body := r.read("/livez")
	require.Equal(t, http.StatusOK, code, body)
	code, body = r.read("/readyz/machines")
	require.Equal(t, http.StatusOK, code, body)
	_, body = r.read("/version")
	require.Contains(t, body, `+leeward"`)
	_, body = r.read("/metrics")
	require.Contains(t, body, "\nleeward_machines_answering 1\n")
	require.Contains(t, body, "\nleeward_build_info{")
	require.True(t, r.log.has(`"profile":"karmada","shadow":false`))
}

func TestADeadlineOutlivesAReload(t *testing.T) {
	t.Parallel()
	r := start(t, "logLevel: debug\n")
	r.doomed()
	r.reload("logLevel: debug\ngracefulEvictionTimeout: 5m\nprofile: leeward\n")
	require.True(t, r.log.has(`"from":"10m","to":"5m"`))
	require.False(t, r.log.has("eviction cancelled"))
	await(see(t, r), store.GovernorKey, func(g *api.Governor) bool {
		return g.Status.Profile == "leeward" && slices.Equal(g.Status.Settings, []string{"gracefulEvictionTimeout=5m"})
	})
	_, body := r.read("/metrics")
	require.Contains(t, body, `leeward_facts_total{kind="EvictionScheduled"} 1`)
	require.NotContains(t, body, "leeward_evictions_started_total{")
	require.Contains(t, body, `leeward_config_reloads_total{result="applied"} 2`)
}

func TestAReloadThatIsAMistakeChangesNothing(t *testing.T) {
	t.Parallel()
	r := start(t, "gracefulEvictionTimeout: 5m\n")
	r.reload("gracefulEvictionTimeout: 6m\nfleetEvictionRate: -1\n")
	require.True(t, r.log.has("leewardd.yaml:2: fleetEvictionRate: -1 is out of range: it must be 0 or more"))
	require.False(t, r.log.has(`"to":"6m"`))
	_, body := r.read("/metrics")
	require.Contains(t, body, `leeward_config_reloads_total{result="refused"} 2`)
}

func TestAReloadNamesWhatNeedsARestart(t *testing.T) {
	r := start(t, "")
	r.reload("shadow: true\ntlsHost: [a.example]\nlogLevel: debug\nsecurePort: 1\n")
	require.True(t, r.log.has(`"restartFor":["tlsHost","shadow"]`), "the port is that of the command line")
	require.Equal(t, zerolog.DebugLevel, zerolog.GlobalLevel())
}

func TestADaemonStopsThoughAUserWatches(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	client, err := rest.HTTPClientFor(r.client)
	require.NoError(t, err)
	watch, err := client.Get(r.client.Host + "/apis/cluster.karmada.io/v1alpha1/clusters?watch=true")
	require.NoError(t, err)
	require.NoError(t, r.stop())
	require.True(t, r.log.has(`"message":"stopped"`))
	_, err = io.ReadAll(watch.Body)
	require.NoError(t, err, "the watch has ended")
	require.NoError(t, watch.Body.Close())
}

func TestEveryDecisionIsKeptWithItsReasonAndEveryWriteWithItsWriter(t *testing.T) {
	t.Parallel()
	r := start(t, "logLevel: info\n")
	r.doomed()
	require.NoError(t, r.stop())
	kept := func(file string) string {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(r.config), "data", file))
		require.NoError(t, err)
		return string(text)
	}
	require.Regexp(t, `"kind":"EvictionScheduled","binding":"default/web-deployment","cluster":"m1","text":"default/web-deployment eviction scheduled m1: for .*; taint failed:NoExecute; by user.*; toleration 3600s`, kept("decisions.jsonl"))
	require.Regexp(t, `"verb":"patch","user":{"username":"leeward:admin".*"requestObject":{"spec":{"taints":`, kept("audit.jsonl"))
}

func TestInShadowNothingIsWritten(t *testing.T) {
	t.Parallel()
	r := start(t, "shadow: true\nlogLevel: debug\n")
	r.doomed()
	_, body := r.read("/apis/work.karmada.io/v1alpha2/resourcebindings")
	require.Contains(t, body, `"items":[]`)
}

func TestADaemonDoesNotStartWithAMistake(t *testing.T) {
	c := rootCommand(nil)
	c.SetArgs([]string{"--data-dir", t.TempDir(), "--profile", "karmda"})
	require.EqualError(t, c.Execute(), `unknown profile "karmda": the profiles are karmada, karmada-legacy, kubernetes, leeward; did you mean karmada?`)
}

// patch changes a cluster, as people do, or, with a subresource, its agent.
func (r *running) patch(cluster, patch string, subresource ...string) {
	r.t.Helper()
	client, err := dynamic.NewForConfig(r.client)
	require.NoError(r.t, err)
	_, err = client.Resource(schema.GroupVersionResource{Group: "cluster.karmada.io", Version: "v1alpha1", Resource: "clusters"}).
		Patch(r.t.Context(), cluster, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresource...)
	require.NoError(r.t, err)
}

// up is the status of a cluster that workloads can go to.
const up = `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Up","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}],
	"apiEnablements":[{"groupVersion":"apps/v1","resources":[{"name":"deployments","kind":"Deployment"}]}]}}`

// doomed makes a workload on a cluster that it must leave in an hour.
func (r *running) doomed() {
	r.t.Helper()
	r.apply(manifests)
	r.patch("m1", up, "status")
	r.log.await(r.t, `"message":"scheduled"`)
	r.patch("m1", `{"spec":{"taints":[{"key":"failed","effect":"NoExecute"}]}}`)
	r.log.await(r.t, `"message":"eviction scheduled"`)
}

// BenchmarkStart starts the daemon in an empty folder, until it listens, and stops it.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		r := start(b, "")
		b.StopTimer()
		require.NoError(b, r.stop())
		b.StartTimer()
	}
}
