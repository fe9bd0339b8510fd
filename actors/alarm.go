package actors

import (
	"math"
	"time"
)

// Earlier returns the earlier of two instants, where the zero time means never. A machine folds all
// that it waits for into its one alarm with it.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Later returns the later of two instants, where the zero time is before all others.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Seconds is a number of seconds that users wrote. Beyond 292 years either way it remains there instead of wrapping.
func Seconds(n int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Second)
	return time.Duration(min(max(n, -most), most)) * time.Second
}
