package attach

import "time"

const (
	// firstWindow is how many requests are under way at first, mostUnderWay how many at most: no more than an API server takes on one
	// connection.
	firstWindow  = 32
	mostUnderWay = 100
)

// window bounds how many requests are under way, by what the server says: one more for each window that it serves, half as many when it
// is overloaded, and none before the time that it asks for.
type window struct {
	size float64
	// halved is when it was last halved: requests that were under way then say nothing new.
	halved time.Time
	// closed is until when no request is made.
	closed time.Time
}

func newWindow() window { return window{size: firstWindow} }

// open reports whether another request may be made beside those that are under way.
func (w *window) open(underWay int, now time.Time) bool {
	return underWay < int(w.size) && !w.closed.After(now)
}

// served notes a request that was served.
func (w *window) served() { w.size = min(mostUnderWay, w.size+1/w.size) }

// overloaded notes a request, made at an instant, that the server could not serve; it asks for a pause, zero for none.
func (w *window) overloaded(made, now time.Time, pause time.Duration) {
	if until := now.Add(pause); until.After(w.closed) {
		w.closed = until
	}
	if !made.After(w.halved) {
		return
	}
	w.halved, w.size = now, max(1, w.size/2)
}
