// Package binding is the machine of one ResourceBinding or ClusterResourceBinding: it decides when a
// workload must leave a cluster, carries out the hand-over to its replacement, and keeps the members
// told which copies to run.
package binding

import (
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// Binding is one resource and where it runs. It switches messages to its parts, in the order in which they must hear of
// them, and keeps the one alarm.
type Binding struct {
	// claims are the policies that select the resource; owner is the one that has it.
	claims []*messages.ClaimMade
	owner  messages.PropagationName
	// policy is the owner as the API names it: "PropagationPolicy default/web".
	policy string
	// Of this instant: settling is set while claims are not weighed yet, assessing while tasks are to be
	// assessed at its end; template is what it brought of the resource.
	settling, assessing bool
	template            templateNews
	// scheduled is set once the last question to the scheduler was answered with success.
	scheduled bool

	// What most bindings never have is apart from them, as there may be a million. All may be nil.
	// ties are of those that need others or are needed.
	ties *ties
	// curbs are the budgets that may keep departures waiting; nil: there never was any.
	curbs *curbs
	// unschedulable are the replicas that members cannot start.
	unschedulable *unschedulable
	// home is the way back to where the workload was; nil: it is not on its way.
	home *homeward
	// placements counts what members were told.
	placements int64

	// request counts what was asked of the scheduler; waitsSince is when the oldest unanswered need arose,
	// zero without.
	request       uint64
	waitsSince    time.Time
	lastScheduled time.Time
	rescheduleAt  time.Time

	view
}

// New returns a binding that nobody has claimed yet. Bindings share their settings, which must not change.
func New(name messages.BindingName, settings *messages.Settings) *Binding {
	return &Binding{view: view{name: name, settings: settings}}
}

// Receive routes a message to its transition.
func (b *Binding) Receive(now time.Time, m messages.ToBinding, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.WorkloadApplied:
		b.workloadApplied(now, m, out)
	case *messages.WorkloadDeleted:
		b.workloadDeleted(out)
	case *messages.ClaimMade:
		b.claimMade(m)
	case *messages.ClaimWithdrawn:
		b.claimWithdrawn(m.Policy)
	case *messages.BindingApplied:
		b.bindingApplied(now, m, out)
	case *messages.TaintsChanged:
		b.taintsChanged(now, m, out)
	case *messages.ConsiderTaints:
		b.considerTaints(now, m, out)
	case *messages.EvictionPermitted:
		b.evictionPermitted(now, m, out)
	case *messages.ReportTrial:
		b.reportTrial(m.Cluster, out)
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
		b.returnJudged(now, m, out)
	case *messages.DependencyRequired:
		b.dependencyRequired(m, out)
	case *messages.DependencyApplied:
		b.dependencyApplied(m.Dependency)
	case *messages.RescheduleTriggered:
		b.rescheduleTriggered(now, m, out)
	case *messages.HoldsAnnounced:
		b.holdsAnnounced(now, m.Held, out)
	case *messages.BudgetsSet:
		b.budgetsSet(now, m.Budgets, out)
	case *messages.SettingsChanged:
		b.settingsChanged(now, &m.Settings, out)
	case *messages.Woken:
		b.woken(now, out)
	default:
		panic(fmt.Sprintf("binding %s: unknown message %T", b.name, m))
	}
	b.tellDependencies(out)
	if b.curbs != nil {
		b.tellBudgets(now, out)
	}
	out.WakeAt(b.nextDeadline(now))
}

func (b *Binding) settingsChanged(now time.Time, s *messages.Settings, out *actors.Outbox) {
	b.settling = b.settling || len(b.claims) > 1 && s.PropagationPolicyPreemption != b.settings.PropagationPolicyPreemption
	gated := b.settings.MultiplePodTemplatesScheduling != s.MultiplePodTemplatesScheduling
	b.settings = s
	if gated {
		b.renewComponents(now, out)
	}
	b.reconsiderAll(now, out)
	b.releaseHeld(now, out)
	b.seekAnew(now, out)
	b.reassess()
}

// woken does what has fallen due: claims to weigh, clusters to leave, tasks that end.
func (b *Binding) woken(now time.Time, out *actors.Outbox) {
	if b.restoring {
		b.restored(now, out)
	}
	if b.settling {
		b.settleClaims(now, out)
	}
	b.dropReleased(out)
	b.leaveDue(now, out)
	b.coolDown(now, out)
	b.abandonReturn()
	b.assessTasks(now, out)
	b.overtakePurges(now, out)
	b.deschedule(now, out)
	b.returnDue(now, out)
}

// nextDeadline is the earliest instant at which the binding must act by itself; zero: none.
func (b *Binding) nextDeadline(now time.Time) time.Time {
	if b.settling || b.restoring || b.assessing || b.releases() {
		return now
	}
	var next time.Time
	for i := range b.targets {
		next = actors.Earlier(next, b.targets[i].leave.alarm())
	}
	for i := range b.tasks {
		next = actors.Earlier(next, b.tasks[i].recheck)
	}
	next = actors.Earlier(next, b.coolsAt(now))
	next = actors.Earlier(next, b.unschedulable.sweepAt(&b.view))
	return actors.Earlier(next, actors.Earlier(b.purgeAlarm(), actors.Earlier(b.home.alarm(), b.shrinkAlarm())))
}

// retarget makes the result what the scheduler chose: kept targets stay in their places with all that
// is known of them, new ones follow. Clusters hear who came and who left.
func (b *Binding) retarget(clusters []api.TargetCluster, out *actors.Outbox) {
	kept := b.targets[:0]
	for i := range b.targets {
		t := b.targets[i]
		j := api.FindTarget(clusters, string(t.cluster))
		if j < 0 {
			b.forget(&t, out)
			continue
		}
		t.replicas, t.components = clusters[j].Replicas, clusters[j].Components
		kept = append(kept, t)
	}
	clear(b.targets[len(kept):])
	b.targets = slices.Grow(kept, max(0, len(clusters)-len(kept)))
	for _, c := range clusters {
		if name := messages.ClusterName(c.Name); b.target(name) == nil {
			b.targets = append(b.targets, target{cluster: name, replicas: c.Replicas, components: c.Components})
			out.TellCluster(name, &messages.BindingPlaced{Binding: b.name})
		}
	}
}

// forget ends what concerns a target that is left: its request for a permit and, unless an eviction
// task still watches the cluster, its news.
func (b *Binding) forget(t *target, out *actors.Outbox) {
	if t.leave.requested {
		out.TellGovernor(&messages.WithdrawRequest{Binding: b.name, Cluster: t.cluster})
	}
	b.conclude(t.leave.trial, t.cluster, true, out)
	if b.task(t.cluster) == nil {
		out.TellCluster(t.cluster, &messages.BindingLeft{Binding: b.name})
	}
}
