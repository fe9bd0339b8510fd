package binding

import (
	"fmt"
	"time"

	"leeward/actors"
	"leeward/messages"
)

// Receive routes a message to its transition.
func (b *Binding) Receive(now time.Time, m messages.ToBinding, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.WorkloadApplied:
		b.workloadApplied(now, m, out)
	case *messages.WorkloadDeleted:
		b.workloadDeleted(out)
	case *messages.ClaimMade, *messages.ClaimWithdrawn:
		b.claims.apply(m)
	case *messages.BindingApplied:
		b.bindingApplied(now, m, out)
	case *messages.TaintsChanged:
		b.taintsChanged(now, m, out)
	case *messages.ConsiderTaints:
		b.considerTaints(now, m, out)
	case *messages.EvictionPermitted:
		b.evictionPermitted(now, m, out)
	case *messages.ReportTrial:
		b.handover.apply(&b.view, m, out)
	case *messages.TakeEvictionBack:
		b.takeEvictionBack(now, m.Cluster, out)
	case *messages.EvictionDelayed:
		b.evictionDelayed(m, out)
	case *messages.PlacementDecided:
		b.placementDecided(now, m, out)
	case *messages.DestinationFound:
		b.destinationFound(now, m, out)
	case *messages.CopyReported:
		b.copyReported(now, m, out)
	case *messages.CopyRemoved:
		b.copyRemoved(now, m.Cluster, out)
	case *messages.CopyEdited:
		b.copyEdited(m.Cluster, out)
	case *messages.CopyLeft:
		b.copyLeft(m.Cluster, out)
	case *messages.ReturnJudged:
		owned(&b.failback).apply(&b.view, now, m, out)
	case *messages.DependencyRequired:
		b.dependencyRequired(m, out)
	case *messages.DependencyApplied:
		owned(&b.dependencies).forget(m.Dependency)
	case *messages.DependenciesChanged:
		b.dependenciesChanged(m)
	case *messages.RescheduleTriggered:
		b.rescheduleTriggered(now, m, out)
	case *messages.HoldsAnnounced:
		b.heldAnnounced(m.Held)
		b.seekAgain(now, out)
	case *messages.BudgetsSet:
		b.budgetsSet(now, m, out)
	case *messages.SettingsChanged:
		b.settingsChanged(now, &m.Settings, out)
	case *messages.Woken:
		b.woken(now, out)
	default:
		panic(fmt.Sprintf("binding %s: unknown message %T", b.name, m))
	}
	if b.dependencies != nil || b.needy() {
		owned(&b.dependencies).tell(&b.view, out)
	}
	if b.disruption != nil {
		b.disruption.renew(&b.view)
		if b.targets.awaitsForTaint() && b.disruption.alone != b.disruption.goingAlone(&b.view) {
			b.ask(now, out)
		}
		b.disruption.tell(&b.view, out)
	}
	out.WakeAt(b.nextDeadline(now))
}

// woken does what has fallen due: claims to weigh, evictions, tasks that end.
func (b *Binding) woken(now time.Time, out *actors.Outbox) {
	if b.restoring {
		b.restored(now, out)
	}
	if b.claims.settling {
		b.settleClaims(now, out)
	}
	b.dropReleased(out)
	b.evictDue(now, out)
	if b.cooledDown(now) {
		b.ask(now, out)
	}
	b.handover.abandonReturn(&b.view)
	b.assessTasks(now, out)
	if b.handover.overtakePurges(&b.view, now, out) {
		b.syncCopies(out)
	}
	b.deschedule(now, out)
	b.returnDue(now, out)
}

// nextDeadline is the earliest instant at which some part must act by itself; zero: none.
func (b *Binding) nextDeadline(now time.Time) time.Time {
	if b.claims.settling || b.restoring || b.handover.assessing || b.dependencies.releases() {
		return now
	}
	next := b.handover.deadline(&b.view)
	for i := range b.targets {
		next = actors.Earlier(next, b.targets[i].countdown.deadline())
	}
	next = actors.Earlier(next, b.coolsAt(now))
	next = actors.Earlier(next, b.unschedulable.deadline(&b.view))
	return actors.Earlier(next, b.failback.deadline(&b.view))
}

func (b *Binding) settingsChanged(now time.Time, s *messages.Settings, out *actors.Outbox) {
	b.claims.settling = b.claims.settling || len(b.claims.made) > 1 && s.PropagationPolicyPreemption != b.settings.PropagationPolicyPreemption
	gated := b.settings.MultiplePodTemplatesScheduling != s.MultiplePodTemplatesScheduling
	b.settings = s
	if gated {
		b.renewComponents(now, out)
	}
	b.reconsiderAll(now, out)
	b.releaseBlocked(now, out)
	b.seekAgain(now, out)
	b.reassess()
}

// budgetsSet tries again what other budgets may allow.
func (b *Binding) budgetsSet(now time.Time, m *messages.BudgetsSet, out *actors.Outbox) {
	owned(&b.disruption).apply(&b.view, m)
	if b.returnPermits(out) || b.disruption.alone && b.targets.seek() { // what may not go along may go by itself now
		b.ask(now, out)
	}
}

// ReadAhead reads a piece of each line of memory that nearly every message looks at, for the host to do so in time. The
// number means nothing.
func (b *Binding) ReadAhead() int {
	n := len(b.claims.policy) + len(b.targets) + int(b.placements) + len(b.affinity) + b.request.lastScheduled.Nanosecond()
	for i := range b.targets {
		n += int(b.targets[i].replicas) + len(b.targets[i].taints)
	}
	for i := range b.copies {
		n += int(b.copies[i].replicas) + int(b.copies[i].ready)
	}
	for i := range b.handover.tasks {
		n += len(b.handover.tasks[i].FromCluster)
	}
	return n
}
