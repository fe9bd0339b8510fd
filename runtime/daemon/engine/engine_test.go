package engine_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
)

var (
	maps   = schema.GroupResource{Resource: "configmaps"}
	events = schema.GroupResource{Group: "events.k8s.io", Resource: "events"}
)

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Data:       map[string]string{"value": value},
	}
}

func event(name string) *corev1.Event {
	return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

func mapKey(name string) string   { return engine.Key(maps, "default", name) }
func eventKey(name string) string { return engine.Key(events, "default", name) }

func resources(history int) []engine.Resource {
	return []engine.Resource{{
		Name:    maps,
		Kind:    corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		New:     func() engine.Object { return new(corev1.ConfigMap) },
		History: history,
		Packed:  true, // where there is a log
	}, {
		Name: events,
		Kind: corev1.SchemeGroupVersion.WithKind("Event"),
		New:  func() engine.Object { return new(corev1.Event) },
	}}
}

// store is an engine under test, with a clock that the test moves.
type store struct {
	*engine.Engine
	t     *testing.T
	clock *clock.Mock
}

func open(t *testing.T, history int) *store {
	t.Helper()
	now := clock.NewMock()
	e, err := engine.Open(engine.Config{Resources: resources(history), Clock: now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return &store{e, t, now}
}

func (s *store) commit(writes ...engine.Write) {
	s.t.Helper()
	require.NoError(s.t, s.Commit(writes...))
}

// advance moves the clock, once the engine has set its alarm by it: an answer shows that it has come round.
func (s *store) advance(d time.Duration) {
	s.t.Helper()
	require.ErrorAs(s.t, s.Commit(engine.Delete(mapKey("nothing"), 1)), new(*engine.Conflict))
	s.clock.Add(d)
}

func (s *store) maps() *engine.Table { return s.Table(maps) }

// values are the objects of a table of config maps, as "name=value".
func values(s engine.Snapshot) []string {
	var list []string
	for _, o := range s.Under(engine.Prefix(maps), "") {
		list = append(list, o.GetName()+"="+o.(*corev1.ConfigMap).Data["value"])
	}
	return list
}

// told are changes as "version name: before -> after".
func told(changes []engine.Change) []string {
	value := func(o engine.Object) string {
		if o == nil {
			return "-"
		}
		return o.(*corev1.ConfigMap).Data["value"]
	}
	var list []string
	for _, c := range changes {
		list = append(list, fmt.Sprintf("%d %s: %s -> %s", c.Version, c.Key[len(mapKey("")):], value(c.Previous()), value(c.Object)))
	}
	return list
}

func next(t *testing.T, c *engine.Cursor) []string {
	t.Helper()
	changes, err := c.Next(t.Context())
	require.NoError(t, err)
	return told(changes)
}

func TestAWriteIsCheckedAgainstWhatIsStored(t *testing.T) {
	create, a2, b := engine.Create, mapKey("a"), mapKey("b")
	for name, c := range map[string]struct {
		write []engine.Write
		wrong string
		stand []string
	}{
		"what is not there can be created": {
			[]engine.Write{create(b, configMap("b", "1"))}, "", []string{"a=2", "b=1"}},
		"what is there cannot be created": {
			[]engine.Write{create(a2, configMap("a", "3"))}, "/core/configmaps/default/a exists already, at version 2", []string{"a=2"}},
		"the version that is stored can be updated": {
			[]engine.Write{engine.Update(a2, configMap("a", "3"), 2)}, "", []string{"a=3"}},
		"an older version cannot be updated": {
			[]engine.Write{engine.Update(a2, configMap("a", "3"), 1)}, "/core/configmaps/default/a is at version 2; version 1 was expected", []string{"a=2"}},
		"what is not there cannot be updated": {
			[]engine.Write{engine.Update(b, configMap("b", "3"), 2)}, "/core/configmaps/default/b does not exist; version 2 was expected", []string{"a=2"}},
		"the version that is stored can be deleted": {
			[]engine.Write{engine.Delete(a2, 2)}, "", nil},
		"an older version cannot be deleted": {
			[]engine.Write{engine.Delete(a2, 1)}, "is at version 2", []string{"a=2"}},
		"what is not there cannot be deleted": {
			[]engine.Write{engine.Delete(b, 2)}, "does not exist", []string{"a=2"}},
		"several writes happen together": {
			[]engine.Write{engine.Delete(a2, 2), create(b, configMap("b", "1"))}, "", []string{"b=1"}},
		"if one cannot be, none happens": {
			[]engine.Write{create(b, configMap("b", "1")), engine.Delete(a2, 1)}, "is at version 2", []string{"a=2"}},
		"a deletion must say what it deletes": {
			[]engine.Write{engine.Delete(a2, 0)}, "must say which version", []string{"a=2"}},
		"a resource must have a table": {
			[]engine.Write{create("/apps/deployments/default/a", configMap("a", "1"))}, `commit "/apps/deployments/default/a": the store has no such resource`, []string{"a=2"}},
		"a key must have a prefix": {
			[]engine.Write{create("a", configMap("a", "1"))}, "no such resource", []string{"a=2"}},
		"a key must name an object": {
			[]engine.Write{create(engine.Prefix(maps), configMap("a", "1"))}, "names no object", []string{"a=2"}},
		"an object cannot be written twice in a commit": {
			[]engine.Write{engine.Delete(a2, 2), create(a2, configMap("a", "1"))}, "written twice", []string{"a=2"}},
		"an object cannot have expired already": {
			[]engine.Write{create(b, configMap("b", "1")).For(-1)}, "time to live -1ns: must not be negative", []string{"a=2"}},
		"there must be something to write": {
			nil, "nothing to write", []string{"a=2"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, 0)
			s.commit(create(a2, configMap("a", "1")))
			s.commit(engine.Update(a2, configMap("a", "2"), 1))
			err := s.Commit(c.write...)
			if c.wrong == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.wrong)
			}
			require.Equal(t, c.stand, values(s.maps().Snapshot()))
		})
	}
}

