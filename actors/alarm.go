package actors

import "time"

// Earlier returns the earlier of two instants, where the zero time means never. A machine folds all
// that it waits for into its one alarm with it.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
