package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
)

// purging reports whether a copy that is purged directly still blocks what must start.
func (v *view) purging() bool { return slices.ContainsFunc(v.handover.tasks, v.blocks) }

// blocks reports whether a task's copy is being purged and nothing may start meanwhile.
func (v *view) blocks(k task) bool {
	if k.overtaken || eviction.KeepsCopy(&k.GracefulEvictionTask) {
		return false
	}
	c := v.copy(messages.ClusterName(k.FromCluster))
	return c != nil && c.removing
}

// deadline is when time alone may end a task, or the first copy that blocks has done so for long enough; zero: never.
func (h *handover) deadline(v *view) (first time.Time) {
	for i := range h.tasks {
		k := &h.tasks[i]
		first = actors.Earlier(first, k.recheck)
		if v.blocks(*k) {
			first = actors.Earlier(first, eviction.PurgeOverdue(&k.GracefulEvictionTask, v.settings.DirectPurgeTimeout))
		}
	}
	return first
}

// overtakePurges lets substitutes start whose predecessors have been in the way for too long, and reports whether there are any.
func (h *handover) overtakePurges(v *view, now time.Time, out *actors.Outbox) (overtaken bool) {
	for i := range h.tasks {
		k := &h.tasks[i]
		if !v.blocks(*k) || !v.purgeOverdue(now, k) {
			continue
		}
		k.overtaken, overtaken = true, true
		out.Record(&messages.PurgeOvertaken{
			Binding: v.name, Cluster: messages.ClusterName(k.FromCluster), After: now.Sub(k.CreationTimestamp.Time),
		})
	}
	return overtaken
}

func (d *declared) purgeOverdue(now time.Time, k *task) bool {
	at := eviction.PurgeOverdue(&k.GracefulEvictionTask, d.settings.DirectPurgeTimeout)
	return !at.IsZero() && !now.Before(at)
}
