package kubeapi_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/daemon/etcd/etcdtest"
	"leeward/runtime/daemon/kubeapi"
)

// reluctant is an etcd that does not take deletions of some objects, and says that it was asked.
type reluctant struct {
	engine.Shared
	keeps string // in the keys of those
	asked chan struct{}
	until chan struct{}
}

func (r *reluctant) Propose(ctx context.Context, p *engine.Proposal) (int64, error) {
	select {
	case <-r.until:
	default:
		if w := &p.Writes[0]; w.Object == nil && strings.Contains(w.Key, r.keeps) {
			select {
			case r.asked <- struct{}{}:
			default:
			}
			return 0, &engine.Unreachable{Cause: errors.New("it is away")}
		}
	}
	return r.Shared.Propose(ctx, p)
}

// serveReluctantly serves from an etcd that keeps objects with something in their keys until it is told to let go.
func serveReluctantly(t *testing.T, keeps string) (*daemon, *reluctant) {
	t.Helper()
	shared, err := etcd.Open(etcd.Config{Servers: []string{etcdtest.Start(t)}, Prefix: "/fleet", Clock: clock.New()})
	require.NoError(t, err)
	r := &reluctant{Shared: shared, keeps: keeps, asked: make(chan struct{}), until: make(chan struct{})}
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New(), Shared: r})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return start(t, e, t.TempDir(), "127.0.0.1:0"), r
}

func TestWhatTheStoreDidNotTakeIsCollectedOnceItDoes(t *testing.T) {
	d, r := serveReluctantly(t, "child")
	owner := d.ownedBy("owner")
	d.ownedBy("grandchild", d.ownedBy("child", owner))
	d.ownedBy("other-child", owner)
	d.delete("owner", metav1.DeletePropagationBackground)
	<-r.asked
	<-r.asked
	require.ElementsMatch(t, []string{"child", "grandchild", "other-child"}, d.names())
	close(r.until)
	d.left()
}

// inTeam makes a namespace, and a ConfigMap in it.
func (d *daemon) inTeam() {
	d.t.Helper()
	d.create(namespaces, object("v1", "Namespace", "", "team", nil))
	_, err := d.client(kubeapi.Admin()).Resource(configMaps).Namespace("team").Create(d.t.Context(), object("v1", "ConfigMap", "team", "kept", nil), metav1.CreateOptions{})
	require.NoError(d.t, err)
}

// teamGone waits until the namespace is gone, and what was in it.
func (d *daemon) teamGone() {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		_, err := d.in(namespaces, kubeapi.Admin()).Get(d.t.Context(), "team", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, time.Minute, 5*time.Millisecond)
	left, err := d.client(kubeapi.Admin()).Resource(configMaps).Namespace("team").List(d.t.Context(), metav1.ListOptions{})
	require.NoError(d.t, err)
	require.Empty(d.t, left.Items)
}

func TestObjectsGoWithTheirNamespace(t *testing.T) {
	d := serve(t)
	spaces, inside := d.in(namespaces, kubeapi.Admin()), d.client(kubeapi.Admin()).Resource(configMaps).Namespace("team")
	_, err := inside.Create(t.Context(), object("v1", "ConfigMap", "team", "kept", nil), metav1.CreateOptions{})
	require.EqualError(t, err, `namespaces "team" not found`)
	d.inTeam()
	require.NoError(t, spaces.Delete(t.Context(), "team", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}))
	require.NoError(t, spaces.Delete(t.Context(), "team", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationOrphan)}))
	d.teamGone()
	require.ErrorContains(t, spaces.Delete(t.Context(), "default", metav1.DeleteOptions{}), "this namespace may not be deleted")
}

func TestANamespaceThatCannotBeEmptiedStaysAndTakesNothingMore(t *testing.T) {
	d, r := serveReluctantly(t, "team/kept")
	d.inTeam()
	require.NoError(t, d.in(namespaces, kubeapi.Admin()).Delete(t.Context(), "team", metav1.DeleteOptions{}))
	<-r.asked
	_, err := d.client(kubeapi.Admin()).Resource(configMaps).Namespace("team").Create(t.Context(), object("v1", "ConfigMap", "team", "late", nil), metav1.CreateOptions{})
	require.ErrorContains(t, err, "namespace team is being deleted: nothing more comes into it")
	close(r.until)
	d.teamGone()
}

func TestANamespaceThatAKilledDaemonHadToEmptyGoesAtTheNextStart(t *testing.T) {
	e := open(t)
	team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", UID: "1",
		DeletionTimestamp: ptr.To(metav1.NewTime(time.Unix(0, 0))), Finalizers: []string{metav1.FinalizerDeleteDependents}}}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept", Namespace: "team", UID: "2"}}
	require.NoError(t, e.Commit(
		engine.Create(engine.Key(namespaces.GroupResource(), "", "team"), team), engine.Create(engine.Key(configMaps.GroupResource(), "team", "kept"), kept)))
	start(t, e, t.TempDir(), "127.0.0.1:0").teamGone()
}
