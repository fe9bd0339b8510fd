package kubeapi_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/jsonpath"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/config"
)

var (
	clusters    = schema.GroupVersionResource{Group: "cluster.karmada.io", Version: "v1alpha1", Resource: "clusters"}
	bindings    = schema.GroupVersionResource{Group: "work.karmada.io", Version: "v1alpha2", Resource: "resourcebindings"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	newEvents   = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}
	previews    = schema.GroupVersionResource{Group: "leeward.dev", Version: "v1alpha1", Resource: "failoverpreviews"}
	oldEvents   = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	works       = schema.GroupVersionResource{Group: "work.karmada.io", Version: "v1alpha1", Resource: "works"}
	leases      = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
)

// daemon is a server under test.
type daemon struct {
	*kubeapi.Server
	t      testing.TB
	engine *engine.Engine
	dir    string
	stop   func()
}

// start serves the objects of an engine from a folder, until the test ends or stop is called.
func start(t testing.TB, e *engine.Engine, dir, addr string, hooks ...func(*kubeapi.Config)) *daemon {
	t.Helper()
	c := configOf(t, e, dir, addr)
	for _, hook := range hooks {
		hook(&c)
	}
	s, err := kubeapi.New(c)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	d := &daemon{s, t, e, dir, sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})}
	t.Cleanup(d.stop)
	return d
}

func configOf(t testing.TB, e *engine.Engine, dir, addr string) kubeapi.Config {
	t.Helper()
	settings, err := config.Profile("leeward")
	require.NoError(t, err)
	return kubeapi.Config{
		Engine: e, DataDir: dir, Addr: addr, Logger: zerolog.Nop(), Clock: clock.New(),
		Settings: func() *messages.Settings { return &settings },
	}
}

func open(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func serve(t testing.TB, hooks ...func(*kubeapi.Config)) *daemon {
	t.Helper()
	return start(t, open(t), t.TempDir(), "127.0.0.1:0", hooks...)
}

// as returns what a client needs to speak for a user.
func (d *daemon) as(u kubeapi.User) *rest.Config {
	d.t.Helper()
	k, err := d.Kubeconfig(u)
	require.NoError(d.t, err)
	c, err := clientcmd.NewDefaultClientConfig(*k, nil).ClientConfig()
	require.NoError(d.t, err)
	c.QPS = -1
	c.NextProtos = []string{"http/1.1"} // the end of an HTTP/2 connection takes a second, and every test has one
	return c
}

func (d *daemon) client(u kubeapi.User) dynamic.Interface {
	d.t.Helper()
	c, err := dynamic.NewForConfig(d.as(u))
	require.NoError(d.t, err)
	return c
}

// object makes an object of a kind with a spec.
func object(apiVersion, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	o.SetNamespace(namespace)
	o.SetName(name)
	if spec != nil {
		o.Object["spec"] = spec
	}
	return o
}

func cluster(name string) *unstructured.Unstructured {
	return object(api.ClusterGroupVersion, "Cluster", "", name, map[string]any{"syncMode": "Pull"})
}

func lease(namespace, name string) *unstructured.Unstructured {
	return object("coordination.k8s.io/v1", "Lease", namespace, name, map[string]any{"holderIdentity": name})
}

func deployment(name string) *unstructured.Unstructured {
	labels := map[string]any{"app": name}
	return object("apps/v1", "Deployment", "default", name, map[string]any{
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "one"}}},
		},
	})
}

// in returns a resource, in the namespace default if it has one.
func (d *daemon) in(r schema.GroupVersionResource, u kubeapi.User) dynamic.ResourceInterface {
	d.t.Helper()
	if r == clusters || r == namespaces {
		return d.client(u).Resource(r)
	}
	return d.client(u).Resource(r).Namespace("default")
}

func (d *daemon) create(r schema.GroupVersionResource, o *unstructured.Unstructured) *unstructured.Unstructured {
	d.t.Helper()
	created, err := d.in(r, kubeapi.Admin()).Create(d.t.Context(), o, metav1.CreateOptions{FieldManager: "test"})
	require.NoError(d.t, err)
	return created
}

func (d *daemon) get(r schema.GroupVersionResource, name string) *unstructured.Unstructured {
	d.t.Helper()
	o, err := d.in(r, kubeapi.Admin()).Get(d.t.Context(), name, metav1.GetOptions{})
	require.NoError(d.t, err)
	return o
}

// at returns what an object has at a path, as text; "" where it has nothing.
func at(t *testing.T, o *unstructured.Unstructured, path string) string {
	t.Helper()
	j := jsonpath.New(path).AllowMissingKeys(true)
	require.NoError(t, j.Parse("{"+path+"}"))
	var text strings.Builder
	require.NoError(t, j.Execute(&text, o.Object))
	return text.String()
}
