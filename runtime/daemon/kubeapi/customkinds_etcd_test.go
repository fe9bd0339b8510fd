package kubeapi_test

import (
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/daemon/etcd/etcdtest"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
)

// serveFrom serves from an etcd, as one of several daemons, until it is stopped.
func serveFrom(t *testing.T, server string) (d *daemon, stop func()) {
	t.Helper()
	shared, err := etcd.Open(etcd.Config{Servers: []string{server}, Prefix: "/fleet", Clock: clock.New()})
	require.NoError(t, err)
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New(), Shared: shared})
	require.NoError(t, err)
	d = start(t, e, t.TempDir(), "127.0.0.1:0")
	return d, func() {
		d.stop()
		require.NoError(t, e.Close())
	}
}

// awaitEvent waits for what a watch tells of an object.
func awaitEvent(t *testing.T, w watch.Interface, want watch.EventType, name string) *unstructured.Unstructured {
	t.Helper()
	e := <-w.ResultChan()
	require.Equal(t, want, e.Type, "%v", e.Object)
	o := e.Object.(*unstructured.Unstructured)
	require.Equal(t, name, o.GetName())
	require.Equal(t, "example.com/v1 Topic", o.GetAPIVersion()+" "+o.GetKind())
	return o
}

// Two daemons on one etcd serve a kind that one of them was told to define, and its objects, whichever a client asks; so do two others that begin
// later. The definition takes its objects out of etcd.
func TestCustomKindsAreSharedByEtcd(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	first, stopFirst := serveFrom(t, server)
	second, stopSecond := serveFrom(t, server)
	at := func(d *daemon) dynamic.ResourceInterface {
		return d.client(kubeapi.Admin()).Resource(topics).Namespace("default")
	}

	first.define(topicDefinition())
	second.await(definitions, "", "topics.example.com", func(o *unstructured.Unstructured) bool { return o != nil && isTrue(o, "Established") })
	var followed watch.Interface
	require.Eventually(t, func() (is bool) {
		w, err := at(second).Watch(t.Context(), metav1.ListOptions{})
		followed = w
		return err == nil
	}, time.Minute, 5*time.Millisecond, "the other one serves the kind, too")
	made, err := at(first).Create(t.Context(), topic("orders", 3), metav1.CreateOptions{})
	require.NoError(t, err)
	seen := awaitEvent(t, followed, watch.Added, "orders")
	require.Equal(t, made, seen)
	_, err = at(second).Create(t.Context(), topic("many", 65), metav1.CreateOptions{})
	require.ErrorContains(t, err, "at most 64 partitions", "the other one validates by the schema, too")
	require.NoError(t, unstructured.SetNestedField(seen.Object, int64(5), "spec", "partitions"))
	edited, err := at(second).Update(t.Context(), seen, metav1.UpdateOptions{})
	require.NoError(t, err)
	awaitEvent(t, followed, watch.Modified, "orders")
	_, err = at(first).Update(t.Context(), seen, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	_, err = at(first).Create(t.Context(), topic("short", 1), metav1.CreateOptions{})
	require.NoError(t, err)
	awaitEvent(t, followed, watch.Added, "short")
	require.NoError(t, at(second).Delete(t.Context(), "short", metav1.DeleteOptions{}))
	awaitEvent(t, followed, watch.Deleted, "short")
	followed.Stop()
	stopFirst()
	stopSecond()

	first, stopFirst = serveFrom(t, server)
	second, stopSecond = serveFrom(t, server)
	defer stopFirst()
	defer stopSecond()
	for _, d := range []*daemon{first, second} {
		found, err := at(d).Get(t.Context(), "orders", metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, edited, found)
	}
	list, err := at(first).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	followed, err = at(first).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	require.NoError(t, err)
	defer followed.Stop()
	_, err = at(second).Create(t.Context(), topic("late", 1), metav1.CreateOptions{})
	require.NoError(t, err)
	awaitEvent(t, followed, watch.Added, "late")

	require.NoError(t, first.client(kubeapi.Admin()).Resource(definitions).Delete(t.Context(), "topics.example.com", metav1.DeleteOptions{}))
	second.await(definitions, "", "topics.example.com", gone)
	third, stopThird := serveFrom(t, server)
	defer stopThird()
	for _, d := range []*daemon{second, third} {
		require.Zero(t, d.engine.Table(catalog.Customs.Name()).Len())
		require.Zero(t, d.engine.Table(catalog.Definitions.Name()).Len())
	}
	second.await(topics, "default", "orders", gone)
}
