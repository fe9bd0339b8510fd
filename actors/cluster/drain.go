package cluster

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// drainRequested begins a drain, or gives the one under way another deadline.
func (c *Cluster) drainRequested(now time.Time, deadline time.Time, out *actors.Outbox) {
	d := api.Drain{Since: metav1.Time{Time: now}}
	if c.drain != nil {
		d = *c.drain
		d.Deadline, d.Missed = nil, false
	}
	if !deadline.IsZero() {
		d.Deadline = &metav1.Time{Time: deadline}
	}
	c.drain, c.drainNews = &d, true
	c.retaint(now, out)
}

// drainCancelled ends a drain, and the cordon that came with it.
func (c *Cluster) drainCancelled(now time.Time, out *actors.Outbox) {
	if c.drain == nil {
		return
	}
	c.drain, c.drainNews = nil, false
	out.Record(&messages.DrainEnded{Cluster: c.name})
	r := c.revise()
	for _, s := range taint.Draining(false) {
		c.follow(now, r, s, "the drain was ended")
	}
	c.commit(now, r, out)
}

// toCountDrain reports whether there is news of the drain: what left in an instant is told once.
func (c *Cluster) toCountDrain() bool {
	return c.drain != nil && (c.drainNews || int(c.drain.Left) != c.subscribers.len())
}

// countDrain says how many bindings remain.
func (c *Cluster) countDrain(out *actors.Outbox) {
	if !c.toCountDrain() {
		return
	}
	d := *c.drain
	d.Left = int32(c.subscribers.len())
	d.Bindings = max(d.Bindings, d.Left)
	c.drain, c.drainNews = &d, false
	out.Record(&messages.DrainProgressed{Cluster: c.name, Drain: d})
}

// drainDeadline is when to say that a drain has missed its deadline; zero: there is none, or it is said.
func (c *Cluster) drainDeadline() time.Time {
	if c.drain == nil || c.drain.Deadline == nil || c.drain.Missed || c.subscribers.len() == 0 {
		return time.Time{}
	}
	return c.drain.Deadline.Time
}

// missDrain says so. The drain goes on.
func (c *Cluster) missDrain(now time.Time, out *actors.Outbox) {
	if due := c.drainDeadline(); due.IsZero() || due.After(now) {
		return
	}
	d := *c.drain
	d.Missed = true
	c.drain = &d
	out.Record(&messages.DrainMissed{Cluster: c.name, Waiting: slices.Sorted(c.subscribers.all())})
}
