package binding

import (
	"time"

	"leeward/actors"
	"leeward/messages"
)

// considerTaints says whether the binding, which stays on a target, would have to leave it for taints that
// it has not, by the rules by which it would. Nothing changes.
func (b *Binding) considerTaints(now time.Time, m *messages.ConsiderTaints, out *actors.Outbox) {
	b.heard |= considered
	answer := &messages.TaintsConsidered{Binding: b.name, Policy: m.Policy}
	if t := b.target(m.Cluster); t != nil && t.leave.at.IsZero() {
		imagined := target{cluster: t.cluster, taints: m.Taints}
		answer.Leaves = !b.leaveForTaints(now, &imagined).at.IsZero()
	}
	out.TellCluster(m.Cluster, answer)
}

// reviseAnswers has the clusters ask again that may have asked before, for the answer may be another now.
func (b *Binding) reviseAnswers(out *actors.Outbox) {
	for i := range b.targets {
		b.reviseAnswer(b.targets[i].cluster, out)
	}
}

// reviseAnswer has one cluster ask again: its copy fell sick, came round or was evicted, or says something
// else of its state.
func (b *Binding) reviseAnswer(c messages.ClusterName, out *actors.Outbox) {
	if b.heard&considered != 0 {
		out.TellCluster(c, &messages.AnswerChanged{Binding: b.name})
	}
}
