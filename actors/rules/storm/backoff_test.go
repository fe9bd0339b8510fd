package storm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/storm"
)

var backing = storm.BackingOff{Failures: 3, Window: 10 * time.Minute, First: time.Minute}

// failed is a start that failed after a time and began earlier.
type failed struct{ after, began time.Duration }

func TestACloudOfFailuresBacksOff(t *testing.T) {
	const m = time.Minute
	wave := []failed{{10 * m, 0}, {11 * m, m}, {12 * m, 2 * m}}
	for name, c := range map[string]struct {
		failures []failed
		level    int
		until    time.Duration
	}{
		"too few":                             {wave[:2], 0, 0},
		"enough":                              {wave, 1, 13 * m},
		"enough, but over too long a time":    {[]failed{{0, 0}, {m, 0}, {11 * m, 0}}, 0, 0},
		"all at one instant":                  {[]failed{{m, 0}, {m, 0}, {m, 0}, {m, 0}, {m, 0}}, 1, 2 * m},
		"the rest of the same wave":           {append(wave[:3:3], failed{12*m + 1, 3 * m}, failed{12*m + 2, 4 * m}), 1, 13 * m},
		"one that began since":                {append(wave[:3:3], failed{13*m - 1, 12 * m}), 2, 15*m - 1},
		"one that began since, of two":        {append(wave[:3:3], failed{13*m - 1, 12 * m}, failed{13*m - 1, 12 * m}), 2, 15*m - 1},
		"again and again it is at most hours": {[]failed{{0, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}, {6, 5}}, 5, 16*m + 6},
	} {
		t.Run(name, func(t *testing.T) {
			var b storm.Backoff
			for _, f := range c.failures {
				b.Fail(start.Add(f.after), start.Add(f.began), backing)
			}
			require.Equal(t, c.level, b.Level)
			require.Equal(t, c.until > 0, b.InForce())
			if c.until > 0 {
				require.Equal(t, start.Add(c.until), b.Until)
			}
		})
	}
}

func inForce() *storm.Backoff {
	b := &storm.Backoff{}
	for range backing.Failures {
		b.Fail(start, start, backing)
	}
	return b
}

func TestTimeEndsABackoffAndRemembersItForAWhile(t *testing.T) {
	b := inForce()
	require.Equal(t, start.Add(time.Minute), b.Due(backing))
	require.False(t, b.Judge(start.Add(time.Minute-1), backing))
	require.True(t, b.Judge(start.Add(time.Minute), backing))
	require.False(t, b.InForce())
	require.False(t, b.Judge(start.Add(time.Minute), backing))
	again := start.Add(2 * time.Minute)
	b.Fail(again, again, backing)
	require.Equal(t, 2, b.Level, "those before count still")
	require.Equal(t, again.Add(2*time.Minute), b.Until)

	b = inForce()
	require.True(t, b.Judge(start.Add(time.Minute), backing))
	require.Equal(t, start.Add(11*time.Minute), b.Due(backing))
	b.Judge(start.Add(11*time.Minute), backing)
	require.Equal(t, &storm.Backoff{}, b)
	require.Zero(t, b.Due(backing))
}

func TestWhoSwitchesBackoffOffEndsIt(t *testing.T) {
	b := inForce()
	require.True(t, b.Judge(start, storm.BackingOff{}))
	require.Equal(t, &storm.Backoff{}, b)
	b.Fail(start, start, storm.BackingOff{})
	require.Equal(t, &storm.Backoff{}, b)
}
