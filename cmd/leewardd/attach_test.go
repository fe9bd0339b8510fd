package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-helpers/auth/rbac/validation"

	"leeward/messages"
	"leeward/runtime/client/install"
	"leeward/runtime/daemon/attach"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
)

// foreign is an API server of others, which no machines look after, behind a proxy that counts what is asked and plays faults.
type foreign struct {
	t       testing.TB
	admin   *rest.Config
	client  *kubernetes.Clientset
	proxy   *httptest.Server
	mu      sync.Mutex
	asked   []*http.Request
	answers func(*http.Request) http.HandlerFunc // nil, or for what it returns nil: that of the server
	cuts    map[int]context.CancelFunc
	serial  int
	// kubeconfig is the file of an administrator who asks the server itself.
	kubeconfig string
}

func newForeign(t testing.TB) *foreign {
	t.Helper()
	kept := slices.DeleteFunc(engine.Tables(catalog.OfNodes...), func(r engine.Resource) bool { return strings.HasSuffix(r.Name.Group, ".karmada.io") })
	return serveForeign(t, engine.Config{Resources: kept})
}

// serveForeign serves objects that no machines look after.
func serveForeign(t testing.TB, kept engine.Config) *foreign {
	t.Helper()
	dir := t.TempDir()
	kept.Clock = clock.New()
	e, err := engine.Open(kept)
	require.NoError(t, err)
	settings, problems := config.Resolve(config.Default, nil)
	require.Empty(t, problems)
	server, err := kubeapi.New(kubeapi.Config{
		Engine: e, DataDir: dir, Addr: "127.0.0.1:0", Logger: zerolog.Nop(), Clock: clock.New(), Settings: func() *messages.Settings { return &settings },
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	f := &foreign{t: t, cuts: map[int]context.CancelFunc{}}
	t.Cleanup(func() {
		f.proxy.CloseClientConnections()
		f.proxy.Close()
		stop()
		require.NoError(t, <-ended)
		require.NoError(t, e.Close())
	})
	f.kubeconfig = server.KubeconfigFile()
	f.admin, err = clientcmd.BuildConfigFromFlags("", server.KubeconfigFile())
	require.NoError(t, err)
	f.admin.QPS = -1
	f.client, err = kubernetes.NewForConfig(f.admin)
	require.NoError(t, err)
	transport, err := rest.TransportFor(f.admin)
	require.NoError(t, err)
	target, err := url.Parse(f.admin.Host)
	require.NoError(t, err)
	forward := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	f.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.pass(forward, w, r) }))
	return f
}

// pass answers a request, or has the server do so.
func (f *foreign) pass(forward http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx, cut := context.WithCancel(r.Context())
	defer cut()
	f.mu.Lock()
	f.asked = append(f.asked, r)
	answers := f.answers
	if r.URL.Query().Get("watch") != "" {
		f.serial++
		f.cuts[f.serial] = cut
	}
	f.mu.Unlock()
	if answers != nil {
		if own := answers(r); own != nil {
			own(w, r)
			return
		}
	}
	forward.ServeHTTP(w, r.WithContext(ctx))
}

// answer has requests answered by a function that is called for each; nil: by the server.
func (f *foreign) answer(by func(*http.Request) http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers = by
}

// cut ends all watches.
func (f *foreign) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n, cut := range f.cuts {
		cut()
		delete(f.cuts, n)
	}
}

// requests are those so far.
func (f *foreign) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*http.Request{}, f.asked...)
}

// writes counts the requests that write pods.
func (f *foreign) writes() (n int) {
	for _, r := range f.requests() {
		if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/pods/") {
			n++
		}
	}
	return n
}

// attachment is a daemon that is attached.
type attachment struct {
	log     *lines
	address string
	ended   chan error
	stop    context.CancelFunc
}

// attach runs a daemon that is attached through the proxy, until it is stopped or the test ends.
func (f *foreign) attach(args ...string) *attachment {
	f.t.Helper()
	file := filepath.Join(f.t.TempDir(), "kubeconfig")
	require.NoError(f.t, os.WriteFile(file, fmt.Appendf(nil,
		"apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n", f.proxy.URL), 0o600))
	return f.attachBy(file, args...)
}

