package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/descheduling"
	"leeward/messages"
	"leeward/messages/api"
)

// roomReported notes what a member says of the room that it has for its copy.
func (b *Binding) roomReported(now time.Time, c *copyState, m *messages.CopyReported, out *actors.Outbox) {
	b.countWaiting(now, m.Cluster, m.Unschedulable, out)
	if c.full == m.Full {
		return
	}
	c.full = m.Full
	if b.settings.EnableDescheduler {
		b.ask(now, out)
	}
}

// unschedulable are the replicas that members cannot start. Most bindings never have any: nil.
type unschedulable struct {
	// waiting are in order of time.
	waiting []api.UnschedulableReplicas
}

func (u *unschedulable) list() []api.UnschedulableReplicas {
	if u == nil {
		return nil
	}
	return u.waiting
}

// wait takes over which replicas wait.
func (b *Binding) wait(replicas []api.UnschedulableReplicas) {
	if b.unschedulable != nil || len(replicas) > 0 {
		owned(&b.unschedulable).waiting = replicas
	}
}

// countWaiting notes how many replicas wait on a cluster.
func (b *Binding) countWaiting(now time.Time, cluster messages.ClusterName, replicas int32, out *actors.Outbox) {
	before := b.unschedulable.list()
	if descheduling.Of(before, string(cluster)) == replicas {
		return
	}
	b.wait(descheduling.Counted(before, string(cluster), replicas, now))
	out.Record(&messages.UnschedulableChanged{Binding: b.name, Cluster: cluster, Replicas: replicas, Waiting: b.unschedulable.list()})
}

// sweepAt is when the first replicas that wait are given up; zero: none will be.
func (u *unschedulable) sweepAt(v *view) (first time.Time) {
	if u == nil || len(u.waiting) == 0 || !v.descheduled() {
		return time.Time{}
	}
	for i := range u.waiting {
		if w := &u.waiting[i]; v.target(messages.ClusterName(w.ClusterName)) != nil {
			first = actors.Earlier(first, v.sweep(w))
		}
	}
	return first
}

// full are the clusters that have no room for more replicas, as far as anybody asks them.
func (v *view) full() (clusters []messages.ClusterName) {
	if !v.settings.EnableDescheduler {
		return nil
	}
	for i := range v.copies {
		if v.copies[i].full {
			clusters = append(clusters, v.copies[i].cluster)
		}
	}
	return clusters
}

// descheduled reports whether replicas that cannot start are given up at all: there must be somebody to
// place them elsewhere.
func (v *view) descheduled() bool {
	return v.settings.EnableDescheduler && v.schedulable() && descheduling.Concerns(&v.spec.Resource, v.spec.Placement)
}

func (v *view) sweep(w *api.UnschedulableReplicas) time.Time {
	return descheduling.Sweep(w.Since.Time, v.settings.UnschedulableThreshold, v.settings.DeschedulingInterval)
}

// deschedule gives up what has waited for too long, cluster by cluster, and has the scheduler place it.
func (b *Binding) deschedule(now time.Time, out *actors.Outbox) {
	if at := b.unschedulable.sweepAt(&b.view); at.IsZero() || at.After(now) {
		return
	}
	lowered := false
	for _, c := range b.clusters() {
		lowered = b.giveUp(now, c, out) || lowered
	}
	if lowered {
		b.syncCopies(out)
		b.ask(now, out)
	}
}

// giveUp lowers a cluster's share by what has waited there for too long, and reports whether it did. What
// was due is due no more, whether or not something came of it.
func (b *Binding) giveUp(now time.Time, c api.TargetCluster, out *actors.Outbox) bool {
	due, since := int32(0), time.Time{}
	b.wait(slices.DeleteFunc(slices.Clone(b.unschedulable.list()), func(w api.UnschedulableReplicas) bool {
		if w.ClusterName != c.Name || b.sweep(&w).After(now) {
			return false
		}
		due, since = due+w.Replicas, actors.Earlier(since, w.Since.Time)
		return true
	}))
	copied := b.copy(messages.ClusterName(c.Name))
	if due == 0 || copied == nil {
		return false
	}
	left := descheduling.Lowered(c.Replicas, copied.ready, due)
	if left == c.Replicas {
		return false
	}
	b.resize(c.Name, left, out)
	out.Record(&messages.BindingDescheduled{
		Binding: b.name, Cluster: messages.ClusterName(c.Name), Before: c.Replicas, Replicas: left, Since: since,
		Clusters: b.clusters(), Waiting: b.unschedulable.list(),
	})
	return true
}

// resize gives one target another share; one without any is a target no more.
func (b *Binding) resize(cluster string, replicas int32, out *actors.Outbox) {
	clusters := b.clusters()
	i := api.FindTarget(clusters, cluster)
	if clusters[i].Replicas = replicas; replicas == 0 {
		clusters = slices.Delete(clusters, i, i+1)
	}
	b.retarget(clusters, out)
}
