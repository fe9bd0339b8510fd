package store

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

func (b *Binding) scheduled(at time.Time, f *messages.Scheduled) bool {
	if !slices.EqualFunc(b.Spec.Clusters, f.Clusters, api.TargetCluster.Equal) {
		b.evictionsOutside(f.Clusters)
		b.Spec.Clusters = f.Clusters
		b.Meta.Generation++
	}
	b.takenOver(f.Takeovers)
	b.Applied = f.Applied
	b.Status.LastScheduledTime = &metav1.Time{Time: at}
	b.Status.SchedulerObservedGeneration = b.Meta.Generation
	b.Status.SchedulerObservedAffinityName = f.Affinity
	b.setCondition(at, metav1.Condition{
		Type:    api.ConditionScheduled,
		Status:  metav1.ConditionTrue,
		Reason:  api.ReasonSuccess,
		Message: PlacedOn(f.Clusters),
	})
	b.judgeFullyApplied(at)
	return true
}

// takenOver notes in the tasks who took over from their clusters.
func (b *Binding) takenOver(takeovers []messages.Takeover) {
	if len(takeovers) == 0 {
		return
	}
	tasks := slices.Clone(b.Spec.GracefulEvictionTasks)
	for i := range takeovers {
		if j := slices.IndexFunc(tasks, taskFrom(takeovers[i].From)); j >= 0 {
			tasks[j].ReplacedBy = takeovers[i].By
		}
		t := &takeovers[i]
		b.amend(t.From, func(r *api.FailoverRecord) { r.ToClusters = t.By })
	}
	b.Spec.GracefulEvictionTasks = tasks
}

// confirmed reports whether a fact says again that the scheduler has seen the binding as it is: a start says so of each.
func (b *Binding) confirmed(f messages.AboutBinding) bool {
	_, confirms := f.(*messages.PlacementConfirmed)
	return confirms && b.Status.SchedulerObservedGeneration == b.Meta.Generation
}

// scheduleFailed leaves the observed generation where it was: what the binding asks for is not met.
func (b *Binding) scheduleFailed(at time.Time, f *messages.ScheduleFailed) (changed bool) {
	if f.Cleared {
		changed = b.clearClusters(at)
	}
	return b.setCondition(at, metav1.Condition{
		Type:    api.ConditionScheduled,
		Status:  metav1.ConditionFalse,
		Reason:  f.Reason,
		Message: f.Message,
	}) || changed
}

// clearClusters applies the placement that no cluster fits.
func (b *Binding) clearClusters(at time.Time) (changed bool) {
	changed = !equality.Semantic.DeepEqual(b.Applied, b.Spec.Placement)
	b.Applied = b.Spec.Placement
	if len(b.Spec.Clusters) == 0 {
		return changed
	}
	b.Spec.Clusters = nil
	b.evictionsOutside(nil)
	b.Meta.Generation++
	b.judgeFullyApplied(at)
	return true
}

func (b *Binding) rescheduleRequested(f *messages.RescheduleRequested) bool {
	at := &metav1.Time{Time: f.At}
	if b.Spec.RescheduleTriggeredAt.Equal(at) {
		return false
	}
	b.Spec.RescheduleTriggeredAt = at
	b.Meta.Generation++
	return true
}

// PlacedOn returns "placed on member1:2, member3:2": pods of all components count; a copy without pods is named
// alone.
func PlacedOn(clusters []api.TargetCluster) string {
	text := make([]byte, 0, 64)
	text = append(text, "placed on"...)
	for i, c := range clusters {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, ' ')
		text = append(text, c.Name...)
		if pods := c.Pods(); pods > 0 {
			text = append(text, ':')
			text = strconv.AppendInt(text, int64(pods), 10)
		}
	}
	if len(clusters) == 0 {
		text = append(text, " no cluster"...)
	}
	return string(text)
}

// dispatchSuspended notes a cluster that is not told what its copy must be, in the order of the names.
func (b *Binding) dispatchSuspended(cluster messages.ClusterName) bool {
	i, known := slices.BinarySearch(b.Status.DispatchSuspended, string(cluster))
	if known {
		return false
	}
	b.Status.DispatchSuspended = slices.Insert(slices.Clone(b.Status.DispatchSuspended), i, string(cluster))
	return true
}

func (b *Binding) dispatchResumed(cluster messages.ClusterName) (changed bool) {
	b.Status.DispatchSuspended, changed = without(b.Status.DispatchSuspended, func(c string) bool { return c == string(cluster) })
	return changed
}

// descheduled lowers a cluster's share.
func (b *Binding) descheduled(at time.Time, f *messages.BindingDescheduled) bool {
	changed := b.waits(f.Waiting)
	if slices.Equal(b.Spec.Clusters, f.Clusters) {
		return changed
	}
	b.evictionsOutside(f.Clusters)
	b.Spec.Clusters = f.Clusters
	b.Meta.Generation++
	b.judgeFullyApplied(at)
	return true
}

// waits writes which replicas clusters cannot start.
func (b *Binding) waits(replicas []api.UnschedulableReplicas) bool {
	if slices.Equal(b.Status.Unschedulable, replicas) {
		return false
	}
	b.Status.Unschedulable = replicas
	return true
}

// requirementChanged notes where a workload needs the resource; the workloads stand in order of their names.
func (b *Binding) requirementChanged(at time.Time, f *messages.RequirementChanged) bool {
	namespace, name := f.By.Split()
	i := slices.IndexFunc(b.Spec.RequiredBy, func(s api.BindingSnapshot) bool {
		return s.Namespace > namespace || s.Namespace == namespace && s.Name >= name
	})
	if i < 0 {
		i = len(b.Spec.RequiredBy)
	}
	known := i < len(b.Spec.RequiredBy) && b.Spec.RequiredBy[i].Namespace == namespace && b.Spec.RequiredBy[i].Name == name
	next := slices.Clone(b.Spec.RequiredBy)
	switch {
	case known && len(f.Clusters) == 0:
		next = slices.Delete(next, i, i+1)
	case len(f.Clusters) == 0, known && slices.EqualFunc(next[i].Clusters, f.Clusters, api.TargetCluster.Equal):
		return false
	case known:
		next[i].Clusters = f.Clusters
	default:
		next = slices.Insert(next, i, api.BindingSnapshot{Namespace: namespace, Name: name, Clusters: f.Clusters})
	}
	if len(next) == 0 {
		next = nil
	}
	b.Spec.RequiredBy = next
	b.Meta.Generation++
	b.judgeFullyApplied(at)
	return true
}
