package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
)

// blocked reports whether a copy that is left directly still stands in the way of what is to start.
func (v *view) blocked() bool { return slices.ContainsFunc(v.tasks, v.blocks) }

// blocks reports whether a task's copy is being purged and nothing may start meanwhile.
func (v *view) blocks(k task) bool {
	if k.overtaken || eviction.KeepsCopy(&k.GracefulEvictionTask) {
		return false
	}
	c := v.copy(messages.ClusterName(k.FromCluster))
	return c != nil && c.removing
}

// purgeAlarm is when the first copy that blocks has done so for long enough; zero: never.
func (v *view) purgeAlarm() (first time.Time) {
	for i := range v.tasks {
		if k := &v.tasks[i]; v.blocks(*k) {
			first = actors.Earlier(first, eviction.PurgeOverdue(&k.GracefulEvictionTask, v.settings.DirectPurgeTimeout))
		}
	}
	return first
}

// overtakePurges starts substitutes whose predecessors have been in the way for too long.
func (b *Binding) overtakePurges(now time.Time, out *actors.Outbox) {
	overtaken := false
	for i := range b.tasks {
		k := &b.tasks[i]
		if !b.blocks(*k) || !b.purgeOverdue(now, k) {
			continue
		}
		k.overtaken, overtaken = true, true
		out.Record(&messages.PurgeOvertaken{
			Binding: b.name, Cluster: messages.ClusterName(k.FromCluster), After: now.Sub(k.CreationTimestamp.Time),
		})
	}
	if overtaken {
		b.syncCopies(out)
	}
}

func (v *view) purgeOverdue(now time.Time, k *task) bool {
	at := eviction.PurgeOverdue(&k.GracefulEvictionTask, v.settings.DirectPurgeTimeout)
	return !at.IsZero() && !now.Before(at)
}
