package binding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// handover are the graceful eviction tasks of a binding: the clusters that are evicted from while others take over.
type handover struct {
	tasks []task
	// assessing is set while tasks will be assessed at the end of this instant.
	assessing bool
}

// task is one graceful eviction task.
type task struct {
	api.GracefulEvictionTask
	// recheck is when time alone may end the task.
	recheck time.Time
	// back is set where the cluster no longer evicts the workload, for the instant in which that is heard.
	back bool
	// overdue is set once the task has outlived its timeout because the copy is the last.
	overdue bool
	// overtaken is set once the substitute no longer waits for a copy that is purged directly.
	overtaken bool
	// trial is set where the governor wants to know how it ends.
	trial bool
}

// abandonReturn marks a return to be withdrawn where what it returns to must be evicted from before it took over: any
// cluster of an earlier group, or one that has the task's replicas.
func (h *handover) abandonReturn(v *view) {
	for i := range h.tasks {
		k := &h.tasks[i]
		if k.Reason != api.EvictionReasonFailback {
			continue
		}
		byShares := k.FromAffinity == v.affinity
		k.back = k.back || slices.ContainsFunc(v.targets, func(t target) bool {
			return t.countdown.due && (!byShares || k.isReplacedBy(t.cluster))
		})
	}
}

// purges reports whether the old copy on one of the clusters would go before its replacement is healthy.
func (v *view) purges(now time.Time, leaving []messages.ClusterName) bool {
	return slices.ContainsFunc(leaving, func(c messages.ClusterName) bool {
		t := v.targets.of(c)
		if t.countdown.grounds.Reason == api.EvictionReasonApplicationFailure && !v.failsOver() {
			return false // people took that back in this instant: it stays, as soon as it is looked at
		}
		k := v.newTask(now, t, "")
		return !eviction.KeepsCopy(&k)
	})
}

// isReplacedBy reports whether a cluster took over from the task's.
func (k *task) isReplacedBy(c messages.ClusterName) bool {
	return api.FindTarget(k.ReplacedBy, string(c)) >= 0
}

// taskTime is the creation time of a task that is written now.
func (d *declared) taskTime(now time.Time) *metav1.Time {
	return &metav1.Time{Time: d.ways().Time(now)}
}

func (v *view) newTask(now time.Time, t *target, trigger string) api.GracefulEvictionTask {
	d := eviction.Origin{Cluster: string(t.cluster), Replicas: t.replicas}
	state, err := v.preserved(t.cluster, t.countdown.grounds.Reason)
	if err != nil {
		d.Message = "without its state: " + err.Error()
	}
	d.State = state
	if len(v.preservation(t.countdown.grounds.Reason)) > 0 {
		d.Before = v.placedBefore(now)
	}
	switch t.countdown.grounds.Reason {
	case api.EvictionReasonTaintUntolerated:
		return eviction.ForTaint(d, v.spec.Failover, v.settings.NoExecuteTaintEvictionPurgeMode)
	case api.EvictionReasonFailback:
		return eviction.ForFailback(d, v.affinity)
	case api.EvictionReasonRebalance:
		return eviction.ForMove(d, api.EvictionReasonRebalance, v.spec.Failover)
	case api.EvictionReasonReschedule:
		d.Message = trigger
		return eviction.ForMove(d, api.EvictionReasonReschedule, v.spec.Failover)
	}
	k, err := eviction.ForApplication(d, v.spec.Failover.Application, v.producer(), v.settings.GracefulEviction)
	if err != nil {
		panic(fmt.Sprintf("binding %s: leaves %s although %v", v.name, t.cluster, err))
	}
	return k
}

// producer is who Karmada says writes the tasks of application failover.
func (v *view) producer() string {
	if strings.Contains(string(v.name), "/") {
		return api.ProducerApplicationFailover
	}
	return api.ProducerClusterApplicationFailover
}

func (h *handover) end(v *view, now time.Time, i int, why string, out *actors.Outbox) {
	k := h.tasks[i]
	h.tasks = slices.Delete(h.tasks, i, i+1)
	if v.ways().ReturnsInNoTime() && !k.CreationTimestamp.Time.Before(v.taskTime(now).Time) {
		owned(&v.past).leaveInNoTime(now, messages.ClusterName(k.FromCluster))
	}
	h.ended(v, now, &k, why, out)
}

