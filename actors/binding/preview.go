package binding

import (
	"time"

	"leeward/actors"
	"leeward/messages"
)

// considerTaints says whether the binding, which stays on a target, would have to leave it for taints that
// it has not, by the rules by which it would. Nothing changes.
func (b *Binding) considerTaints(now time.Time, m *messages.ConsiderTaints, out *actors.Outbox) {
	b.considered = true
	answer := &messages.TaintsConsidered{Binding: b.name, Policy: m.Policy}
	if t := b.target(m.Cluster); t != nil && t.leave.at.IsZero() {
		imagined := target{cluster: t.cluster, taints: m.Taints}
		answer.Leaves = !b.leaveForTaints(now, &imagined).at.IsZero()
	}
	out.TellCluster(m.Cluster, answer)
}

// reviseAnswers has the clusters ask again that may have asked before, for the answer may be another now.
func (b *Binding) reviseAnswers(out *actors.Outbox) {
	if !b.considered {
		return
	}
	for i := range b.targets {
		out.TellCluster(b.targets[i].cluster, &messages.TolerationsChanged{Binding: b.name})
	}
}