// attachBy is attach with a kubeconfig.
func (f *foreign) attachBy(file string, args ...string) *attachment {
	f.t.Helper()
	a := &attachment{log: &lines{news: make(chan struct{}, 1)}, ended: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	out, tell := io.Pipe()
	c := rootCommand(nil)
	c.SetArgs(append([]string{"--attach", file, "--attach-address", "127.0.0.1:0", "--attach-namespace", "default"}, args...))
	c.SetOut(tell)
	c.SetErr(a.log)
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := c.ExecuteContext(ctx)
		_ = tell.CloseWithError(io.EOF)
		a.ended <- err
	}()
	f.t.Cleanup(func() {
		stop()
		<-done
	})
	words := bufio.NewScanner(out)
	if words.Scan() {
		a.address = strings.TrimPrefix(words.Text(), "listening on ")
	}
	return a
}

// acting is attach with rights to act, once the daemon does.
func (f *foreign) acting(args ...string) *attachment {
	f.t.Helper()
	a := f.attach(append([]string{"--act", "node-taint-eviction"}, args...)...)
	a.await(f.t, "this daemon acts")
	return a
}

func (a *attachment) await(t testing.TB, what string) {
	t.Helper()
	a.awaitTimes(t, what, 1)
}

// awaitTimes waits until something is logged so often.
func (a *attachment) awaitTimes(t testing.TB, what string, times int) {
	t.Helper()
	patience := time.After(3 * time.Minute)
	for a.log.count(what) < times {
		select {
		case <-a.log.news:
		case err := <-a.ended:
			t.Fatalf("never logged: %s\n%s\n%v", what, a.log.all(), err)
		case <-patience:
			t.Fatalf("never logged: %s\n%s", what, a.log.all())
		}
	}
}

// answers waits until a page has a text: what is counted when an answer is there may come after what the answer is about.
func (a *attachment) answers(t testing.TB, path, text string) {
	t.Helper()
	body := ""
	require.Eventually(t, func() bool {
		_, body = a.read(t, path)
		return strings.Contains(body, text)
	}, 3*time.Minute, 20*time.Millisecond, "%s never had %s", path, text)
}

func (a *attachment) read(t testing.TB, path string) (code int, body string) {
	t.Helper()
	answer, err := http.Get(a.address + path)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

// node creates a node.
func (f *foreign) node(name string) {
	f.t.Helper()
	_, err := f.client.CoreV1().Nodes().Create(f.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(f.t, err)
}

// pod creates a pod on a node, which tolerates every NoExecute taint for so many seconds.
func (f *foreign) pod(name, node string, seconds int64) {
	f.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if seconds > 0 {
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}}
	}
	_, err := f.client.CoreV1().Pods("default").Create(f.t.Context(), p, metav1.CreateOptions{})
	require.NoError(f.t, err)
}

// taint taints a node as kubectl does, without a time; false: takes all taints off.
func (f *foreign) taint(node string, on bool) {
	f.t.Helper()
	var taints []corev1.Taint
	if on {
		taints = append(taints, corev1.Taint{Key: "maintenance", Effect: corev1.TaintEffectNoExecute})
	}
	f.taints(node, taints...)
}

