package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
)

// reopen returns the store that a folder holds, at a time.
func reopen(t *testing.T, dir string, at time.Time) *store {
	t.Helper()
	now := clock.NewMock()
	now.Set(at)
	e, err := engine.Open(engine.Config{Resources: resources(0), Clock: now, Dir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return &store{e, t, now}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestTheNextProcessFindsEverything(t *testing.T) {
	dir := t.TempDir()
	s := reopen(t, dir, noon)
	a := configMap("a", "1")
	a.Labels = map[string]string{"app": "web"}
	s.commit(engine.Create(mapKey("a"), a), engine.Create(eventKey("e"), event("e")), engine.Create(mapKey("b"), configMap("b", "1")))
	s.commit(engine.Delete(mapKey("b"), 3))
	require.NoError(t, s.Close())

	s = reopen(t, dir, noon)
	require.EqualValues(t, 4, s.Version())
	o, version := s.maps().Get(mapKey("a"))
	require.Equal(t, a, o, "with its kind and its version")
	require.EqualValues(t, 1, version)
	require.Equal(t, []string{"a=1"}, values(s.maps().Snapshot()))
	require.Equal(t, 1, s.Table(events).Snapshot().Len())

	_, err := s.maps().Watch(3)
	require.ErrorAs(t, err, new(*engine.Expired), "what changed before is no longer at hand")
	c, err := s.maps().Watch(4)
	require.NoError(t, err)
	s.commit(engine.Update(mapKey("a"), configMap("a", "2"), 1))
	require.Equal(t, []string{"5 a: 1 -> 2"}, next(t, c))
}

func TestTheNextProcessHasObjectsInOrder(t *testing.T) {
	dir := t.TempDir()
	s := reopen(t, dir, noon)
	var writes []engine.Write
	for n := range 400 {
		for _, name := range []string{"", "a", "web-", "a-long-name-", "a-long-name-a-long-name-", "zone.b-"} {
			name += fmt.Sprint(n * 7919 % 400)
			writes = append(writes, engine.Create(mapKey(name), configMap(name, "1")))
		}
	}
	s.commit(writes...)
	want := values(s.maps().Snapshot())
	require.NoError(t, s.Close())
	s = reopen(t, dir, noon)
	require.Equal(t, want, values(s.maps().Snapshot()))
	require.Len(t, want, 2400)
}

func TestExpiryOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	s := reopen(t, dir, noon)
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")).For(time.Hour), engine.Create(mapKey("b"), configMap("b", "1")).For(3*time.Hour))
	require.NoError(t, s.Close())

	s = reopen(t, dir, noon.Add(2*time.Hour))
	c, err := s.maps().Watch(2)
	require.NoError(t, err)
	require.Equal(t, []string{"3 a: 1 -> -"}, next(t, c))
	s.advance(time.Hour)
	require.Equal(t, []string{"4 b: 1 -> -"}, next(t, c))
	require.NoError(t, s.Close())
	require.Empty(t, values(reopen(t, dir, noon).maps().Snapshot()))
}

func TestAFolderThatCannotBeReadIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		record wal.Record
		wrong  string
	}{
		"a resource without a table": {
			wal.Record{Version: 1, Key: "/apps/deployments/default/a", Object: []byte(`{}`)},
			"read /apps/deployments/default/a: the store has no such resource"},
		"an object of another shape": {
			wal.Record{Version: 1, Key: eventKey("a"), Object: []byte(`{"count":"x"}`)},
			"read /events.k8s.io/events/default/a: json: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			log, _, err := wal.Open(dir, wal.Options{})
			require.NoError(t, err)
			require.NoError(t, log.Append([]wal.Record{c.record}))
			require.NoError(t, log.Close())
			_, err = engine.Open(engine.Config{Resources: resources(0), Clock: clock.NewMock(), Dir: dir})
			require.ErrorContains(t, err, "open the store in "+dir+": "+c.wrong)
			_, err = wal.Load(dir)
			require.NoError(t, err, "the folder is not kept locked")
		})
	}
}

