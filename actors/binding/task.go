package binding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/actors/rules/taint"
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
}

// evict takes a target off the result and writes its task.
func (b *Binding) evict(now time.Time, c messages.ClusterName, out *actors.Outbox) {
	i := slices.IndexFunc(b.targets, func(t target) bool { return t.cluster == c })
	t := b.targets[i]
	b.leavesHome(&t, out)
	if b.task(c) == nil { // else the first task stands
		k := task{GracefulEvictionTask: b.newTask(now, &t)}
		k.CreationTimestamp = b.taskTime(now)
		b.tasks = append(b.tasks, k)
		b.hopped(now, &k)
	}
	b.targets = slices.Delete(b.targets, i, i+1)
	b.reviseAnswer(c, out)
	out.Record(&messages.EvictionStarted{Binding: b.name, Cluster: c, Task: b.task(c).GracefulEvictionTask, Grounds: t.leave.grounds})
}

// taskTime is the creation time of a task that is written now.
func (b *Binding) taskTime(now time.Time) *metav1.Time {
	if b.settings.WholeSecondTaintTimes {
		now = now.Truncate(time.Second)
	}
	return &metav1.Time{Time: now}
}

func (b *Binding) newTask(now time.Time, t *target) api.GracefulEvictionTask {
	d := eviction.Departure{Cluster: string(t.cluster), Replicas: t.replicas}
	state, err := b.preserved(t.cluster, t.leave.grounds.Reason)
	if err != nil {
		d.Message = "without its state: " + err.Error()
	}
	d.State = state
	if len(b.preservation(t.leave.grounds.Reason)) > 0 {
		d.Before = b.placedBefore(now)
	}
	switch t.leave.grounds.Reason {
	case api.EvictionReasonTaintUntolerated:
		return eviction.ForTaint(d, b.spec.Failover, b.settings.NoExecuteTaintEvictionPurgeMode)
	case api.EvictionReasonFailback:
		return eviction.ForFailback(d, b.affinity)
	case api.EvictionReasonRebalance:
		return eviction.ForRebalance(d)
	}
	k, err := eviction.ForApplication(d, b.spec.Failover.Application, b.producer(), b.settings.GracefulEviction)
	if err != nil {
		panic(fmt.Sprintf("binding %s: leaves %s although %v", b.name, t.cluster, err))
	}
	return k
}

