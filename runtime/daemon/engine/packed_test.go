package engine_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
)

// short is a store with a log whose table of config maps keeps so few changes that most of them are kept as texts.
func short(t *testing.T) *store {
	t.Helper()
	now := clock.NewMock()
	e, err := engine.Open(engine.Config{Resources: resources(4), Clock: now, Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return &store{e, t, now}
}

func TestWhatHasNotChangedForLongReadsAsItWas(t *testing.T) {
	s := short(t)
	last := map[string]int64{}
	for n := range int64(40) {
		name := fmt.Sprint(n % 8)
		m := configMap(name, strings.Repeat("v", int(n)))
		m.Labels = map[string]string{"app": "web"}
		s.commit(engine.Update(mapKey(name), m, last[name]))
		last[name] = n + 1
	}
	hot, cold := 0, 0
	for name, version := range last { // order-free: each is looked at alone
		is, at := s.maps().Get(mapKey(name))
		require.Equal(t, version, at)
		require.Equal(t, version, engine.VersionOf(is))
		require.Equal(t, strings.Repeat("v", int(version-1)), is.(*corev1.ConfigMap).Data["value"])
		require.Equal(t, "ConfigMap", is.GetObjectKind().GroupVersionKind().Kind)
		if again, _ := s.maps().Get(mapKey(name)); again == is {
			hot++
		} else {
			require.Equal(t, is, again)
			cold++
		}
		require.Equal(t, is, s.maps().Snapshot().Get(mapKey(name)))
	}
	require.Equal(t, 4, hot, "those of the latest changes")
	require.Equal(t, 4, cold)
	require.Len(t, values(s.maps().Snapshot()), 8)
}

func TestChangesOfWhatIsPackedAreTold(t *testing.T) {
	s := short(t)
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")))
	for n := range 6 {
		s.commit(engine.Create(mapKey(fmt.Sprint("b", n)), configMap("b", "1")))
	}
	c, err := s.maps().Watch(s.Version())
	require.NoError(t, err)
	s.commit(engine.Update(mapKey("a"), configMap("a", "2"), 1))
	s.commit(engine.Delete(mapKey("a"), 8))
	changes, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"8 a: 1 -> 2", "9 a: 2 -> -"}, told(changes))
	require.False(t, changes[0].New())
	before, err := s.maps().At(7)
	require.NoError(t, err)
	require.Equal(t, "a=1", values(before)[0])
	require.Len(t, values(s.maps().Snapshot()), 6)
}

func TestSnapshotsCountAndFindWithoutReading(t *testing.T) {
	s := short(t)
	for n := range 12 { // the first four are not packed
		m := configMap(fmt.Sprintf("%02d", n), "1")
		if n%2 == 0 {
			m.Finalizers = []string{"leeward.dev/keeps"}
		}
		s.commit(engine.Create(mapKey(m.Name), m))
	}
	all := s.maps().Snapshot()
	require.EqualValues(t, 3, all.Count(engine.Prefix(maps), mapKey("08")))
	require.EqualValues(t, 12, all.Count(engine.Prefix(maps), ""))
	require.Zero(t, all.Count(engine.Prefix(events), ""))

	var names []string
	for _, o := range all.Mentioning(engine.Prefix(maps), "", "ownerReferences", "finalizers") {
		names = append(names, o.GetName())
	}
	require.Equal(t, []string{"00", "01", "02", "03", "04", "06", "08", "09", "10", "11"}, names, "and those that are not packed, or not cold")
	for range all.Mentioning("", "", "finalizers") {
		break // a reader that has seen enough may go
	}
	names = nil
	for _, o := range all.Mentioning(engine.Prefix(maps), mapKey("06"), "finalizers") {
		names = append(names, o.GetName())
	}
	require.Equal(t, []string{"06", "08", "09", "10", "11"}, names, "from a key on")
}

