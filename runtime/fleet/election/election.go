// Package election has one of several processes lead by a Lease, as Kubernetes' controllers do.
package election

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

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
	// Lead leads until the context is done, or it does not want to any more.
	Lead func(ctx context.Context) error
	// Leader hears who leads, whenever another process does; nil: there is no listener.
	Leader func(identity string)
}

// Stand waits for the Lease, and leads once: until the context is done, the Lease is lost or Lead returns. Then the Lease is given back, if
// it still can be. The error is that of Lead.
func (c *Candidate) Stand(ctx context.Context) error {
	ctx, resign := context.WithCancel(ctx)
	defer resign()
	l, ended := &lock{Interface: c.Lock}, make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l, Name: c.Name, ReleaseOnCancel: true,
		LeaseDuration: c.Timing.LeaseDuration, RenewDeadline: c.Timing.RenewDeadline, RetryPeriod: c.Timing.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				defer resign()
				ended <- c.Lead(ctx)
			},
			OnStoppedLeading: func() {},
			OnNewLeader:      c.Leader,
		},
	})
	if err != nil {
		return fmt.Errorf("stand for leader: %w", err)
	}
	elector.Run(ctx)
	if !l.ever.Load() {
		return nil
	}
	return <-ended
}

// lock knows whether this process has ever held the Lease: then Lead was called.
type lock struct {
	resourcelock.Interface
	ever atomic.Bool
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
	if err == nil && r.HolderIdentity == l.Identity() {
		l.ever.Store(true)
	}
	return err
}