// producer is who Karmada says writes the tasks of application failover.
func (b *Binding) producer() string {
	if strings.Contains(string(b.name), "/") {
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
	state, served, ended := b.health(b.targets), shortage == "" && b.servesElsewhere(), b.releaseShrinks(now, out)
	for i := 0; i < len(b.tasks); i++ {
		k := &b.tasks[i]
		o := eviction.Assess(&k.GracefulEvictionTask, now, eviction.Handover{
			Timeout: b.settings.GracefulEvictionTimeout, Scheduled: b.scheduled, Healthy: state.Healthy,
			KeepLastCopy: b.settings.KeepLastCopy, HealthyElsewhere: served,
		})
		k.recheck = o.Recheck
		if o.Drop() {
			b.endTask(now, i, o.Why.String(), out)
			ended = true
			i--
			continue
		}
		if o.Why == eviction.LastCopy && !k.overdue {
			k.overdue = true
			out.Record(&messages.ReleaseHeld{Binding: b.name, Cluster: messages.ClusterName(k.FromCluster), Message: cmp.Or(shortage, state.Reason(), "it is placed nowhere else")})
		}
	}
	if b.release(state.Replicas, out) || ended {
		b.ask(now, out)
		b.syncCopies(out)
	}
}

func (b *Binding) endTask(now time.Time, i int, why string, out *actors.Outbox) {
	k := b.tasks[i]
	b.tasks = slices.Delete(b.tasks, i, i+1)
	b.taskEnded(now, &k, why, out)
}

// taskEnded says that a task is no more.
func (b *Binding) taskEnded(now time.Time, k *task, why string, out *actors.Outbox) {
	c := messages.ClusterName(k.FromCluster)
	if b.target(c) == nil {
		out.TellCluster(c, &messages.BindingLeft{Binding: b.name})
	}
	out.Record(&messages.EvictionEnded{Binding: b.name, Cluster: c, Reason: why, After: now.Sub(k.CreationTimestamp.Time)})
}

// cameBack notes whether a task's cluster no longer evicts the workload, so that the task is withdrawn
// while that still helps: the old copy runs replicas and the hand-over is not done.
func (b *Binding) cameBack(now time.Time, k *task, taints []corev1.Taint) {
	tolerations, _ := b.tolerations()
	v := taint.Deadline(taints, tolerations, b.rule())
	stays := v.Outcome == taint.Forever || v.Outcome == taint.Until && v.At.After(now)
	runs := eviction.KeepsCopy(&k.GracefulEvictionTask) && (k.Replicas == nil || *k.Replicas > 0)
	k.back = stays && runs && k.Reason == api.EvictionReasonTaintUntolerated
	b.reassess()
}

// withdrawTasks takes back the tasks whose clusters came back in this instant.
func (b *Binding) withdrawTasks(now time.Time, out *actors.Outbox) {
	for i := 0; i < len(b.tasks); {
		if k := &b.tasks[i]; k.back && b.withdraws(k) {
			b.withdraw(now, k, out)
			continue
		}
		b.tasks[i].back = false
		i++
	}
}

// withdraw takes an eviction back: the cluster is a target again with the replicas that it had, and
// those that took over give back what they gained.
func (b *Binding) withdraw(now time.Time, k *task, out *actors.Outbox) {
	old := *k
	c := messages.ClusterName(old.FromCluster)
	b.tasks = slices.DeleteFunc(b.tasks, func(t task) bool { return t.FromCluster == old.FromCluster })
	if old.Reason == api.EvictionReasonFailback && old.FromAffinity == b.affinity {
		b.rememberHome(out)
	}
	clusters := giveBack(b.clusters(), b.owed(&old.GracefulEvictionTask))
	back := api.TargetCluster{Name: old.FromCluster}
	if old.Replicas != nil {
		back.Replicas = *old.Replicas
	}
	if s := b.set(); s != nil {
		back.Components = s.Targets
	}
	b.retarget(append(clusters, back), out)
	out.Record(&messages.EvictionWithdrawn{Binding: b.name, Cluster: c, Reason: b.takenBack(&old), Clusters: b.clusters()})
	b.arrive(out)
	b.ask(now, out)
	b.syncCopies(out)
}

// successors are who has replicas now that some clusters once took over: where one of these is being left
// itself, those who took over from it.
func (b *Binding) successors(replicas []api.TargetCluster) []api.TargetCluster {
	var now []api.TargetCluster
	for _, r := range replicas {
		k := b.task(messages.ClusterName(r.Name))
		if k == nil {
			now = append(now, r)
		} else if len(k.ReplacedBy) > 0 {
			taken, _ := take(k.ReplacedBy, r.Replicas, b.duplicated())
			now = append(now, b.successors(taken)...)
		}
	}
	return now
}

// giveBack takes gains off a result; a cluster that has nothing else is off it.
func giveBack(clusters, gained []api.TargetCluster) []api.TargetCluster {
	var left []api.TargetCluster
	for _, c := range clusters {
		rest := c
		gains := false
		for _, g := range gained {
			if g.Name == c.Name {
				rest.Replicas -= g.Replicas
				gains = true
			}
		}
		if !gains || rest.Replicas > 0 {
			left = append(left, rest)
		}
	}
	return left
}

// shareGains puts what a decision added down to the tasks that wait for it, each as much as it gave up.
func (b *Binding) shareGains(before, after []api.TargetCluster) (takeovers []messages.Takeover) {
	pool := gains(before, after)
	for i := range b.tasks {
		k := &b.tasks[i]
		if len(k.ReplacedBy) > 0 || len(pool) == 0 {
			continue
		}
		want := int32(0)
		if k.Replicas != nil {
			want = *k.Replicas
		}
		if k.ReplacedBy, pool = take(pool, want, b.duplicated()); len(k.ReplacedBy) > 0 {
			takeovers = append(takeovers, messages.Takeover{From: messages.ClusterName(k.FromCluster), By: k.ReplacedBy})
		}
	}
	return takeovers
}

// take cuts want replicas off a pool of gains, or, where each cluster runs all replicas, one cluster.
func take(pool []api.TargetCluster, want int32, whole bool) (taken, rest []api.TargetCluster) {
	if whole {
		return pool[:1], pool[1:]
	}
	for i, g := range pool {
		if want == 0 {
			return taken, append(rest, pool[i:]...)
		}
		n := min(want, g.Replicas)
		taken = append(taken, api.TargetCluster{Name: g.Name, Replicas: n})
		want -= n
		if g.Replicas > n {
			rest = append(rest, api.TargetCluster{Name: g.Name, Replicas: g.Replicas - n})
		}
	}
	return taken, rest
}

// gains are the replicas that clusters have more after than before, new clusters with all of theirs.
func gains(before, after []api.TargetCluster) []api.TargetCluster {
	var pool []api.TargetCluster
	for _, a := range after {
		had, known := int32(0), false
		for _, b := range before {
			if b.Name == a.Name {
				had, known = b.Replicas, true
			}
		}
		if !known || a.Replicas > had {
			pool = append(pool, api.TargetCluster{Name: a.Name, Replicas: a.Replicas - had})
		}
	}
	return pool
}

func (b *Binding) duplicated() bool {
	return !b.spec.Placement.ReplicaScheduling.Divides() || !b.hasReplicas()
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
			k.overdue, k.overtaken = known.overdue, known.overtaken
			if k.ReplacedBy == nil {
				k.ReplacedBy = known.ReplacedBy
			}
		}
		k.overdue = k.overdue || b.restoring && eviction.Assess(&k.GracefulEvictionTask, now, eviction.Handover{
			Timeout: b.settings.GracefulEvictionTimeout, KeepLastCopy: true,
		}).Why == eviction.LastCopy
		k.overtaken = k.overtaken || b.restoring && b.purgeOverdue(now, k)
		out.TellCluster(messages.ClusterName(k.FromCluster), &messages.BindingPlaced{Binding: b.name})
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
