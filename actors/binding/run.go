package binding

import (
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
