package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// Binding is one resource and where it runs. It switches messages to its parts, in the order in which they must hear of
// them, and keeps the one alarm.
type Binding struct {
	claims  claims
	request request
	// What most bindings never have is apart from them, as there may be a million: these may be nil.
	failback      *failback
	dependencies  *dependencies
	disruption    *disruption
	unschedulable *unschedulable
	// placements counts what members were told.
	placements int64

	view
}

// New returns a binding that no policy has claimed yet. Bindings share their settings, which must not change.
func New(name messages.BindingName, settings *messages.Settings) *Binding {
	return &Binding{view: view{name: name, declared: declared{settings: settings}}}
}

// reassess has the tasks, if there are any, assessed at the end of the instant, when all that will be
// heard in it has been.
func (b *Binding) reassess() {
	b.handover.assessing = len(b.handover.tasks) > 0 || b.failback.shrinks()
}

// ask tells the scheduler how things stand now, because something that matters to it changed. What it
// decided on older words is void, also where it may not be asked.
func (b *Binding) ask(now time.Time, out *actors.Outbox) {
	b.request.number++
	b.scheduled = false
	if b.request.since.IsZero() {
		b.request.since = now
	}
	if !b.schedulable() {
		b.returnPermits(out) // the scheduler looks for no destination in this instant
	}
	if !b.managed || b.spec.Placement == nil {
		return
	}
	m := b.request.wish(&b.view, now)
	m.Home = b.failback.wish(&b.view)
	m.Lapses = len(m.Leaving) > 0 && b.disruption.lapses(&b.view)
	m.Alone = b.disruption.goesAlone(&b.view)
	out.TellScheduler(m)
}

// mention tells the scheduler of a task that ended. Where the binding has its place and nothing else is under way
// the scheduler answers only if that changes: two messages less for each failover.
func (b *Binding) mention(now time.Time, out *actors.Outbox) {
	if !b.scheduled || !b.request.since.IsZero() || len(b.handover.tasks) > 0 || b.failback.shrinks() || !b.schedulable() {
		b.ask(now, out)
		return
	}
	b.request.number++
	out.TellScheduler(&messages.TasksEnded{
		Binding: b.name, Request: b.request.number, Targets: b.targets.shown(), Cooling: b.keepClear(now), Full: b.full(), Starting: b.starting(),
		Home: b.failback.wish(&b.view),
	})
}

// seekAgain has evictions that needed no permit ask for one where they do now.
func (b *Binding) seekAgain(now time.Time, out *actors.Outbox) {
	if b.returnPermits(out) {
		b.ask(now, out)
	}
}

// returnPermits gives all permits back that would lapse, and reports whether there were any.
func (b *Binding) returnPermits(out *actors.Outbox) bool {
	if !b.disruption.lapses(&b.view) {
		return false
	}
	for i := range b.targets {
		b.targets[i].returnPermit(&b.view, out)
	}
	return true
}

// retarget makes the result what the scheduler chose: kept targets stay in their places with all that
// is known of them, new ones follow. Clusters hear which bindings come and which go.
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
		if name := messages.ClusterName(c.Name); b.targets.of(name) == nil {
			b.targets = append(b.targets, target{cluster: name, replicas: c.Replicas, components: c.Components})
			out.TellCluster(name, &messages.BindingPlaced{Binding: b.name})
		}
	}
}

// forget ends what concerns a target that is taken off: its request for a permit, or the permit, and, unless an eviction
// task still watches the cluster, its news.
func (b *Binding) forget(t *target, out *actors.Outbox) {
	if t.countdown.requested {
		out.TellGovernor(&messages.WithdrawRequest{Binding: b.name, Cluster: t.cluster})
	}
	if b.disruption.permits(&b.view, t.countdown.unhealthy()) {
		t.returnPermit(&b.view, out)
	}
	b.conclude(t.countdown.trial, t.cluster, true, out)
	if b.handover.task(t.cluster) == nil {
		out.TellCluster(t.cluster, &messages.BindingLeft{Binding: b.name})
	}
}
