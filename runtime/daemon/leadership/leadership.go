// Package leadership has one of the daemons that share a store lead: it holds a Lease, as Kubernetes' controllers do, and
// a term, which every decision of its machines names. The Lease says when another daemon may lead; the term is what
// keeps a leader that has not noticed from deciding anything.
package leadership

import (
	"context"
	"time"

	"github.com/benbjohnson/clock"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/election"
)

// Where the Lease is.
const (
	Namespace = metav1.NamespaceSystem
	Name      = "leewardd"
)

var leases = coordinationv1.Resource("leases")

// Key is that of the Lease.
var Key = engine.Key(leases, Namespace, Name)

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
	Timing   election.Timing
	// Lead leads from a term's beginning to its end: until the context is done, or it does not want to any more. An error
	// ends the candidacy.
	Lead func(ctx context.Context, term int64) error
	// Leader hears who leads, whenever another daemon does.
	Leader func(identity string)
	// Late hears that another daemon leads and has not renewed its Lease for two retry periods: it may be gone. It hears the
	// opposite when the Lease has changed after all, and not when this daemon leads. Zero: it is not watched.
	Late func(late bool)
}

// watch tells of a Lease that is late, as long as the candidate does not lead. The Lease is read from memory.
func (c *Candidate) watch(ctx context.Context) {
	var seen int64
	since := c.Clock.Now()
	c.Timing.Watch(ctx, c.Clock, func(now time.Time) (time.Duration, bool) {
		who := ""
		o, version := c.Engine.Table(leases).Get(Key)
		if lease, is := o.(*coordinationv1.Lease); is {
			who = ptr.Deref(lease.Spec.HolderIdentity, "")
		}
		if who == c.Identity { // the Lease has changed because this candidate has taken it
			return 0, false
		}
		if version != seen {
			seen, since = version, now
		}
		if who == "" {
			return 0, true
		}
		return now.Sub(since), true
	}, c.Late)
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
	l := &lock{candidate: c}
	once := election.Candidate{
		Name: Name, Lock: l, Timing: c.Timing, Leader: c.Leader,
		Lead: func(ctx context.Context) error { return c.Lead(ctx, l.term.Load()) },
	}
	ctx, resign := context.WithCancel(ctx)
	defer resign()
	if c.Late != nil {
		go c.watch(ctx)
	}
	return once.Stand(ctx)
}
