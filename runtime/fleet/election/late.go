package election

import (
	"context"
	"time"

	"github.com/benbjohnson/clock"
)

const (
	// latePeriods is how many retry periods a leader that renews its Lease in each may let pass.
	latePeriods = 2
	// looksPerPeriod is how often that is looked at in each.
	looksPerPeriod = 4
)

// Watch tells of a leader that has not renewed its Lease for two retry periods, so that it may be gone, and the opposite when it has after
// all. Silent says for how long it has not; false: there is nothing to watch any more. It returns then, or when the context is done.
func (t Timing) Watch(ctx context.Context, c clock.Clock, silent func(now time.Time) (time.Duration, bool), tell func(late bool)) {
	look := c.Ticker(t.RetryPeriod / looksPerPeriod)
	defer look.Stop()
	for late := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		lasts, on := silent(c.Now())
		if !on {
			return
		}
		if is := lasts > latePeriods*t.RetryPeriod; is != late {
			late = is
			tell(late)
		}
	}
}
