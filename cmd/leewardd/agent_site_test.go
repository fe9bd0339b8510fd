package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/agent"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
)

// site is a real API server without machines behind it, which may be stopped and comes back at its address: the hub of agents, or
// the member of one.
type site struct {
	t      testing.TB
	engine *engine.Engine
	dir    string
	addr   string
	server *kubeapi.Server
	// stop stops it, and is safe to be called again.
	stop   func()
	client *client.Client
	admin  dynamic.Interface
}

func newSite(t testing.TB) *site {
	t.Helper()
	e, err := engine.Open(engine.Config{Resources: engine.Tables(catalog.Nodes, catalog.Pods), Clock: clock.New()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	s := &site{t: t, engine: e, dir: t.TempDir(), addr: "127.0.0.1:0"}
	s.start()
	t.Cleanup(func() { s.stop() })
	s.client, err = client.New(s.as(kubeapi.Admin()), io.Discard)
	require.NoError(t, err)
	s.admin, err = dynamic.NewForConfig(s.as(kubeapi.Admin()))
	require.NoError(t, err)
	return s
}

func (s *site) start() {
	s.t.Helper()
	settings, err := config.Profile("leeward")
	require.NoError(s.t, err)
	s.server, err = kubeapi.New(kubeapi.Config{
		Engine: s.engine, DataDir: s.dir, Addr: s.addr, Logger: zerolog.Nop(), Clock: clock.New(),
		Settings: func() *messages.Settings { return &settings },
	})
	require.NoError(s.t, err)
	s.addr = s.server.Addr()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.server.Run(ctx) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(s.t, <-ended)
	})
}

// as returns what a client needs to speak for a user.
func (s *site) as(u kubeapi.User) *rest.Config {
	s.t.Helper()
	k, err := s.server.Kubeconfig(u)
	require.NoError(s.t, err)
	c, err := clientcmd.NewDefaultClientConfig(*k, nil).ClientConfig()
	require.NoError(s.t, err)
	c.QPS = -1
	c.NextProtos = []string{"http/1.1"} // the end of an HTTP/2 connection takes a second
	return c
}

// in are the objects of a kind in a namespace.
func (s *site) in(r *catalog.Resource, namespace string) dynamic.ResourceInterface {
	gvr := r.Kind.GroupVersion().WithResource(r.Plural)
	if r.ClusterScoped {
		return s.admin.Resource(gvr)
	}
	return s.admin.Resource(gvr).Namespace(namespace)
}

// create creates an object that is written as YAML.
func (s *site) create(text string) *unstructured.Unstructured {
	s.t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(s.t, yaml.Unmarshal([]byte(text), &o.Object))
	r := catalog.Of(api.Key{APIVersion: o.GetAPIVersion(), Kind: o.GetKind()})
	for _, of := range catalog.OfNodes {
		if of.Kind == o.GroupVersionKind() {
			r = of
		}
	}
	require.NotNil(s.t, r, text)
	created, err := s.in(r, o.GetNamespace()).Create(s.t.Context(), o, metav1.CreateOptions{})
	require.NoError(s.t, err)
	return created
}

func (s *site) get(r *catalog.Resource, namespace, name string) *unstructured.Unstructured {
	s.t.Helper()
	o, err := s.in(r, namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	require.NoError(s.t, err)
	return o
}

func (s *site) patch(r *catalog.Resource, namespace, name, patch string, subresource ...string) {
	s.t.Helper()
	_, err := s.in(r, namespace).Patch(s.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "another"}, subresource...)
	require.NoError(s.t, err)
}

func (s *site) delete(r *catalog.Resource, namespace, name string) {
	s.t.Helper()
	require.NoError(s.t, s.in(r, namespace).Delete(s.t.Context(), name, metav1.DeleteOptions{}))
}

// await follows an object until it is as a test wants it; it gets nil while there is none.
func awaitAt[O api.Object](s *site, r *catalog.Resource, namespace, name string, right func(O) bool) {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer stop()
	var none, last O
	found := false
	see := func(o O) {
		if last = o; !found && right(o) {
			found = true
			stop()
		}
	}
	require.NoError(s.t, s.client.Follow(ctx, &client.Watching{
		Resource: r, Namespace: namespace, Clock: clock.New(), Lost: func(error) {},
		Listed: func(all []api.Object) {
			now := none
			for _, o := range all {
				if o.GetName() == name {
					now = o.(O)
				}
			}
			see(now)
		},
		Changed: func(kind watch.EventType, o api.Object) {
			switch {
			case o.GetName() != name:
			case kind == watch.Deleted:
				see(none)
			default:
				see(o.(O))
			}
		},
	}))
	if !found {
		text, err := json.MarshalIndent(last, "", " ")
		require.NoError(s.t, err)
		s.t.Fatalf("%s %s/%s is not as it should be after three minutes: %s", r.Kind.Kind, namespace, name, text)
	}
}

