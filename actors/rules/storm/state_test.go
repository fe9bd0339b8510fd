package storm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/storm"
)

// fleet are the thresholds of profile leeward; zone those of a region, as Kubernetes has them.
var (
	fleet = storm.Thresholds{Unhealthy: 0.55, Large: 10, Secondary: 0.1, Blackout: 1, Cooldown: time.Minute}
	zone  = storm.Thresholds{Unhealthy: 0.55, Large: 5, Secondary: 1, Region: true}

	normal   = storm.Regime{State: storm.Normal}
	stopped  = storm.Regime{State: storm.Partial, Limited: true}
	blackout = storm.Regime{State: storm.Blackout, Limited: true}
)

func slowed(rate float64) storm.Regime {
	return storm.Regime{State: storm.Partial, Limited: true, PerSecond: rate}
}

func cooling(until time.Duration) storm.Regime {
	return storm.Regime{State: storm.Cooldown, Limited: true, PerSecond: 0.1, Until: start.Add(until)}
}

func TestTheShareOfUnhealthyClustersMakesTheState(t *testing.T) {
	for name, c := range map[string]struct {
		thresholds     storm.Thresholds
		unhealthy, all int
		want           storm.Regime
	}{
		"no clusters":                                       {fleet, 0, 0, normal},
		"none unhealthy":                                    {fleet, 0, 12, normal},
		"just below the share":                              {fleet, 6, 12, normal},
		"the share, in a large fleet":                       {fleet, 11, 20, slowed(0.1)},
		"the share, in a small fleet":                       {fleet, 6, 10, stopped},
		"two are no disruption, whatever their share":       {fleet, 2, 3, normal},
		"all of them":                                       {fleet, 12, 12, blackout},
		"both of two":                                       {fleet, 2, 2, blackout},
		"the only one has none to be compared with":         {fleet, 1, 1, normal},
		"most of them are a blackout, where so set":         {storm.Thresholds{Blackout: 0.9}, 9, 10, blackout},
		"without a guard all of a fleet are a disruption":   {storm.Thresholds{Unhealthy: 0.55, Large: 10}, 4, 4, stopped},
		"without thresholds nothing is":                     {storm.Thresholds{}, 12, 12, normal},
		"a region that is down is evicted at the full rate": {zone, 4, 4, storm.Regime{State: storm.Full}},
		"a small region that is down in part is not left":   {zone, 4, 5, stopped},
		"a large region that is down in part: one a second": {zone, 4, 6, slowed(1)},
		"an empty region":                                   {zone, 0, 0, normal},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, storm.Judge(normal, c.unhealthy, c.all, c.thresholds, start))
		})
	}
}

func TestWhatHadToBeSlowedCoolsDown(t *testing.T) {
	for name, c := range map[string]struct {
		before    storm.Regime
		unhealthy int
		want      storm.Regime
	}{
		"after a blackout":                      {blackout, 0, cooling(time.Minute)},
		"after a disruption":                    {slowed(0.1), 5, cooling(time.Minute)},
		"to the end":                            {cooling(1), 0, cooling(1)},
		"and no longer":                         {cooling(0), 0, normal},
		"another disruption begins immediately": {cooling(time.Second), 11, slowed(0.1)},
		"a region that was down was not slowed": {storm.Regime{State: storm.Full}, 0, normal},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, storm.Judge(c.before, c.unhealthy, 20, fleet, start))
		})
	}
	without := fleet
	without.Cooldown = 0
	require.Equal(t, normal, storm.Judge(blackout, 0, 20, without, start))
}

func TestOnlyARateOfZeroStops(t *testing.T) {
	require.True(t, stopped.Stops())
	require.False(t, slowed(1).Stops())
	require.False(t, normal.Stops())
}
