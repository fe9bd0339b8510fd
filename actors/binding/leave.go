package binding

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/eviction"
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
	// requested is set while the governor has the request, permitted once it agreed, held while the
	// scheduler has no place for the workload without this cluster.
	requested, permitted bool
	held                 hold
}

// hold is why a departure may not take place yet, in one word and in a sentence, and until when, where time
// ends it.
type hold struct {
	reason, message string
	until           time.Time
}

// The holds that no placement ends.
var (
	// noAnnotation is why Karmada never evicts a binding whose applied placement is not recorded (K24).
	noAnnotation = hold{reason: "NoAppliedPlacement", message: "the applied placement is not recorded, so its tolerations are not known"}
	noGrace      = hold{reason: "NoGracefulEviction", message: eviction.ErrNoGrace.Error()}
	notScheduled = hold{reason: "NotScheduled", message: "the scheduler does not place this binding, so nobody looks for a destination"}
)

// alarm is when to look again; a departure that is due waits for others, not for time.
func (l *leave) alarm() time.Time {
	if l.due {
		return time.Time{}
	}
	return l.at
}

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
	next := b.mustLeave(now, t)
	if !news && !next.at.IsZero() && next.grounds.Reason == api.EvictionReasonTaintUntolerated {
		b.delayToRelist(now, t, &next)
	}
	if next.at.IsZero() != t.leave.at.IsZero() {
		b.reviseAnswer(t.cluster, out)
	}
	b.replaceLeave(now, t, next, out)
}

// mustLeave is why and when the binding must leave a target: for its taints or for its health,
// whichever comes first.
func (b *Binding) mustLeave(now time.Time, t *target) leave {
	byTaint, byHealth := b.leaveForTaints(now, t), b.leaveForHealth(now, t)
	switch soonest := actors.Earlier(byTaint.at, byHealth.at); {
	case soonest.IsZero():
		return leave{held: cmp.Or(byTaint.held, byHealth.held)}
	case soonest.Equal(byTaint.at):
		return byTaint
	default:
		return byHealth
	}
}

func (b *Binding) leaveForTaints(now time.Time, t *target) leave {
	if !b.settings.Evicts() || len(t.taints) == 0 {
		return leave{}
	}
	tolerations, known := b.tolerations()
	if !known {
		return leave{held: noAnnotation}
	}
	v := taint.Deadline(t.taints, tolerations, b.rule())
	if v.Outcome == taint.Forever {
		return leave{}
	}
	if why := b.stateless(t, api.EvictionReasonTaintUntolerated); why != (hold{}) {
		return leave{held: why}
	}
	l := leave{at: v.At, grounds: messages.Grounds{Reason: api.EvictionReasonTaintUntolerated, Taint: &t.taints[v.Taint]}}
	if v.Taint < len(t.causes) {
		l.grounds.Cause = &t.causes[v.Taint]
	}
	if v.Toleration >= 0 {
		l.grounds.Toleration = &tolerations[v.Toleration]
	}
	if v.Outcome == taint.Untolerated {
		l.at = untoleratedSince(now, &t.taints[v.Taint])
	}
	l.grounds.Deadline = l.at
	return l
}

func (b *Binding) rule() taint.Rule {
	return taint.Rule{Match: b.settings.TolerationMatch, Numeric: b.settings.NumericTolerations}
}