// taints gives a node all of its taints.
func (f *foreign) taints(node string, taints ...corev1.Taint) {
	f.t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": taints}})
	require.NoError(f.t, err)
	_, err = f.client.CoreV1().Nodes().Patch(f.t.Context(), node, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-taint"})
	require.NoError(f.t, err)
}

// deleted waits until a pod is being deleted, and returns it.
func (f *foreign) deleted(name string) *corev1.Pod {
	f.t.Helper()
	ctx, stop := context.WithTimeout(f.t.Context(), 3*time.Minute)
	defer stop()
	w, err := f.client.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	require.NoError(f.t, err)
	defer w.Stop()
	for e := range w.ResultChan() {
		if p, is := e.Object.(*corev1.Pod); is && p.DeletionTimestamp != nil {
			return p
		}
	}
	f.t.Fatalf("%s was never deleted", name)
	return nil
}

func TestAnAttachedDaemonEvictsAndSaysWhy(t *testing.T) {
	t.Parallel() // it waits
	f := newForeign(t)
	f.node("n1")
	f.pod("now", "n1", 0)
	f.pod("later", "n1", 2)
	f.pod("after", "n1", 3600)
	a := f.acting()
	code, _ := a.read(t, "/readyz")
	require.Equal(t, http.StatusOK, code)
	f.taint("n1", true)
	now, later := f.deleted("now"), f.deleted("later")
	for _, p := range []*corev1.Pod{now, later} {
		c := p.Status.Conditions[len(p.Status.Conditions)-1]
		require.Equal(t, corev1.DisruptionTarget, c.Type)
		require.Equal(t, "DeletionByTaintManager", c.Reason)
		require.Equal(t, "deleted because of the taint maintenance:NoExecute", c.Message)
		require.False(t, c.LastTransitionTime.IsZero())
	}
	a.await(t, `default/after"`)
	a.answers(t, "/metrics", `leeward_attach_requests_total{outcome="served",verb="delete"} 2`)
	a.answers(t, "/metrics", `leeward_attach_mode{mode="acting"} 1`)
	w, err := f.client.CoreV1().Events("default").Watch(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=later"})
	require.NoError(t, err)
	for e := range w.ResultChan() {
		if o := e.Object.(*corev1.Event); strings.HasPrefix(o.Message, "Marking for deletion Pod default/later: ") {
			require.Equal(t, "TaintManagerEviction", o.Reason)
			require.Equal(t, later.UID, o.InvolvedObject.UID)
			require.Contains(t, o.Message, "maintenance:NoExecute")
			require.Contains(t, o.Message, "2s")
			break
		}
	}
	w.Stop()
}

func TestAnAttachedDaemonInShadowWritesNothingAndCompares(t *testing.T) {
	t.Parallel() // it waits
	f := newForeign(t)
	f.node("n1")
	f.pod("agreed", "n1", 0)
	f.pod("early", "n1", 3600)
	f.pod("unasked", "n1", 0)
	file := filepath.Join(t.TempDir(), "comparisons")
	a := f.attach("--shadow-comparisons", file)
	a.await(t, `"message":"started"`)
	f.taint("n1", true)
	a.await(t, `default/early"`)
	f.other("agreed")
	f.other("early")
	a.awaitTimes(t, "eviction compared", 2)
	for _, r := range f.requests() {
		require.Equal(t, http.MethodGet, r.Method, r.URL)
	}
	a.stop()
	require.NoError(t, <-a.ended)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(text, []byte("\n")), "%s", text)
	require.Contains(t, string(text), `"verdict":"agreed","kind":"eviction","workload":"Pod default/agreed"`)
	require.Contains(t, string(text), `"verdict":"earlier","kind":"eviction","workload":"Pod default/early"`)
}

// other evicts a pod as the kube-controller-manager does.
func (f *foreign) other(name string) {
	f.t.Helper()
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager","message":"Taint manager: deleting due to NoExecute taint","lastTransitionTime":%q}]}}`,
		time.Now().UTC().Format(time.RFC3339))
	_, err := f.client.CoreV1().Pods("default").Patch(f.t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kube-controller-manager"}, "status")
	require.NoError(f.t, err)
	require.NoError(f.t, f.client.CoreV1().Pods("default").Delete(f.t.Context(), name, metav1.DeleteOptions{}))
}

func TestAnAttachedDaemonStepsBackWhereAnotherActs(t *testing.T) {
	t.Parallel() // it waits
	f := newForeign(t)
	f.node("n1")
	f.pod("a", "n1", 3600)
	f.pod("b", "n1", 2)
	f.pod("c", "n1", 3600)
	a := f.acting()
	f.taint("n1", true)
	a.await(t, `default/c"`)
	f.other("a")
	a.await(t, "stepped back to shadow: nothing is written any more")
	before := f.writes()
	a.await(t, `pod evicted`)
	require.Equal(t, before, f.writes())
	code, body := a.read(t, "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, body, "stepped back to shadow: another controller evicts pods for NoExecute taints here: kube-controller-manager (it marked pod default/a at ")

	refused := f.attach("--act", "node-taint-eviction")
	require.ErrorAs(t, <-refused.ended, new(*attach.Rival))
}

func TestAnAttachedDaemonMovesNoDeadlineAtARestart(t *testing.T) {
	t.Parallel() // it waits
	f := newForeign(t)
	f.node("n1")
	f.pod("a", "n1", 4)
	added := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	f.taints("n1", corev1.Taint{Key: "maintenance", Effect: corev1.TaintEffectNoExecute, TimeAdded: &added})
	for range 2 {
		a := f.acting()
		a.await(t, "for "+added.Add(4*time.Second).Format(time.RFC3339)+";")
		a.stop()
		require.NoError(t, <-a.ended)
	}
	f.acting()
	p := f.deleted("a")
	require.False(t, p.Status.Conditions[len(p.Status.Conditions)-1].LastTransitionTime.Before(&metav1.Time{Time: added.Add(4 * time.Second)}))
}

// TestAnAttachedDaemonOutlivesFaults: the server answers 409, 429, 500 and 410, is slow, and ends watches.
func TestAnAttachedDaemonOutlivesFaults(t *testing.T) {
	t.Parallel() // it waits
	f := newForeign(t)
	f.node("n1")
	f.node("n2")
	a := f.acting()
	var mu sync.Mutex
	failed := map[string]int{}
	status := func(code int, reason string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(code)
			_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":"fault"}`, code, reason)
		}
	}
	faults := []http.HandlerFunc{status(409, "Conflict"), status(429, "TooManyRequests"), status(500, "InternalError"), status(504, "Timeout")}
	f.answer(func(r *http.Request) http.HandlerFunc {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, "/pods/") {
			return nil
		}
		key := r.Method + r.URL.Path
		if failed[key]++; failed[key] <= len(faults) {
			return faults[failed[key]-1]
		}
		return nil
	})
	for i := range 5 {
		f.pod(fmt.Sprintf("a%d", i), "n1", 0)
	}
	f.taint("n1", true)
	for i := range 5 {
		f.deleted(fmt.Sprintf("a%d", i))
	}

	var expired sync.Once
	f.answer(func(r *http.Request) (own http.HandlerFunc) {
		if r.URL.Query().Get("watch") != "" && strings.HasSuffix(r.URL.Path, "/nodes") {
			expired.Do(func() { own = status(410, "Expired") })
		}
		return own
	})
	f.cut()
	f.pod("b", "n2", 0)
	f.taint("n2", true)
	f.deleted("b")
	f.taint("n2", false)
	require.NotContains(t, a.log.all(), "stepped back")
}

func TestOneOfTwoAttachedDaemonsActs(t *testing.T) {
	t.Parallel() // it waits
	f := newForeign(t)
	f.node("n1")
	quick := []string{"--leader-elect-lease-duration", "2s", "--leader-elect-renew-deadline", "1s", "--leader-elect-retry-period", "200ms"}
	first := f.acting(quick...)
	second := f.attach(append([]string{"--act", "node-taint-eviction"}, quick...)...)
	second.await(t, `"message":"leader"`)
	f.pod("a", "n1", 0)
	f.taint("n1", true)
	f.deleted("a")
	require.False(t, second.log.has("this daemon acts"))
	second.answers(t, "/metrics", `leeward_attach_mode{mode="standby"} 1`)
	first.stop()
	require.NoError(t, <-first.ended)
	f.pod("b", "n1", 0)
	second.await(t, "this daemon acts")
	f.deleted("b")
	require.False(t, first.log.has(`default/b"`))
}

// TestTheRightsThatAreInstalledAreThoseThatAreUsed: a role allows all that a daemon asks for, and nothing that none does.
func TestTheRightsThatAreInstalledAreThoseThatAreUsed(t *testing.T) {
	t.Parallel() // it waits
	f := newForeign(t)
	_, err := f.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leeward-system"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	f.node("n1")
	f.pod("a", "n1", 0)
	shadowing := f.attach()
	shadowing.await(t, `"message":"started"`)
	f.taint("n1", true)
	shadowing.await(t, "pod deletion requested")
	shadowing.stop()
	require.NoError(t, <-shadowing.ended)
	rights := rightsOf(t, install.Shadow, install.Kubernetes)
	asked := rightsAsked(f.requests())
	requireCovered(t, rights, asked)

	for i, more := range [][]string{nil, {"--set", "podEvictionsHonourBudgets=true"}} {
		a := f.acting(append([]string{"--attach-namespace", "leeward-system"}, more...)...)
		name := fmt.Sprintf("b%d", i)
		f.pod(name, "n1", 0)
		f.deleted(name)
		a.stop()
		require.NoError(t, <-a.ended)
	}
	rights = rightsOf(t, install.NodeTaintEviction, install.Kubernetes)
	asked = rightsAsked(f.requests())
	requireCovered(t, rights, asked)
	rare := []string{"list", "patch events"} // where lists cannot be streamed; of an Event that is told again
	for _, one := range rights {
		for _, verb := range one.Verbs {
			used := slices.ContainsFunc(asked, func(r rbacv1.PolicyRule) bool {
				return r.Verbs[0] == verb && slices.Contains(one.Resources, r.Resources[0])
			})
			require.True(t, used || slices.Contains(rare, verb) || slices.Contains(rare, verb+" "+one.Resources[0]), "no request is %s of %v", verb, one.Resources)
		}
	}
}

func requireCovered(t *testing.T, rights, asked []rbacv1.PolicyRule) {
	t.Helper()
	require.NotEmpty(t, asked)
	allowed, missing := validation.Covers(rights, asked)
	require.True(t, allowed, "%v", missing)
}

// rightsOf are the rules of all that leeward attach install applies for a role.
func rightsOf(t testing.TB, r install.Role, at install.Server) (rules []rbacv1.PolicyRule) {
	t.Helper()
	all, err := (&install.Choice{Role: r, Server: at, Namespace: install.DefaultNamespace}).Manifests()
	require.NoError(t, err)
	for _, o := range all {
		var role rbacv1.ClusterRole
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"rules": o.Object["rules"]}, &role))
		rules = append(rules, role.Rules...)
	}
	require.NotEmpty(t, rules)
	return rules
}

