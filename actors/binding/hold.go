package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

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

// evictionDelayed says what a departure waits for before it is permitted.
func (b *Binding) evictionDelayed(m *messages.EvictionDelayed, out *actors.Outbox) {
	if t := b.target(m.Cluster); t != nil && t.leave.requested {
		b.heldBack(t, hold{reason: m.Reason, message: m.Message, until: m.Until}, nil, out)
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
	if len(s.Evictions) > 0 {
		owned(&b.past).shown = s.Evictions
	}
	for i := range s.Evictions {
		h := &s.Evictions[i]
		t := b.target(messages.ClusterName(h.Cluster))
		if t == nil || h.State != api.EvictionBlocked || h.Reason == hopLimit {
			continue
		}
		t.leave.held = hold{reason: h.Reason, message: h.Message}
		if h.Until != nil {
			t.leave.held.until = h.Until.Time
		}
	}
}

// restored ends the instant of a restart: countdowns that began, moved or ended while no engine ran are said.
func (b *Binding) restored(now time.Time, out *actors.Outbox) {
	b.restoring = false
	var shown []api.Eviction
	if b.past != nil {
		shown, b.past.shown = b.past.shown, nil
	}
	for i := range b.targets {
		t := &b.targets[i]
		s := slices.IndexFunc(shown, func(e api.Eviction) bool {
			return e.Cluster == string(t.cluster) && e.State == api.EvictionScheduled
		})
		switch at := t.leave.at; {
		case at.IsZero() && s >= 0:
			out.Record(&messages.CountdownStopped{Binding: b.name, Cluster: t.cluster, Reason: whyStay(t, &messages.Grounds{Reason: shown[s].Reason})})
		case at.After(now) && t.leave.held == hold{} && (s < 0 || !sameInstant(shown[s].Deadline.Time, at)):
			b.countdown(t, out)
		}
	}
}

// sameInstant compares times as a status keeps them.
func sameInstant(a, b time.Time) bool {
	return a.Truncate(time.Microsecond).Equal(b.Truncate(time.Microsecond))
}

// releaseHeld lets go on what waits for a destination that nobody asks for any more.
func (b *Binding) releaseHeld(now time.Time, out *actors.Outbox) {
	if b.settings.EvictionNeedsDestination {
		return
	}
	b.eachTarget(func(t *target) {
		switch l := &t.leave; {
		case l.permitted:
			b.permitted(now, t, out)
		case l.seeking:
			l.seeking = false
			b.depart(now, t, out)
		}
	})
}
