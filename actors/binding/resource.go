package binding

import (
	"reflect"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// workloadApplied takes over the resource. Claims are weighed again, for one that waits for its resource
// to change has waited long enough.
func (b *Binding) workloadApplied(now time.Time, m *messages.WorkloadApplied, out *actors.Outbox) {
	w, also := m.Workload, ""
	if b.workload != nil && b.workload.Revision != w.Revision {
		also = "template"
	}
	couldDivide := b.hasReplicas()
	b.workload = w
	b.claims.settling, b.claims.template = true, edited
	if m.Recovered {
		b.claims.template = recovered
	}
	if !b.created {
		b.attach(out)
		return
	}
	next := b.spec
	b.fromWorkload(&next)
	next.WorkloadAffinityGroups = groupsOf(next.Placement, w.Labels)
	b.update(now, next, also, out)
	if b.hasReplicas() != couldDivide { // a restored binding of no replicas looks like something that has none
		b.ask(now, out)
	}
	if w.Revision > 0 {
		b.syncCopies(out)
		b.reassess()
	}
}

// settleClaims gives the resource to the best claim, or keeps it with its owner. A binding that no policy
// claims any more keeps what it was given.
func (b *Binding) settleClaims(now time.Time, out *actors.Outbox) {
	b.claims.settling = false
	best := b.claims.best(&b.view)
	if best != nil && best.Waits {
		return // news of the resource count when it waits no more
	}
	news := b.claims.template
	b.claims.template = unchanged
	if best == nil || b.workload == nil {
		if !b.created {
			b.dropLeft(out)
		}
		return
	}
	next := b.spec
	b.fromWorkload(&next)
	fromPolicy(&next, best.Spec)
	next.WorkloadAffinityGroups = groupsOf(next.Placement, b.workload.Labels)
	if news != edited && best.Spec.ActivationPreference == api.ActivateLazily {
		b.deferActivation(best, &next, news, out)
		if !b.created {
			return
		}
		next = b.spec
	}
	also := ""
	if b.claims.owner != best.Policy {
		also = "policy"
	}
	b.claims.owner, b.claims.policy = best.Policy, policyLabel(best)
	b.managed = true
	if b.created {
		b.update(now, next, also, out)
		return
	}
	b.created, b.spec = true, next
	b.dropLeft(out)
	given := next
	out.Record(&messages.BindingCreated{
		Binding: b.name, Policy: b.claims.policy, Replicas: next.Replicas, Spec: &given, UID: next.Resource.UID,
	})
	b.ask(now, out)
}

// update takes over a new spec, if it differs or something beside it does (also), and says what differs.
func (b *Binding) update(now time.Time, next api.BindingSpec, also string, out *actors.Outbox) {
	changed := differences(&b.spec, &next)
	if also != "" && !slices.Contains(changed, also) {
		changed = append(changed, also)
	}
	if len(changed) == 0 {
		return
	}
	if reflect.DeepEqual(b.spec.Placement, next.Placement) {
		next.Placement = b.spec.Placement // one pointer, so that the scheduler's compiled form stays valid
	}
	b.spec = next
	given := next
	out.Record(&messages.BindingUpdated{
		Binding: b.name, Policy: b.claims.policy, Changed: changed, Replicas: next.Replicas, Spec: &given,
	})
	if b.endsReturn(changed) {
		b.forgetPreferred(out)
	}
	if b.failback != nil && !b.failback.at.IsZero() && !b.failsBack() {
		b.failback.drop(&b.view, out)
	}
	b.reconsiderAll(now, out) // before the scheduler hears which evictions wait
	b.ask(now, out)
	if slices.Contains(changed, "suspension") {
		b.syncCopies(out)
		b.reassess()
	}
}

// renewComponents gives the binding the components of its workload, or takes them away, after the gate changed.
func (b *Binding) renewComponents(now time.Time, out *actors.Outbox) {
	if !b.created || b.workload == nil || b.workload.Set == nil {
		return
	}
	next := b.spec
	b.fromWorkload(&next)
	b.update(now, next, "", out)
}

func (b *Binding) workloadDeleted(out *actors.Outbox) {
	b.claims.made, b.workload = nil, nil
	if !b.created {
		return
	}
	b.failback = nil
	for i := range b.copies {
		b.removeCopy(&b.copies[i], b.preserves(), out)
	}
	for i := range b.targets {
		b.forget(&b.targets[i], out)
	}
	for i := range b.handover.tasks {
		k := &b.handover.tasks[i]
		out.TellCluster(messages.ClusterName(k.FromCluster), &messages.BindingLeft{Binding: b.name})
		b.conclude(k.trial, messages.ClusterName(k.FromCluster), true, out)
	}
	b.past, b.unschedulable = nil, nil
	if b.dependencies != nil {
		b.dependencies.restore(nil)
	}
	b.targets, b.handover, b.copies, b.created, b.spec = nil, handover{}, nil, false, api.BindingSpec{}
	b.managed, b.scheduled, b.applied, b.affinity = false, false, nil, ""
	b.claims.owner, b.claims.policy, b.request = "", "", request{number: b.request.number}
	out.TellScheduler(&messages.BindingGone{Binding: b.name})
	out.Record(&messages.BindingDeleted{Binding: b.name})
}

func (b *Binding) rescheduleTriggered(now time.Time, m *messages.RescheduleTriggered, out *actors.Outbox) {
	b.request.rescheduleAt = m.At
	out.Record(&messages.RescheduleRequested{Binding: b.name, At: m.At, By: m.By})
	b.forgetPreferred(out)
	b.ask(now, out)
}

// attach makes a binding that no policy asked for, because workloads need the resource.
func (b *Binding) attach(out *actors.Outbox) {
	needed := slices.DeleteFunc(slices.Clone(b.dependencies.needers()), func(s api.BindingSnapshot) bool { return len(s.Clusters) == 0 })
	if b.workload == nil || len(needed) == 0 {
		return
	}
	b.created = true
	b.fromWorkload(&b.spec)
	given := b.spec
	out.Record(&messages.BindingCreated{Binding: b.name, Spec: &given, UID: given.Resource.UID})
	for _, s := range needed {
		out.Record(&messages.RequirementChanged{Binding: b.name, By: snapshotOf(s), Clusters: s.Clusters})
	}
	b.syncCopies(out)
}

// dependencyRequired notes where a workload needs this resource. What needs it no longer is taken off at the end of
// the instant, when all others have settled what they are: another one may need it where this one did.
func (b *Binding) dependencyRequired(m *messages.DependencyRequired, out *actors.Outbox) {
	next := snapshot(m)
	by := b.dependencies.needers()
	i, known := slices.BinarySearchFunc(by, next, compareSnapshots)
	switch {
	case known && slices.EqualFunc(by[i].Clusters, m.Clusters, api.TargetCluster.Equal), !known && len(m.Clusters) == 0:
		return
	case known:
		by[i] = next
	default:
		owned(&b.dependencies).requiredBy = slices.Insert(by, i, next)
	}
	b.dependencies.released = 2
	switch {
	case len(m.Clusters) == 0:
	case !b.created:
		b.attach(out)
	default:
		out.Record(&messages.RequirementChanged{Binding: b.name, By: m.By, Clusters: m.Clusters})
		b.runCopies(out)
	}
}

// dropReleased takes off the workloads that need this resource no longer, and removes copies that none needs.
func (b *Binding) dropReleased(out *actors.Outbox) {
	if !b.dependencies.releases() {
		return
	}
	if b.dependencies.released--; b.dependencies.released > 0 {
		return
	}
	for _, s := range b.dependencies.needers() {
		if nowhere(s) && b.created {
			out.Record(&messages.RequirementChanged{Binding: b.name, By: snapshotOf(s)})
		}
	}
	b.dependencies.requiredBy = slices.DeleteFunc(b.dependencies.needers(), nowhere)
	b.dropCopies(out)
}