// rightsAsked are the rights that requests need.
func rightsAsked(requests []*http.Request) (rules []rbacv1.PolicyRule) {
	resolver := &apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	for _, r := range requests {
		info, err := resolver.NewRequestInfo(r)
		if err != nil || !info.IsResourceRequest {
			continue
		}
		resource := info.Resource
		if info.Subresource != "" {
			resource += "/" + info.Subresource
		}
		rule := rbacv1.PolicyRule{Verbs: []string{info.Verb}, APIGroups: []string{info.APIGroup}, Resources: []string{resource}}
		if info.Name != "" && resource == "leases" {
			rule.ResourceNames = []string{info.Name}
		}
		rules = append(rules, rule)
	}
	return rules
}

func TestOptionsOfAnAttachedDaemonMustFitTogether(t *testing.T) {
	for want, args := range map[string][]string{
		`act: "x" is none of scheduler, eviction, graceful-eviction, application-failover, node-taint-eviction`: {"--attach", "x", "--act", "x"},
		"act: eviction must be named, too":                                       {"--attach", "x", "--act", "scheduler,application-failover"},
		"act: node-taint-eviction is for the API server of a Kubernetes cluster": {"--attach", "x", "--act", "scheduler,node-taint-eviction"},
		`schedulerName: "A b"`:                                                   {"--attach", "x", "--scheduler-name", "A b"},
		"act: it needs attach, which says where":                                 {"--act", "node-taint-eviction"},
		"shadowRecording: it needs attach, which says where":                     {"--shadow-recording", "x"},
		"act: shadow must not be true then":                                      {"--attach", "x", "--act", "node-taint-eviction", "--shadow"},
		"attach: nodes and etcdServers must not be given then":                   {"--attach", "x", "--nodes"},
		`attachNamespace: "A"`:                                                   {"--attach", "x", "--attach-namespace", "A"},
		"attachAddress: 0.0.0.0:1 is not a loopback address":                     {"--attach", "x", "--attach-address", "0.0.0.0:1"},
		"attachZoneRates: it needs attach":                                       {"--attach-zone-rates"},
		"attachAddress: address x: missing port in address":                      {"--attach", "x", "--attach-address", "x"},
	} {
		_, err := configured(t, "", args...)
		require.ErrorContains(t, err, want)
	}
	_, err := configured(t, "", "--attach", "x", "--attach-address", "0.0.0.0:1", "--expose")
	require.NoError(t, err)
}
