package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// homeward is a binding's way back to an earlier affinity group.
type homeward struct {
	// at is when it returns if the group stays able to take it; zero: no group is.
	at time.Time
	// asked is set from then on, until the scheduler lets it go.
	asked bool
}

// failsBack reports whether the policy lets the workload return by itself.
func (b *Binding) failsBack() bool {
	f := b.spec.Failover
	return f != nil && f.Cluster != nil && f.Cluster.Failback != nil && f.Cluster.Failback.Mode == api.FailbackAutomatic
}

// returnJudged begins or ends the time for which an earlier group must stay able to take the workload.
func (b *Binding) returnJudged(now time.Time, m *messages.ReturnJudged, out *actors.Outbox) {
	switch planned := !b.home.at.IsZero(); {
	case planned && !m.Possible:
		b.home = homeward{}
		out.Record(&messages.ReturnDropped{Binding: b.name})
	case !planned && m.Possible && b.failsBack():
		b.home.at = now.Add(b.spec.Failover.Cluster.Failback.Stabilization())
		out.Record(&messages.ReturnPlanned{Binding: b.name, Affinity: m.Affinity, At: b.home.at})
	}
}

// returnDue asks to return, once the earlier group has been able to take the workload for long enough.
func (b *Binding) returnDue(now time.Time, out *actors.Outbox) {
	if at := b.home.alarm(); !at.IsZero() && !at.After(now) {
		b.home.asked = true
		b.ask(now, out)
	}
}

func (h *homeward) alarm() time.Time {
	if h.asked {
		return time.Time{}
	}
	return h.at
}

// returns gives the clusters that are left for an earlier group their grounds.
func (b *Binding) returns(m *messages.PlacementDecided, out *actors.Outbox) {
	if !m.Return {
		return
	}
	b.home = homeward{}
	for _, c := range m.Leaving {
		if t := b.target(c); t != nil {
			t.leave.grounds = messages.Grounds{Reason: api.EvictionReasonFailback}
		}
	}
	out.Record(&messages.ReturnStarted{Binding: b.name, Affinity: m.Affinity})
}

// returning reports whether a return is under way.
func (b *Binding) returning() bool {
	return slices.ContainsFunc(b.tasks, func(k task) bool { return k.Reason == api.EvictionReasonFailback })
}

// abandonReturn marks a return to be withdrawn where the earlier group must be left before it took over.
func (b *Binding) abandonReturn() {
	if !slices.ContainsFunc(b.targets, func(t target) bool { return t.leave.due }) {
		return
	}
	for i := range b.tasks {
		k := &b.tasks[i]
		k.back = k.back || k.Reason == api.EvictionReasonFailback
	}
}

// takenBack puts a withdrawn return's affinity group in use again, and says why the task was withdrawn.
func (b *Binding) takenBack(k *task) string {
	if k.Reason != api.EvictionReasonFailback {
		return "the cluster recovered before the hand-over was done"
	}
	b.affinity = k.FromAffinity
	return "the earlier affinity group failed before the hand-over was done"
}

func (b *Binding) restoreReturn(s *api.BindingStatus) {
	b.home = homeward{}
	if s.ReturnAt != nil {
		b.home.at = s.ReturnAt.Time
	}
}
