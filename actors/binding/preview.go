package binding

import (
	"time"

	"leeward/actors"
	"leeward/messages"
)

// considerTaints says whether the binding, which stays on a target, would have to leave it for taints that
// it has not, by the rules by which it would. Nothing changes.
func (b *Binding) considerTaints(now time.Time, m *messages.ConsiderTaints, out *actors.Outbox) {
	answer := &messages.TaintsConsidered{Binding: b.name, Policy: m.Policy}
	if t := b.target(m.Cluster); t != nil && t.leave.at.IsZero() {
		imagined := target{cluster: t.cluster, taints: m.Taints}
		answer.Leaves = !b.leaveForTaints(now, &imagined).at.IsZero()
	}
	out.TellCluster(m.Cluster, answer)
}
