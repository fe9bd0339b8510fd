package writing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestTheWindowIsBounded(t *testing.T) {
	w, now := NewWindow(), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for range 10_000 {
		w.Served()
	}
	require.False(t, w.Open(MostUnderWay, now))
	require.True(t, w.Open(MostUnderWay-1, now))
	for range 100 {
		now = now.Add(time.Second)
		w.Overloaded(now, now, 0)
	}
	require.True(t, w.Open(0, now), "one is always tried")
	require.False(t, w.Open(1, now))
	w.Overloaded(now, now, time.Minute)
	require.False(t, w.Open(0, now.Add(time.Minute-1)))
	require.True(t, w.Open(0, now.Add(time.Minute)))
	throttled := func(seconds int) error { return apierrors.NewTooManyRequests("busy", seconds) }
	require.Equal(t, LongestPause, PauseOf(throttled(1_000_000)))
	require.Equal(t, time.Second, PauseOf(throttled(0)))
	require.Equal(t, time.Second, PauseOf(throttled(-7)))
}
