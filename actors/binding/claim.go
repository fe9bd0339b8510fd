package binding

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/actors"
	"leeward/actors/rules/propagation"
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
	b.settling, b.template = true, edited
	if m.Recovered {
		b.template = recovered
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

// fromWorkload overwrites what the resource gives.
func (v *view) fromWorkload(s *api.BindingSpec) {
	w := v.workload
	s.Resource = api.ObjectReference{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID}
	s.Replicas, s.ReplicaRequirements, s.Components = w.Replicas, w.Requirements, nil
	if w.Set != nil && v.settings.MultiplePodTemplatesScheduling {
		s.Components = w.Set.Components
	}
}

// claimMade notes a claim. All claims of an instant are weighed together at its end.
func (b *Binding) claimMade(m *messages.ClaimMade) {
	b.dropClaim(m.Policy)
	b.claims = append(b.claims, m)
	b.settling = true
}

func (b *Binding) claimWithdrawn(policy messages.PropagationName) {
	b.dropClaim(policy)
	if b.owner == policy {
		b.owner = ""
	}
	b.settling = true
}

func (b *Binding) dropClaim(policy messages.PropagationName) {
	b.claims = slices.DeleteFunc(b.claims, func(c *messages.ClaimMade) bool { return c.Policy == policy })
}

// templateNews is what an instant brought of the resource.
type templateNews uint8

const (
	unchanged templateNews = iota
	edited
	// recovered: said again after a restart.
	recovered
)

// settleClaims gives the resource to the best claim, or leaves it to its owner. A binding that nobody
// claims any more keeps what it was given.
func (b *Binding) settleClaims(now time.Time, out *actors.Outbox) {
	b.settling = false
	best := b.bestClaim()
	if best != nil && best.Waits {
		return // news of the resource count when it waits no more
	}
	news := b.template
	b.template = unchanged
	if best == nil || b.workload == nil {
		b.dropUnmade(out)
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
	if b.owner != best.Policy {
		also = "policy"
	}
	b.owner, b.policy = best.Policy, policyLabel(best)
	b.managed = true
	if b.created {
		b.update(now, next, also, out)
		return
	}
	b.created, b.spec = true, next
	given := next
	out.Record(&messages.BindingCreated{
		Binding: b.name, Policy: b.policy, Replicas: next.Replicas, Spec: &given, UID: next.Resource.UID,
	})
	b.ask(now, out)
}

// deferActivation says that a policy's word counts when the resource changes, if it is a new one: after a
// restart it is not. Until then the policy has nothing that it did not have before, so that a restart
// need not know what it waits for. Source: Karmada's activationPreference Lazy.
func (b *Binding) deferActivation(c *messages.ClaimMade, wanted *api.BindingSpec, news templateNews, out *actors.Outbox) {
	if news != recovered && len(differences(&b.spec, wanted)) > 0 {
		out.Record(&messages.ActivationDeferred{Binding: b.name, Policy: policyLabel(c)})
	}
}

// bestClaim is the best of those that may take the resource from its owner; else the owner's; without an
// owner the best of all; nil if there is none.
func (b *Binding) bestClaim() *messages.ClaimMade {
	var best, owner *messages.ClaimMade
	if i := slices.IndexFunc(b.claims, func(c *messages.ClaimMade) bool { return c.Policy == b.owner }); i >= 0 {
		owner = b.claims[i]
	}
	for _, c := range b.claims {
		if (owner == nil || b.preempts(c, owner)) && (best == nil || propagation.Better(claimOf(c), claimOf(best))) {
			best = c
		}
	}
	return cmp.Or(best, owner)
}

// preempts reports whether a claim takes the resource from its owner: a PropagationPolicy from any
// ClusterPropagationPolicy, otherwise one of its own kind from one of lower priority. Source: Karmada's
// "Resource Propagating", policy preemption.
func (b *Binding) preempts(c, owner *messages.ClaimMade) bool {
	switch {
	case !c.Preempts || c.Waits || !b.settings.PropagationPolicyPreemption:
		return false
	case c.ClusterScoped != owner.ClusterScoped:
		return owner.ClusterScoped
	}
	return c.Priority > owner.Priority
}

func claimOf(c *messages.ClaimMade) propagation.Claim {
	return propagation.Claim{
		Priority: c.Priority, Rank: propagation.Rank(c.Rank), ClusterScoped: c.ClusterScoped, Name: string(c.Policy),
	}
}

func policyLabel(c *messages.ClaimMade) string {
	if c.ClusterScoped {
		return "ClusterPropagationPolicy " + string(c.Policy)
	}
	return "PropagationPolicy " + string(c.Policy)
}

// fromPolicy overwrites what a policy gives; clusters, tasks and triggers are the binding's own.
func fromPolicy(s *api.BindingSpec, p *api.PropagationSpec) {
	s.Placement = &p.Placement
	s.Failover, s.PropagateDeps, s.SchedulerName = p.Failover, p.PropagateDeps, p.SchedulerName
	s.ConflictResolution, s.Suspension = p.ConflictResolution, p.Suspension
	s.PreserveResourcesOnDeletion, s.SchedulePriority = p.PreserveResourcesOnDeletion, p.SchedulePriority
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
		Binding: b.name, Policy: b.policy, Changed: changed, Replicas: next.Replicas, Spec: &given,
	})
	b.edited(changed, out)
	b.reconsiderAll(now, out) // before the scheduler hears of who leaves
	b.ask(now, out)
	if slices.Contains(changed, "suspension") {
		b.dispatchEdited(out)
	}
}