// ended says that a task is no more.
func (h *handover) ended(v *view, now time.Time, k *task, why string, out *actors.Outbox) {
	c := messages.ClusterName(k.FromCluster)
	if v.targets.of(c) == nil {
		out.TellCluster(c, &messages.BindingLeft{Binding: v.name})
	}
	v.conclude(k.trial, c, why == messages.EndedHealthy || why == messages.EndedScaledToZero, out)
	out.Record(&messages.EvictionEnded{Binding: v.name, Cluster: c, Reason: why, After: now.Sub(k.CreationTimestamp.Time)})
}

// restore takes over stored tasks, in place of those there are, and watches their clusters. What is
// known of a task beyond what is stored stays. A stored task that is past its time is one whose copy is
// the last, and said so.
func (h *handover) restore(v *view, now time.Time, stored []api.GracefulEvictionTask, out *actors.Outbox) {
	tasks := make([]task, len(stored))
	for i := range stored {
		k := &tasks[i]
		k.GracefulEvictionTask = stored[i]
		if known := v.handover.task(messages.ClusterName(k.FromCluster)); known != nil {
			k.overdue, k.overtaken, k.trial = known.overdue, known.overtaken, known.trial
			if k.ReplacedBy == nil {
				k.ReplacedBy = known.ReplacedBy
			}
		}
		k.overdue = k.overdue || v.restoring && eviction.Assess(&k.GracefulEvictionTask, now, eviction.Handover{
			Timeout: v.settings.GracefulEvictionTimeout, KeepLastCopy: true,
		}).Why == eviction.LastCopy
		k.overtaken = k.overtaken || v.restoring && v.purgeOverdue(now, k)
		out.TellCluster(messages.ClusterName(k.FromCluster), &messages.BindingPlaced{Binding: v.name, Leaving: v.restoring})
	}
	h.tasks = tasks
}

// drop ends the tasks that people took off the list.
func (h *handover) drop(v *view, now time.Time, before []task, out *actors.Outbox) {
	for i := range before {
		if v.handover.task(messages.ClusterName(before[i].FromCluster)) == nil {
			h.ended(v, now, &before[i], messages.EndedDeleted, out)
		}
	}
}

// conclude tells the governor how a way out of a cluster ended that was on trial.
func (v *view) conclude(trial bool, c messages.ClusterName, serves bool, out *actors.Outbox) {
	if trial {
		out.TellGovernor(&messages.TrialConcluded{Binding: v.name, Cluster: c, Serves: serves})
	}
}

// apply goes on with a trial after a restart: its end was told, and forgotten, if its task is no more.
func (h *handover) apply(v *view, m *messages.ReportTrial, out *actors.Outbox) {
	if k := h.task(m.Cluster); k != nil {
		k.trial = true
		return
	}
	v.conclude(true, m.Cluster, v.servesElsewhere(), out)
}

// purging reports whether a copy that is purged directly still blocks what must start.
func (v *view) purging() bool { return slices.ContainsFunc(v.handover.tasks, v.blocks) }

// blocks reports whether a task's copy is being purged and nothing may start meanwhile.
func (v *view) blocks(k task) bool {
	if k.overtaken || eviction.KeepsCopy(&k.GracefulEvictionTask) {
		return false
	}
	c := v.copy(messages.ClusterName(k.FromCluster))
	return c != nil && c.removing
}

// deadline is when time alone may end a task, or the first copy that blocks has done so for long enough; zero: never.
func (h *handover) deadline(v *view) (first time.Time) {
	for i := range h.tasks {
		k := &h.tasks[i]
		first = actors.Earlier(first, k.recheck)
		if v.blocks(*k) {
			first = actors.Earlier(first, eviction.PurgeOverdue(&k.GracefulEvictionTask, v.settings.DirectPurgeTimeout))
		}
	}
	return first
}

// overtakePurges lets substitutes start whose predecessors have been in the way for too long, and reports whether there are any.
func (h *handover) overtakePurges(v *view, now time.Time, out *actors.Outbox) (overtaken bool) {
	for i := range h.tasks {
		k := &h.tasks[i]
		if !v.blocks(*k) || !v.purgeOverdue(now, k) {
			continue
		}
		k.overtaken, overtaken = true, true
		out.Record(&messages.PurgeOvertaken{
			Binding: v.name, Cluster: messages.ClusterName(k.FromCluster), After: now.Sub(k.CreationTimestamp.Time),
		})
	}
	return overtaken
}

func (d *declared) purgeOverdue(now time.Time, k *task) bool {
	at := eviction.PurgeOverdue(&k.GracefulEvictionTask, d.settings.DirectPurgeTimeout)
	return !at.IsZero() && !now.Before(at)
}
