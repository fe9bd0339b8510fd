package cluster

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// drain is how far people's wish to empty a cluster has come.
type drain struct {
	// status is as last recorded; nil: there is no drain.
	status *api.Drain
	// asked is set where more than its count is new.
	asked bool
}

// news reports whether there is news of the drain while so many bindings remain: what left in an instant is told once.
func (d *drain) news(left int) bool {
	return d.status != nil && (d.asked || int(d.status.Left) != left)
}

// count says how many bindings remain.
func (d *drain) count(cluster messages.ClusterName, left int, out *actors.Outbox) {
	if !d.news(left) {
		return
	}
	is := *d.status
	is.Left = int32(left)
	is.Bindings = max(is.Bindings, is.Left)
	*d = drain{status: &is}
	out.Record(&messages.DrainProgressed{Cluster: cluster, Drain: is})
}

// due is when to say that the drain has missed its deadline; zero: there is none, or it is said.
func (d *drain) due(left int) time.Time {
	if d.status == nil || d.status.Deadline == nil || d.status.Missed || left == 0 {
		return time.Time{}
	}
	return d.status.Deadline.Time
}

// miss says so. The drain goes on.
func (d *drain) miss(now time.Time, cluster messages.ClusterName, waiting *subscribers, out *actors.Outbox) {
	if due := d.due(waiting.len()); due.IsZero() || due.After(now) {
		return
	}
	is := *d.status
	is.Missed = true
	d.status = &is
	out.Record(&messages.DrainMissed{Cluster: cluster, Waiting: slices.Sorted(waiting.all())})
}
