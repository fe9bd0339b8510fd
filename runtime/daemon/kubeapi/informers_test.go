package kubeapi_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
)

func binding(name string) *api.ResourceBinding {
	return &api.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: api.BindingSpec{
			Resource: api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: name},
			Clusters: []api.TargetCluster{{Name: "m1", Replicas: 2}, {Name: "m2", Replicas: 1}},
		},
	}
}

// fill puts bindings into an engine, a thousand in one commit.
func fill(t testing.TB, e *engine.Engine, n int) {
	t.Helper()
	var writes []engine.Write
	for i := range n {
		name := fmt.Sprintf("b-%05d", i)
		writes = append(writes, engine.Create(engine.Key(bindings.GroupResource(), "default", name), binding(name)))
		if len(writes) == 1000 || i == n-1 {
			require.NoError(t, e.Commit(writes...))
			writes = nil
		}
	}
}

// follow keeps a copy of all bindings, as any controller does.
func follow(t *testing.T, d *daemon) cache.SharedIndexInformer {
	t.Helper()
	client, err := dynamic.NewForConfig(d.as(viewer))
	require.NoError(t, err)
	informer := dynamicinformer.NewFilteredDynamicInformer(client, bindings, "", 0, cache.Indexers{}, nil).Informer()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); informer.Run(ctx.Done()) }()
	t.Cleanup(func() { cancel(); <-ended })
	require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
	return informer
}

// agrees reports whether a copy is what the engine has: each object at its version.
func agrees(informer cache.SharedIndexInformer, e *engine.Engine) bool {
	snapshot := e.Table(bindings.GroupResource()).Snapshot()
	if len(informer.GetStore().ListKeys()) != snapshot.Len() {
		return false
	}
	for _, o := range snapshot.Under(engine.Prefix(bindings.GroupResource()), "") {
		has, found, err := informer.GetStore().GetByKey(o.GetNamespace() + "/" + o.GetName())
		if err != nil || !found || has.(metav1.Object).GetResourceVersion() != o.GetResourceVersion() {
			return false
		}
	}
	return true
}

func TestInformersGoOnAfterARestart(t *testing.T) {
	t.Parallel()
	const many = 10_000
	dir, folder := t.TempDir(), t.TempDir()
	reopen := func() *engine.Engine {
		t.Helper()
		e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New(), Dir: folder})
		require.NoError(t, err)
		return e
	}
	e := reopen()
	fill(t, e, many)
	d := start(t, e, dir, "127.0.0.1:0")
	copies := follow(t, d)
	require.True(t, agrees(copies, e))

	addr := d.Addr()
	d.stop()
	require.NoError(t, e.Close())
	e = reopen()
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	change(t, e, "b-00007")
	start(t, e, dir, addr)
	change(t, e, "b-00008")
	require.Eventually(t, func() bool { return agrees(copies, e) }, time.Minute, 50*time.Millisecond)
}

// change deletes one binding, changes another and makes a third.
func change(t *testing.T, e *engine.Engine, name string) {
	t.Helper()
	table := e.Table(bindings.GroupResource())
	key := func(name string) string { return engine.Key(bindings.GroupResource(), "default", name) }
	gone, other := key(name), key(name[:len(name)-2]+"9"+name[len(name)-1:])
	_, version := table.Get(gone)
	was, otherVersion := table.Get(other)
	changed := api.Copy(was).(*api.ResourceBinding)
	changed.Spec.Clusters = nil
	require.NoError(t, e.Commit(engine.Delete(gone, version), engine.Update(other, changed, otherVersion),
		engine.Create(key(name+"-new"), binding(name+"-new"))))
}
