package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/runtime/daemon/engine"
)

func TestACursorReadsEachChangeOnceAndInOrder(t *testing.T) {
	s := open(t, 0)
	s.commit(engine.Create(mapKey("a"), configMap("a", "1")))
	snapshot, c := s.maps().SnapshotAndWatch()
	require.Equal(t, []string{"a=1"}, values(snapshot))

	s.commit(engine.Update(mapKey("a"), configMap("a", "2"), 1), engine.Create(mapKey("b"), configMap("b", "1")))
	s.commit(engine.Create(eventKey("e"), event("e")))
	s.commit(engine.Delete(mapKey("a"), 2))
	require.Equal(t, []string{"2 a: 1 -> 2", "3 b: - -> 1", "5 a: 2 -> -"}, next(t, c))
	require.EqualValues(t, 5, c.Version())

	later, err := s.maps().Watch(3)
	require.NoError(t, err)
	require.EqualValues(t, 3, later.Version())
	require.Equal(t, []string{"5 a: 2 -> -"}, next(t, later))
	require.Equal(t, []string{"a=1"}, values(snapshot), "a snapshot stays as it is")
}

func TestACursorThatHasReadAllKeepsUpWithOtherTables(t *testing.T) {
	s := open(t, 0)
	_, c := s.maps().SnapshotAndWatch()
	s.commit(engine.Create(eventKey("e"), event("e")))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Next(done)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 1, c.Version())
}

func TestAWaitingCursorIsWoken(t *testing.T) {
	s := open(t, 0)
	_, c := s.maps().SnapshotAndWatch()
	wrong := make(chan error, 2)
	go func() {
		wrong <- s.Commit(engine.Create(eventKey("e"), event("e")))
		wrong <- s.Commit(engine.Create(mapKey("a"), configMap("a", "1")))
	}()
	require.Equal(t, []string{"2 a: - -> 1"}, next(t, c))
	require.NoError(t, <-wrong)
	require.NoError(t, <-wrong)
}

func TestAWaitingCursorHearsOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.Open(engine.Config{Resources: resources(0), Clock: clock.NewMock()})
		require.NoError(t, err)
		_, c := e.Table(maps).SnapshotAndWatch()
		ended := make(chan error)
		go func() {
			_, err := c.Next(t.Context())
			ended <- err
		}()
		synctest.Wait()
		require.NoError(t, e.Close())
		require.ErrorIs(t, <-ended, engine.ErrClosed)
	})
}

func TestACursorBehindTheRingIsToldSo(t *testing.T) {
	s := open(t, 3)
	_, c := s.maps().SnapshotAndWatch()
	for v := range int64(4) {
		s.commit(engine.Update(mapKey("a"), configMap("a", fmt.Sprint(v)), v))
	}
	_, err := c.Next(t.Context())
	require.EqualError(t, err, "version 0 is too old: the oldest at hand is 1")
	_, err = s.maps().Watch(0)
	require.ErrorAs(t, err, new(*engine.Expired))
	_, err = s.maps().Watch(5)
	require.EqualError(t, err, "version 5 is ahead of the current version 4")
	require.ErrorAs(t, err, new(*engine.Ahead))

	c, err = s.maps().Watch(1)
	require.NoError(t, err)
	require.Equal(t, []string{"2 a: 0 -> 1", "3 a: 1 -> 2", "4 a: 2 -> 3"}, next(t, c))
}

func TestWhatIsForgottenHasExpired(t *testing.T) {
	s := open(t, 3)
	for i, name := range []string{"a", "b", "c"} {
		s.commit(engine.Create(mapKey(name), configMap(name, fmt.Sprint(i))))
	}
	s.maps().Forget(2)
	s.maps().Forget(2) // as does who heard of it late
	s.maps().Forget(1)
	require.Equal(t, int64(2), s.maps().Oldest())
	_, err := s.maps().Watch(1)
	require.EqualError(t, err, "version 1 is too old: the oldest at hand is 2")
	c, err := s.maps().Watch(2)
	require.NoError(t, err)
	require.Equal(t, []string{"3 c: - -> 2"}, next(t, c))
	for _, stored := range []int64{1, 4, 5} { // the ring goes round with the rest of it
		s.commit(engine.Update(mapKey("a"), configMap("a", fmt.Sprintf("after %d", stored)), stored))
		require.GreaterOrEqual(t, s.maps().Oldest(), int64(2), "what is forgotten stays so")
	}
	require.Equal(t, []string{"4 a: 0 -> after 1", "5 a: after 1 -> after 4", "6 a: after 4 -> after 5"}, next(t, c))
	_, err = s.maps().At(2)
	require.EqualError(t, err, "version 2 is too old: the oldest at hand is 3")
}

// TestContendedIncrements lets many writers raise one number, each by reading and writing again when
// another writer was first. None is lost, and a watcher sees every one of them.
func TestContendedIncrements(t *testing.T) {
	const writers, increments = 16, 50
	s := open(t, 0)
	_, c := s.maps().SnapshotAndWatch()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range increments {
				increment(t, s)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, writers*increments, s.Version())
	var seen []engine.Change
	for len(seen) < writers*increments {
		changes, err := c.Next(t.Context())
		require.NoError(t, err)
		seen = append(seen, changes...)
	}
	require.True(t, slices.IsSortedFunc(seen, func(a, b engine.Change) int { return int(a.Version - b.Version) }))
	for i, change := range seen {
		require.Equal(t, fmt.Sprint(i), change.Object.(*corev1.ConfigMap).Data["value"])
	}
}

func increment(t *testing.T, s *store) {
	for {
		_, version := s.maps().Get(mapKey("n"))
		err := s.Commit(engine.Update(mapKey("n"), configMap("n", fmt.Sprint(version)), version))
		var conflict *engine.Conflict
		if errors.As(err, &conflict) {
			continue
		}
		require.NoError(t, err)
		return
	}
}

// TestACursorReadsALittleAtATime, and says how far it is.
func TestACursorReadsALittleAtATime(t *testing.T) {
	s := open(t, 0)
	_, c := s.maps().SnapshotAndWatch()
	var writes []engine.Write
	for n := range 600 {
		writes = append(writes, engine.Create(mapKey(fmt.Sprint(n)), configMap("m", "1")))
	}
	s.commit(append(writes, engine.Create(eventKey("e"), event("e")))...)
	for _, read := range []int64{256, 512, 601} {
		_, err := c.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, read, c.Version())
	}
}
