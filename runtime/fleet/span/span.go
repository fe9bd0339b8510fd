// Package span reads and writes the durations of scenarios: Go's syntax plus days, never negative.
package span

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"leeward/messages"
)

// Max means "until the end" wherever a scenario gives no end.
const Max time.Duration = math.MaxInt64

const day = 24 * time.Hour

// Parse reads "90s", "1h30m", "1.5d", "1d12h" or a plain "0". Errors: no unit, a negative value, an
// instant instead of a duration, more than 292 years.
func Parse(s string) (time.Duration, error) {
	if strings.HasPrefix(s, "-") {
		return 0, errors.New("must not be negative")
	}
	if _, err := time.Parse(time.RFC3339, s); err == nil {
		return 0, errors.New("must be an offset from the start of the run, such as 5m30s, not an instant")
	}
	days, rest, hasDays := strings.Cut(s, "d")
	if !hasDays {
		return parse(s)
	}
	d, err := parse(days + "h")
	if err != nil || strings.ContainsAny(days, "hmsuµn") || d > Max/24 {
		return 0, malformed()
	}
	if rest == "" {
		return d * 24, nil
	}
	r, err := parse(rest)
	if err != nil || r > Max-d*24 {
		return 0, malformed()
	}
	return d*24 + r, nil
}

// parse is Go's syntax without a sign.
func parse(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && d >= 0 && !strings.ContainsAny(s, "+-") {
		return d, nil
	}
	if _, err := time.ParseDuration(s + "s"); err == nil && s != "" {
		return 0, fmt.Errorf("has no unit: write %ss or %sm", s, s)
	}
	return 0, malformed()
}

func malformed() error { return errors.New("must be a duration such as 90s, 5m30s, 2h or 1d") }

// String writes a duration as people do: "0s", "5m", "1h30m", "2d". Parse reads it back; Max is "the end".
func String(d time.Duration) string {
	switch {
	case d == Max:
		return "the end"
	case d == 0:
		return "0s"
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	return messages.Period(d)
}

// Add returns a+b, or Max where that is beyond it.
func Add(a, b time.Duration) time.Duration {
	if b > Max-a {
		return Max
	}
	return a + b
}

// Seconds is a length of virtual time, which JSON has in seconds.
type Seconds time.Duration

// Length is the time itself.
func (s Seconds) Length() time.Duration { return time.Duration(s) }

// MarshalJSON writes seconds.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }
