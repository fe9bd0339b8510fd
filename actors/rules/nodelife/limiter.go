package nodelife

import "time"

// Limiter is the token bucket of a zone, which holds one token. It is a value that does not change: each method returns the next one.
// It knows no polling: a token is there exactly when it is due.
type Limiter struct {
	// rate is tokens a second. never: the limiter was switched off, which is not the same as a rate of 0 from the start.
	rate  float64
	never bool
	// spent is when the last token was taken; zero: none was.
	spent time.Time
}

// NewLimiter returns the limiter of a new zone. Its bucket is full, even at rate 0: the first node gets its taint in any case.
func NewLimiter(rate float64) Limiter { return Limiter{rate: rate} }

// Take takes a token if there is one.
func (l Limiter) Take(now time.Time) (Limiter, bool) {
	if at, ever := l.FreeAt(); !ever || now.Before(at) {
		return l, false
	}
	l.spent = now
	return l, true
}

// FreeAt returns the instant from which there is a token; ever is false if there will be none.
func (l Limiter) FreeAt() (at time.Time, ever bool) {
	switch {
	case l.never:
		return time.Time{}, false
	case l.spent.IsZero():
		return time.Time{}, true
	case l.rate <= 0:
		return time.Time{}, false
	}
	return l.spent.Add(time.Duration(float64(time.Second) / l.rate)), true
}

// Swap returns the limiter with another rate. The new bucket is full where the old one has a token at this instant, and empty where
// it has none; a rate of 0 or less switches the limiter off.
//
// With sticky a rate of exactly 1 does not bring back a limiter that was switched off, as in Kubernetes, whose limiter that never
// permits reports a rate of 1.
func (l Limiter) Swap(rate float64, now time.Time, sticky bool) Limiter {
	reported := l.rate
	if l.never {
		reported = 0
		if sticky {
			reported = 1
		}
	}
	switch {
	case reported == rate:
		return l
	case rate <= 0:
		return Limiter{never: true}
	}
	next := NewLimiter(rate)
	if _, had := l.Take(now); !had {
		next.spent = now
	}
	return next
}
