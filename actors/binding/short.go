package binding

import (
	"fmt"
	"math"
	"slices"
	"time"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// shortage says which cluster has yet to be told what to run, or how many replicas have no place yet; empty: all is placed
// and told. Until then nothing that runs
// elsewhere may go, where the last copy is kept (K2).
func (v *view) shortage() string {
	if why := v.unheard(); why != "" {
		return why
	}
	if v.spec.Placement == nil || !v.hasReplicas() || v.duplicated() {
		return ""
	}
	missing := v.missing()
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d replicas have no other place", missing, v.spec.Replicas)
}

// missing is how many of the replicas that are to be divided have no place.
func (v *view) missing() int32 {
	missing := int64(v.spec.Replicas)
	for i := range v.targets {
		missing -= int64(v.targets[i].replicas)
	}
	return int32(max(0, missing))
}

// unreplaced is how many replicas, or whole sets, on clusters that are being left wait for others to take over, up to
// math.MaxInt32.
func (v *view) unreplaced() int32 {
	if len(v.tasks) == 0 || !v.settings.FailoverKeepsQuota {
		return 0
	}
	n := int64(0)
	for i := range v.tasks {
		k := &v.tasks[i]
		if k.Replicas != nil {
			n += max(0, int64(*k.Replicas)-replicasOf(k.ReplacedBy))
		} else if len(k.ReplacedBy) == 0 && v.set() != nil {
			n++
		}
	}
	if !v.duplicated() {
		n = min(n, int64(v.missing()))
	}
	return int32(min(n, math.MaxInt32))
}

func replicasOf(clusters []api.TargetCluster) (n int64) {
	for _, c := range clusters {
		n += int64(c.Replicas)
	}
	return n
}

// purges reports whether the old copy on one of the clusters would go before its replacement stands.
func (v *view) purges(now time.Time, leaving []messages.ClusterName) bool {
	return slices.ContainsFunc(leaving, func(c messages.ClusterName) bool {
		t := v.target(c)
		if t.leave.grounds.Reason == api.EvictionReasonApplicationFailure && !v.failsOver() {
			return false // people took that back in this instant: it stays, as soon as it is looked at
		}
		k := v.newTask(now, t, "")
		return !eviction.KeepsCopy(&k)
	})
}