// awaitAny waits until one of the objects of a namespace is as a test wants it.
func awaitAny[O api.Object](s *site, r *catalog.Resource, namespace string, right func(O) bool) {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer stop()
	found := false
	see := func(o api.Object) {
		if right(o.(O)) {
			found = true
			stop()
		}
	}
	require.NoError(s.t, s.client.Follow(ctx, &client.Watching{
		Resource: r, Namespace: namespace, Clock: clock.New(), Lost: func(error) {},
		Listed: func(all []api.Object) {
			for _, o := range all {
				see(o)
			}
		},
		Changed: func(_ watch.EventType, o api.Object) { see(o) },
	}))
	require.True(s.t, found, "no %s in %s is as it should be after three minutes", r.Kind.Kind, namespace)
}

// pair is a hub, a member, and the agent between them.
type pair struct {
	t           testing.TB
	hub, member *site
	log         *lines
	// change changes what the next agent is told.
	change func(*agent.Config)
	// end ends the agent, and returns its error; ended gets that of one that ends by itself.
	end   func() error
	ended chan error
}

const agentCluster, agentWorks = "m1", "karmada-es-m1"

// newPair registers the cluster m1, and starts its agent.
func newPair(t testing.TB, change func(*agent.Config)) *pair {
	t.Helper()
	p := &pair{t: t, hub: newSite(t), member: newSite(t), change: change}
	p.hub.create("{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m1}, spec: {syncMode: Pull}}")
	p.hub.create("{apiVersion: v1, kind: Namespace, metadata: {name: karmada-es-m1}}")
	p.begin()
	return p
}

func (p *pair) begin() {
	p.t.Helper()
	p.log = &lines{news: make(chan struct{}, 1)}
	c := agent.Config{
		Cluster: agentCluster, Hub: p.hub.as(kubeapi.Agent(agentCluster)), Member: p.member.as(kubeapi.Admin()), Clock: clock.New(),
		Log: zerolog.New(p.log), Heartbeat: 50 * time.Millisecond, Timeout: 10 * time.Second, Workers: 4, CreateNamespaces: true,
		ElectionNamespace: "default", Metrics: prometheus.NewRegistry(),
	}
	if p.change != nil {
		p.change(&c)
	}
	a, err := agent.New(c)
	require.NoError(p.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended, failed := make(chan error, 1), make(chan error, 1)
	go func() {
		err := a.Run(ctx)
		failed <- err
		ended <- err
	}()
	p.ended = failed
	p.end = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	p.t.Cleanup(func() { _ = p.end() }) // before its servers stop; a test that is about the error asks itself
}

// work writes a Work as the daemon does.
func (p *pair) work(name string, manifests ...string) {
	p.t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work",
		"spec": map[string]any{"workload": map[string]any{"manifests": decodeAll(p.t, manifests)}},
	}}
	o.SetName(name)
	o.SetNamespace(agentWorks)
	o.SetFinalizers([]string{api.WorkFinalizer})
	_, err := p.hub.in(catalog.Works, agentWorks).Create(p.t.Context(), o, metav1.CreateOptions{})
	require.NoError(p.t, err)
}

// rewrite has a Work hold other manifests.
func (p *pair) rewrite(name string, manifests ...string) {
	p.t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"workload": map[string]any{"manifests": decodeAll(p.t, manifests)}}})
	require.NoError(p.t, err)
	p.hub.patch(catalog.Works, agentWorks, name, string(patch))
}

func decodeAll(t testing.TB, manifests []string) (all []any) {
	t.Helper()
	for _, text := range manifests {
		var o map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &o))
		all = append(all, o)
	}
	return all
}

// awaitWork waits until a report about the newest generation of a Work says what a test wants.
func (p *pair) awaitWork(name string, applied metav1.ConditionStatus, message string, right func(*api.Work) bool) {
	p.t.Helper()
	awaitAt(p.hub, catalog.Works, agentWorks, name, func(w *api.Work) bool {
		if w == nil {
			return false
		}
		for _, c := range w.Status.Conditions {
			if c.Type == api.ConditionApplied && c.ObservedGeneration == w.Generation && c.Status == applied && strings.Contains(c.Message, message) {
				return right == nil || right(w)
			}
		}
		return false
	})
}

// awaitApplied waits until a Work is applied.
func (p *pair) awaitApplied(name string) {
	p.t.Helper()
	p.awaitWork(name, metav1.ConditionTrue, "", nil)
}

func isAbsent[O interface {
	comparable
	api.Object
}](o O) bool {
	var none O
	return o == none
}
