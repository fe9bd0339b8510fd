package eviction

import (
	"cmp"
	"slices"
	"time"

	"leeward/messages/api"
)

// Gradual reports whether the old copy of a task gives up replicas as others begin to serve: it was asked
// to, still has some, and people want it neither kept nor gone.
func Gradual(task *api.GracefulEvictionTask) bool {
	return task.Handover == api.HandoverGradual && task.Replicas != nil && *task.Replicas > 0 &&
		task.SuppressDeletion == nil && KeepsCopy(task)
}

// Holding is what an old copy runs that is evicted gradually, since an instant.
type Holding struct {
	Cluster  string
	Since    time.Time
	Replicas int32
}

// Release returns the old copies that give up replicas, with what each keeps. Together they keep as many as
// are missing where the workload is placed now, and at least one, which goes with its task. Who is being
// left for longest gives up first, then by name. None gains any.
func Release(old []Holding, missing int64) []Holding {
	spare := -max(missing, 1)
	for i := range old {
		spare += int64(old[i].Replicas)
	}
	old = slices.Clone(old)
	slices.SortFunc(old, func(a, b Holding) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Cluster, b.Cluster)) })
	var less []Holding
	for _, h := range old {
		if spare <= 0 {
			break
		}
		given := min(spare, int64(h.Replicas))
		spare -= given
		h.Replicas -= int32(given)
		less = append(less, h)
	}
	return less
}

// PurgeOverdue returns when a copy that is purged directly has blocked its substitute for long
// enough: the substitute then starts although the copy may still run, where its cluster does not answer.
// Zero: never, because the task keeps its copy anyway or the timeout is zero. The instant follows from the
// task's creation time, so no restart moves it.
func PurgeOverdue(task *api.GracefulEvictionTask, timeout time.Duration) time.Time {
	if timeout <= 0 || KeepsCopy(task) || task.CreationTimestamp.IsZero() {
		return time.Time{}
	}
	return task.CreationTimestamp.Add(timeout)
}
