package actors_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
)

func TestTheEarlierOfTwoInstants(t *testing.T) {
	never := time.Time{}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ a, b, want time.Time }{
		"never and never is never":      {never, never, never},
		"never gives way to an instant": {never, noon, noon},
		"an instant is before never":    {noon, never, noon},
		"the first may be the earlier":  {noon, noon.Add(1), noon},
		"the second may be the earlier": {noon.Add(1), noon, noon},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, actors.Earlier(c.a, c.b)) })
	}
}

func TestTheLaterOfTwoInstants(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, noon.Add(1), actors.Later(noon, noon.Add(1)))
	require.Equal(t, noon.Add(1), actors.Later(noon.Add(1), noon))
	require.Equal(t, noon, actors.Later(time.Time{}, noon), "no instant comes before any other")
	require.Equal(t, noon, actors.Later(noon, time.Time{}))
}

func TestSecondsDoNotWrap(t *testing.T) {
	require.Equal(t, 5*time.Second, actors.Seconds(5))
	require.Equal(t, -5*time.Second, actors.Seconds(-5))
	require.Greater(t, actors.Seconds(math.MaxInt64), 292*365*24*time.Hour)
	require.Less(t, actors.Seconds(math.MinInt64), -292*365*24*time.Hour)
}
