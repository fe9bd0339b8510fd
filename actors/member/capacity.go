package member

import (
	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// schedulableReplicasSet sets for how many replicas of a binding there is capacity.
func (m *Member) schedulableReplicasSet(r *messages.SchedulableReplicasSet, out *actors.Outbox) {
	if r.Replicas < 0 {
		delete(m.capacity, r.Binding)
	} else {
		m.capacity[r.Binding] = r.Replicas
	}
	if i, known := m.at[r.Binding]; known {
		m.report(m.copies.at(i), out)
	}
}

// squeeze corrects what is reported of a copy that there is no capacity for, or none to spare: the replicas
// beyond wait, and a copy whose replicas do not all serve is not healthy.
func (m *Member) squeeze(r *messages.CopyReported, c *copyState) {
	capacity, limited := m.capacity[c.binding]
	if !limited {
		return
	}
	r.Full = c.replicas >= capacity
	r.Unschedulable = max(0, c.replicas-capacity)
	if r.Unschedulable > 0 && r.Health == api.Healthy {
		r.Health, r.Ready = api.Unhealthy, min(r.Ready, capacity)
	}
}