func TestEveryWriteTakesTheNextVersionOfTheStore(t *testing.T) {
	s := open(t, 0)
	a, b := configMap("a", "1"), configMap("b", "1")
	s.commit(engine.Create(mapKey("a"), a), engine.Create(eventKey("e"), event("e")), engine.Create(mapKey("b"), b))
	require.Equal(t, "1", a.ResourceVersion)
	require.Equal(t, "3", b.ResourceVersion)
	require.EqualValues(t, 3, engine.VersionOf(b))
	require.Equal(t, "ConfigMap", a.Kind, "an object says of what kind it is")

	o, version := s.maps().Get(mapKey("b"))
	require.Same(t, b, o)
	require.EqualValues(t, 3, version)
	require.EqualValues(t, 3, s.maps().Snapshot().Version)

	s.commit(engine.Delete(mapKey("a"), 1))
	require.EqualValues(t, 4, s.Version(), "a deletion takes one too")
	o, version = s.maps().Get(mapKey("a"))
	require.Nil(t, o)
	require.Zero(t, version)
	require.Nil(t, s.Table(schema.GroupResource{Resource: "pods"}))
	require.Zero(t, engine.VersionOf(configMap("c", "1")))
}

func TestWhatBeginsFirstIsCommittedFirst(t *testing.T) {
	s := open(t, 0)
	first := s.Follow().Begin(0, engine.Create(mapKey("a"), configMap("a", "1")))
	second := s.Follow().Begin(0, engine.Update(mapKey("a"), configMap("a", "2"), 1))
	refused := s.Follow().Begin(0, engine.Delete(mapKey("a"), 0))
	behind := s.Follow().Begin(0, engine.Create(mapKey("a"), configMap("a", "3")))
	require.NoError(t, second())
	require.NoError(t, first())
	require.ErrorContains(t, refused(), "must say which version")
	require.ErrorAs(t, behind(), new(*engine.Conflict))
	require.Equal(t, []string{"a=2"}, values(s.maps().Snapshot()))
}

