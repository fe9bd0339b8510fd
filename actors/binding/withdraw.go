package binding

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

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
			b.withdraw(now, k, "", out)
			continue
		}
		b.tasks[i].back = false
		i++
	}
}

// takeEvictionBack withdraws an eviction that is not committed, so that no client has seen it. Its cause still holds, and is held.
func (b *Binding) takeEvictionBack(now time.Time, c messages.ClusterName, out *actors.Outbox) {
	k, old := b.task(c), b.copy(c)
	if k == nil {
		return
	}
	purged := old != nil && old.removing
	if purged {
		old.removing, old.asking = false, false
	}
	b.withdraw(now, k, "people hold it, and it had not begun", out)
	if purged { // its member was told to remove it
		b.runAsTarget(b.target(c), b.copy(c), out)
	}
}

// withdraw takes an eviction back: the cluster is a target again with the replicas that it had, and
// those that took over give back what they gained. Without a why it is said what came of its grounds.
func (b *Binding) withdraw(now time.Time, k *task, why string, out *actors.Outbox) {
	old := *k
	c := messages.ClusterName(old.FromCluster)
	b.tasks = slices.DeleteFunc(b.tasks, func(t task) bool { return t.FromCluster == old.FromCluster })
	if old.Reason == api.EvictionReasonFailback && old.FromAffinity == b.affinity {
		b.rememberHome(out)
	}
	clusters := giveBack(b.clusters(), b.owed(&old.GracefulEvictionTask))
	b.retarget(append(clusters, b.stillOn(&old)), out)
	b.conclude(old.trial, c, true, out)
	out.Record(&messages.EvictionWithdrawn{Binding: b.name, Cluster: c, Reason: cmp.Or(why, b.takenBack(&old)), Clusters: b.clusters()})
	b.arrive(out)
	b.ask(now, out)
	b.syncCopies(out)
}

// stillOn is the target that the cluster of a task is again when that is taken back.
func (v *view) stillOn(k *task) api.TargetCluster {
	t := api.TargetCluster{Name: k.FromCluster}
	if k.Replicas != nil {
		t.Replicas = *k.Replicas
	}
	if s := v.set(); s != nil {
		t.Components = s.Targets
	}
	return t
}

// reopened reports whether the scheduler may choose the cluster of a task again: it was left by choice, and people
// ask for another placement since.
func (v *view) reopened(k *task) bool { return k.byChoice() && !v.placedAsAsked() }

// byChoice reports whether the cluster need not be left, so that the old copy there, which runs, may stay.
func (k *task) byChoice() bool {
	moved := k.Reason == api.EvictionReasonReschedule || k.Reason == api.EvictionReasonRebalance
	return moved && eviction.KeepsCopy(&k.GracefulEvictionTask)
}

// reopens reports whether that is so of any task.
func (v *view) reopens() bool {
	for i := range v.tasks {
		if v.reopened(&v.tasks[i]) {
			return true
		}
	}
	return false
}

// takeBack makes targets again of the clusters that are left by choice although the next placement has them, with
// what they run. It reports whether there are any.
func (b *Binding) takeBack(next []api.TargetCluster, out *actors.Outbox) (took bool) {
	for i := 0; i < len(b.tasks); {
		k := b.tasks[i]
		if !k.byChoice() || api.FindTarget(next, k.FromCluster) < 0 {
			i++
			continue
		}
		b.tasks = slices.Delete(b.tasks, i, i+1)
		b.retarget(append(b.clusters(), b.stillOn(&k)), out)
		b.conclude(k.trial, messages.ClusterName(k.FromCluster), true, out)
		out.Record(&messages.EvictionWithdrawn{
			Binding: b.name, Cluster: messages.ClusterName(k.FromCluster), Reason: "it is placed there again", Clusters: b.clusters(),
		})
		took = true
	}
	return took
}

// successors are who has replicas now that some clusters once took over: where one of these is being left
// itself, those who took over from it.
func (v *view) successors(replicas []api.TargetCluster) []api.TargetCluster {
	var now []api.TargetCluster
	for _, r := range replicas {
		k := v.task(messages.ClusterName(r.Name))
		if k == nil {
			now = append(now, r)
		} else if len(k.ReplacedBy) > 0 {
			taken, _ := take(k.ReplacedBy, r.Replicas, v.duplicated())
			now = append(now, v.successors(taken)...)
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
