package store

import (
	"iter"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// Binding is a ResourceBinding or a ClusterResourceBinding as the machines have it.
type Binding struct {
	Meta   *metav1.ObjectMeta
	Spec   *api.BindingSpec
	Status *api.BindingStatus
	// Applied is the placement that the scheduler last applied; nil: none. It is what the annotation
	// policy.karmada.io/applied-placement shows once the binding is read with Get.
	Applied *api.Placement

	// serving is how many replicas serve users on each cluster, as far as members are simulated.
	serving []serving

	name      messages.BindingName // once it is stored: to put it together each time takes memory
	annotated *api.Placement       // what the annotation shows
}

// AsBinding shows an object as the binding that it is, with no word on what was applied; nil for any other, and for nil.
func AsBinding(o api.Object) *Binding {
	switch o := o.(type) {
	case *api.ResourceBinding:
		return &Binding{Meta: &o.ObjectMeta, Spec: &o.Spec, Status: &o.Status}
	case *api.ClusterResourceBinding:
		return &Binding{Meta: &o.ObjectMeta, Spec: &o.Spec, Status: &o.Status}
	}
	return nil
}

// take has the binding stand in another object.
func (b *Binding) take(o *Binding) { b.Meta, b.Spec, b.Status = o.Meta, o.Spec, o.Status }

// Copies yields the clusters where copies of the binding serve, and then those that they are yet to leave.
func (b *Binding) Copies() iter.Seq[messages.ClusterName] {
	return func(yield func(messages.ClusterName) bool) {
		if !yieldTargets(b.Spec.Clusters, yield) {
			return
		}
		for i := range b.Spec.GracefulEvictionTasks {
			if !yield(messages.ClusterName(b.Spec.GracefulEvictionTasks[i].FromCluster)) {
				return
			}
		}
	}
}

// Wanted yields the clusters that must have a copy: those of the binding, and then those of the bindings that need it, which may be the same.
func (b *Binding) Wanted() iter.Seq[messages.ClusterName] {
	return func(yield func(messages.ClusterName) bool) {
		more := yieldTargets(b.Spec.Clusters, yield)
		for i := 0; more && i < len(b.Spec.RequiredBy); i++ {
			more = yieldTargets(b.Spec.RequiredBy[i].Clusters, yield)
		}
	}
}

// yieldTargets yields the names of targets, and reports whether more are asked for.
func yieldTargets(targets []api.TargetCluster, yield func(messages.ClusterName) bool) bool {
	for i := range targets {
		if !yield(messages.ClusterName(targets[i].Name)) {
			return false
		}
	}
	return true
}

// CopyOn reports whether a cluster has a copy, which may be about to leave it.
func (b *Binding) CopyOn(cluster messages.ClusterName) bool { return among(b.Copies(), cluster) }

// WantedOn reports whether a cluster must have a copy.
func (b *Binding) WantedOn(cluster messages.ClusterName) bool { return among(b.Wanted(), cluster) }

func among(clusters iter.Seq[messages.ClusterName], cluster messages.ClusterName) bool {
	for c := range clusters {
		if c == cluster {
			return true
		}
	}
	return false
}

// Name returns "namespace/name", or "name" for a ClusterResourceBinding.
func (b *Binding) Name() messages.BindingName {
	if b.name != "" {
		return b.name
	}
	return messages.NameBinding(b.Meta.Namespace, b.Meta.Name)
}

// apply makes one fact true of the binding and says whether that changed it.
func (b *Binding) apply(at time.Time, f messages.AboutBinding) bool {
	switch f := f.(type) {
	case *messages.BindingUpdated:
		return b.claim(f.Policy, f.Spec)
	case *messages.Scheduled:
		return b.scheduled(at, f)
	case *messages.PlacementConfirmed:
		b.Status.SchedulerObservedGeneration = b.Meta.Generation
		return true
	case *messages.ScheduleFailed:
		return b.scheduleFailed(at, f)
	case *messages.EvictionScheduled:
		return b.showEviction(api.Eviction{Cluster: string(f.Cluster), State: api.EvictionScheduled, Reason: f.Grounds.Reason}, &f.Grounds)
	case *messages.EvictionCancelled:
		return b.evictionOver(f.Cluster)
	case *messages.EvictionBlocked:
		return b.showEviction(api.Eviction{
			Cluster: string(f.Cluster), State: api.EvictionBlocked, Reason: f.Reason, Message: f.Message, Until: microTime(f.Until),
		}, &f.Grounds)
	case *messages.EvictionStarted:
		return b.evictionStarted(at, f)
	case *messages.ReplicasReleased:
		return b.replicasReleased(f)
	case *messages.EvictionEnded:
		return b.evictionEnded(at, f)
	case *messages.EvictionWithdrawn:
		return b.evictionWithdrawn(at, f)
	case *messages.HealthChanged:
		return b.healthChanged(at, f)
	case *messages.StatusChanged:
		return b.statusChanged(f)
	case *messages.AvailabilityChanged:
		b.serves(f.Cluster, f.Available)
		return false // no field of the object shows it
	case *messages.HealthForgotten:
		return b.healthForgotten(at, f)
	case *messages.DispatchSuspended:
		return b.dispatchSuspended(f.Cluster)
	case *messages.DispatchResumed:
		return b.dispatchResumed(f.Cluster)
	case *messages.UnschedulableChanged:
		return b.waits(f.Waiting)
	case *messages.BindingDescheduled:
		return b.descheduled(at, f)
	case *messages.FailbackScheduled:
		return b.returnAt(f.At)
	case *messages.FailbackCancelled:
		return b.returnAt(time.Time{})
	case *messages.FailbackStarted:
		return b.failbackStarted(f)
	case *messages.FailbackTargetsChanged:
		return b.failbackTargetsChanged(f)
	case *messages.ShareFailbackScheduled:
		return b.shareReturnsAt(f.Cluster, f.At)
	case *messages.ShareFailbackCancelled:
		return b.shareReturnsAt(f.Cluster, time.Time{})
	case *messages.OriginalKept:
		return b.originalKept(f.Cluster, true)
	case *messages.OriginalReleased:
		return b.originalKept(f.Cluster, false)
	case *messages.ScaleDownBlocked:
		b.Status.Shrinking = &api.Shrinking{Reason: f.Reason, Since: metav1.MicroTime{Time: at}, Clusters: f.Clusters}
		return true
	case *messages.ScaleDownEnded:
		return b.scaleDownEnded()
	case *messages.RequirementChanged:
		return b.requirementChanged(at, f)
	case *messages.RescheduleRequested:
		return b.rescheduleRequested(f)
	default:
		return false
	}
}

// setCondition sets one condition of the binding and says whether that changed it.
func (b *Binding) setCondition(at time.Time, c metav1.Condition) (changed bool) {
	c.LastTransitionTime = metav1.Time{Time: at}
	b.Status.Conditions, changed = withCondition(b.Status.Conditions, c)
	return changed
}

// departed begins a record of the history with a new task.
func (b *Binding) departed(at time.Time, task *api.GracefulEvictionTask) {
	b.Status.FailoverHistory = eviction.Remember(b.Status.FailoverHistory, api.FailoverRecord{
		FromCluster: task.FromCluster, Reason: task.Reason, Producer: task.Producer, StartTime: metav1.MicroTime{Time: at},
	})
}

// closeRecord ends the record of a handover and reports whether there was one to end.
func (b *Binding) closeRecord(at time.Time, from messages.ClusterName, outcome string) bool {
	return b.amend(from, func(r *api.FailoverRecord) {
		r.CompletionTime, r.Outcome = &metav1.MicroTime{Time: at}, outcome
	})
}

// openRecord selects the record of a handover from a cluster that is still open.
func openRecord(from messages.ClusterName) func(api.FailoverRecord) bool {
	return func(r api.FailoverRecord) bool { return r.FromCluster == string(from) && r.CompletionTime == nil }
}

// isRecording reports whether there is one.
func (b *Binding) isRecording(from messages.ClusterName) bool {
	return slices.ContainsFunc(b.Status.FailoverHistory, openRecord(from))
}

// forgetRecord removes it.
func (b *Binding) forgetRecord(from messages.ClusterName) {
	b.Status.FailoverHistory, _ = without(b.Status.FailoverHistory, openRecord(from))
}

// amend changes the latest record of a cluster, if it is still open, and reports whether it is.
func (b *Binding) amend(from messages.ClusterName, change func(*api.FailoverRecord)) bool {
	history := b.Status.FailoverHistory
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].FromCluster != string(from) {
			continue
		}
		if history[i].CompletionTime != nil {
			return false
		}
		b.Status.FailoverHistory = slices.Clone(history)
		change(&b.Status.FailoverHistory[i])
		return true
	}
	return false
}
