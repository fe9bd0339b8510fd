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
		Name: Name, Lock: l, Timing: c.Timing, Clock: c.Clock, Leader: c.Leader,
		Lead: func(ctx context.Context) error { return c.Lead(ctx, l.term.Load()) },
	}
	return once.Stand(ctx)
}
