package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// blocked is why a departure may not take place yet, in one word and in a sentence, and until when, where time
// ends it.
type blocked struct {
	reason, message string
	until           time.Time
}

// The holds that no placement ends.
var (
	// noAnnotation is why Karmada never evicts a binding whose applied placement is not recorded (K24).
	noAnnotation = blocked{reason: "NoAppliedPlacement", message: "the applied placement is not recorded, so its tolerations are not known"}
	noGrace      = blocked{reason: "NoGracefulEviction", message: eviction.ErrNoGrace.Error()}
	notScheduled = blocked{reason: "NotScheduled", message: "the scheduler does not place this binding, so there is no new placement"}
)

// evictionDelayed says what a departure waits for before it is permitted.
func (v *view) evictionDelayed(m *messages.EvictionDelayed, out *actors.Outbox) {
	if t := v.targets.of(m.Cluster); t != nil && t.countdown.requested {
		v.block(t, blocked{reason: m.Reason, message: m.Message, until: m.Until}, nil, out)
	}
}

// block notes why the eviction from a target may not start, and records it when the reason is new. In the instant of
// a restart not all is known yet that may hold it.
func (v *view) block(t *target, why blocked, rejected []messages.Rejection, out *actors.Outbox) {
	if t.countdown.blocked == why || v.restoring && why == (blocked{}) {
		return
	}
	t.countdown.blocked = why
	if why != (blocked{}) {
		v.tellBlocked(t, rejected, out)
	}
}

// blockedAgain says for which taint a blocked eviction is due now, where that was another: the API shows it.
func (v *view) blockedAgain(t *target, out *actors.Outbox) {
	if t.countdown.blocked != (blocked{}) && !v.restoring {
		v.tellBlocked(t, nil, out)
	}
}

func (v *view) tellBlocked(t *target, rejected []messages.Rejection, out *actors.Outbox) {
	if v.past != nil { // what a restart found is no longer shown
		v.past.shown = slices.DeleteFunc(slices.Clone(v.past.shown), func(e api.Eviction) bool { return e.Cluster == string(t.cluster) })
	}
	why := &t.countdown.blocked
	out.Record(&messages.EvictionBlocked{
		Binding: v.name, Cluster: t.cluster, Reason: why.reason, Message: why.message, Grounds: t.countdown.grounds,
		Rejections: rejected, Until: why.until,
	})
}

// restoreBlocked takes over what was said of targets that are not left yet. Holds for the pace follow from the
// history.
func (v *view) restoreBlocked(s *api.BindingStatus) {
	if !v.restoring {
		return
	}
	if len(s.Evictions) > 0 {
		owned(&v.past).shown = s.Evictions
	}
	for i := range s.Evictions {
		h := &s.Evictions[i]
		t := v.targets.of(messages.ClusterName(h.Cluster))
		if t == nil || h.State != api.EvictionBlocked || h.Reason == hopLimit {
			continue
		}
		t.countdown.blocked = blocked{reason: h.Reason, message: h.Message}
		if h.Until != nil {
			t.countdown.blocked.until = h.Until.Time
		}
	}
}

// sought reports whether the scheduler looked for a destination before a restart, and found none: it goes on, and the governor is asked
// once there is one.
func (v *view) sought(t *target) bool {
	if v.ways().EvictsToNowhere() || !v.schedulable() {
		return false
	}
	switch t.countdown.blocked.reason {
	case api.ReasonNoClusterFit, api.ReasonUnschedulable, api.ReasonQuotaExceeded, coolingDown:
		return true
	}
	return false
}

// restored ends the instant of a restart: countdowns that began, moved or ended while no engine ran are said, and new reasons of
// evictions that are still blocked.
func (v *view) restored(now time.Time, out *actors.Outbox) {
	v.restoring = false
	var shown []api.Eviction
	if v.past != nil {
		shown, v.past.shown = v.past.shown, nil
	}
	for i := range v.targets {
		t := &v.targets[i]
		state := api.EvictionScheduled
		if t.countdown.blocked != (blocked{}) && !t.countdown.at.IsZero() {
			state = api.EvictionBlocked
		}
		s := slices.IndexFunc(shown, func(e api.Eviction) bool { return e.Cluster == string(t.cluster) && e.State == state })
		switch at := t.countdown.at; {
		case state == api.EvictionBlocked:
			if s >= 0 && t.countdown.blocked.reason != hopLimit && !shows(&shown[s], &t.countdown.grounds) {
				v.tellBlocked(t, nil, out)
			}
		case at.IsZero() && s >= 0:
			out.Record(&messages.EvictionCancelled{Binding: v.name, Cluster: t.cluster, Reason: whyStay(t, &messages.Grounds{Reason: shown[s].Reason})})
		case at.After(now) && t.countdown.blocked == blocked{} && (s < 0 || !sameInstant(shown[s].Deadline.Time, at)):
			v.announce(t, out)
		}
	}
}

// shows reports whether a status names the taint, the policy and the deadline of some reason.
func shows(e *api.Eviction, g *messages.Grounds) bool {
	taint, policy := "", ""
	if g.Taint != nil {
		taint = g.Taint.ToString()
	}
	if g.Cause != nil {
		policy = g.Cause.Policy
	}
	return e.Taint == taint && e.Policy == policy && (g.Deadline.IsZero() || sameInstant(e.Deadline.Time, g.Deadline))
}

// sameInstant compares times as a status keeps them.
func sameInstant(a, b time.Time) bool {
	return a.Truncate(time.Microsecond).Equal(b.Truncate(time.Microsecond))
}

// putOff makes a departure wait for its time and says so, if that is news.
func (v *view) putOff(t *target, next countdown, out *actors.Outbox) {
	why := next.blocked
	next.blocked = t.countdown.blocked
	if v.restoring {
		next.blocked = why
	}
	t.countdown = next
	v.block(t, why, nil, out)
}
