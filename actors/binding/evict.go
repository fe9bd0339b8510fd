package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

func (b *Binding) taintsChanged(now time.Time, m *messages.TaintsChanged, out *actors.Outbox) {
	if t := b.targets.of(m.Cluster); t != nil {
		t.taints, t.causes, t.since = m.Taints, m.Causes, m.Since
		b.reconsider(now, t, m.News || b.restoring, out)
		return
	}
	if k := b.handover.task(m.Cluster); k != nil {
		k.cameBack(&b.view, now, m.Taints)
		b.reassess()
	}
}

// reconsiderAll looks at every target again because tolerations, reports or settings changed.
func (b *Binding) reconsiderAll(now time.Time, out *actors.Outbox) {
	b.eachTarget(func(t *target) { b.reconsider(now, t, false, out) })
	for i := range b.targets { // the clusters that may have asked before ask again, for the answer may be another now
		b.reviseAnswer(b.targets[i].cluster, out)
	}
}

// reconsider recomputes when the binding is evicted from one target. news is set where the taints changed;
// other changes are noticed at the next re-list of the cluster, if there is one.
func (b *Binding) reconsider(now time.Time, t *target, news bool, out *actors.Outbox) {
	next := b.soonest(now, t, news)
	if next.at.IsZero() != t.countdown.at.IsZero() {
		b.reviseAnswer(t.cluster, out)
	}
	b.replaceCountdown(now, t, next, out)
}

// replaceCountdown puts a new verdict in the place of the old one and says what that changes.
func (b *Binding) replaceCountdown(now time.Time, t *target, next countdown, out *actors.Outbox) {
	old := t.countdown
	switch {
	case next.at.IsZero():
		b.stopCountdown(now, t, next.blocked, out)
		return
	case goesOn(now, &old, &next):
		next.due, next.requested, next.permitted, next.seeking = true, old.requested, old.permitted, old.seeking
		next.trial, next.blocked = old.trial, old.blocked
		t.countdown = next
		if !old.grounds.Same(&next.grounds) || !old.grounds.Deadline.Equal(next.grounds.Deadline) {
			b.blockedAgain(t, out)
		}
		if old.awaits() && !next.at.Equal(old.at) {
			b.ask(now, out) // who goes first where not all can goes by this
		}
		return
	case old.due:
		b.stopCountdown(now, t, blocked{}, out)
	}
	if next.blocked.reason == hopLimit {
		b.putOff(t, next, out)
		return
	}
	if b.restoring {
		next.blocked = t.countdown.blocked
	}
	t.countdown = next
	if next.at.After(now) {
		if !b.restoring && (!old.at.Equal(next.at) || old.due || !old.grounds.Same(&next.grounds)) {
			b.announce(t, out)
		}
		return
	}
	if next.grounds.Reason != api.EvictionReasonApplicationFailure { // those go at the end of the instant, in the order of the targets
		b.fallDue(now, t, out)
	}
}

// stopCountdown ends a countdown, or an eviction that is due and has not started.
func (b *Binding) stopCountdown(now time.Time, t *target, held blocked, out *actors.Outbox) {
	old := t.countdown
	t.countdown = countdown{blocked: old.blocked}
	stops := !old.at.IsZero() || old.blocked != blocked{} && held == blocked{} && !b.restoring
	if stops { // which ends what was blocked, too
		t.countdown.blocked = blocked{}
	}
	if stops && (!b.restoring || old.due || old.blocked != blocked{}) { // restored says what became of a countdown at a restart
		out.Record(&messages.EvictionCancelled{Binding: b.name, Cluster: t.cluster, Reason: whyStay(t, &old.grounds)})
	}
	b.block(t, held, nil, out)
	if !stops {
		return
	}
	if old.requested {
		out.TellGovernor(&messages.WithdrawRequest{Binding: b.name, Cluster: t.cluster})
	}
	if old.permitted && b.disruption.permits(&b.view, old.unhealthy()) {
		old.trial = false
		out.TellGovernor(&messages.PermitReturned{Binding: b.name, Cluster: t.cluster})
	}
	b.conclude(old.trial, t.cluster, true, out)
	if old.awaits() {
		b.ask(now, out)
	}
	if old.due {
		b.targets.hopFreed(now)
	}
}