func TestSomeFieldsOfAllAreReadWithoutTheOthers(t *testing.T) {
	s := short(t)
	for n := range 100 { // the first four are not packed
		s.commit(engine.Create(mapKey(fmt.Sprintf("%02d", n)), configMap(fmt.Sprint(n), fmt.Sprint("v", n))))
	}
	type named struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Data engine.Skipped `json:"data"`
	}
	var read []string
	require.NoError(t, engine.ReadAs(s.maps().Snapshot(), func(key string, version int64, said *named) {
		require.Equal(t, mapKey(fmt.Sprintf("%02d", version-1)), key)
		read = append(read, said.Metadata.Name)
	}))
	require.Len(t, read, 100)
	require.Equal(t, []string{"0", "1", "98", "99"}, []string{read[0], read[1], read[98], read[99]})
	type wrong struct {
		Data int `json:"data"`
	}
	err := engine.ReadAs(s.maps().Snapshot(), func(string, int64, *wrong) { t.Fatal("nothing can be read so") })
	require.ErrorContains(t, err, "read /core/configmaps/default/00: json: ")
}

func TestARowStaysAsItWas(t *testing.T) {
	s := short(t)
	feed := s.Follow()
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")))
	row := s.maps().Row(mapKey("a"))
	require.Same(t, row, feed.Take()[0].Row())
	s.commit(engine.Update(mapKey("a"), configMap("a", "2"), 1))
	require.True(t, feed.Awaits(mapKey("a")))
	require.False(t, feed.Awaits(mapKey("b")))
	require.EqualValues(t, 1, row.Version())
	require.Equal(t, "1", row.Object().(*corev1.ConfigMap).Data["value"])
	require.Equal(t, "1", row.Object().GetResourceVersion())
	require.EqualValues(t, 2, s.maps().Version(mapKey("a")))
	s.commit(engine.Delete(mapKey("a"), 2), engine.Create(mapKey("c"), configMap("c", "1")))
	require.Nil(t, s.maps().Row(mapKey("a")))
	require.Zero(t, s.maps().Version(mapKey("a")))
	require.Zero(t, s.maps().Row(mapKey("b")).Version())
	require.Nil(t, s.maps().Row(mapKey("b")).Object())
	changes := feed.Take()
	require.Nil(t, changes[1].Row(), "a deletion")
	require.False(t, feed.Awaits(mapKey("a")))

	for n := range 4 { // from then on the table packs
		s.commit(engine.Create(mapKey(fmt.Sprint("b", n)), configMap("b", "1")))
	}
	row = s.maps().Row(mapKey("b3"))
	require.NotSame(t, row.Object(), row.Object(), "a text, though the table still has the object")
}

func TestATableWithoutAKindLeavesObjectsTheirs(t *testing.T) {
	e, err := engine.Open(engine.Config{
		Resources: []engine.Resource{{Name: maps, New: func() engine.Object { return new(corev1.ConfigMap) }}}, Clock: clock.NewMock(),
	})
	require.NoError(t, err)
	m := configMap("a", "1")
	m.Kind = "Mine"
	require.NoError(t, e.Commit(engine.Create(mapKey("a"), m)))
	o, _ := e.Table(maps).Get(mapKey("a"))
	require.Equal(t, "Mine", o.(*corev1.ConfigMap).Kind)
	require.NoError(t, e.Close())
}

