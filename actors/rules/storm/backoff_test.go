package storm_test

import (
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/storm"
)

var backing = storm.BackingOff{Failures: 3, Window: 10 * time.Minute, First: time.Minute}

// failed is a start that failed after a time and began earlier.
type failed struct{ after, began time.Duration }

// waves yields the instants at which starts failed, with when each of them began.
func waves(failures []failed) iter.Seq2[time.Duration, []time.Time] {
	return func(yield func(time.Duration, []time.Time) bool) {
		for len(failures) > 0 {
			var began []time.Time
			at := failures[0].after
			for len(failures) > 0 && failures[0].after == at {
				began, failures = append(began, start.Add(failures[0].began)), failures[1:]
			}
			if !yield(at, began) {
				return
			}
		}
	}
}

func TestACloudOfFailuresBacksOff(t *testing.T) {
	const m = time.Minute
	wave := []failed{{10 * m, 0}, {11 * m, m}, {12 * m, 2 * m}}
	for name, c := range map[string]struct {
		failures []failed
		level    int
		until    time.Duration
	}{
		"too few":                               {wave[:2], 0, 0},
		"enough":                                {wave, 1, 13 * m},
		"enough, but over too long a time":      {[]failed{{0, 0}, {m, 0}, {11 * m, 0}}, 0, 0},
		"all at one instant":                    {[]failed{{m, 0}, {m, 0}, {m, 0}, {m, 0}, {m, 0}}, 1, 2 * m},
		"the rest of the same wave":             {append(wave[:3:3], failed{12*m + 1, 3 * m}, failed{12*m + 2, 4 * m}), 1, 13 * m},
		"one that began since":                  {append(wave[:3:3], failed{13*m - 1, 12 * m}), 2, 15*m - 1},
		"one that began since, of two":          {append(wave[:3:3], failed{13*m - 1, 12 * m}, failed{13*m - 1, 12 * m}), 2, 15*m - 1},
		"one that begins immediately, of three": {[]failed{{m, 0}, {m, 0}, {m, m}}, 1, 2 * m},
		"again and again it is at most hours":   {[]failed{{0, 0}, {0, 0}, {0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}, {6, 5}}, 5, 16*m + 6},
	} {
		t.Run(name, func(t *testing.T) {
			var b storm.Backoff
			for at, began := range waves(c.failures) {
				b.Fail(start.Add(at), began, backing)
			}
			require.Equal(t, c.level, b.Level)
			require.Equal(t, c.until > 0, b.InForce())
			if c.until > 0 {
				require.Equal(t, start.Add(c.until), b.Until)
			}
		})
	}
}

func TestWhichStartFailedFirstInAnInstantMakesNoDifference(t *testing.T) {
	now := start.Add(time.Minute)
	before, since := start.Add(-time.Second), start.Add(time.Second)
	after := func(began ...time.Time) *storm.Backoff {
		b := inForce()
		b.Fail(now, began, backing)
		return b
	}
	first := after(before, since, now)
	require.Equal(t, []time.Time{start, start, start, now, now}, first.Failed, "what began before it tells nothing new")
	require.Equal(t, 2, first.Level, "it becomes longer once")
	for _, began := range [][]time.Time{{before, now, since}, {since, before, now}, {since, now, before}, {now, before, since}, {now, since, before}} {
		require.Equal(t, first, after(began...))
	}
	for _, began := range [][]time.Time{{start, before}, {before, start}} {
		b := inForce()
		b.Fail(start, began, backing)
		require.Equal(t, 2, b.Level, "one that began as the back-off did is news, whoever failed with it")
	}
}

func TestFailuresThatLeftTheWindowAreForgottenThoughTheBackoffIsNot(t *testing.T) {
	b := &storm.Backoff{}
	lasting := storm.BackingOff{Failures: 3, Window: time.Minute, First: time.Hour}
	b.Fail(start, []time.Time{start, start, start}, lasting)
	require.False(t, b.Judge(start.Add(time.Minute), lasting))
	require.True(t, b.InForce())
	require.Empty(t, b.Failed)
}

func inForce() *storm.Backoff {
	b := &storm.Backoff{}
	b.Fail(start, slices.Repeat([]time.Time{start}, backing.Failures), backing)
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
	b.Fail(again, []time.Time{again}, backing)
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
	b.Fail(start, []time.Time{start}, storm.BackingOff{})
	require.Equal(t, &storm.Backoff{}, b)
}
