package member

import (
	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// podsCounted takes over how many pods of a copy are ready: it runs what is wanted once all of them are.
func (m *Member) podsCounted(p *messages.PodsCounted, out *actors.Outbox) {
	i, known := m.at[p.Binding]
	if !known {
		return
	}
	c := m.copies.at(i)
	c.ready, c.pending = min(p.Ready, c.replicas), p.Unschedulable
	if p.Ready >= c.replicas {
		c.up, c.serving, c.served = true, c.revision, c.wanted
	}
	m.report(c, out)
}

// availablePods is how many replicas of a copy serve users that is run by pods: the ready ones, unless the application is unhealthy or there
// is no power.
func (m *Member) availablePods(c *copyState) int32 {
	if m.outages.Power || m.forced[c.binding] == api.Unhealthy || m.behaviour.Health == api.Unhealthy {
		return 0
	}
	return c.ready
}