func (b *Binding) evictDue(now time.Time, out *actors.Outbox) {
	b.eachTarget(func(t *target) {
		if l := &t.countdown; !l.due && !l.at.IsZero() && !l.at.After(now) {
			b.fallDue(now, t, out)
		}
	})
}

// fallDue starts the way out of a target whose deadline has come.
func (b *Binding) fallDue(now time.Time, t *target, out *actors.Outbox) {
	if !t.countdown.unhealthy() || !b.tooSoon(now, t, out) {
		b.proceed(now, t, out)
	}
}

// proceed goes on with an eviction that is due: with a permit of the governor, or by itself.
func (b *Binding) proceed(now time.Time, t *target, out *actors.Outbox) {
	t.countdown.due = true
	unhealthy := t.countdown.unhealthy()
	switch {
	case !b.disruption.permits(&b.view, unhealthy):
		b.permitted(now, t, out)
		return
	case b.restoring && b.sought(t):
		t.countdown.seeking = true
		b.ask(now, out)
		return
	}
	t.countdown.requested = true
	out.TellGovernor(&messages.RequestEviction{
		Binding: b.name, Cluster: t.cluster, Priority: b.priority(), Since: t.countdown.at, Unlimited: unhealthy, Told: t.countdown.blocked != blocked{},
	})
}

func (b *Binding) evictionPermitted(now time.Time, m *messages.EvictionPermitted, out *actors.Outbox) {
	t := b.targets.of(m.Cluster)
	if t == nil || !t.countdown.due || !t.countdown.requested {
		return
	}
	t.countdown.requested, t.countdown.trial = false, m.Trial
	b.permitted(now, t, out)
}

// permitted goes on with an eviction: immediately, or after the scheduler has shown that the workload has
// somewhere to go.
func (b *Binding) permitted(now time.Time, t *target, out *actors.Outbox) {
	t.countdown.permitted = true
	switch {
	case b.ways().EvictsToNowhere():
		b.evict(now, t.cluster, "", out)
		b.syncCopies(out)
	case !b.schedulable():
		b.block(t, notScheduled, nil, out)
	}
	b.ask(now, out)
	b.reassess()
}

// destinationFound asks for a permit where there is a destination by now.
func (b *Binding) destinationFound(now time.Time, m *messages.DestinationFound, out *actors.Outbox) {
	if m.Request != b.request.number {
		return
	}
	for _, c := range m.Clusters {
		if t := b.targets.of(c); t != nil && t.countdown.seeking {
			t.countdown.seeking = false
			b.proceed(now, t, out)
		}
	}
}

// releaseBlocked lets go on what waits for a destination that the scheduler is no longer asked for.
func (b *Binding) releaseBlocked(now time.Time, out *actors.Outbox) {
	if !b.ways().EvictsToNowhere() {
		return
	}
	b.eachTarget(func(t *target) {
		switch l := &t.countdown; {
		case l.permitted:
			b.permitted(now, t, out)
		case l.seeking:
			l.seeking = false
			b.proceed(now, t, out)
		}
	})
}

// evict takes a target off the result and writes its task. The trigger says what made the scheduler move the
// binding, where nothing else did.
func (b *Binding) evict(now time.Time, c messages.ClusterName, trigger string, out *actors.Outbox) {
	i := slices.IndexFunc(b.targets, func(t target) bool { return t.cluster == c })
	t := b.targets[i]
	switch t.countdown.grounds.Reason {
	case api.EvictionReasonTaintUntolerated:
		b.rememberPreferred(out)
	case api.EvictionReasonApplicationFailure: // an application that is unhealthy there does not return
		b.forgetPreferred(out)
	}
	b.handover.givenUp(&b.view, &t, out)
	if b.handover.task(c) == nil { // else the first task remains
		k := task{GracefulEvictionTask: b.newTask(now, &t, trigger), trial: t.countdown.trial}
		k.CreationTimestamp = b.taskTime(now)
		b.handover.tasks = append(b.handover.tasks, k)
		if k.Reason == api.EvictionReasonApplicationFailure {
			owned(&b.past).hop(hop{from: c, at: now})
		}
	}
	b.targets = slices.Delete(b.targets, i, i+1)
	if t.countdown.unhealthy() {
		b.targets.hopFreed(now)
	}
	b.reviseAnswer(c, out)
	out.Record(&messages.EvictionStarted{Binding: b.name, Cluster: c, Task: b.handover.task(c).GracefulEvictionTask, Grounds: t.countdown.grounds})
}
