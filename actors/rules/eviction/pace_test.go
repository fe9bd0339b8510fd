package eviction_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/eviction"
	"leeward/messages/api"
)

func TestNextFailover(t *testing.T) {
	ago := func(d ...time.Duration) (started []time.Time) {
		for _, d := range d {
			started = append(started, now.Add(-d))
		}
		return started
	}
	for _, c := range []struct {
		name    string
		started []time.Time
		limit   int
		next    time.Time
	}{
		{"no limit", ago(3, 2, 1), 0, time.Time{}},
		{"fewer than may be", ago(2), 2, time.Time{}},
		{"as many as may be: when the first is an hour ago", ago(30*time.Minute, 10*time.Minute), 2, now.Add(30 * time.Minute)},
		{"more than may be: when so many are an hour ago that one fits in", ago(50*time.Minute, 30*time.Minute, 10*time.Minute), 2, now.Add(30 * time.Minute)},
		{"an hour ago to the instant", ago(time.Hour), 1, now},
		{"long ago", ago(5 * time.Hour), 1, now.Add(-4 * time.Hour)},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.next, eviction.NextFailover(c.started, c.limit, time.Hour))
		})
	}
}

func TestAHistoryKeepsTheLatestOfEachReason(t *testing.T) {
	var history []api.FailoverRecord
	history = eviction.Remember(history, api.FailoverRecord{FromCluster: "m", Reason: "rare"})
	for i := range 40 {
		before := len(history)
		history = eviction.Remember(history, api.FailoverRecord{FromCluster: strconv.Itoa(i), Reason: "often"})
		require.GreaterOrEqual(t, len(history), before)
	}
	require.Len(t, history, 1+eviction.Remembered)
	require.Equal(t, "rare", history[0].Reason)
	require.Equal(t, "24", history[1].FromCluster, "the oldest that is kept")
	require.Equal(t, "39", history[eviction.Remembered].FromCluster)
}

func TestAHistoryThatWasShownDoesNotChange(t *testing.T) {
	shown := make([]api.FailoverRecord, 1, 8)
	eviction.Remember(shown, api.FailoverRecord{Reason: "a"})
	require.Zero(t, shown[:2][1])
}
