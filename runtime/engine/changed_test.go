package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/engine"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestWhoReadsSeveralTablesIsToldOfAChangeInAny(t *testing.T) {
	s := open(t, 0)
	first := s.Changed()
	require.Equal(t, first, s.Changed())
	require.False(t, isClosed(first))

	require.NoError(t, s.Commit(engine.Create(eventKey("a"), event("a"))))
	require.True(t, isClosed(first))
	second := s.Changed()
	require.False(t, isClosed(second))

	require.NoError(t, s.Commit(engine.Create(mapKey("a"), configMap("a", ""))))
	require.True(t, isClosed(second))
	third := s.Changed()
	require.NoError(t, s.Close())
	require.True(t, isClosed(third))
	require.True(t, isClosed(s.Changed()))
}
