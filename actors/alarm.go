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

// Later returns the later of two instants, where the zero time is before all others.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