// TestAnObjectMayGoAndComeInOneBatch has what begins while a batch is committed share the next one.
func TestAnObjectMayGoAndComeInOneBatch(t *testing.T) {
	dir, busy, batches := t.TempDir(), make(chan struct{}), []int(nil)
	open := func(committed func(int, time.Duration)) *engine.Engine {
		e, err := engine.Open(engine.Config{Resources: resources(0), Clock: clock.NewMock(), Dir: dir, Committed: committed})
		require.NoError(t, err)
		return e
	}
	committed := make(chan struct{}, 2)
	e := open(func(n int, _ time.Duration) { batches = append(batches, n); committed <- struct{}{}; <-busy })
	first := e.Follow().Begin(0, engine.Create(mapKey("a"), configMap("a", "1")), engine.Create(mapKey("b"), configMap("b", "1")))
	<-committed // that is a batch of its own
	changes := []func() error{
		e.Follow().Begin(0, engine.Delete(mapKey("a"), 1)),
		e.Follow().Begin(0, engine.Create(mapKey("a"), configMap("a", "2"))),
		e.Follow().Begin(0, engine.Delete(mapKey("b"), 2)),
		e.Follow().Begin(0, engine.Create(mapKey("b"), configMap("b", "2"))),
		e.Follow().Begin(0, engine.Delete(mapKey("b"), 6)),
	}
	late := e.Follow().Begin(0, engine.Update(mapKey("b"), configMap("b", "3"), 6))
	close(busy)
	require.NoError(t, first())
	for i, end := range changes {
		require.NoError(t, end(), i)
	}
	require.ErrorAs(t, late(), new(*engine.Conflict), "it is gone")
	table := e.Table(maps)
	require.Equal(t, []string{"a=2"}, values(table.Snapshot()))
	require.NoError(t, e.Close())
	require.Equal(t, []int{2, 5}, batches)

	again := open(nil)
	require.Equal(t, []string{"a=2"}, values(again.Table(maps).Snapshot()), "the log tells the same")
	require.NoError(t, again.Close())
}

func TestTwoTablesForOneResourceAreRefused(t *testing.T) {
	_, err := engine.Open(engine.Config{Resources: append(resources(0), resources(0)...), Clock: clock.NewMock()})
	require.EqualError(t, err, "open the store: two tables for configmaps")
}

func TestThePastIsWhatItWas(t *testing.T) {
	s := open(t, 4)
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")))
	s.commit(engine.Create(mapKey("b"), configMap("b", "1")))
	s.commit(engine.Update(mapKey("a"), configMap("a", "2"), 1))
	s.commit(engine.Delete(mapKey("b"), 2))
	s.commit(engine.Create(mapKey("b"), configMap("b", "2")))
	for version, want := range map[int64][]string{
		1: {"a=1"},
		2: {"a=1", "b=1"},
		3: {"a=2", "b=1"},
		4: {"a=2"},
		5: {"a=2", "b=2"},
	} {
		past, err := s.maps().At(version)
		require.NoError(t, err)
		require.Equal(t, want, values(past))
		require.Equal(t, version, past.Version)
		require.Equal(t, len(want), past.Len())
	}
	_, err := s.maps().At(0)
	require.EqualError(t, err, "version 0 is too old: the oldest at hand is 1")
	_, err = s.maps().At(6)
	require.ErrorAs(t, err, new(*engine.Ahead))
	require.Equal(t, []string{"a=2", "b=2"}, values(s.maps().Snapshot()), "looking back changes nothing")
}

func TestASnapshotIsReadFromAKeyOn(t *testing.T) {
	s := open(t, 0)
	for _, name := range []string{"c", "a", "d", "b"} {
		s.commit(engine.Create(mapKey(name), configMap(name, "1")))
	}
	snapshot := s.maps().Snapshot()
	names := func(prefix, from string) []string {
		var list []string
		for _, o := range snapshot.Under(prefix, from) {
			list = append(list, o.GetName())
		}
		return list
	}
	require.Equal(t, []string{"a", "b", "c", "d"}, names(mapKey(""), ""))
	require.Equal(t, []string{"c", "d"}, names(mapKey(""), mapKey("c")))
	require.Equal(t, []string{"c", "d"}, names(mapKey(""), mapKey("b\x00")))
	require.Equal(t, []string{"b"}, names(mapKey("b"), mapKey("a")))
	require.Empty(t, names(engine.Prefix(maps)+"other/", ""))
	require.Equal(t, "d", snapshot.Get(mapKey("d")).GetName())
	require.Nil(t, snapshot.Get(mapKey("e")))
}

func TestObjectsGoWhenTheirTimeIsUp(t *testing.T) {
	s := open(t, 0)
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")).For(time.Hour), engine.Create(mapKey("b"), configMap("b", "1")))
	s.advance(time.Minute)
	s.commit(engine.Create(mapKey("c"), configMap("c", "1")).For(time.Minute))
	s.commit(engine.Create(mapKey("d"), configMap("d", "1")).For(time.Minute))
	s.commit(engine.Update(mapKey("d"), configMap("d", "2"), 4))
	_, c := s.maps().SnapshotAndWatch()

	s.advance(time.Minute)
	require.Equal(t, []string{"6 c: 1 -> -"}, next(t, c))
	require.Equal(t, []string{"a=1", "b=1", "d=2"}, values(s.maps().Snapshot()), "an update without a time to live stays")
	s.advance(58 * time.Minute)
	require.Equal(t, []string{"7 a: 1 -> -"}, next(t, c))
	s.commit(engine.Create(mapKey("a"), configMap("a", "2")))
	require.Equal(t, []string{"a=2", "b=1", "d=2"}, values(s.maps().Snapshot()))
}

