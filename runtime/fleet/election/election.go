// Package election has one of several processes lead by a Lease, as Kubernetes' controllers do.
package election

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/clock"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Timing says how long a leader that is gone is waited for. Source: Kubernetes' --leader-elect flags.
type Timing struct {
	// LeaseDuration is how long the others wait after they last saw the Lease renewed, RenewDeadline how long a leader
	// goes on trying to renew it, and RetryPeriod how often all of them try.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

// Usual is the timing of Kubernetes' controllers.
var Usual = Timing{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second}

// Validate reports what no leader could be found by.
func (t Timing) Validate() []error {
	var problems []error
	if t.LeaseDuration < time.Second {
		problems = append(problems, fmt.Errorf("leaderElectLeaseDuration: %s is less than 1s", t.LeaseDuration))
	}
	if t.RenewDeadline >= t.LeaseDuration {
		problems = append(problems, fmt.Errorf("leaderElectRenewDeadline: %s must be less than leaderElectLeaseDuration, %s", t.RenewDeadline, t.LeaseDuration))
	}
	if t.RetryPeriod <= 0 || float64(t.RenewDeadline) <= leaderelection.JitterFactor*float64(t.RetryPeriod) {
		problems = append(problems, fmt.Errorf("leaderElectRetryPeriod: %s must be more than 0 and less than %.2g of leaderElectRenewDeadline, %s",
			t.RetryPeriod, 1/leaderelection.JitterFactor, t.RenewDeadline))
	}
	return problems
}

// Candidate is a process that would lead.
type Candidate struct {
	// Name is that of the Lease, Lock the Lease itself, with the identity of this process.
	Name   string
	Lock   resourcelock.Interface
	Timing Timing
	// Clock is that of the machine, which client-go's election goes by, too.
	Clock clock.Clock
	// Lead leads until the context is done, or it does not want to any more.
	Lead func(ctx context.Context) error
	// Leader hears who leads, whenever another process does; nil: there is no listener.
	Leader func(identity string)
}

// looksPerPeriod is how often a standby reads the Lease in each retry period: so much earlier than client-go, which reads it once in one or two,
// it sees that the Lease is free.
const looksPerPeriod = 8

// Stand waits for the Lease, and leads once: until the context is done, the Lease is lost or Lead returns. Then the Lease is given back, if
// it still can be. The error is that of Lead.
func (c *Candidate) Stand(ctx context.Context) error {
	l := &lock{Interface: c.Lock, candidate: c, resign: func() {}}
	timer := c.Clock.Timer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		wait := c.Timing.RetryPeriod / looksPerPeriod
		if l.free(ctx) {
			if led, err := c.try(ctx, l); led || err != nil {
				return err
			}
			wait = c.Timing.RetryPeriod // another was faster, or the Lease cannot be written
		}
		timer.Reset(wait)
	}
}

// try takes the Lease, if no other process does first, and leads. It reports whether it has led.
func (c *Candidate) try(ctx context.Context, l *lock) (led bool, err error) {
	ctx, resign := context.WithCancel(ctx)
	defer resign()
	l.resign = resign
	ended := make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l, Name: c.Name, ReleaseOnCancel: true,
		LeaseDuration: c.Timing.LeaseDuration, RenewDeadline: c.Timing.RenewDeadline, RetryPeriod: c.Timing.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				defer resign()
				ended <- c.Lead(ctx)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return false, fmt.Errorf("stand for leader: %w", err)
	}
	elector.Run(ctx)
	if !l.ever.Load() {
		return false, nil
	}
	return true, <-ended
}

// lock is the Lease as one candidate sees it: free, too, once its holder has not renewed it for as long as it lasts. Only Lead runs beside it.
type lock struct {
	resourcelock.Interface
	candidate *Candidate
	// seen is the Lease as it was last read, since is when it was first read so, taken is set while another process may lead by it.
	seen  resourcelock.LeaderElectionRecord
	since time.Time
	taken bool
	// holder is who leads, as far as that was told.
	holder string
	// ever is set once this process has held the Lease: then Lead was called.
	ever atomic.Bool
	// resign ends the attempt to take the Lease.
	resign func()
}

// free reports whether this process may try to take the Lease.
func (l *lock) free(ctx context.Context) bool {
	ctx, end := context.WithTimeout(ctx, l.candidate.Timing.RenewDeadline)
	defer end()
	_, _, err := l.Get(ctx)
	return apierrors.IsNotFound(err) || err == nil && !l.taken
}

// Get reads the Lease. Until this process holds it, one that has run out has no holder.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	r, raw, err := l.Interface.Get(ctx)
	if err != nil || l.ever.Load() {
		return r, raw, err
	}
	now := l.candidate.Clock.Now()
	if *r != l.seen || l.since.IsZero() { // not raw, which has whole seconds
		l.seen, l.since = *r, now
	}
	l.tell(r.HolderIdentity)
	other := r.HolderIdentity != "" && r.HolderIdentity != l.Identity()
	if l.taken = other && now.Sub(l.since) < l.candidate.Timing.LeaseDuration; l.taken {
		l.resign()
	} else if other {
		free := *r
		free.HolderIdentity = ""
		r = &free
	}
	return r, raw, nil
}

// tell tells who leads, if that is another process than before.
func (l *lock) tell(holder string) {
	if holder != "" && holder != l.holder && l.candidate.Leader != nil {
		l.candidate.Leader(holder)
	}
	l.holder = holder
}

// Create makes the Lease.
func (l *lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.held(r, l.Interface.Create(ctx, r))
}

// Update renews, takes or gives back the Lease.
func (l *lock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.held(r, l.Interface.Update(ctx, r))
}

func (l *lock) held(r resourcelock.LeaderElectionRecord, err error) error {
	switch {
	case err == nil && r.HolderIdentity == l.Identity():
		l.ever.Store(true)
		l.tell(r.HolderIdentity)
	case !l.ever.Load():
		l.resign()
	}
	return err
}
