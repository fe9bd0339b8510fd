package binding

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// placementDecided carries out the scheduler's decision, unless the binding has changed its mind since.
func (b *Binding) placementDecided(now time.Time, m *messages.PlacementDecided, out *actors.Outbox) {
	if m.Request != b.request.number {
		return
	}
	b.blockAwaiting(now, m, out)
	if m.Outcome != messages.PlacementFailed && len(m.Held) == 0 && m.Missing == 0 && !b.targets.seek() {
		b.request.since = time.Time{}
	}
	switch m.Outcome {
	case messages.PlacementKept:
		b.scheduled = true
		out.Record(&messages.PlacementConfirmed{Binding: b.name})
	case messages.PlacementChosen:
		b.place(now, m, out)
		if m.Missing > 0 {
			b.scheduled = false
			b.notPlaced(m, out)
		}
	case messages.PlacementFailed:
		b.notPlaced(m, out)
	}
	b.reassess()
}

// blockAwaiting notes which evictions wait for a destination. Their permits end.
func (b *Binding) blockAwaiting(now time.Time, m *messages.PlacementDecided, out *actors.Outbox) {
	lapses := len(m.Held) > 0 && b.disruption.lapses(&b.view)
	for _, c := range m.Held {
		t := b.targets.of(c)
		if t == nil || !t.countdown.awaits() {
			continue
		}
		b.block(t, b.disruption.obstructed(&b.view, now, m.Obstacle), m.Obstacle.Rejections, out)
		if lapses {
			t.returnPermit(&b.view, out)
		}
	}
}

// place makes the chosen clusters the result. The clusters that it is evicted from for them are taken off in the same
// step, so that the workload is never without a place.
func (b *Binding) place(now time.Time, m *messages.PlacementDecided, out *actors.Outbox) {
	reopened := b.reopens()
	took, move := b.takeBack(m.Targets, out), m.Move
	if took { // by choice, too, whatever the scheduler calls it: it counts only what the targets had
		move = cmp.Or(move, api.EvictionReasonReschedule)
	}
	before := b.targets.shown()
	b.disruption.exceedAlong(&b.view, m.Leaving, out)
	b.moves(m, out)
	b.handover.tasks = slices.Grow(b.handover.tasks, len(m.Leaving))
	for _, c := range m.Leaving {
		if b.targets.of(c) != nil {
			b.evict(now, c, m.Trigger, out)
		}
	}
	var few [4]api.TargetCluster // off the heap, as a rule
	kept := b.targets.appendTo(few[:0])
	b.targets.keepShares(took || move != "" && len(gains(nil, kept, m.Targets)) > 0)
	b.retarget(m.Targets, out)
	takeovers := b.shareGains(kept, m.Targets)
	b.affinity, b.applied = m.Affinity, b.spec.Placement
	b.request.lastScheduled, b.scheduled = now, true
	out.Record(&messages.Scheduled{
		Binding: b.name, Clusters: b.targets.asListed(m.Targets), Before: before, Affinity: m.Affinity, Trigger: m.Trigger, Applied: b.applied,
		Takeovers: takeovers,
	})
	if move != "" {
		if held := b.targets.keeping(); len(held) > 0 {
			owned(&b.failback).holdShrinks(&b.view, now, move, held, out)
		}
	}
	if b.failback.returned(&b.view) {
		b.forgetPreferred(out)
	}
	b.syncCopies(out)
	b.reconsiderAll(now, out)
	if reopened || m.Move == api.EvictionReasonFailback && !b.failback.returning(&b.view) {
		b.ask(now, out) // what is still evicted is so for good; or nothing is, and the next one may return
	}
}

// notPlaced keeps the result, or gives it up where the scheduler says that no cluster fits it at all.
func (b *Binding) notPlaced(m *messages.PlacementDecided, out *actors.Outbox) {
	before := b.targets.shown()
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

// moves gives the clusters that are evicted from by choice their reason, and begins a return. One with a permit has
// a reason of its own; but one that waits for a permit is evicted from by choice, too.
func (b *Binding) moves(m *messages.PlacementDecided, out *actors.Outbox) {
	if m.Move == "" {
		return
	}
	for _, c := range m.Leaving {
		t := b.targets.of(c)
		if t == nil || t.countdown.permitted {
			continue
		}
		if t.countdown.requested {
			out.TellGovernor(&messages.WithdrawRequest{Binding: b.name, Cluster: c})
		}
		t.countdown.grounds = messages.Grounds{Reason: m.Move}
	}
	if m.Move == api.EvictionReasonFailback {
		started := &messages.FailbackStarted{Binding: b.name}
		if m.Affinity != b.affinity { // an earlier group is another place to return to
			started.Affinity = m.Affinity
			b.forgetPreferred(out)
		}
		owned(&b.failback).start(started, out)
	}
}
