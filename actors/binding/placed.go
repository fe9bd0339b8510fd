package binding

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// placementDecided carries out the scheduler's decision, unless the binding has changed its mind since.
func (b *Binding) placementDecided(now time.Time, m *messages.PlacementDecided, out *actors.Outbox) {
	if m.Request != b.request {
		return
	}
	b.hold(now, m, out)
	if m.Outcome != messages.PlacementFailed && len(m.Held) == 0 && m.Missing == 0 && !b.seeks() {
		b.waitsSince = time.Time{}
	}
	switch m.Outcome {
	case messages.PlacementKept:
		b.scheduled = true
		out.Record(&messages.PlacementConfirmed{Binding: b.name})
	case messages.PlacementChosen:
		b.place(now, m, out)
		if m.Missing > 0 {
			b.scheduled = false
			b.unplaced(now, m, out)
		}
	case messages.PlacementFailed:
		b.unplaced(now, m, out)
	}
	b.reassess()
}

// hold notes which departures wait for a destination. Their permits end.
func (b *Binding) hold(now time.Time, m *messages.PlacementDecided, out *actors.Outbox) {
	lapses := len(m.Held) > 0 && b.lapses()
	for _, c := range m.Held {
		t := b.target(c)
		if t == nil || !t.leave.awaits() {
			continue
		}
		b.heldBack(t, b.obstructed(now, m.Obstacle), m.Obstacle.Rejections, out)
		if lapses {
			b.returnPermit(t, out)
		}
	}
}

// obstructed is the hold for an obstacle, with the budget or the time that it is about.
func (b *Binding) obstructed(now time.Time, o *messages.Obstacle) hold {
	why := hold{reason: o.Reason, message: o.Message}
	if g := b.bound(); g != nil && o.Reason == api.ReasonBudgetSpent {
		why.message = fmt.Sprintf("budget %s: %s", g.Name, o.Message)
		return why
	}
	return b.rests(now, why)
}

// place makes the chosen clusters the result. The clusters that are left for them are left in the same
// step, so that the workload is never without a place.
func (b *Binding) place(now time.Time, m *messages.PlacementDecided, out *actors.Outbox) {
	reopened := b.reopens()
	took, move := b.takeBack(m.Targets, out), m.Move
	if took { // by choice, too, whatever the scheduler calls it: it counts only what the targets had
		move = cmp.Or(move, api.EvictionReasonReschedule)
	}
	before := b.clusters()
	b.exceedAlong(m.Leaving, out)
	b.moves(m, out)
	b.tasks = slices.Grow(b.tasks, len(m.Leaving))
	for _, c := range m.Leaving {
		if b.target(c) != nil {
			b.evict(now, c, m.Trigger, out)
		}
	}
	var few [4]api.TargetCluster // off the heap, as a rule
	kept := b.listed(few[:0])
	b.keepShares(took || move != "" && len(gains(nil, kept, m.Targets)) > 0)
	b.retarget(m.Targets, out)
	takeovers := b.shareGains(kept, m.Targets)
	b.affinity, b.applied = m.Affinity, b.spec.Placement
	b.lastScheduled, b.scheduled = now, true
	out.Record(&messages.Scheduled{
		Binding: b.name, Clusters: b.asListed(m.Targets), Before: before, Affinity: m.Affinity, Trigger: m.Trigger, Applied: b.applied,
		Takeovers: takeovers,
	})
	b.holdShrinks(now, move, out)
	b.arrive(out)
	b.syncCopies(out)
	b.reconsiderAll(now, out)
	if reopened || m.Move == api.EvictionReasonFailback && !b.returning() {
		b.ask(now, out) // what is still being left is so for good; or nothing is, and the next one may return
	}
}

// unplaced keeps the result, or gives it up where the scheduler says that no cluster fits it at all.
func (b *Binding) unplaced(now time.Time, m *messages.PlacementDecided, out *actors.Outbox) {
	before := b.clusters()
	out.Record(&messages.ScheduleFailed{
		Binding: b.name, Reason: m.Reason, Message: m.Message, Missing: m.Missing, Cleared: m.Cleared, Before: before, Trigger: m.Trigger,
		Rejections: m.Rejections,
	})
	if !m.Cleared {
		return
	}
	b.retarget(nil, out)
	b.applied = b.spec.Placement
	b.syncCopies(out)
}
