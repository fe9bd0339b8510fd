package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
)

func (b *Binding) copyReported(now time.Time, m *messages.CopyReported, out *actors.Outbox) {
	c := b.copy(m.Cluster)
	if c == nil && m.Kept && b.created { // told before a restart, of a copy that was not heard of
		b.copies = append(b.copies, copyState{cluster: m.Cluster, removing: true, asking: true})
		c = b.copy(m.Cluster)
	}
	if c != nil && m.Kept && c.removing && c.asking { // else it was told meanwhile to go for good
		b.originalReported(now, c, out)
		c = b.copy(m.Cluster) // others may have come, for which the slice had no capacity
	}
	if c == nil || c.removing {
		return
	}
	news := !c.reported || c.health != m.Health || c.ready != m.Ready || c.runs != m.Revision || c.refused != m.Refused
	c.heard(now, m.Health)
	c.reported, c.health, c.ready, c.runs, c.refused, c.forPlacement = true, m.Health, m.Ready, m.Revision, m.Refused, m.ForPlacement
	if news {
		out.Record(&messages.HealthChanged{
			Binding: b.name, Cluster: m.Cluster, Health: m.Health, Ready: m.Ready, Revision: m.Revision, Refused: m.Refused,
			Since: c.unhealthySince, Starting: c.startingSince,
		})
	}
	b.statusReported(c, m.Status, out)
	b.capacityReported(now, c, m, out)
	b.judgeOriginal(now, c, out)
	if t := b.targets.of(m.Cluster); t != nil {
		b.reconsider(now, t, false, out)
	}
	b.reassess()
}

func (b *Binding) copyRemoved(now time.Time, cluster messages.ClusterName, out *actors.Outbox) {
	c := b.copy(cluster)
	if c == nil || !c.removing {
		return
	}
	b.forgetReport(c, out)
	if c.withheld {
		out.Record(&messages.DispatchResumed{Binding: b.name, Cluster: cluster, Gone: true})
	}
	b.countWaiting(now, cluster, 0, out)
	b.copies = slices.DeleteFunc(b.copies, func(c copyState) bool { return c.cluster == cluster })
	b.syncCopies(out)
	b.reassess()
}

// copyEdited tells a cluster again what it is to run, once it may be told: its copy serves this placement when it says so of that.
func (b *Binding) copyEdited(cluster messages.ClusterName, out *actors.Outbox) {
	c := b.copy(cluster)
	if c != nil && !c.removing && b.wanted(cluster) && !b.withhold(c, out) {
		b.tellRun(c, false, out)
	}
}

// copyLeft has a copy removed that is not wanted and that was not known. That of a binding which is not made yet, for it was deleted
// and its workload exists, waits until it is made: a policy says how the copy is removed.
func (b *Binding) copyLeft(c messages.ClusterName, out *actors.Outbox) {
	if b.copy(c) != nil || b.created && b.wanted(c) {
		return
	}
	b.copies = append(b.copies, copyState{cluster: c})
	switch {
	case b.created:
		b.dropCopies(out)
	case b.workload != nil:
		b.claims.settling = true
	default:
		b.dropLeft(out)
	}
}

// dropLeft has the copies removed that a start found of a binding which is made again, or which no policy makes. Where it is placed is told again.
func (b *Binding) dropLeft(out *actors.Outbox) {
	for i := range b.copies {
		b.removeCopy(&b.copies[i], b.preserves(), out)
	}
	b.copies = nil
}
