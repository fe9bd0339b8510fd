package binding

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// leave is why, when and how far a binding is on its way out of a cluster. The deadline is a fact,
// computed anew from the taints and tolerations at every change.
type leave struct {
	// at is when the binding must leave; zero: never. It is due from then on.
	at      time.Time
	due     bool
	grounds messages.Grounds
	// requested is set while the governor has the request, permitted once it agreed, trial if that was on trial, seeking
	// after a permit was given back, while the scheduler looks for a destination; held is what keeps it waiting.
	requested, permitted, seeking, trial bool
	held                                 hold
}

// alarm is when to look again; a departure that is due waits for others, not for time.
func (l *leave) alarm() time.Time {
	if l.due {
		return time.Time{}
	}
	return l.at
}

// awaits reports whether the scheduler looks for a destination.
func (l *leave) awaits() bool { return l.permitted || l.seeking }

func (b *Binding) taintsChanged(now time.Time, m *messages.TaintsChanged, out *actors.Outbox) {
	if t := b.target(m.Cluster); t != nil {
		t.taints, t.causes, t.since = m.Taints, m.Causes, m.Since
		b.reconsider(now, t, m.News || b.restoring, out)
		return
	}
	if k := b.task(m.Cluster); k != nil {
		b.cameBack(now, k, m.Taints)
	}
}

// reconsiderAll looks at every target again because tolerations, reports or settings changed.
func (b *Binding) reconsiderAll(now time.Time, out *actors.Outbox) {
	b.eachTarget(func(t *target) { b.reconsider(now, t, false, out) })
	b.reviseAnswers(out)
}

// eachTarget visits every target; the visit may take that target, and no other, off the result.
func (b *Binding) eachTarget(visit func(*target)) {
	for i := 0; i < len(b.targets); {
		c := b.targets[i].cluster
		visit(&b.targets[i])
		if i < len(b.targets) && b.targets[i].cluster == c {
			i++
		}
	}
}

// reconsider recomputes when the binding must leave one target. news is set where the taints changed;
// other changes are noticed at the next re-list of the cluster, if there is one.
func (b *Binding) reconsider(now time.Time, t *target, news bool, out *actors.Outbox) {
	next := b.mustLeave(now, t, news)
	if next.at.IsZero() != t.leave.at.IsZero() {
		b.reviseAnswer(t.cluster, out)
	}
	b.replaceLeave(now, t, next, out)
}

// mustLeave is why and when the binding must leave a target: for its taints or for its health,
// whichever comes first. news is set where the taints changed.
func (v *view) mustLeave(now time.Time, t *target, news bool) leave {
	byTaint, byHealth := v.leaveForTaints(now, t), v.leaveForHealth(now, t)
	if v.settings.TaintRelistPeriod > 0 {
		v.notice(now, t, &byTaint, news)
	}
	switch soonest := actors.Earlier(byTaint.at, byHealth.at); {
	case soonest.IsZero():
		return leave{held: cmp.Or(byTaint.held, byHealth.held)}
	case soonest.Equal(byTaint.at):
		return byTaint
	default:
		return byHealth
	}
}

func (v *view) leaveForTaints(now time.Time, t *target) leave {
	if !v.settings.Evicts() || len(t.taints) == 0 {
		return leave{}
	}
	tolerations, known := v.tolerations()
	if !known {
		return leave{held: noAnnotation}
	}
	judged := taint.Deadline(t.taints, tolerations, v.rule())
	if judged.Outcome == taint.Forever {
		return leave{}
	}
	if why := v.stateless(t, api.EvictionReasonTaintUntolerated); why != (hold{}) {
		return leave{held: why}
	}
	l := leave{at: judged.At, grounds: messages.Grounds{Reason: api.EvictionReasonTaintUntolerated, Taint: &t.taints[judged.Taint]}}
	if judged.Taint < len(t.causes) {
		l.grounds.Cause = &t.causes[judged.Taint]
	}
	if judged.Toleration >= 0 {
		l.grounds.Toleration = &tolerations[judged.Toleration]
	}
	if judged.Outcome == taint.Untolerated {
		l.at = untoleratedSince(now, &t.taints[judged.Taint])
	}
	l.grounds.Deadline = l.at
	if !l.at.After(now) && v.goesRound(now, t.cluster) {
		l.at = nextTry(now)
	}
	return l
}

func (v *view) rule() taint.Rule {
	return taint.Rule{Match: v.settings.TolerationMatch, Numeric: v.settings.NumericTolerations}
}

// tolerations are those that count for eviction, and whether they are known at all.
func (v *view) tolerations() ([]corev1.Toleration, bool) {
	source := v.spec.Placement
	if v.settings.TolerationSource == messages.SourceAppliedPlacement {
		source = v.applied
	}
	if source == nil {
		return nil, v.settings.TolerationSource == messages.SourcePlacement
	}
	return source.ClusterTolerations, true
}

