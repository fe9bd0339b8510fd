package client

import (
	"context"
	"time"

	"github.com/benbjohnson/clock"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Waits for a server grow from the first to the last of these.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

// Patience paces attempts at a server that does not answer as it should. The zero Patience has not waited yet.
type Patience struct {
	next  time.Duration
	since time.Time // the last wait was over
}

// Wait waits before the next attempt, or until the context ends: longer each time, and as at first after an attempt that
// lasted longer than any wait.
func (p *Patience) Wait(ctx context.Context, c clock.Clock) {
	if p.next == 0 || c.Since(p.since) > lastWait {
		p.next = firstWait
	}
	select {
	case <-ctx.Done():
	case <-c.After(p.next):
	}
	p.next, p.since = min(2*p.next, lastWait), c.Now()
}

// Refused reports an error that asking again would not help against.
func Refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}