// TestTheLatestChangesAreAtHandAsTheyWereCommitted has more changes than are kept so, of more objects than a table keeps as they are.
func TestTheLatestChangesAreAtHandAsTheyWereCommitted(t *testing.T) {
	const latest, history = 1024, 1500
	now := clock.NewMock()
	e, err := engine.Open(engine.Config{Resources: resources(history), Clock: now, Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	s := &store{e, t, now}
	create := func(from, to int) {
		var writes []engine.Write
		for n := from; n < to; n++ {
			writes = append(writes, engine.Create(mapKey(fmt.Sprintf("%04d", n)), configMap("m", "1")))
		}
		s.commit(writes...)
	}
	create(0, history)
	create(history, history+1) // packed, as the table has so many
	edited := configMap("m", "2")
	edited.ResourceVersion = "7" // as people send it
	s.commit(engine.Update(mapKey("1500"), edited, history+1))
	is := func() engine.Change {
		c, err := s.maps().Watch(history + 1)
		require.NoError(t, err)
		changes, err := c.Next(t.Context())
		require.NoError(t, err)
		return changes[0]
	}
	c := is()
	require.JSONEq(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","namespace":"default"},"data":{"value":"2"}}`, string(c.Text))
	require.Same(t, c.Previous(), c.Previous())
	create(history+1, history+latest)
	c = is()
	require.NotNil(t, c.Text, "the last of the latest")
	create(history+latest, history+latest+1)
	c = is()
	require.Nil(t, c.Text)
	require.Equal(t, "2", c.Object.(*corev1.ConfigMap).Data["value"])
	require.NotSame(t, c.Previous(), c.Previous(), "what stood before is a text by now")
	require.Equal(t, "1", c.Previous().(*corev1.ConfigMap).Data["value"])
}

// TestTheFirstOfTheLatestChangesIsLetGoLikeTheOthers where as many follow as are at hand as they were committed.
func TestTheFirstOfTheLatestChangesIsLetGoLikeTheOthers(t *testing.T) {
	now := clock.NewMock()
	e, err := engine.Open(engine.Config{Resources: resources(1500), Clock: now, Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	var writes []engine.Write
	for n := range 1025 {
		writes = append(writes, engine.Create(mapKey(fmt.Sprintf("%04d", n)), configMap("m", "1")))
	}
	require.NoError(t, e.Commit(writes...))
	c, err := e.Table(maps).Watch(0)
	require.NoError(t, err)
	changes, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Nil(t, changes[0].Text)
	require.NotNil(t, changes[1].Text)
}

func TestWhatCannotBeReadIsSaidByWhoReadsItFirst(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, wal.Create(dir, []wal.Record{{Version: 1, Key: mapKey("a"), Object: []byte(`{"data":7}`)}}))
	s := reopen(t, dir, noon)
	err := s.maps().Snapshot().Read(func(string, *engine.Row, engine.Object) {})
	require.ErrorContains(t, err, "read /core/configmaps/default/a: json: ")
	require.Panics(t, func() { s.maps().Get(mapKey("a")) })
}

func TestManyObjectsAreReadInOrder(t *testing.T) {
	s := short(t)
	var writes []engine.Write
	for n := range 3000 {
		name := fmt.Sprintf("%04d", n)
		writes = append(writes, engine.Create(mapKey(name), configMap(name, fmt.Sprint(n))))
	}
	s.commit(writes...)
	all := values(s.maps().Snapshot())
	require.Len(t, all, 3000)
	require.True(t, slices.IsSorted(all))
	require.Equal(t, "2999=2999", all[2999])
}

func TestAllAreReadWithTheirRows(t *testing.T) {
	s := short(t)
	for n := range 6 { // the first four are not packed
		s.commit(engine.Create(mapKey(fmt.Sprint(n)), configMap(fmt.Sprint(n), "1")))
	}
	var read []string
	require.NoError(t, s.maps().Snapshot().Read(func(key string, r *engine.Row, o engine.Object) {
		require.Equal(t, mapKey(o.GetName()), key)
		read = append(read, fmt.Sprintf("%s at %d", o.GetName(), r.Version()))
	}))
	require.Equal(t, []string{"0 at 1", "1 at 2", "2 at 3", "3 at 4", "4 at 5", "5 at 6"}, read)
}

func TestWhatManySayAlikeIsHeldOnceByWhoReadsThem(t *testing.T) {
	s := short(t)
	var writes []engine.Write
	for n := range 5000 {
		m := configMap("m", "1")
		m.Labels = map[string]string{"app": "web"}
		writes = append(writes, engine.Create(mapKey(fmt.Sprintf("%04d", n)), m))
	}
	s.commit(writes[:4]...)
	s.commit(writes[4:]...)
	s.commit(engine.Create(mapKey("last"), configMap("m", "1")))
	labels := map[uintptr]bool{}
	for _, o := range s.maps().Snapshot().Under(engine.Prefix(maps), "") {
		labels[reflect.ValueOf(o.GetLabels()).Pointer()] = true
	}
	require.Less(t, len(labels), 2500, "but for the first and the last, which are not many")
}

// TestWhoHasSeenEnoughOfManyStops wherever that is among those that are decoded ahead.
func TestWhoHasSeenEnoughOfManyStops(t *testing.T) {
	s := short(t)
	var writes []engine.Write
	for n := range 5000 {
		writes = append(writes, engine.Create(mapKey(fmt.Sprintf("%04d", n)), configMap("m", "1")))
	}
	s.commit(writes...)
	all := s.maps().Snapshot()
	for _, enough := range []int{1, 31, 32, 33, 100, 1500, 2500, 4999, 5000} {
		seen := 0
		for range all.Under("", "") {
			if seen++; seen == enough {
				break
			}
		}
		require.Equal(t, enough, seen)
	}
}
