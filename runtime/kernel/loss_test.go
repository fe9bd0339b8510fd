package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/kernel"
)

func TestRunUpToEndsAfterSoManyMessages(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(cluster("a"), echo)
	for _, text := range []string{"one", "two", "three"} {
		l.post(cluster("a"), text)
	}
	require.ErrorIs(t, l.RunUpTo(at(0), 2), kernel.ErrInterrupted)
	require.EqualValues(t, 2, l.Counters().Handled)
	require.EqualValues(t, 1, l.Counters().Queued)
	require.Len(t, l.run(0), 1, "the next call goes on with what is left")
	require.NoError(t, l.RunUpTo(at(1), 1), "nothing remains")
}

func TestLose(t *testing.T) {
	ofClusters := func(to messages.Address, _ messages.Message) bool { return to.Kind == messages.KindCluster }
	t.Run("drops what is lost and keeps the rest in its order", func(t *testing.T) {
		for _, lanes := range []int{1, 4} {
			l := newLane(t, kernel.Config{Lanes: lanes})
			l.start(cluster("a"), echo)
			l.start(binding("b"), echo)
			l.post(cluster("a"), "lost")
			l.post(binding("b"), "one")
			l.post(binding("b"), "two")
			l.Lose(ofClusters)
			require.EqualValues(t, 1, l.Counters().DroppedByLoss)
			require.NoError(t, l.Check())
			require.Equal(t, []string{"0 binding/b one", "0 binding/b two"}, l.run(0))
			l.post(cluster("a"), "still there")
			require.Len(t, l.run(1), 1)
		}
	})
	t.Run("ends who was stopped and has nothing left to do", func(t *testing.T) {
		l := newLane(t, kernel.Config{})
		l.start(cluster("a"), echo)
		l.post(cluster("a"), "lost")
		l.Stop(cluster("a"))
		l.Lose(ofClusters)
		l.start(cluster("a"), echo)
		require.Empty(t, l.run(0))
		l.post(cluster("a"), "to the next")
		require.Len(t, l.run(1), 1)
	})
}
