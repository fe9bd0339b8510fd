package binding

import (
	"fmt"
	"time"

	"leeward/actors"
	"leeward/actors/rules/failback"
	"leeward/messages"
	"leeward/messages/api"
)

// strategy is who stays when a cluster that was cut off comes back; empty: as the settings say.
func (v *view) strategy() api.ReconnectStrategy {
	if f := v.spec.Failover; f != nil && f.Cluster != nil {
		return f.Cluster.Reconnect
	}
	return ""
}

// judges reports whether an old copy that comes back is judged.
func (v *view) judges() bool {
	s := v.strategy()
	return s == api.ReconnectKeepOriginal || s == api.ReconnectKeepHealthiest
}

// mayReturn reports whether anything of the workload may go back to where it was.
func (v *view) mayReturn() bool { return v.failsBack() || v.judges() }

// stabilization is how long a cluster of home must be able to take its share: no time where only an old copy
// that runs anyway is judged.
func (v *view) stabilization() time.Duration {
	if f := v.spec.Failover; f != nil && f.Cluster != nil && f.Cluster.Failback != nil {
		return f.Cluster.Failback.Stabilization()
	}
	return 0
}

// originalReported takes a copy back into account that was to be removed while its cluster was silent. Where that was chosen
// again meanwhile, it is the copy of a target, and nothing is to be judged.
func (b *Binding) originalReported(now time.Time, c *copyState, out *actors.Outbox) {
	c.removing = false
	if t := b.target(c.cluster); t != nil {
		b.runAsTarget(t, c, out)
		return
	}
	s := b.homeShare(c.cluster)
	if s == nil || !b.judges() {
		b.syncCopies(out)
		return
	}
	s.kept = true
	c.replicas = s.Replicas
	out.Record(&messages.OriginalKept{Binding: b.name, Cluster: c.cluster})
	b.tellRun(c, true, out)
	b.ask(now, out)
	b.syncCopies(out) // what waited for it to go waits no longer
}

// judgeOriginal gives up an old copy that is not healthy.
func (b *Binding) judgeOriginal(now time.Time, c *copyState, out *actors.Outbox) {
	if s := b.homeShare(c.cluster); s != nil && s.kept && c.health != api.Healthy {
		b.releaseOriginal(s, "it is "+string(c.health), out)
		b.ask(now, out)
	}
}

func (b *Binding) releaseOriginal(s *homeShare, why string, out *actors.Outbox) {
	s.kept = false
	out.Record(&messages.OriginalReleased{Binding: b.name, Cluster: messages.ClusterName(s.Name), Message: why})
	b.syncCopies(out)
}

// askFor asks for a share of home, unless its old copy is the worse one.
func (b *Binding) askFor(s *homeShare, out *actors.Outbox) {
	s.asked = true
	if !s.kept || b.strategy() != api.ReconnectKeepHealthiest {
		return
	}
	original, replacement := b.readyOn(s.Name, s.Replicas), b.readyInPlaceOf(s)
	if original < replacement {
		s.at, s.asked = time.Time{}, false
		b.releaseOriginal(s, fmt.Sprintf("%d replicas are ready there, %d in its place", original, replacement), out)
	}
}

// readyOn counts the replicas ready on a cluster, no more than some.
func (v *view) readyOn(cluster string, most int32) int32 {
	if c := v.copy(messages.ClusterName(cluster)); c != nil && c.health == api.Healthy {
		return min(c.ready, most)
	}
	return 0
}

// readyInPlaceOf counts the replicas ready that would go for a share of home.
func (b *Binding) readyInPlaceOf(s *homeShare) (ready int32) {
	home := make([]api.TargetCluster, len(b.home.shares))
	for i := range home {
		home[i] = b.home.shares[i].TargetCluster
	}
	after := failback.Return(b.clusters(), home, []string{s.Name}, !b.duplicated())
	for _, t := range b.clusters() {
		ready += max(0, b.readyOn(t.Name, t.Replicas)-api.ReplicasOn(after, t.Name))
	}
	return ready
}

// withdraws reports whether a task is taken back when its cluster no longer evicts the workload.
func (v *view) withdraws(k *task) bool {
	old := int32(0)
	if k.Replicas != nil {
		old = *k.Replicas
	}
	switch c := v.copy(messages.ClusterName(k.FromCluster)); {
	case k.Reason != api.EvictionReasonTaintUntolerated || v.strategy() == "":
		return v.settings.WithdrawOnRecovery
	case v.strategy() == api.ReconnectKeepReplacement || c == nil || c.health != api.Healthy:
		return false
	case v.strategy() == api.ReconnectKeepHealthiest:
		return v.readyOn(k.FromCluster, old) >= v.readyGained(k.ReplacedBy)
	default:
		return true
	}
}

// readyGained counts the replicas ready of what clusters have more than before.
func (v *view) readyGained(gained []api.TargetCluster) (ready int32) {
	for _, g := range gained {
		if t := v.target(messages.ClusterName(g.Name)); t != nil {
			ready += max(0, v.readyOn(g.Name, t.replicas)-(t.replicas-g.Replicas))
		}
	}
	return ready
}
