package binding

import (
	"cmp"
	"slices"

	"leeward/messages/api"
)

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
