package member

import (
	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// schedulableReplicasSet sets for how many replicas of a binding there is capacity.
func (m *Member) schedulableReplicasSet(r *messages.SchedulableReplicasSet, out *actors.Outbox) {
	if r.Replicas < 0 {
		delete(m.room, r.Binding)
	} else {
		m.room[r.Binding] = r.Replicas
	}
	if i, known := m.at[r.Binding]; known {
		m.report(m.copies.at(i), out)
	}
}

// squeeze corrects what is reported of a copy that there is no capacity for, or none to spare: the replicas
// beyond wait, and a copy whose replicas do not all serve is not healthy.
func (m *Member) squeeze(r *messages.CopyReported, c *copyState) {
	room, limited := m.room[c.binding]
	if !limited {
		return
	}
	r.Full = c.replicas >= room
	r.Unschedulable = max(0, c.replicas-room)
	if r.Unschedulable > 0 && r.Health == api.Healthy {
		r.Health, r.Ready = api.Unhealthy, min(r.Ready, room)
	}
}
