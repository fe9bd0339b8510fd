package writing

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"leeward/runtime/fleet/election"
)

// Lease is the Lease, as client-go's election wants it, and how long this process may write by it: a request is made only within
// RenewDeadline after the last renewal began, and ends by then. Others wait LeaseDuration, which is longer, from when they see the renewal.
// So no request of a leader is under way when another leads, also where it was stopped for a time and has not noticed.
type Lease struct {
	resourcelock.Interface
	clock clock.Clock
	lasts time.Duration
	// until is when the right to write ends, in nanoseconds of Unix time; 0: there is none.
	until atomic.Int64
	// renewed has a word for each renewal that was not looked at.
	renewed chan struct{}
}

// NewLease returns a Lease that is yet to be held. Lasts is for how long a renewal gives the right to write.
func NewLease(held resourcelock.Interface, c clock.Clock, lasts time.Duration) *Lease {
	return &Lease{Interface: held, clock: c, lasts: lasts, renewed: make(chan struct{}, 1)}
}

// Create makes the Lease with this process as its holder.
func (l *Lease) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	began := l.clock.Now()
	return l.held(began, r, l.Interface.Create(ctx, r))
}

// Update renews, takes or gives back the Lease.
func (l *Lease) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	began := l.clock.Now()
	if r.HolderIdentity != l.Identity() {
		l.until.Store(0) // whatever the server answers
	}
	return l.held(began, r, l.Interface.Update(ctx, r))
}

func (l *Lease) held(began time.Time, r resourcelock.LeaderElectionRecord, err error) error {
	if err == nil && r.HolderIdentity == l.Identity() {
		l.until.Store(began.Add(l.lasts).UnixNano())
		select {
		case l.renewed <- struct{}{}:
		default:
		}
	}
	return err
}

// Renewed has a word once the Lease was renewed since the last.
func (l *Lease) Renewed() <-chan struct{} { return l.renewed }

// ErrNotLeader says that the right to write has ended before a request was made.
var ErrNotLeader = errors.New("the Lease has not been renewed in time")

// Within bounds a request by the right to write: ErrNotLeader where that has ended.
func (l *Lease) Within(ctx context.Context) (context.Context, context.CancelFunc, error) {
	until := time.Unix(0, l.until.Load()) // without a monotonic reading, so that a machine that sleeps is late when it wakes
	left := until.Sub(l.clock.Now())
	if left <= 0 {
		return nil, nil, ErrNotLeader
	}
	ctx, end := context.WithTimeout(ctx, left)
	return ctx, end, nil
}

// Candidate wants to lead.
type Candidate struct {
	Client *rest.Config
	// Namespace and Name are those of the Lease, and Identity names this process and no other ever.
	Namespace, Name, Identity string
	Timing                    election.Timing
	Clock                     clock.Clock
	Log                       zerolog.Logger
}

// Stand waits for the Lease, and leads until the context is done, the Lease is lost or lead returns. Then the Lease is given back.
func (c *Candidate) Stand(ctx context.Context, lead func(context.Context, *Lease) error) error {
	leases, err := coordinationclient.NewForConfig(c.Client)
	if err != nil {
		return fmt.Errorf("make a client of Leases: %w", err)
	}
	l := NewLease(&resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}, Client: leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: c.Identity},
	}, c.Clock, c.Timing.RenewDeadline)
	once := election.Candidate{
		Name: c.Name, Lock: l, Timing: c.Timing, Clock: clock.New(),
		Lead:   func(ctx context.Context) error { return lead(ctx, l) },
		Leader: func(who string) { c.Log.Info().Str("leader", who).Msg("leader") },
	}
	return once.Stand(ctx)
}
