package budget

import "time"

// Move is how many replicas were let go at an instant.
type Move struct {
	At       time.Time
	Replicas int64
}

// Window are the moves of the latest span of time, oldest first, no two of one instant.
type Window []Move

// Sum is how many replicas moved.
func (w Window) Sum() (n int64) {
	for _, m := range w {
		n += m.Replicas
	}
	return n
}

// Add counts moves of now, which must not be before any other.
func (w *Window) Add(now time.Time, replicas int64) {
	if last := len(*w) - 1; last >= 0 && (*w)[last].At.Equal(now) {
		(*w)[last].Replicas += replicas
		return
	}
	*w = append(*w, Move{now, replicas})
}

// Forget drops what was a span or longer ago.
func (w *Window) Forget(now time.Time, span time.Duration) {
	for len(*w) > 0 && !(*w)[0].At.Add(span).After(now) {
		*w = (*w)[1:]
	}
}

// Ends is when the oldest move leaves the window; zero: there is none.
func (w Window) Ends(span time.Duration) time.Time {
	if len(w) == 0 {
		return time.Time{}
	}
	return w[0].At.Add(span)
}

// allowedAt is when no more than so many replicas remain in the window; zero: never.
func (w Window) allowedAt(most int64, span time.Duration) (at time.Time) {
	if most < 0 {
		return time.Time{}
	}
	for moved := w.Sum(); moved > most; w = w[1:] {
		moved, at = moved-w[0].Replicas, w.Ends(span)
	}
	return at
}
