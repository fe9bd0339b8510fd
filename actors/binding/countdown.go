package binding

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// awaitsForTaint reports whether an eviction for a taint waits for a destination.
func (ts targets) awaitsForTaint() bool {
	return slices.ContainsFunc(ts, func(t target) bool { return t.countdown.awaits() && !t.countdown.unhealthy() })
}

// soonest is why and when the binding is evicted from a target: for its taints or for its health,
// whichever comes first. news is set where the taints changed.
func (v *view) soonest(now time.Time, t *target, news bool) countdown {
	byTaint, byHealth := v.taintCountdown(now, t), v.healthCountdown(now, t)
	if w := v.ways(); w.Relists() {
		byTaint.at = w.Noticed(now, byTaint.at, t.timer, t.since, news)
		t.timer = byTaint.at
	}
	switch soonest := actors.Earlier(byTaint.at, byHealth.at); {
	case soonest.IsZero():
		return countdown{blocked: cmp.Or(byTaint.blocked, byHealth.blocked)}
	case soonest.Equal(byTaint.at):
		return byTaint
	default:
		return byHealth
	}
}

func (v *view) taintCountdown(now time.Time, t *target) countdown {
	if !v.settings.Evicts() || len(t.taints) == 0 {
		return countdown{}
	}
	tolerations, known := v.ways().Tolerations(v.spec.Placement, v.applied)
	if !known {
		return countdown{blocked: noAnnotation}
	}
	judged := taint.Deadline(t.taints, tolerations, v.ways().Rule())
	if judged.Outcome == taint.Forever {
		return countdown{}
	}
	if why := v.stateless(t, api.EvictionReasonTaintUntolerated); why != (blocked{}) {
		return countdown{blocked: why}
	}
	l := countdown{at: judged.At, grounds: messages.Grounds{Reason: api.EvictionReasonTaintUntolerated, Taint: &t.taints[judged.Taint]}}
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
	if !l.at.After(now) && v.past.goesRound(now, t.cluster) {
		l.at = nextTry(now)
	}
	return l
}

// considerTaints says whether the binding, which stays on a target, would be evicted from it for taints that
// it has not, by the rules by which it would. Nothing changes.
func (v *view) considerTaints(now time.Time, m *messages.ConsiderTaints, out *actors.Outbox) {
	v.heard |= considered
	answer := &messages.TaintsConsidered{Binding: v.name, Policy: m.Policy}
	if t := v.targets.of(m.Cluster); t != nil && t.countdown.at.IsZero() {
		imagined := target{cluster: t.cluster, taints: m.Taints}
		answer.Leaves = !v.taintCountdown(now, &imagined).at.IsZero()
	}
	out.TellCluster(m.Cluster, answer)
}

// untoleratedSince is when a taint without a toleration began to count.
func untoleratedSince(now time.Time, t *corev1.Taint) time.Time {
	if t.TimeAdded == nil || t.TimeAdded.After(now) {
		return now
	}
	return t.TimeAdded.Time
}

// announce says when the eviction from a target is due.
func (v *view) announce(t *target, out *actors.Outbox) {
	g := t.countdown.grounds
	g.Deadline = t.countdown.at // later than the true one where the cluster is looked at only now and then
	out.Record(&messages.EvictionScheduled{Binding: v.name, Cluster: t.cluster, Grounds: g})
}

// goesOn reports whether an eviction that is due stays so for a new reason. Where a taint takes the place of health, or health
// that of a taint, it begins again, as it does where the old reason is heard to end first: what each may wait for differs. For
// a taint it needs a permit, for health it may be one failover too many.
func goesOn(now time.Time, old, next *countdown) bool {
	return old.due && !next.at.After(now) && old.unhealthy() == next.unhealthy()
}

// whyStay is why the eviction from a target is cancelled.
func whyStay(t *target, g *messages.Grounds) string {
	switch {
	case g.Reason == api.EvictionReasonApplicationFailure:
		return "it is no longer unhealthy"
	case len(t.taints) == 0:
		return "no NoExecute taint remains"
	default:
		return "the deadline no longer holds"
	}
}

// returnPermit gives a permit back that cannot be used: the scheduler looks for a destination, and the governor is asked
// again once there is one.
func (t *target) returnPermit(v *view, out *actors.Outbox) {
	if t.countdown.permitted {
		t.countdown.permitted, t.countdown.trial, t.countdown.seeking = false, false, true
		out.TellGovernor(&messages.PermitReturned{Binding: v.name, Cluster: t.cluster})
	}
}

// seek reports whether the scheduler looks for a destination for some target.
func (ts targets) seek() bool {
	for i := range ts {
		if ts[i].countdown.seeking {
			return true
		}
	}
	return false
}

// leaving are the targets from which an eviction waits for a destination, the earliest deadline first: those with a permit, and
// those that will ask for one.
func (v *view) leaving() (leaving, seeking []messages.ClusterName) {
	if v.ways().EvictsToNowhere() {
		return nil, nil
	}
	for i := range v.targets {
		switch t := &v.targets[i]; {
		case t.countdown.permitted:
			leaving = append(leaving, t.cluster)
		case t.countdown.seeking:
			seeking = append(seeking, t.cluster)
		}
	}
	v.targets.byDeadline(leaving)
	v.targets.byDeadline(seeking)
	return leaving, seeking
}

func (ts targets) byDeadline(names []messages.ClusterName) {
	slices.SortFunc(names, func(x, y messages.ClusterName) int {
		return cmp.Or(ts.of(x).countdown.at.Compare(ts.of(y).countdown.at), cmp.Compare(x, y))
	})
}
