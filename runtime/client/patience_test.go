package client_test

import (
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"leeward/runtime/client"
)

// waiting is a clock that goes on by what is waited for.
type waiting struct {
	clock.Clock
	now   time.Time
	waits []time.Duration
}

func (w *waiting) Now() time.Time { return w.now }

func (w *waiting) Since(t time.Time) time.Duration { return w.now.Sub(t) }

func (w *waiting) After(d time.Duration) <-chan time.Time {
	w.waits = append(w.waits, d)
	w.now = w.now.Add(d)
	over := make(chan time.Time)
	close(over)
	return over
}

func TestPatienceGrowsUntilAnAttemptLasts(t *testing.T) {
	c := &waiting{}
	var p client.Patience
	for range 7 {
		c.now = c.now.Add(5 * time.Second) // no longer than it may wait
		p.Wait(t.Context(), c)
	}
	c.now = c.now.Add(5*time.Second + 1)
	p.Wait(t.Context(), c)
	ms := time.Millisecond
	require.Equal(t, []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 100 * ms}, c.waits)
}
