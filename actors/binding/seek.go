package binding

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// sick reports whether the target is to be left for its own health.
func (l *leave) sick() bool { return l.grounds.Reason == api.EvictionReasonApplicationFailure }

// lapses reports whether leave to go that is not used is void when the instant is over: what allows it now may not
// later. Leave that nobody gave lasts.
func (b *Binding) lapses() bool {
	for i := range b.targets {
		if t := &b.targets[i]; t.leave.permitted && b.asksForPermits(t.leave.sick()) {
			return true
		}
	}
	return false
}

// returnPermit gives a permit back that cannot be used: the scheduler looks for a destination, and the governor is asked
// again once there is one.
func (b *Binding) returnPermit(t *target, out *actors.Outbox) {
	if t.leave.permitted {
		t.leave.permitted, t.leave.trial, t.leave.seeking = false, false, true
		out.TellGovernor(&messages.PermitReturned{Binding: b.name, Cluster: t.cluster})
	}
}

// returnPermits gives all permits back that would lapse, and reports whether there were any.
func (b *Binding) returnPermits(out *actors.Outbox) bool {
	if !b.lapses() {
		return false
	}
	for i := range b.targets {
		b.returnPermit(&b.targets[i], out)
	}
	return true
}

// seeks reports whether the scheduler looks for a destination for some target.
func (v *view) seeks() bool {
	for i := range v.targets {
		if v.targets[i].leave.seeking {
			return true
		}
	}
	return false
}

// seekAnew has departures that needed no permit ask for one where they do now.
func (b *Binding) seekAnew(now time.Time, out *actors.Outbox) {
	if b.returnPermits(out) {
		b.ask(now, out)
	}
}

// destinationFound asks for leave to go where there is somewhere to go by now.
func (b *Binding) destinationFound(now time.Time, m *messages.DestinationFound, out *actors.Outbox) {
	if m.Request != b.request {
		return
	}
	for _, c := range m.Clusters {
		if t := b.target(c); t != nil && t.leave.seeking {
			t.leave.seeking = false
			b.depart(now, t, out)
		}
	}
}

// leaving are the targets whose departure waits for a destination, the earliest deadline first: those that have leave to
// go, and those that are to ask for it.
func (v *view) leaving() (leaving, seeking []messages.ClusterName) {
	if !v.settings.EvictionNeedsDestination {
		return nil, nil
	}
	for i := range v.targets {
		switch t := &v.targets[i]; {
		case t.leave.permitted:
			leaving = append(leaving, t.cluster)
		case t.leave.seeking:
			seeking = append(seeking, t.cluster)
		}
	}
	v.byDeadline(leaving)
	v.byDeadline(seeking)
	return leaving, seeking
}

func (v *view) byDeadline(names []messages.ClusterName) {
	slices.SortFunc(names, func(x, y messages.ClusterName) int {
		return cmp.Or(v.target(x).leave.at.Compare(v.target(y).leave.at), cmp.Compare(x, y))
	})
}
