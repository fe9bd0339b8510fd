package binding

import (
	"leeward/actors"
	"leeward/messages"
)

// conclude tells the governor how a way out of a cluster ended that was on trial.
func (b *Binding) conclude(trial bool, c messages.ClusterName, serves bool, out *actors.Outbox) {
	if trial {
		out.TellGovernor(&messages.TrialConcluded{Binding: b.name, Cluster: c, Serves: serves})
	}
}

// reportTrial goes on with a trial after a restart: its end was told, and forgotten, if its task is no more.
func (b *Binding) reportTrial(c messages.ClusterName, out *actors.Outbox) {
	if k := b.task(c); k != nil {
		k.trial = true
		return
	}
	b.conclude(true, c, b.servesElsewhere(), out)
}
