package eviction_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/eviction"
)

func TestUnhealthy(t *testing.T) {
	first := time.Time{}
	for _, c := range []struct {
		name      string
		since     time.Time
		tolerated int32
		exact     bool
		evict     bool
		recheck   time.Time
	}{
		{"19.7/1 0 s, first look: no eviction, no second look", first, 0, false, false, time.Time{}},
		{"19.7/1 0 s, second look: evicts", now, 0, false, true, time.Time{}},
		{"19.7/2 1 s, first look: again in 1 s", first, 1, false, false, now.Add(time.Second)},
		{"19.7/2 1 s, a second later: evicts", now.Add(-time.Second), 1, false, true, time.Time{}},
		{"19.7/3 5 s, at 1.1 s: again in 4 s", now.Add(-1100 * time.Millisecond), 5, false, false, now.Add(4 * time.Second)},
		{"5 s, at 4.9 s: again in 1 s, late", now.Add(-4900 * time.Millisecond), 5, false, false, now.Add(time.Second)},
		{"5 s, at 5.9 s: evicts", now.Add(-5900 * time.Millisecond), 5, false, true, time.Time{}},
		{"exact, 0 s, first look: evicts", first, 0, true, true, time.Time{}},
		{"exact, 1 s, first look: again in 1 s", first, 1, true, false, now.Add(time.Second)},
		{"exact, 5 s, at 1.1 s: again when due", now.Add(-1100 * time.Millisecond), 5, true, false, now.Add(3900 * time.Millisecond)},
		{"exact, 5 s, a nanosecond before: again when due", now.Add(-5*time.Second + 1), 5, true, false, now.Add(1)},
		{"exact, 5 s, when due: evicts", now.Add(-5 * time.Second), 5, true, true, time.Time{}},
		{"exact, 5 s, long after: evicts", now.Add(-time.Hour), 5, true, true, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			evict, recheck := eviction.Unhealthy(c.since, c.tolerated, now, c.exact)
			require.Equal(t, c.evict, evict)
			require.Equal(t, c.recheck, recheck)
		})
	}
}

// TestUnhealthyEndsByItself follows the rechecks: but for Karmada's zero seconds they always lead to an
// eviction, exact ones on the dot, Karmada's not more than a second late.
func TestUnhealthyEndsByItself(t *testing.T) {
	for _, exact := range []bool{true, false} {
		for tolerated := range int32(20) {
			for _, look := range []time.Duration{0, 1, 300 * time.Millisecond, 999 * time.Millisecond} {
				due := now.Add(time.Duration(tolerated) * time.Second)
				at, evict := now.Add(look), false
				for looks := 0; !evict; looks++ {
					require.Less(t, looks, 3)
					var again time.Time
					evict, again = eviction.Unhealthy(now, tolerated, at, exact)
					if !evict {
						require.True(t, again.After(at))
						at = again
					}
				}
				late := at.Sub(due)
				require.GreaterOrEqual(t, late, time.Duration(0))
				require.LessOrEqual(t, late, max(time.Second, look))
				if exact && tolerated > 0 {
					require.Zero(t, late)
				}
			}
		}
	}
}

func TestASlowStartIsNoFailure(t *testing.T) {
	never, minuteAgo := time.Time{}, now.Add(-time.Minute)
	for _, c := range []struct {
		name                string
		unhealthy, starting time.Time
		grace               time.Duration
		since               time.Time
	}{
		{"a copy that was healthy once has no grace", now, never, time.Hour, now},
		{"no grace", minuteAgo, minuteAgo, 0, minuteAgo},
		{"a copy that starts counts once its grace is over", minuteAgo, minuteAgo, 5 * time.Minute, now.Add(4 * time.Minute)},
		{"so does one that was Unknown at first", now, minuteAgo, 5 * time.Minute, now.Add(4 * time.Minute)},
		{"one that fails after its grace counts at once", now, minuteAgo, time.Second, now},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.since, eviction.UnhealthySince(c.unhealthy, c.starting, c.grace))
		})
	}
}
