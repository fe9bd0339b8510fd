package binding

import (
	"fmt"
	"slices"
	"time"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// shortage says how many replicas have no place yet; empty: all have one. Until then nothing that runs
// elsewhere may go, where the last copy is kept (K2).
func (b *Binding) shortage() string {
	if b.spec.Placement == nil || !b.hasReplicas() || b.duplicated() {
		return ""
	}
	missing := b.missing()
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d replicas have no other place", missing, b.spec.Replicas)
}

// missing is how many of the replicas that are to be divided have no place.
func (b *Binding) missing() int32 {
	missing := b.spec.Replicas
	for i := range b.targets {
		missing -= b.targets[i].replicas
	}
	return max(0, missing)
}

// unreplaced is how many replicas, or whole sets, on clusters that are being left wait for others to take over.
func (b *Binding) unreplaced() (n int32) {
	if len(b.tasks) == 0 || !b.settings.FailoverKeepsQuota {
		return 0
	}
	for i := range b.tasks {
		k := &b.tasks[i]
		if k.Replicas != nil {
			n += max(0, *k.Replicas-replicasOf(k.ReplacedBy))
		} else if len(k.ReplacedBy) == 0 && b.set() != nil {
			n++
		}
	}
	if b.duplicated() {
		return n
	}
	return min(n, b.missing())
}

func replicasOf(clusters []api.TargetCluster) (n int32) {
	for _, c := range clusters {
		n += c.Replicas
	}
	return n
}

// purges reports whether the old copy on one of the clusters would go before its replacement stands.
func (b *Binding) purges(now time.Time, leaving []messages.ClusterName) bool {
	return slices.ContainsFunc(leaving, func(c messages.ClusterName) bool {
		t := b.target(c)
		if t.leave.grounds.Reason == api.EvictionReasonApplicationFailure && !b.failsOver() {
			return false // people took that back in this instant: it stays, as soon as it is looked at
		}
		k := b.newTask(now, t, "")
		return !eviction.KeepsCopy(&k)
	})
}
