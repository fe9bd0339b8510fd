package binding

import (
	"cmp"
	"fmt"
	"slices"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// release takes replicas off the copies that are left gradually, as many as serve in their place, and
// reports whether any went. Before the scheduler has looked nobody knows what is to serve.
func (b *Binding) release(serving int64, out *actors.Outbox) bool {
	if !b.scheduled {
		return false
	}
	var old []eviction.Holding
	for i := range b.tasks {
		k := &b.tasks[i]
		if eviction.Gradual(&k.GracefulEvictionTask) && b.target(messages.ClusterName(k.FromCluster)) == nil && !b.spec.Suspension.Dispatch(k.FromCluster) {
			old = append(old, eviction.Holding{Cluster: k.FromCluster, Since: k.CreationTimestamp.Time, Replicas: *k.Replicas})
		}
	}
	if len(old) == 0 {
		return false
	}
	wanted := b.wantedReplicas()
	less := eviction.Release(old, wanted-serving)
	for _, h := range less {
		b.shrink(h, fmt.Sprintf("%d of %d replicas serve where it is placed now", serving, wanted), out)
	}
	return len(less) > 0
}

// wantedReplicas are to serve in all, those that have no place yet included.
func (v *view) wantedReplicas() (all int64) {
	for i := range v.targets {
		all += int64(v.targets[i].replicas)
	}
	if v.duplicated() {
		return all
	}
	return max(all, int64(v.spec.Replicas))
}

// shrink leaves a copy with fewer replicas, and so its task.
func (b *Binding) shrink(h eviction.Holding, why string, out *actors.Outbox) {
	k := b.task(messages.ClusterName(h.Cluster))
	out.Record(&messages.ReplicasReleased{
		Binding: b.name, Cluster: messages.ClusterName(h.Cluster), Before: *k.Replicas, Replicas: h.Replicas, Reason: why,
	})
	k.Replicas = &h.Replicas
	if c := b.copy(messages.ClusterName(h.Cluster)); c != nil && !c.removing {
		c.replicas = h.Replicas
		b.tellRun(c, false, out)
	}
}

// owed are the replicas that those who took over give back if a task is withdrawn: all of them, or, of a
// gradual one, as many as the old copy still runs, where they do not serve yet first.
func (v *view) owed(k *api.GracefulEvictionTask) []api.TargetCluster {
	gained := v.successors(k.ReplacedBy)
	if k.Handover != api.HandoverGradual || v.duplicated() {
		return gained
	}
	gained = slices.Clone(gained)
	slices.SortStableFunc(gained, func(x, y api.TargetCluster) int { return cmp.Compare(v.lacking(y.Name), v.lacking(x.Name)) })
	back, _ := take(gained, *k.Replicas, false)
	return back
}

// lacking is how many replicas of a target do not serve yet.
func (v *view) lacking(cluster string) int32 {
	t := v.target(messages.ClusterName(cluster))
	if t == nil {
		return 0
	}
	return t.replicas - int32(v.health([]target{*t}).Replicas)
}
