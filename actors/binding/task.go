package binding

import (
	"cmp"
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

// evict takes a target off the result and writes its task. The trigger says what made the scheduler move the
// binding, where nothing else did.
func (b *Binding) evict(now time.Time, c messages.ClusterName, trigger string, out *actors.Outbox) {
	i := slices.IndexFunc(b.targets, func(t target) bool { return t.cluster == c })
	t := b.targets[i]
	b.leavesHome(&t, out)
	b.givenUp(&t, out)
	if b.task(c) == nil { // else the first task stands
		k := task{GracefulEvictionTask: b.newTask(now, &t, trigger), trial: t.leave.trial}
		k.CreationTimestamp = b.taskTime(now)
		b.tasks = append(b.tasks, k)
		b.hopped(now, &k)
	}
	b.targets = slices.Delete(b.targets, i, i+1)
	b.reviseAnswer(c, out)
	out.Record(&messages.EvictionStarted{Binding: b.name, Cluster: c, Task: b.task(c).GracefulEvictionTask, Grounds: t.leave.grounds})
}

// taskTime is the creation time of a task that is written now.
func (v *view) taskTime(now time.Time) *metav1.Time {
	if v.settings.WholeSecondTaintTimes {
		now = now.Truncate(time.Second)
	}
	return &metav1.Time{Time: now}
}

func (v *view) newTask(now time.Time, t *target, trigger string) api.GracefulEvictionTask {
	d := eviction.Departure{Cluster: string(t.cluster), Replicas: t.replicas}
	state, err := v.preserved(t.cluster, t.leave.grounds.Reason)
	if err != nil {
		d.Message = "without its state: " + err.Error()
	}
	d.State = state
	if len(v.preservation(t.leave.grounds.Reason)) > 0 {
		d.Before = v.placedBefore(now)
	}
	switch t.leave.grounds.Reason {
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

// reassess has the tasks, if there are any, assessed at the end of the instant, when all that is to be
// heard in it has been.
func (b *Binding) reassess() { b.assessing = len(b.tasks) > 0 || b.shrinks() }

// assessTasks withdraws the tasks whose clusters came back and ends every other that is done. All share one verdict on health, as in Karmada.
func (b *Binding) assessTasks(now time.Time, out *actors.Outbox) {
	b.assessing = false
	b.withdrawTasks(now, out)
	if len(b.tasks) == 0 && !b.shrinks() {
		return
	}
	shortage := b.shortage()
	inTime, began, late := b.handsOver(), b.handoverBegan(), false
	state, served, ended := b.health(b.targets), shortage == "" && b.servesElsewhere(), b.releaseShrinks(now, out)
	for i := 0; i < len(b.tasks); i++ {
		k := &b.tasks[i]
		o := eviction.Assess(&k.GracefulEvictionTask, now, eviction.Handover{
			Timeout: b.settings.GracefulEvictionTimeout, Scheduled: b.scheduled, Healthy: state.Healthy,
			KeepLastCopy: b.settings.KeepLastCopy, HealthyElsewhere: served, ScaledToZero: b.scaledToZero(),
		})
		k.recheck, late = o.Recheck, late || outOfTime(o)
		if o.Drop() {
			b.endTask(now, i, o.Why.String(), out)
			ended = true
			i--
			continue
		}
		if o.Why == eviction.LastCopy && !k.overdue {
			k.overdue = true
			ended = ended || len(b.starting()) > 0 // its starts count no longer
			out.Record(&messages.ReleaseHeld{Binding: b.name, Cluster: messages.ClusterName(k.FromCluster), Message: cmp.Or(shortage, state.Reason(), "it is placed nowhere else")})
		}
	}
	if inTime && late && !b.handsOver() {
		b.startsFailed(began, out)
	}
	if b.release(state.Replicas, out) || ended {
		b.mention(now, out)
		b.syncCopies(out)
	}
}

func (b *Binding) endTask(now time.Time, i int, why string, out *actors.Outbox) {
	k := b.tasks[i]
	b.tasks = slices.Delete(b.tasks, i, i+1)
	b.leftInNoTime(now, &k)
	b.taskEnded(now, &k, why, out)
}

// taskEnded says that a task is no more.
func (b *Binding) taskEnded(now time.Time, k *task, why string, out *actors.Outbox) {
	c := messages.ClusterName(k.FromCluster)
	if b.target(c) == nil {
		out.TellCluster(c, &messages.BindingLeft{Binding: b.name})
	}
	b.conclude(k.trial, c, why == messages.EndedHealthy || why == messages.EndedScaledToZero, out)
	out.Record(&messages.EvictionEnded{Binding: b.name, Cluster: c, Reason: why, After: now.Sub(k.CreationTimestamp.Time)})
}

func (v *view) duplicated() bool {
	return !v.spec.Placement.ReplicaScheduling.Divides() || !v.hasReplicas()
}

// restoreTasks takes over stored tasks, in place of those there are, and watches their clusters. What is
// known of a task beyond what is stored stays. A stored task that is past its time is one whose copy is
// the last, and said so.
func (b *Binding) restoreTasks(now time.Time, stored []api.GracefulEvictionTask, out *actors.Outbox) {
	tasks := make([]task, len(stored))
	for i := range stored {
		k := &tasks[i]
		k.GracefulEvictionTask = stored[i]
		if known := b.task(messages.ClusterName(k.FromCluster)); known != nil {
			k.overdue, k.overtaken, k.trial = known.overdue, known.overtaken, known.trial
			if k.ReplacedBy == nil {
				k.ReplacedBy = known.ReplacedBy
			}
		}
		k.overdue = k.overdue || b.restoring && eviction.Assess(&k.GracefulEvictionTask, now, eviction.Handover{
			Timeout: b.settings.GracefulEvictionTimeout, KeepLastCopy: true,
		}).Why == eviction.LastCopy
		k.overtaken = k.overtaken || b.restoring && b.purgeOverdue(now, k)
		out.TellCluster(messages.ClusterName(k.FromCluster), &messages.BindingPlaced{Binding: b.name, Leaving: b.restoring})
	}
	b.tasks = tasks
}

// dropTasks ends the tasks that people took off the list.
func (b *Binding) dropTasks(now time.Time, before []task, out *actors.Outbox) {
	for i := range before {
		if b.task(messages.ClusterName(before[i].FromCluster)) == nil {
			b.taskEnded(now, &before[i], messages.EndedDeleted, out)
		}
	}
}
