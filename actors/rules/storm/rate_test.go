package storm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/storm"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// goes returns when evictions go that all wait from the start.
func goes(n int, r storm.Rate) []time.Duration {
	var bucket storm.Bucket
	var at []time.Duration
	for now := start; len(at) < n; {
		now = bucket.FreeAt(now, r)
		bucket.Take(now, r)
		at = append(at, now.Sub(start))
	}
	return at
}

func TestEvictionsGoAtTheirRate(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		rate storm.Rate
		want []time.Duration
	}{
		"without a limit all go together":              {storm.Rate{}, []time.Duration{0, 0, 0, 0}},
		"a burst alone limits nothing":                 {storm.Rate{Burst: 2}, []time.Duration{0, 0, 0, 0}},
		"one in two seconds":                           {storm.Rate{PerSecond: 0.5}, []time.Duration{0, 2 * s, 4 * s, 6 * s}},
		"a burst goes together, and then one by one":   {storm.Rate{PerSecond: 1, Burst: 3}, []time.Duration{0, 0, 0, s, 2 * s}},
		"an interval that is no whole number is exact": {storm.Rate{PerSecond: 3}, []time.Duration{0, s / 3, s / 3 * 2, s / 3 * 3}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, goes(len(c.want), c.rate))
		})
	}
}

func TestABurstComesBackWithTime(t *testing.T) {
	var bucket storm.Bucket
	rate := storm.Rate{PerSecond: 1, Burst: 2}
	for _, after := range []time.Duration{0, 0, 2 * time.Second, 2 * time.Second} {
		now := start.Add(after)
		require.Equal(t, now, bucket.FreeAt(now, rate), "after %s", after)
		bucket.Take(now, rate)
	}
	require.Equal(t, start.Add(3*time.Second), bucket.FreeAt(start.Add(2*time.Second), rate))
}

func TestAHigherRateDoesNotWaitForTheLowerOne(t *testing.T) {
	var bucket storm.Bucket
	bucket.Take(start, storm.Rate{PerSecond: 0.01})
	now := start.Add(time.Second)
	require.Equal(t, start.Add(100*time.Second), bucket.FreeAt(now, storm.Rate{PerSecond: 0.01}))
	require.Equal(t, now.Add(500*time.Millisecond), bucket.FreeAt(now, storm.Rate{PerSecond: 2}))
}

func TestWhatDidNotGoIsNotPaidFor(t *testing.T) {
	for name, rate := range map[string]storm.Rate{
		"one by one": {PerSecond: 1}, "in bursts": {PerSecond: 1, Burst: 3}, "without a limit": {},
	} {
		t.Run(name, func(t *testing.T) {
			var bucket, fresh storm.Bucket
			bucket.Take(start, rate)
			bucket.Return(rate)
			require.Equal(t, fresh.FreeAt(start, rate), bucket.FreeAt(start, rate))
		})
	}
}