// untoleratedSince is when a taint without a toleration began to count.
func untoleratedSince(now time.Time, t *corev1.Taint) time.Time {
	if t.TimeAdded == nil || t.TimeAdded.After(now) {
		return now
	}
	return t.TimeAdded.Time
}

// notice puts a deadline that moved closer, or is new, off to the moment at which Karmada's taint manager would
// notice: when the cluster is looked at again, or when the timer of the old deadline fires, whatever the health of
// the copy. News is noticed at once. What is due stays due.
func (v *view) notice(now time.Time, t *target, next *leave, news bool) {
	pending := t.timer
	if !news && !next.at.IsZero() && (pending.IsZero() || next.at.Before(pending)) {
		next.at = actors.Later(next.at, actors.Earlier(pending, taint.NextRelist(t.since, v.settings.TaintRelistPeriod, now)))
	}
	t.timer = next.at
}

// replaceLeave puts a new verdict in the place of the old one and says what that changes.
func (b *Binding) replaceLeave(now time.Time, t *target, next leave, out *actors.Outbox) {
	old := t.leave
	switch {
	case next.at.IsZero():
		b.stopLeaving(now, t, next.held, out)
		return
	case goesOn(now, &old, &next):
		next.due, next.requested, next.permitted, next.seeking = true, old.requested, old.permitted, old.seeking
		next.trial, next.held = old.trial, old.held
		t.leave = next
		b.goOn(now, t, &old, out)
		return
	case old.due:
		b.stopLeaving(now, t, hold{}, out)
	}
	if next.held.reason == hopLimit {
		b.putOff(t, next, out)
		return
	}
	if b.restoring {
		next.held = t.leave.held
	}
	t.leave = next
	if next.at.After(now) {
		if !b.restoring && (!old.at.Equal(next.at) || old.due || !old.grounds.Same(&next.grounds)) {
			b.countdown(t, out)
		}
		return
	}
	if next.grounds.Reason != api.EvictionReasonApplicationFailure { // those go at the end of the instant, in the order of the targets
		b.fallDue(now, t, out)
	}
}

// countdown says when a target must be left.
func (b *Binding) countdown(t *target, out *actors.Outbox) {
	g := t.leave.grounds
	g.Deadline = t.leave.at // later than the true one where the cluster is looked at only now and then
	out.Record(&messages.CountdownStarted{Binding: b.name, Cluster: t.cluster, Grounds: g})
}

// goesOn reports whether a departure that is due stays so on new grounds. One for health begins anew where the old one was for
// a taint: it may be one failover too many, and those of an instant go in the order of the targets.
func goesOn(now time.Time, old, next *leave) bool {
	return old.due && !next.at.After(now) && (old.sick() || !next.sick())
}

// goOn goes on with a departure that is due, for other grounds perhaps: what is meant to be limited for these may have
// leave to go that was not limited for those.
func (b *Binding) goOn(now time.Time, t *target, old *leave, out *actors.Outbox) {
	if old.sick() && !t.leave.sick() {
		b.hopFreed(now)
	}
	switch limited := old.sick() != t.leave.sick() && b.asksForPermits(t.leave.sick()); {
	case limited && t.leave.requested:
		b.depart(now, t, out)
	case limited && t.leave.permitted:
		b.returnPermit(t, out)
		b.ask(now, out)
	case old.awaits() && !t.leave.at.Equal(old.at):
		b.ask(now, out) // who goes first where not all can goes by this
	}
}

// stopLeaving ends a countdown or a departure that is not under way yet.
func (b *Binding) stopLeaving(now time.Time, t *target, held hold, out *actors.Outbox) {
	old := t.leave
	t.leave = leave{held: old.held}
	stops := !old.at.IsZero() || old.held != hold{} && held == hold{} && !b.restoring
	if stops { // which ends what was held, too
		t.leave.held = hold{}
		out.Record(&messages.CountdownStopped{Binding: b.name, Cluster: t.cluster, Reason: whyStay(t, &old.grounds)})
	}
	b.heldBack(t, held, nil, out)
	if !stops {
		return
	}
	if old.requested {
		out.TellGovernor(&messages.WithdrawRequest{Binding: b.name, Cluster: t.cluster})
	}
	b.conclude(old.trial, t.cluster, true, out)
	if old.awaits() {
		b.ask(now, out)
	}
	if old.due {
		b.hopFreed(now)
	}
}

// whyStay is why a target need not be left on some grounds any more.
func whyStay(t *target, g *messages.Grounds) string {
	switch {
	case g.Reason == api.EvictionReasonApplicationFailure:
		return "it is no longer unhealthy"
	case len(t.taints) == 0:
		return "no NoExecute taint is left"
	default:
		return "the deadline no longer holds"
	}
}