func TestACloseAnswersEverybody(t *testing.T) {
	s := open(t, 0)
	_, c := s.maps().SnapshotAndWatch()
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")))
	require.NoError(t, s.Close())
	require.Equal(t, []string{"1 a: - -> 1"}, next(t, c), "what is there is read first")
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, engine.ErrClosed)
	require.ErrorIs(t, s.Commit(engine.Create(mapKey("b"), configMap("b", "1"))), engine.ErrClosed)
	require.Equal(t, []string{"a=1"}, values(s.maps().Snapshot()), "what is there can still be read")
	require.NoError(t, s.Close())
}

func TestADeletionTakesAVersionThatIsTold(t *testing.T) {
	s := open(t, 0)
	version, err := s.CommitVersion(engine.Create(mapKey("a"), configMap("a", "1")), engine.Create(mapKey("b"), configMap("b", "1")))
	require.NoError(t, err)
	require.Equal(t, int64(2), version)
	version, err = s.CommitVersion(engine.Delete(mapKey("a"), 1))
	require.NoError(t, err)
	require.Equal(t, int64(3), version)
	version, err = s.CommitVersion()
	require.Error(t, err)
	require.Zero(t, version)
}

func TestABatchIsMeasuredOnceItIsDurable(t *testing.T) {
	var objects []int
	e, err := engine.Open(engine.Config{
		Resources: resources(0), Clock: clock.NewMock(), Dir: t.TempDir(),
		Committed: func(n int, took time.Duration) { objects = append(objects, n) },
	})
	require.NoError(t, err)
	require.NoError(t, e.Commit(engine.Create(mapKey("a"), configMap("a", "1")), engine.Create(mapKey("b"), configMap("b", "1"))))
	require.Error(t, e.Commit(engine.Create(mapKey("a"), configMap("a", "2"))))
	require.NoError(t, e.Close())
	require.Equal(t, []int{2}, objects, "what is refused is not measured")
}

func TestHowLongABatchTookIsUntilItIsDurable(t *testing.T) {
	now, took := clock.NewMock(), []time.Duration(nil)
	e, err := engine.Open(engine.Config{
		Resources: resources(0), Clock: now, Dir: t.TempDir(),
		WAL: wal.Options{OpenFile: func(path string) (wal.File, error) {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
			return slow{f, now}, err
		}},
		Committed: func(_ int, d time.Duration) { took = append(took, d) },
	})
	require.NoError(t, err)
	require.NoError(t, e.Commit(engine.Create(mapKey("a"), configMap("a", "1"))))
	require.NoError(t, e.Close())
	require.Equal(t, []time.Duration{5 * time.Millisecond}, took)
}

// slow is a file whose syncs take their time.
type slow struct {
	*os.File
	clock *clock.Mock
}

func (s slow) Sync() error {
	s.clock.Add(5 * time.Millisecond)
	return nil
}

// TestManyObjectsGoTogether has more of them due at one instant than go in one batch.
func TestManyObjectsGoTogether(t *testing.T) {
	var batches []int
	now := clock.NewMock()
	e, err := engine.Open(engine.Config{Resources: resources(0), Clock: now, Committed: func(n int, _ time.Duration) { batches = append(batches, n) }})
	require.NoError(t, err)
	s := &store{e, t, now}
	var writes []engine.Write
	for n := range 2500 {
		writes = append(writes, engine.Create(mapKey(fmt.Sprintf("%04d", n)), configMap("m", "1")).For(time.Hour))
	}
	s.commit(writes...)
	s.commit(engine.Create(mapKey("later"), configMap("later", "1")).For(2 * time.Hour))
	_, c := s.maps().SnapshotAndWatch()
	s.advance(time.Hour)
	var gone []string
	for len(gone) < 2500 {
		changes, err := c.Next(t.Context())
		require.NoError(t, err)
		for _, change := range changes {
			require.Nil(t, change.Object)
			gone = append(gone, change.Key)
		}
	}
	require.True(t, slices.IsSorted(gone), "by name, where they are due at once")
	require.Equal(t, []string{"later=1"}, values(s.maps().Snapshot()))
	require.NoError(t, s.Close())
	require.Equal(t, []int{2500, 1, 1024, 1024, 2500 - 2*1024}, batches, "with few syncs of the log")
}
