package writing

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// firstWindow is how many requests are under way at first, MostUnderWay how many at most: no more than an API server takes on one
	// connection.
	firstWindow  = 32
	MostUnderWay = 100
	// RequestLasts bounds how long a request may take. One that takes longer is made again.
	RequestLasts = 10 * time.Second
)

// Window bounds how many requests are under way, by what the server says: one more for each window that it serves, half as many when it
// is overloaded, and none before the time that it asks for.
type Window struct {
	size float64
	// halved is when it was last halved: requests that were under way then say nothing new.
	halved time.Time
	// closed is until when no request is made.
	closed time.Time
}

// NewWindow returns one of which nothing is known yet.
func NewWindow() Window { return Window{size: firstWindow} }

// Open reports whether another request may be made beside those that are under way.
func (w *Window) Open(underWay int, now time.Time) bool {
	return underWay < int(w.size) && !w.closed.After(now)
}

// Size is how many requests may be under way.
func (w *Window) Size() int { return int(w.size) }

// Closed is until when no request is made.
func (w *Window) Closed() time.Time { return w.closed }

// Served notes a request that was served.
func (w *Window) Served() { w.size = min(MostUnderWay, w.size+1/w.size) }

// Overloaded notes a request, made at an instant, that the server could not serve; it asks for a pause, zero for none.
func (w *Window) Overloaded(made, now time.Time, pause time.Duration) {
	if until := now.Add(pause); until.After(w.closed) {
		w.closed = until
	}
	if !made.After(w.halved) {
		return
	}
	w.halved, w.size = now, max(1, w.size/2)
}

// IsOverload reports whether an error may come of too many requests.
func IsOverload(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsServiceUnavailable(err)
}

// LongestPause bounds the Retry-After that is honoured: what asks for more is mistaken.
const LongestPause = time.Minute

// PauseOf is the Retry-After of an answer, or a second.
func PauseOf(err error) time.Duration {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Code == http.StatusTooManyRequests {
		if seconds, is := apierrors.SuggestsClientDelay(err); is && seconds > 0 {
			return min(time.Duration(seconds)*time.Second, LongestPause)
		}
	}
	return time.Second
}
