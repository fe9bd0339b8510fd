package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/descheduling"
	"leeward/messages"
	"leeward/messages/api"
)

// capacityReported notes what a member says of its capacity for its copy.
func (b *Binding) capacityReported(now time.Time, c *copyState, m *messages.CopyReported, out *actors.Outbox) {
	b.countWaiting(now, m.Cluster, m.Unschedulable, out)
	if c.full == m.Full {
		return
	}
	c.full = m.Full
	if b.settings.EnableDescheduler {
		b.ask(now, out)
	}
}

// countWaiting notes how many replicas wait on a cluster, if that is news.
func (b *Binding) countWaiting(now time.Time, cluster messages.ClusterName, replicas int32, out *actors.Outbox) {
	if descheduling.Of(b.unschedulable.list(), string(cluster)) != replicas {
		owned(&b.unschedulable).count(&b.view, now, cluster, replicas, out)
	}
}

// deschedule gives up what has waited for too long, cluster by cluster, and has the scheduler place it.
func (b *Binding) deschedule(now time.Time, out *actors.Outbox) {
	if at := b.unschedulable.deadline(&b.view); at.IsZero() || at.After(now) {
		return
	}
	lowered := false
	for _, c := range b.targets.shown() {
		lowered = b.giveUp(now, c, out) || lowered
	}
	if lowered {
		b.syncCopies(out)
		b.ask(now, out)
	}
}

// giveUp lowers a cluster's share by what has waited there for too long, and reports whether it did.
func (b *Binding) giveUp(now time.Time, c api.TargetCluster, out *actors.Outbox) bool {
	due, since := b.unschedulable.due(&b.view, now, c.Name)
	copied := b.copy(messages.ClusterName(c.Name))
	if due == 0 || copied == nil {
		return false
	}
	left := descheduling.Lowered(c.Replicas, copied.ready, due)
	if left == c.Replicas {
		return false
	}
	clusters := b.targets.shown()
	i := api.FindTarget(clusters, c.Name)
	if clusters[i].Replicas = left; left == 0 {
		clusters = slices.Delete(clusters, i, i+1)
	}
	b.retarget(clusters, out)
	out.Record(&messages.BindingDescheduled{
		Binding: b.name, Cluster: messages.ClusterName(c.Name), Before: c.Replicas, Replicas: left, Since: since,
		Clusters: b.targets.shown(), Waiting: b.unschedulable.list(),
	})
	return true
}
