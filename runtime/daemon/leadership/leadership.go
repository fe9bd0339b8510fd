// Package leadership has one of the daemons that share a store lead: it holds a Lease, as Kubernetes' controllers do, and
// a term, which every decision of its machines names. The Lease says when another daemon may lead; the term is what
// keeps a leader that has not noticed from deciding anything.
package leadership

import (
	"context"
	"fmt"
	"time"

	"github.com/benbjohnson/clock"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/ptr"

	"leeward/runtime/daemon/engine"
)

// Where the Lease is.
const (
	Namespace = metav1.NamespaceSystem
	Name      = "leewardd"
)

var leases = coordinationv1.Resource("leases")

// Key is that of the Lease.
var Key = engine.Key(leases, Namespace, Name)

// Timing says how long a leader that is gone is waited for. Source: Kubernetes' --leader-elect flags.
type Timing struct {
	// LeaseDuration is how long the others wait after they last saw the Lease renewed, RenewDeadline how long a leader
	// goes on trying to renew it, and RetryPeriod how often all of them try.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

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

// Holder returns who leads by a Lease, and until when, as far as it says; zero if no daemon does.
func Holder(l *coordinationv1.Lease) (who string, until time.Time) {
	if who = ptr.Deref(l.Spec.HolderIdentity, ""); who == "" || l.Spec.RenewTime == nil {
		return "", time.Time{}
	}
	return who, l.Spec.RenewTime.Add(time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second)
}

// Candidate is a daemon that would lead.
type Candidate struct {
	Engine *engine.Engine
	Clock  clock.Clock
	// Identity names it among the others, and no other process ever.
	Identity string
	Timing   Timing
	// Lead leads from a term's beginning to its end: until the context is done, or it does not want to any more. An error
	// ends the candidacy.
	Lead func(ctx context.Context, term int64) error
	// Leader hears who leads, whenever another daemon does.
	Leader func(identity string)
	// Late hears that another daemon leads and has not renewed its Lease for two retry periods: it may be gone. It hears the
	// opposite when the Lease has changed after all, and not when this daemon leads. Zero: it is not watched.
	Late func(late bool)
}

const (
	// latePeriods is how many retry periods a leader that renews its Lease in each may let pass.
	latePeriods = 2
	// looksPerPeriod is how often the Lease is looked at in each.
	looksPerPeriod = 4
)

// watch tells of a Lease that is late, as long as the candidate does not lead. The Lease is read from memory.
func (c *Candidate) watch(ctx context.Context, l *lock) {
	look := c.Clock.Ticker(c.Timing.RetryPeriod / looksPerPeriod)
	defer look.Stop()
	var seen int64
	since, late := c.Clock.Now(), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if l.term.Load() != 0 {
			return
		}
		now := c.Clock.Now()
		o, version := c.Engine.Table(leases).Get(Key)
		if version != seen {
			seen, since = version, now
		}
		lease, _ := o.(*coordinationv1.Lease)
		if is := lease != nil && ptr.Deref(lease.Spec.HolderIdentity, "") != "" && now.Sub(since) > latePeriods*c.Timing.RetryPeriod; is != late {
			late = is
			c.Late(late)
		}
	}
}

// Run campaigns for leadership, again and again, until the context is done.
func (c *Candidate) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := c.stand(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stand leads for one term at most. Afterwards the Lease is given back, if it still can be.
func (c *Candidate) stand(ctx context.Context) error {
	ctx, resign := context.WithCancel(ctx)
	defer resign()
	l, ended := &lock{candidate: c}, make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l, Name: Name, ReleaseOnCancel: true,
		LeaseDuration: c.Timing.LeaseDuration, RenewDeadline: c.Timing.RenewDeadline, RetryPeriod: c.Timing.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				defer resign()
				ended <- c.Lead(ctx, l.term.Load())
			},
			OnStoppedLeading: func() {},
			OnNewLeader:      c.Leader,
		},
	})
	if err != nil {
		return fmt.Errorf("stand for leader: %w", err)
	}
	if c.Late != nil {
		go c.watch(ctx, l)
	}
	elector.Run(ctx)
	if l.term.Load() == 0 { // it never led
		return nil
	}
	return <-ended
}
