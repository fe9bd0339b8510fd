package etcd

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/etcd/etcdtest"
)

var maps = corev1.Resource("configmaps")

func key(name string) string { return engine.Key(maps, "default", name) }

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"value": value}}
}

// replica is one of the engines that share an etcd.
type replica struct {
	*engine.Engine
	t     *testing.T
	store *Store
	clock *clock.Mock
}

// join opens an engine on an etcd until the test ends.
func join(t *testing.T, server string) *replica {
	t.Helper()
	r := &replica{t: t, clock: clock.NewMock()}
	var err error
	r.store, err = Open(Config{Servers: []string{server}, Prefix: "/fleet", Clock: r.clock})
	require.NoError(t, err)
	r.Engine, err = engine.Open(engine.Config{
		Resources: []engine.Resource{{Name: maps, New: func() engine.Object { return &corev1.ConfigMap{} }}}, Clock: r.clock, Shared: r.store,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// has returns the value of an object, once the replica is up to date, and its version.
func (r *replica) has(name string) (string, int64) {
	r.t.Helper()
	require.NoError(r.t, r.Fresh(r.t.Context()))
	o, version := r.Table(maps).Get(key(name))
	if o == nil {
		return "", 0
	}
	require.Equal(r.t, version, engine.VersionOf(o))
	return o.(*corev1.ConfigMap).Data["value"], version
}

func TestWhatOneWritesTheOthersHaveAtTheSameVersions(t *testing.T) {
	server := etcdtest.Start(t)
	a, b := join(t, server), join(t, server)
	require.NoError(t, a.Commit(engine.Create(key("one"), configMap("one", "1")), engine.Create(key("two"), configMap("two", "2"))))
	_, first := a.has("one")
	value, second := b.has("two")
	require.Equal(t, "2", value)
	require.Equal(t, first+1, second, "each object of a transaction has a version of its own")
	require.NoError(t, b.Commit(engine.Update(key("one"), configMap("one", "3"), first), engine.Delete(key("two"), second)))
	value, updated := a.has("one")
	require.Equal(t, "3", value)
	_, gone := a.has("two")
	require.Zero(t, gone)
	require.Equal(t, a.Version(), b.Version())
	require.Equal(t, updated+1, a.Version(), "the deletion has one, too")

	late := join(t, server)
	value, loaded := late.has("one")
	require.Equal(t, "3", value)
	require.Equal(t, updated, loaded)
}

func TestAWatcherGoesOnInTheMiddleOfATransactionAtAnotherReplica(t *testing.T) {
	server := etcdtest.Start(t)
	a, b := join(t, server), join(t, server)
	var writes []engine.Write
	for i := range engine.SharedBatch {
		name := fmt.Sprint("m", i)
		writes = append(writes, engine.Create(key(name), configMap(name, "1")))
	}
	last, err := a.CommitVersion(writes...)
	require.NoError(t, err)
	require.NoError(t, b.Fresh(t.Context()))
	c, err := b.Table(maps).Watch(last - 3)
	require.NoError(t, err)
	changes, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Len(t, changes, 3)
}

func TestAWriteYieldsToWhatItHadNotSeen(t *testing.T) {
	server := etcdtest.Start(t)
	a, b := join(t, server), join(t, server)
	require.NoError(t, a.Commit(engine.Create(key("one"), configMap("one", "1"))))
	_, version := a.has("one")
	require.NoError(t, b.Fresh(t.Context()))
	require.NoError(t, b.Commit(engine.Update(key("one"), configMap("one", "2"), version)))
	for name, writes := range map[string][]engine.Write{
		"an update":              {engine.Update(key("one"), configMap("one", "3"), version)},
		"a creation":             {engine.Create(key("one"), configMap("one", "3"))},
		"a deletion":             {engine.Delete(key("one"), version)},
		"all that goes with one": {engine.Create(key("two"), configMap("two", "1")), engine.Delete(key("one"), version)},
	} {
		err := a.Commit(writes...)
		conflict := new(engine.Conflict)
		require.ErrorAs(t, err, &conflict, name)
		require.Equal(t, key("one"), conflict.Key, name)
		require.Greater(t, conflict.Actual, version, name)
		o, _ := a.Table(maps).Get(key("one"))
		require.Equal(t, "2", o.(*corev1.ConfigMap).Data["value"], "%s: who reads again sees what it met", name)
	}
	value, _ := b.has("two")
	require.Empty(t, value)
}

func TestADeposedLeaderDecidesNothing(t *testing.T) {
	server := etcdtest.Start(t)
	a, b := join(t, server), join(t, server)
	first, err := a.Lead(engine.Create(key("lease"), configMap("lease", "a")))
	require.NoError(t, err)
	require.NoError(t, a.Follow().Begin(first, engine.Create(key("one"), configMap("one", "1")))())
	_, renewed := a.has("lease")
	require.NoError(t, a.Commit(engine.Update(key("lease"), configMap("lease", "a"), renewed)))
	require.NoError(t, a.Follow().Begin(first, engine.Create(key("two"), configMap("two", "1")))(), "a renewal begins no term")

	_, lease := b.has("lease")
	second, err := b.Lead(engine.Update(key("lease"), configMap("lease", "b"), lease))
	require.NoError(t, err)
	deposed := new(engine.Deposed)
	require.ErrorAs(t, a.Follow().Begin(first, engine.Create(key("three"), configMap("three", "1")))(), &deposed)
	require.Equal(t, first, deposed.Term)
	_, err = a.Lead(engine.Update(key("lease"), configMap("lease", "a"), lease))
	require.ErrorAs(t, err, new(*engine.Conflict), "nor does it take the lease back as it knew it")
	require.NoError(t, b.Follow().Begin(second, engine.Create(key("three"), configMap("three", "2")))())
	require.NoError(t, a.Commit(engine.Create(key("four"), configMap("four", "1"))), "people may write there all the same")
}

func TestACommitThatIsTooLargeIsRefused(t *testing.T) {
	a := join(t, etcdtest.Start(t))
	require.ErrorAs(t, a.Commit(engine.Create(key("one"), configMap("one", strings.Repeat("x", 2<<20)))), new(*engine.TooLarge))
	var writes []engine.Write
	for i := range a.Batch() + 1 {
		writes = append(writes, engine.Create(key(fmt.Sprint(i)), configMap("x", "1")))
	}
	require.ErrorAs(t, a.Commit(writes...), new(*engine.TooLarge))
	require.NoError(t, a.Commit(writes[1:]...))
}

func TestWhatExpiresGoesByItself(t *testing.T) {
	server := etcdtest.Start(t)
	a, b := join(t, server), join(t, server)
	require.NoError(t, a.Commit(engine.Create(key("one"), configMap("one", "1")).For(time.Minute)))
	require.NoError(t, b.Fresh(t.Context()))
	_, c := b.Table(maps).SnapshotAndWatch()
	b.clock.Add(59 * time.Second)
	_, version := b.has("one")
	require.NotZero(t, version)
	b.clock.Add(2 * time.Second)
	changes, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Nil(t, changes[0].Object)
	_, version = a.has("one")
	require.Zero(t, version)
}

func TestAReplicaThatMissedWhatIsCompactedTakesNoMoreWrites(t *testing.T) {
	server := etcdtest.Start(t)
	a := join(t, server)
	require.NoError(t, a.Commit(engine.Create(key("one"), configMap("one", "1"))))
	f := following{Store: a.store, hear: func([]engine.News) error { return nil }}
	_, version := a.has("one")
	a.store.compact(t.Context(), revisionOf(version))
	require.ErrorContains(t, f.watch(t.Context()), "what happened after revision 0 is not known to etcd any more")
}

// TestWhatIsNotOursEndsTheEngine shows a write into etcd by hand: what the store should be then is not known.
func TestWhatIsNotOursEndsTheEngine(t *testing.T) {
	a := join(t, etcdtest.Start(t))
	_, err := a.store.client.Put(t.Context(), "/fleet/objects"+key("one"), "rubbish")
	require.NoError(t, err)
	<-a.Lost()
	require.ErrorContains(t, a.Health(), `read /fleet/objects/core/configmaps/default/one of etcd: "rubbish" is not a place and an expiry`)
	require.ErrorAs(t, a.Commit(engine.Create(key("two"), configMap("two", "1"))), new(*engine.ReadOnly))
}

func TestWhatIsDeletedByHandIsGone(t *testing.T) {
	a := join(t, etcdtest.Start(t))
	for i := range 300 {
		require.NoError(t, a.Commit(engine.Create(key(fmt.Sprint(i)), configMap("x", "1"))))
	}
	_, c := a.Table(maps).SnapshotAndWatch()
	_, err := a.store.client.Delete(t.Context(), "/fleet/objects/core/", clientv3.WithPrefix())
	require.NoError(t, err)
	for left := 300; left > 0; {
		changes, err := c.Next(t.Context())
		require.NoError(t, err)
		left -= len(changes)
	}
	require.Zero(t, a.Table(maps).Snapshot().Len())
}

func TestAnEtcdThatDoesNotAnswerIsUnreachable(t *testing.T) {
	a := join(t, etcdtest.Start(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorAs(t, a.Fresh(ctx), new(*engine.Unreachable))
	_, err := a.store.Propose(ctx, &engine.Proposal{Writes: []engine.ProposedWrite{{Key: key("one"), Object: []byte("{}")}}})
	require.ErrorAs(t, err, new(*engine.Unreachable))
}

func TestAnEtcdThatWantsCertificatesIsShownThem(t *testing.T) {
	server, cert, key := etcdtest.StartSecured(t)
	known, err := Open(Config{Servers: []string{server}, Prefix: "/fleet", CAFile: cert, CertFile: cert, KeyFile: key, Clock: clock.New()})
	require.NoError(t, err)
	_, err = known.Latest(t.Context())
	require.NoError(t, err)
	require.NoError(t, known.Close())

	stranger, err := Open(Config{Servers: []string{server}, Prefix: "/fleet", CAFile: cert, Clock: clock.New()})
	require.NoError(t, err)
	_, err = stranger.Latest(t.Context())
	require.ErrorAs(t, err, new(*engine.Unreachable))
	require.NoError(t, stranger.Close())
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("0 0\n{}"))
	f.Add([]byte("3 1767225600000000000\n{\"a\":1}"))
	f.Add([]byte("-1 0\n"))
	f.Fuzz(func(t *testing.T, value []byte) {
		s := &Store{prefix: "/fleet"}
		r, err := s.read(keyValue("/fleet/objects"+key("one"), value))
		if err != nil {
			return
		}
		require.Equal(t, key("one"), r.Key)
		w := engine.ProposedWrite{Key: r.Key, Expires: r.Expires, Object: r.Object}
		again, err := s.read(keyValue("/fleet/objects"+key("one"), []byte(valueOf(&w, int(r.Version%places)))))
		require.NoError(t, err)
		require.Equal(t, r.Version, again.Version)
		require.True(t, bytes.Equal(r.Object, again.Object))
	})
}

func keyValue(key string, value []byte) *mvccpb.KeyValue {
	return &mvccpb.KeyValue{Key: []byte(key), Value: value, ModRevision: 7}
}
