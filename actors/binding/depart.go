package binding

import (
	"time"

	"leeward/actors"
	"leeward/messages"
)

// fallDue starts the way out of a target whose deadline has come.
func (b *Binding) fallDue(now time.Time, t *target, out *actors.Outbox) {
	if t.leave.sick() {
		b.failOver(now, t, out)
		return
	}
	b.depart(now, t, out)
}

// depart goes on with a departure that is due: with a permit of the governor, or by itself.
func (b *Binding) depart(now time.Time, t *target, out *actors.Outbox) {
	t.leave.due = true
	sick := t.leave.sick()
	if !b.asksForPermits(sick) {
		b.permitted(now, t, out)
		return
	}
	t.leave.requested = true
	out.TellGovernor(&messages.RequestEviction{
		Binding: b.name, Cluster: t.cluster, Priority: b.priority(), Since: t.leave.at, Unlimited: sick, Told: t.leave.held != hold{},
	})
}

// asksForPermits reports whether the governor may have something against a departure. Its limits are meant for taints,
// which strike many workloads at once; who leaves for its health asks only while people hold somebody. Where nothing
// can hold a departure back, the two messages of a permit are spared, and the instant has one round less. Without the
// need for a destination its order matters all the same: tasks are written in the order of permits.
func (b *Binding) asksForPermits(sick bool) bool {
	return b.heard&held != 0 || !sick && (!b.settings.EvictionNeedsDestination || b.settings.LimitsEvictions() || b.budgeted())
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
