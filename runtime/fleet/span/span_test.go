package span_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/span"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0":       0,
		"0s":      0,
		"90s":     90 * time.Second,
		"1h30m":   90 * time.Minute,
		"1d":      24 * time.Hour,
		"1.5d":    36 * time.Hour,
		"1d12h":   36 * time.Hour,
		"0d":      0,
		"106751d": 106751 * 24 * time.Hour,
	} {
		got, err := span.Parse(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
}

func TestParseRejects(t *testing.T) {
	const malformed = "must be a duration such as 90s, 5m30s, 2h or 1d"
	for in, want := range map[string]string{
		"":                     malformed,
		"soon":                 malformed,
		"1h2d":                 malformed,
		"1dd":                  malformed,
		"1d-2h":                malformed,
		"d":                    malformed,
		"+5s":                  malformed,
		"1e9s":                 malformed,
		"106752d":              malformed,
		"999999999999h":        malformed,
		"106751d23h50m":        malformed,
		"10":                   "has no unit: write 10s or 10m",
		"-5s":                  "must not be negative",
		"-1d":                  "must not be negative",
		"2026-01-02T03:04:05Z": "must be an offset from the start of the run, such as 5m30s, not an instant",
	} {
		_, err := span.Parse(in)
		require.EqualError(t, err, want, in)
	}
}

func TestStringIsWhatUsersWrite(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s":      0,
		"1.5s":    1500 * time.Millisecond,
		"5m":      5 * time.Minute,
		"5m30s":   330 * time.Second,
		"2h":      2 * time.Hour,
		"1h30m":   90 * time.Minute,
		"1h0m5s":  time.Hour + 5*time.Second,
		"2d":      48 * time.Hour,
		"25h":     25 * time.Hour,
		"the end": span.Max,
	} {
		require.Equal(t, want, span.String(d))
	}
}

func TestAddStopsAtMax(t *testing.T) {
	require.Equal(t, 3*time.Second, span.Add(time.Second, 2*time.Second))
	require.Equal(t, span.Max, span.Add(span.Max, time.Second))
	require.Equal(t, span.Max, span.Add(span.Max-1, 2))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "1d12h", "5m30s", "-1s", "1.5d", "9999999d", "d", "µs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := span.Parse(s)
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, d, time.Duration(0))
		if d == span.Max {
			return
		}
		again, err := span.Parse(span.String(d))
		require.NoError(t, err)
		require.Equal(t, d, again)
	})
}
