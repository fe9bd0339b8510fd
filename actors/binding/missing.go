package binding

import (
	"fmt"
	"math"

	"leeward/messages/api"
)

// unheard says which cluster that took over has yet to be told what to run; empty: all were. Until then nothing that runs
// elsewhere may go.
func (v *view) unheard() string {
	if v.ways().ChoosesUntold() {
		return ""
	}
	for i := range v.copies {
		if c := &v.copies[i]; c.withheld && v.targets.of(c.cluster) != nil && !v.handover.tookOver(c.cluster).IsZero() {
			return fmt.Sprintf("dispatching to %s, the new target, is suspended", c.cluster)
		}
	}
	return ""
}

// wantedReplicas are to serve in all, those that have no place yet included.
func (v *view) wantedReplicas() int64 {
	if v.duplicated() {
		return v.targets.replicas()
	}
	return max(v.targets.replicas(), int64(v.spec.Replicas))
}

// shortage says which cluster has yet to be told what to run, or how many replicas have no place yet; empty: all is placed
// and told. Until then nothing that runs elsewhere may go, where the last copy is kept (K2).
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
	return fmt.Sprintf("%d of %d replicas are unschedulable elsewhere", missing, v.spec.Replicas)
}

// missing is how many of the replicas that must be divided have no cluster.
func (v *view) missing() int32 {
	return int32(max(0, int64(v.spec.Replicas)-v.targets.replicas()))
}

// unreplaced is how many replicas, or whole sets, on clusters that are evicted from wait for others to take over, up to
// math.MaxInt32.
func (v *view) unreplaced() int32 {
	if len(v.handover.tasks) == 0 || !v.ways().FailoverKeepsQuota() {
		return 0
	}
	n := int64(0)
	for i := range v.handover.tasks {
		k := &v.handover.tasks[i]
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
