package binding

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/descheduling"
	"leeward/messages"
	"leeward/messages/api"
)

// ask tells the scheduler how things stand now, because something that matters to it changed. What it
// decided on older words is void, also where it may not be asked.
func (b *Binding) ask(now time.Time, out *actors.Outbox) {
	b.request.number++
	b.scheduled = false
	if b.request.since.IsZero() {
		b.request.since = now
	}
	if !b.schedulable() {
		b.returnPermits(out) // the scheduler looks for no destination in this instant
	}
	if !b.managed || b.spec.Placement == nil {
		return
	}
	m := b.request.wish(&b.view, now)
	m.Home = b.failback.wish(&b.view)
	m.Lapses = len(m.Leaving) > 0 && b.disruption.lapses(&b.view)
	m.Alone = b.disruption.goesAlone(&b.view)
	out.TellScheduler(m)
}

// mention tells the scheduler of a task that ended. Where the binding has its place and nothing else is under way
// the scheduler answers only if that changes: two messages less for each failover.
func (b *Binding) mention(now time.Time, out *actors.Outbox) {
	if !b.scheduled || !b.request.since.IsZero() || len(b.handover.tasks) > 0 || b.failback.shrinks() || !b.schedulable() {
		b.ask(now, out)
		return
	}
	b.request.number++
	out.TellScheduler(&messages.TasksEnded{
		Binding: b.name, Request: b.request.number, Targets: b.targets.shown(), Cooling: b.keepClear(now), Full: b.full(), Starting: b.starting(),
		Home: b.failback.wish(&b.view),
	})
}

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
			b.notPlaced(now, m, out)
		}
	case messages.PlacementFailed:
		b.notPlaced(now, m, out)
	}
	b.reassess()
}

// blockAwaiting notes which departures wait for a destination. Their permits end.
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
func (b *Binding) notPlaced(now time.Time, m *messages.PlacementDecided, out *actors.Outbox) {
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

// retarget makes the result what the scheduler chose: kept targets stay in their places with all that
// is known of them, new ones follow. Clusters hear who came and who left.
func (b *Binding) retarget(clusters []api.TargetCluster, out *actors.Outbox) {
	kept := b.targets[:0]
	for i := range b.targets {
		t := b.targets[i]
		j := api.FindTarget(clusters, string(t.cluster))
		if j < 0 {
			b.forget(&t, out)
			continue
		}
		t.replicas, t.components = clusters[j].Replicas, clusters[j].Components
		kept = append(kept, t)
	}
	clear(b.targets[len(kept):])
	b.targets = slices.Grow(kept, max(0, len(clusters)-len(kept)))
	for _, c := range clusters {
		if name := messages.ClusterName(c.Name); b.targets.of(name) == nil {
			b.targets = append(b.targets, target{cluster: name, replicas: c.Replicas, components: c.Components})
			out.TellCluster(name, &messages.BindingPlaced{Binding: b.name})
		}
	}
}

// forget ends what concerns a target that is taken off: its request for a permit, or the permit, and, unless an eviction
// task still watches the cluster, its news.
func (b *Binding) forget(t *target, out *actors.Outbox) {
	if t.countdown.requested {
		out.TellGovernor(&messages.WithdrawRequest{Binding: b.name, Cluster: t.cluster})
	}
	if b.disruption.permits(&b.view, t.countdown.unhealthy()) {
		t.returnPermit(&b.view, out)
	}
	b.conclude(t.countdown.trial, t.cluster, true, out)
	if b.handover.task(t.cluster) == nil {
		out.TellCluster(t.cluster, &messages.BindingLeft{Binding: b.name})
	}
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
		owned(&b.failback).start(&b.view, started, out)
	}
}

// deschedule gives up what has waited for too long, cluster by cluster, and has the scheduler place it.
func (b *Binding) deschedule(now time.Time, out *actors.Outbox) {
	if at := b.unschedulable.deadline(&b.view); at.IsZero() || at.After(now) {
		return
	}
	lowered := false
	for _, c := range b.targets.shown() {
		lowered = b.giveUp(now, c, out) || lowered
	}
	if lowered {
		b.syncCopies(out)
		b.ask(now, out)
	}
}

// giveUp lowers a cluster's share by what has waited there for too long, and reports whether it did.
func (b *Binding) giveUp(now time.Time, c api.TargetCluster, out *actors.Outbox) bool {
	due, since := b.unschedulable.due(&b.view, now, c.Name)
	copied := b.copy(messages.ClusterName(c.Name))
	if due == 0 || copied == nil {
		return false
	}
	left := descheduling.Lowered(c.Replicas, copied.ready, due)
	if left == c.Replicas {
		return false
	}
	clusters := b.targets.shown()
	i := api.FindTarget(clusters, c.Name)
	if clusters[i].Replicas = left; left == 0 {
		clusters = slices.Delete(clusters, i, i+1)
	}
	b.retarget(clusters, out)
	out.Record(&messages.BindingDescheduled{
		Binding: b.name, Cluster: messages.ClusterName(c.Name), Before: c.Replicas, Replicas: left, Since: since,
		Clusters: b.targets.shown(), Waiting: b.unschedulable.list(),
	})
	return true
}

// capacityReported notes what a member says of its capacity for its copy.
func (b *Binding) capacityReported(now time.Time, c *copyState, m *messages.CopyReported, out *actors.Outbox) {
	b.countWaiting(now, m.Cluster, m.Unschedulable, out)
	if c.full == m.Full {
		return
	}
	c.full = m.Full
	if b.settings.EnableDescheduler {
		b.ask(now, out)
	}
}

// countWaiting notes how many replicas wait on a cluster, if that is news.
func (b *Binding) countWaiting(now time.Time, cluster messages.ClusterName, replicas int32, out *actors.Outbox) {
	if descheduling.Of(b.unschedulable.list(), string(cluster)) != replicas {
		owned(&b.unschedulable).count(&b.view, now, cluster, replicas, out)
	}
}
