package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine"
)

func TestAFeedHasTheChangesOfAllTablesInTheirOrder(t *testing.T) {
	s := open(t, 1) // tables that remember one change
	s.commit(engine.Create(mapKey("before"), configMap("before", "")))
	f := s.Follow()
	require.Empty(t, f.News())
	require.Empty(t, f.Take())

	s.commit(engine.Create(mapKey("a"), configMap("a", "1")), engine.Create(eventKey("a"), event("a")))
	s.commit(engine.Update(mapKey("a"), configMap("a", "2"), 2))
	s.commit(engine.Delete(mapKey("a"), 4))
	require.Len(t, f.News(), 1)
	var versions []int64
	changes := f.Take()
	for _, c := range changes {
		versions = append(versions, c.Version)
	}
	require.Equal(t, []int64{2, 3, 4, 5}, versions)
	require.Equal(t, "2", changes[2].Previous().GetResourceVersion())
	require.Nil(t, changes[3].Object)
	require.Empty(t, f.Take())

	other := s.Follow()
	other.Close()
	s.commit(engine.Create(mapKey("b"), configMap("b", "")))
	require.Empty(t, other.Take())
	require.Len(t, f.Take(), 1)
}

func TestAFeedHoldsNoMoreThanItsReaderHasAUseFor(t *testing.T) {
	s := open(t, 1)
	f := s.Follow(events)
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")), engine.Create(eventKey("a"), event("a")))
	changes := f.Take()
	require.NotNil(t, changes[0].Object)
	require.Nil(t, changes[0].Text)
	require.Equal(t, eventKey("a"), changes[1].Key)
	require.Equal(t, int64(2), changes[1].Version)
	require.Nil(t, changes[1].Object)
}

func TestFeedsTakeNothingFromEachOther(t *testing.T) {
	s := short(t)
	all, barely := s.Follow(), s.Follow(events)
	s.commit(engine.Create(eventKey("a"), event("a")))
	changes := all.Take()
	require.NotNil(t, changes[0].Object)
	require.Nil(t, changes[0].Text, "a feed may be behind, and holds no more than it must")
	require.Nil(t, barely.Take()[0].Object)
}

func TestAFeedEndsWithItsStore(t *testing.T) {
	s := open(t, 0)
	f := s.Follow()
	require.NoError(t, s.Close())
	_, open := <-f.News()
	require.False(t, open)
	_, open = <-s.Follow().News()
	require.False(t, open)
}

func TestAFeedLeavesOutWhatItsReaderWrites(t *testing.T) {
	s := open(t, 0)
	mine, theirs := s.Follow(), s.Follow()
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")), engine.Create(mapKey("b"), configMap("b", "1")))
	require.NoError(t, mine.Begin(0, engine.Update(mapKey("a"), configMap("a", "2"), 1), engine.Create(mapKey("c"), configMap("c", "1")))())
	require.NoError(t, mine.Begin(0, engine.Delete(mapKey("b"), 2))())
	require.False(t, mine.Awaits(mapKey("a")), "it has written over that")
	require.False(t, mine.Awaits(mapKey("b")))
	s.commit(engine.Create(mapKey("b"), configMap("b", "2")), engine.Update(mapKey("c"), configMap("c", "2"), 4))
	require.True(t, mine.Awaits(mapKey("b")))
	require.Zero(t, mine.Taken())

	changes := mine.Take()
	require.Len(t, changes, 2)
	require.Equal(t, mapKey("b"), changes[0].Key)
	require.True(t, changes[0].New())
	require.Equal(t, "4", changes[1].Previous().GetResourceVersion(), "who changes what it wrote is news")
	require.Equal(t, int64(7), mine.Taken())
	require.Len(t, theirs.Take(), 7)

	require.NoError(t, mine.Begin(0, engine.Delete(mapKey("a"), 3))())
	require.Empty(t, mine.Take())
	require.Equal(t, int64(8), mine.Taken())
}
