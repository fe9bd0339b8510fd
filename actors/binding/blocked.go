package binding

import (
	"slices"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// The reasons that no placement ends.
var (
	// noAnnotation is why Karmada never evicts a binding whose applied placement is not recorded (K24).
	noAnnotation = blocked{reason: "NoAppliedPlacement", message: "the applied placement is not recorded, so its tolerations are not known"}
	noGrace      = blocked{reason: "NoGracefulEviction", message: eviction.ErrNoGrace.Error()}
	notScheduled = blocked{reason: "NotScheduled", message: "the scheduler does not place this binding, so there is no new placement"}
)

// evictionDelayed says what an eviction waits for before it is permitted.
func (v *view) evictionDelayed(m *messages.EvictionDelayed, out *actors.Outbox) {
	if t := v.targets.of(m.Cluster); t != nil && t.countdown.requested {
		v.block(t, blocked{reason: m.Reason, message: m.Message, until: m.Until}, nil, out)
	}
}

// block notes why the eviction from a target may not start, and records it when the reason is new. In the instant of
// a restart not all is known yet that may block it.
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

// putOff makes an eviction wait for its time and says so, if that is news.
func (v *view) putOff(t *target, next countdown, out *actors.Outbox) {
	why := next.blocked
	next.blocked = t.countdown.blocked
	if v.restoring {
		next.blocked = why
	}
	t.countdown = next
	v.block(t, why, nil, out)
}