// tolerations are those that count for eviction, and whether they are known at all.
func (b *Binding) tolerations() ([]corev1.Toleration, bool) {
	source := b.spec.Placement
	if b.settings.TolerationSource == messages.SourceAppliedPlacement {
		source = b.applied
	}
	if source == nil {
		return nil, b.settings.TolerationSource == messages.SourcePlacement
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

// delayToRelist puts a deadline that moved closer, or is new, off to the moment at which Karmada's taint
// manager would notice: when the cluster is looked at again, or when the timer of the old deadline fires. What
// is due stays due.
func (b *Binding) delayToRelist(now time.Time, t *target, next *leave) {
	period, pending := b.settings.TaintRelistPeriod, t.leave.at
	if period == 0 || !pending.IsZero() && !next.at.Before(pending) {
		return
	}
	next.at = actors.Later(next.at, actors.Earlier(pending, taint.NextRelist(t.since, period, now)))
}

// replaceLeave puts a new verdict in the place of the old one and says what that changes.
func (b *Binding) replaceLeave(now time.Time, t *target, next leave, out *actors.Outbox) {
	old := t.leave
	switch {
	case next.at.IsZero():
		b.stopLeaving(now, t, next.held, out)
		return
	case old.due && !next.at.After(now):
		next.due, next.requested, next.permitted, next.held = true, old.requested, old.permitted, old.held
		t.leave = next
		return
	case old.due:
		b.stopLeaving(now, t, hold{}, out)
	}
	if next.held.reason == hopLimit {
		b.putOff(t, next, out)
		return
	}
	if b.restoring {
		next.held = old.held
	}
	t.leave = next
	if next.at.After(now) {
		if !b.restoring && (!old.at.Equal(next.at) || old.due) {
			g := next.grounds
			g.Deadline = next.at // later than the true one where the cluster is looked at only now and then
			out.Record(&messages.CountdownStarted{Binding: b.name, Cluster: t.cluster, Grounds: g})
		}
		return
	}
	b.fallDue(now, t, out)
}

// stopLeaving ends a countdown or a departure that is not under way yet.
func (b *Binding) stopLeaving(now time.Time, t *target, held hold, out *actors.Outbox) {
	old := t.leave
	t.leave = leave{held: old.held}
	b.heldBack(t, held, nil, out)
	if old.at.IsZero() && (old.held == hold{} || t.leave.held != hold{}) {
		return
	}
	out.Record(&messages.CountdownStopped{Binding: b.name, Cluster: t.cluster, Reason: whyStay(t, &old.grounds)})
	if old.requested {
		out.TellGovernor(&messages.WithdrawRequest{Binding: b.name, Cluster: t.cluster})
	}
	if old.permitted {
		b.ask(now, out)
		b.hopFreed(now)
	}
}

// heldBack notes why a target that must be left is not, and says so when the reason is new. In the instant of
// a restart not all is known yet that may hold it.
func (b *Binding) heldBack(t *target, why hold, rejected []messages.Rejection, out *actors.Outbox) {
	if t.leave.held == why || b.restoring && why == (hold{}) {
		return
	}
	t.leave.held = why
	if why != (hold{}) {
		out.Record(&messages.EvictionHeld{
			Binding: b.name, Cluster: t.cluster, Reason: why.reason, Message: why.message, Grounds: t.leave.grounds,
			Rejections: rejected, Until: why.until,
		})
	}
}

// restoreHolds takes over what was said of targets that are not left yet. Holds for the pace follow from the
// history.
func (b *Binding) restoreHolds(s *api.BindingStatus) {
	if !b.restoring {
		return
	}
	for i := range s.HeldEvictions {
		h := &s.HeldEvictions[i]
		t := b.target(messages.ClusterName(h.Cluster))
		if t == nil || h.Reason == hopLimit {
			continue
		}
		t.leave.held = hold{reason: h.Reason, message: h.Message}
		if h.Until != nil {
			t.leave.held.until = h.Until.Time
		}
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

// fallDue starts the way out of a target whose deadline has come: with a permit of the governor if a
// taint is the reason, by itself if the application is.
func (b *Binding) fallDue(now time.Time, t *target, out *actors.Outbox) {
	if t.leave.grounds.Reason == api.EvictionReasonApplicationFailure {
		b.failOver(now, t, out)
		return
	}
	t.leave.due = true
	t.leave.requested = true
	out.TellGovernor(&messages.RequestEviction{
		Binding: b.name, Cluster: t.cluster, Priority: b.priority(), Since: t.leave.at,
	})
}

func (b *Binding) leaveDue(now time.Time, out *actors.Outbox) {
	b.eachTarget(func(t *target) {
		if l := &t.leave; !l.due && !l.at.IsZero() && !l.at.After(now) {
			b.fallDue(now, t, out)
		}
	})
}

func (b *Binding) evictionPermitted(now time.Time, c messages.ClusterName, out *actors.Outbox) {
	t := b.target(c)
	if t == nil || !t.leave.due || !t.leave.requested {
		return
	}
	t.leave.requested = false
	b.permitted(now, t, out)
}

// evictionDelayed says what a departure waits for before it is permitted.
func (b *Binding) evictionDelayed(m *messages.EvictionDelayed, out *actors.Outbox) {
	if t := b.target(m.Cluster); t != nil && t.leave.requested {
		b.heldBack(t, hold{reason: m.Reason, message: m.Message}, nil, out)
	}
}

// permitted goes on with a departure: at once, or after the scheduler has shown that the workload has
// somewhere to go.
func (b *Binding) permitted(now time.Time, t *target, out *actors.Outbox) {
	t.leave.permitted = true
	switch {
	case !b.settings.EvictionNeedsDestination:
		b.evict(now, t.cluster, out)
		b.syncCopies(out)
	case !b.schedulable():
		b.heldBack(t, notScheduled, nil, out)
	}
	b.ask(now, out)
	b.reassess()
}

// releaseHeld lets go on what waits for a destination that nobody asks for any more.
func (b *Binding) releaseHeld(now time.Time, out *actors.Outbox) {
	if b.settings.EvictionNeedsDestination {
		return
	}
	b.eachTarget(func(t *target) {
		if t.leave.permitted {
			b.permitted(now, t, out)
		}
	})
}

// leaving are the targets whose departure waits for a destination, the earliest deadline first.
func (b *Binding) leaving() []messages.ClusterName {
	if !b.settings.EvictionNeedsDestination {
		return nil
	}
	var due []*target
	for i := range b.targets {
		if b.targets[i].leave.permitted {
			due = append(due, &b.targets[i])
		}
	}
	slices.SortStableFunc(due, func(x, y *target) int {
		return cmp.Or(x.leave.at.Compare(y.leave.at), cmp.Compare(x.cluster, y.cluster))
	})
	names := make([]messages.ClusterName, len(due))
	for i := range due {
		names[i] = due[i].cluster
	}
	return names
}
