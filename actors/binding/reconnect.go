package binding

import (
	failbackrule "leeward/actors/rules/failback"
	"leeward/messages"
	"leeward/messages/api"
)

// strategy is who stays when a cluster that was cut off comes back; empty: as the settings say.
func (d *declared) strategy() api.ReconnectStrategy {
	if f := d.spec.Failover; f != nil && f.Cluster != nil {
		return f.Cluster.Reconnect
	}
	return ""
}

// judges reports whether an old copy that comes back is judged.
func (d *declared) judges() bool {
	s := d.strategy()
	return s == api.ReconnectKeepOriginal || s == api.ReconnectKeepHealthiest
}

// readyInPlaceOf counts the replicas ready that would go for a share of home.
func (f *failback) readyInPlaceOf(v *view, s *preferred) (ready int32) {
	home := make([]api.TargetCluster, len(f.shares))
	for i := range home {
		home[i] = f.shares[i].TargetCluster
	}
	after := failbackrule.Return(v.targets.shown(), home, []string{s.Name}, !v.duplicated())
	for _, t := range v.targets.shown() {
		ready += max(0, v.readyOn(t.Name, t.Replicas)-api.ReplicasOn(after, t.Name))
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
		return v.ways().WithdrawsOnRecovery()
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
		if t := v.targets.of(messages.ClusterName(g.Name)); t != nil {
			ready += max(0, v.readyOn(g.Name, t.replicas)-(t.replicas-g.Replicas))
		}
	}
	return ready
}
