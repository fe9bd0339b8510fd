package attach

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/clock"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"leeward/runtime/fleet/election"
)

// LeaseName is that of the Lease by which one of several Leewards acts.
const LeaseName = "leewardd-node-taint-eviction"

// lease is the Lease, as client-go's election wants it, and how long this process may write by it: a request is made only within
// RenewDeadline after the last renewal began, and ends by then. Others wait LeaseDuration, which is longer, from when they see the renewal.
// So no request of a leader is under way when another leads, also where it was stopped for a time and has not noticed.
type lease struct {
	resourcelock.Interface
	clock clock.Clock
	lasts time.Duration
	// until is when the right to write ends, in nanoseconds of Unix time; 0: there is none.
	until atomic.Int64
}

// Create makes the Lease with this process as its holder.
func (l *lease) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	began := l.clock.Now()
	return l.held(began, r, l.Interface.Create(ctx, r))
}

// Update renews, takes or gives back the Lease.
func (l *lease) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	began := l.clock.Now()
	if r.HolderIdentity != l.Identity() {
		l.until.Store(0) // whatever the server answers
	}
	return l.held(began, r, l.Interface.Update(ctx, r))
}

func (l *lease) held(began time.Time, r resourcelock.LeaderElectionRecord, err error) error {
	if err == nil && r.HolderIdentity == l.Identity() {
		l.until.Store(began.Add(l.lasts).UnixNano())
	}
	return err
}

// ends is when the right to write ends. It has no monotonic reading, so that a machine that sleeps is late when it wakes.
func (l *lease) ends() (time.Time, bool) { return time.Unix(0, l.until.Load()), true }

// stand waits for the Lease, and leads until the context is done, the Lease is lost or lead returns. Then the Lease is given back.
func (a *Attachment) stand(ctx context.Context, lead func(context.Context, *lease) error) error {
	leases, err := coordinationclient.NewForConfig(a.rest)
	if err != nil {
		return fmt.Errorf("make a client of Leases: %w", err)
	}
	l := &lease{clock: a.config.Clock, lasts: a.config.Timing.RenewDeadline, Interface: &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: a.config.Namespace, Name: LeaseName}, Client: leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: a.config.Identity},
	}}
	once := election.Candidate{
		Name: LeaseName, Lock: l, Timing: a.config.Timing, Lead: func(ctx context.Context) error { return lead(ctx, l) },
		Leader: func(who string) { a.config.Log.Info().Str("leader", who).Msg("leader") },
	}
	return once.Stand(ctx)
}