// differences names what differs between two specs, of what workload and policy give.
func differences(a, b *api.BindingSpec) []string {
	var changed []string
	note := func(name string, differs bool) {
		if differs {
			changed = append(changed, name)
		}
	}
	note("resource", a.Resource != b.Resource)
	note("replicas", a.Replicas != b.Replicas)
	note("requirements", !reflect.DeepEqual(a.ReplicaRequirements, b.ReplicaRequirements))
	note("components", !equality.Semantic.DeepEqual(a.Components, b.Components))
	note("placement", !reflect.DeepEqual(a.Placement, b.Placement))
	note("workloadAffinityGroups", !reflect.DeepEqual(a.WorkloadAffinityGroups, b.WorkloadAffinityGroups))
	note("failover", !reflect.DeepEqual(a.Failover, b.Failover))
	note("suspension", !reflect.DeepEqual(a.Suspension, b.Suspension))
	note("schedulePriority", !reflect.DeepEqual(a.SchedulePriority, b.SchedulePriority))
	note("policy", a.PropagateDeps != b.PropagateDeps || a.SchedulerName != b.SchedulerName ||
		a.ConflictResolution != b.ConflictResolution || !reflect.DeepEqual(a.PreserveResourcesOnDeletion, b.PreserveResourcesOnDeletion))
	return changed
}

// bindingApplied takes over a manifest, or the stored object after a restart: the targets, the tasks
// with their times, the reports. Clusters and members are asked to tell the rest. What a binding that
// runs already knows of its copies, it keeps.
func (b *Binding) bindingApplied(now time.Time, m *messages.BindingApplied, out *actors.Outbox) {
	b.restoring = !b.created && m.Status != nil && m.Status.LastScheduledTime != nil
	b.created, b.managed, b.owner = true, m.Managed, m.Owner
	b.spec = *m.Spec
	b.spec.Clusters, b.spec.GracefulEvictionTasks, b.spec.RequiredBy = nil, nil, nil // they are in targets, tasks and requiredBy
	b.restoreRequirements(m.Spec.RequiredBy)
	b.applied = m.Applied
	b.restoreStatus(m.Status)
	if m.Spec.RescheduleTriggeredAt != nil {
		b.rescheduleAt = m.Spec.RescheduleTriggeredAt.Time
	}
	before := b.tasks
	b.restoreTasks(now, m.Spec.GracefulEvictionTasks, out)
	b.retarget(m.Spec.Clusters, out)
	b.restoreHolds(m.Status)
	b.dropTasks(now, before, out)
	b.restoreShrinks(m.Status)
	if !b.restoring {
		b.forgetHome(out) // people say where it is to run
	}
	b.restoreCopies(now, m.Status)
	b.adoptCopies(m.Recovered, out)
	b.reconsiderAll(now, out)
	b.ask(now, out)
	b.syncCopies(out)
	b.reassess()
}

func (b *Binding) restoreStatus(s *api.BindingStatus) {
	if s == nil {
		return
	}
	b.affinity = s.SchedulerObservedAffinityName
	b.restoreReturn(s)
	b.restoreHops(s.FailoverHistory)
	b.wait(s.Unschedulable)
	if s.LastScheduledTime != nil {
		b.lastScheduled = s.LastScheduledTime.Time
	}
}

func (b *Binding) rescheduleTriggered(now time.Time, m *messages.RescheduleTriggered, out *actors.Outbox) {
	b.rescheduleAt = m.At
	out.Record(&messages.RescheduleRequested{Binding: b.name, At: m.At, By: m.By})
	b.forgetHome(out)
	b.ask(now, out)
}

func (b *Binding) workloadDeleted(out *actors.Outbox) {
	b.claims, b.workload = nil, nil
	if !b.created {
		return
	}
	b.home = nil
	for i := range b.copies {
		b.removeCopy(&b.copies[i], b.preserves(), out)
	}
	for i := range b.targets {
		b.forget(&b.targets[i], out)
	}
	for i := range b.tasks {
		k := &b.tasks[i]
		out.TellCluster(messages.ClusterName(k.FromCluster), &messages.BindingLeft{Binding: b.name})
		b.conclude(k.trial, messages.ClusterName(k.FromCluster), true, out)
	}
	b.past, b.unschedulable = nil, nil
	b.restoreRequirements(nil)
	b.targets, b.tasks, b.copies, b.created, b.spec = nil, nil, nil, false, api.BindingSpec{}
	out.TellScheduler(&messages.BindingGone{Binding: b.name})
	out.Record(&messages.BindingDeleted{Binding: b.name})
}
