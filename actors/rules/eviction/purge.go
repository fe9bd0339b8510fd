package eviction

import (
	"time"

	"leeward/messages/api"
)

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
