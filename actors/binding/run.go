package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
)

// syncCopies tells members what changed in what they are to run: targets run their share, clusters
// that are evicted from keep what they have, unless it is purged directly; everything else goes. While a
// copy that is purged directly still exists, nothing new starts, for a time. Source: Karmada's binding controller.
func (b *Binding) syncCopies(out *actors.Outbox) {
	b.dropCopies(out)
	b.runCopies(out)
}

// runCopies tells the members of copies that are wanted what to run.
func (b *Binding) runCopies(out *actors.Outbox) {
	if b.purging() {
		return
	}
	// Memory for as many as there may be, and not, as append has it, for twice as many: there may be a million bindings.
	if most := len(b.targets) + len(b.handover.tasks); cap(b.copies) < most {
		b.copies = append(make([]copyState, 0, most), b.copies...)
	}
	for i := range b.targets {
		b.runCopy(&b.targets[i], out)
	}
	b.runRequired(out)
}

// dropCopies tells the members of copies that are not wanted to remove them.
func (b *Binding) dropCopies(out *actors.Outbox) {
	for i := range b.copies {
		c := &b.copies[i]
		if !b.wanted(c.cluster) {
			b.removeCopy(c, b.preserves() && b.ways().PreservesEvicted(), out)
		}
	}
}

// removeCopy tells a copy's member once that it is to go, or only to be looked after no more; where an old copy
// may take its place back, one that is silent is to ask when it returns. Source: Karmada's execution
// controller, which preserves with every Work that goes.
func (b *Binding) removeCopy(c *copyState, preserve bool, out *actors.Outbox) {
	ask := b.judges() && b.failback.share(c.cluster) != nil
	if c.removing && (ask || !c.asking) {
		return
	}
	c.removing, c.asking = true, ask
	out.TellMember(c.cluster, &messages.RemoveCopy{Binding: b.name, Preserve: preserve, Ask: ask})
}

// wanted reports whether a cluster is to have a copy.
func (b *Binding) wanted(c messages.ClusterName) bool {
	if b.targets.of(c) != nil || b.dependencies.required(c) {
		return true
	}
	if s := b.failback.share(c); s != nil && s.kept {
		return true
	}
	k := b.handover.task(c)
	return k != nil && eviction.KeepsCopy(&k.GracefulEvictionTask)
}

// runCopy tells a target's member what to run. A copy that is still going is waited for.
func (b *Binding) runCopy(t *target, out *actors.Outbox) {
	c := b.copy(t.cluster)
	switch {
	case c == nil:
		b.copies = append(b.copies, copyState{cluster: t.cluster})
		c = &b.copies[len(b.copies)-1]
	case c.removing:
		b.forgetReport(c, out)
		return
	case !c.withheld && c.replicas == t.runs() && c.revision >= b.revision():
		return
	}
	b.runAsTarget(t, c, out)
}

// runAsTarget tells a target's member what to run, whatever it was told before.
func (b *Binding) runAsTarget(t *target, c *copyState, out *actors.Outbox) {
	if b.withhold(c, out) {
		return
	}
	c.replicas, c.revision = t.runs(), max(c.revision, b.revision())
	b.tellRun(c, false, out)
}

// runRequired tells the members where workloads need this resource to have it.
func (b *Binding) runRequired(out *actors.Outbox) {
	for _, by := range b.dependencies.needers() {
		for _, c := range by.Clusters {
			if name := messages.ClusterName(c.Name); b.targets.of(name) == nil {
				b.runCopy(&target{cluster: name, replicas: b.spec.Replicas}, out)
			}
		}
	}
}

func (b *Binding) tellRun(c *copyState, adopt bool, out *actors.Outbox) {
	b.placements++
	c.placement = b.placements
	m := &messages.RunCopy{Binding: b.name, Replicas: c.replicas, Revision: c.revision, Placement: c.placement, Adopt: adopt, AsIs: adopt && b.spec.Suspension.Dispatch(string(c.cluster))}
	if adopt {
		m.Found = c.found()
	} else {
		m.Labels = b.inherited(c.cluster)
	}
	out.TellMember(c.cluster, m)
}

// copyEdited tells a cluster again what it is to run, once it may be told: its copy serves this placement when it says so of that.
func (b *Binding) copyEdited(cluster messages.ClusterName, out *actors.Outbox) {
	c := b.copy(cluster)
	if c != nil && !c.removing && b.wanted(cluster) && !b.withhold(c, out) {
		b.tellRun(c, false, out)
	}
}

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

// starting are the targets on which no copy was healthy yet, where the governor or the scheduler counts them.
func (v *view) starting() (clusters []messages.ClusterName) {
	if !v.settings.CountsStarts() {
		return nil
	}
	for i := range v.targets {
		if v.starts(v.targets[i].cluster) {
			clusters = append(clusters, v.targets[i].cluster)
		}
	}
	return clusters
}

// underWay reports whether the handover from some cluster is in time. One that is overdue keeps no other workload waiting.
func (h *handover) underWay() bool {
	for i := range h.tasks {
		if !h.tasks[i].overdue {
			return true
		}
	}
	return false
}

// handoverBegan is when the last handover did, of those under way.
func (h *handover) handoverBegan() (began time.Time) {
	for i := range h.tasks {
		if at := h.tasks[i].CreationTimestamp; at != nil {
			began = actors.Later(began, at.Time)
		}
	}
	return began
}

// outOfTime reports whether a task says that its handover took too long.
func outOfTime(o eviction.Assessment) bool {
	return o.Why == eviction.Timeout || o.Why == eviction.LastCopy
}

// startsFailed tells the governor of the copies that should be healthy by now.
func (h *handover) startsFailed(v *view, began time.Time, out *actors.Outbox) {
	if v.settings.StartFailureLimit == 0 {
		return
	}
	for _, c := range v.starting() {
		out.TellGovernor(&messages.StartFailed{Binding: v.name, Cluster: c, Began: began})
	}
}

// givenUp tells the governor of a copy that took over, and is evicted for its health before it ever had any.
func (h *handover) givenUp(v *view, t *target, out *actors.Outbox) {
	if v.settings.StartFailureLimit == 0 || !t.countdown.unhealthy() || !v.handover.underWay() || !v.starts(t.cluster) {
		return
	}
	if began := v.handover.tookOver(t.cluster); !began.IsZero() {
		out.TellGovernor(&messages.StartFailed{Binding: v.name, Cluster: t.cluster, Began: began})
	}
}
