package binding

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// fallDue starts the way out of a target whose deadline has come: with a permit of the governor if a
// taint is the reason, by itself if the application is.
func (b *Binding) fallDue(now time.Time, t *target, out *actors.Outbox) {
	if t.leave.grounds.Reason == api.EvictionReasonApplicationFailure {
		b.failOver(now, t, out)
		return
	}
	t.leave.due = true
	if !b.asksForPermits() {
		b.permitted(now, t, out)
		return
	}
	t.leave.requested = true
	out.TellGovernor(&messages.RequestEviction{
		Binding: b.name, Cluster: t.cluster, Priority: b.priority(), Since: t.leave.at,
	})
}

// asksForPermits reports whether the governor may have something against a departure. Where nothing can hold one back,
// the two messages of a permit are spared, and the instant has one round less. Without the need for a destination its
// order matters all the same: tasks are written in the order of permits.
func (b *Binding) asksForPermits() bool {
	return !b.settings.EvictionNeedsDestination || b.settings.LimitsEvictions()
}

func (b *Binding) leaveDue(now time.Time, out *actors.Outbox) {
	b.eachTarget(func(t *target) {
		if l := &t.leave; !l.due && !l.at.IsZero() && !l.at.After(now) {
			b.fallDue(now, t, out)
		}
	})
}

func (b *Binding) evictionPermitted(now time.Time, m *messages.EvictionPermitted, out *actors.Outbox) {
	t := b.target(m.Cluster)
	if t == nil || !t.leave.due || !t.leave.requested {
		return
	}
	t.leave.requested, t.leave.trial = false, m.Trial
	b.permitted(now, t, out)
}

// permitted goes on with a departure: at once, or after the scheduler has shown that the workload has
// somewhere to go.
func (b *Binding) permitted(now time.Time, t *target, out *actors.Outbox) {
	t.leave.permitted = true
	switch {
	case !b.settings.EvictionNeedsDestination:
		b.evict(now, t.cluster, "", out)
		b.syncCopies(out)
	case !b.schedulable():
		b.heldBack(t, notScheduled, nil, out)
	}
	b.ask(now, out)
	b.reassess()
}

// leaving are the targets whose departure waits for a destination, the earliest deadline first.
func (b *Binding) leaving() []messages.ClusterName {
	if !b.settings.EvictionNeedsDestination {
		return nil
	}
	var names []messages.ClusterName
	for i := range b.targets {
		if b.targets[i].leave.permitted {
			names = append(names, b.targets[i].cluster)
		}
	}
	slices.SortFunc(names, func(x, y messages.ClusterName) int {
		return cmp.Or(b.target(x).leave.at.Compare(b.target(y).leave.at), cmp.Compare(x, y))
	})
	return names
}
