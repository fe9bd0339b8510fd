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