// breaking is a file whose syncs fail once they are told to.
type breaking struct {
	*os.File
	broken *error
}

func (b breaking) Sync() error { return errors.Join(*b.broken, b.File.Sync()) }

func TestAStoreWhoseFolderIsGoneIsReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := reopen(t, dir, noon)
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")))
	require.NoError(t, s.Health())
	require.NoError(t, os.RemoveAll(dir))
	require.ErrorAs(t, s.Health(), new(*wal.Displaced), "before anything is written")
	err := s.Commit(engine.Update(mapKey("a"), configMap("a", "2"), 1))
	require.ErrorAs(t, err, new(*engine.ReadOnly))
	require.ErrorAs(t, err, new(*wal.Displaced))
	require.ErrorAs(t, s.Health(), new(*engine.ReadOnly))
	require.Equal(t, []string{"a=1"}, values(s.maps().Snapshot()), "what was acknowledged can be read")
}

func TestAStoreWhoseDiskFailsIsReadOnly(t *testing.T) {
	dir := t.TempDir()
	var broken error
	now := clock.NewMock()
	e, err := engine.Open(engine.Config{Resources: resources(0), Clock: now, Dir: dir, WAL: wal.Options{
		OpenFile: func(path string) (wal.File, error) {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
			return breaking{f, &broken}, err
		},
	}})
	require.NoError(t, err)
	s := &store{e, t, now}
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")))
	s.commit(engine.Create(eventKey("e"), event("e")).For(time.Hour))
	require.NoError(t, s.Health())
	_, c := s.maps().SnapshotAndWatch()

	broken = errors.New("the disk is gone")
	for range 2 {
		err = s.Commit(engine.Update(mapKey("a"), configMap("a", "2"), 1))
		require.ErrorAs(t, err, new(*engine.ReadOnly))
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "the store is read-only until it is opened again: append to "+dir)
		require.ErrorIs(t, s.Health(), broken)
	}
	require.ErrorAs(t, s.Commit(engine.Delete(mapKey("b"), 1)), new(*engine.Conflict))
	s.advance(2 * time.Hour)
	require.Equal(t, []string{"a=1"}, values(s.maps().Snapshot()), "what was acknowledged can be read")
	require.EqualValues(t, 2, s.Version())
	require.NoError(t, s.Close())
	_, err = c.Next(t.Context())
	require.ErrorIs(t, err, engine.ErrClosed, "nothing was shown that is not durable")

	s = reopen(t, dir, time.Unix(0, 0))
	require.Equal(t, []string{"a=1"}, values(s.maps().Snapshot()))
	require.Equal(t, 1, s.Table(events).Snapshot().Len())
}

func TestManyObjectsComeBackInOrder(t *testing.T) {
	dir := t.TempDir()
	s := reopen(t, dir, noon)
	var writes []engine.Write
	for i := range 3000 {
		name := fmt.Sprintf("m%04d", (i*7919)%3000)
		writes = append(writes, engine.Create(mapKey(name), configMap(name, fmt.Sprint(i))))
	}
	s.commit(writes...)
	before := values(s.maps().Snapshot())
	require.NoError(t, s.Close())
	s = reopen(t, dir, noon)
	require.Equal(t, before, values(s.maps().Snapshot()))
	for _, o := range s.maps().Snapshot().Under(engine.Prefix(maps), mapKey("m2999")) {
		require.Equal(t, "m2999", o.(*corev1.ConfigMap).Name)
	}
}

func TestManyObjectsAreEncodedSideBySide(t *testing.T) {
	dir := t.TempDir()
	s := reopen(t, dir, noon)
	var writes []engine.Write
	var want []string
	for i := range 1000 {
		name := fmt.Sprintf("m%04d", i)
		writes, want = append(writes, engine.Create(mapKey(name), configMap(name, "1"))), append(want, name+"=1")
	}
	s.commit(writes...)
	require.NoError(t, s.Close())
	require.Equal(t, want, values(reopen(t, dir, noon).maps().Snapshot()))
}
