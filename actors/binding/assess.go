package binding

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// assessTasks withdraws the tasks whose clusters came back and ends every other that is done. All share one verdict on health, as in Karmada.
func (b *Binding) assessTasks(now time.Time, out *actors.Outbox) {
	b.handover.assessing = false
	b.withdrawTasks(now, out)
	if len(b.handover.tasks) == 0 && !b.failback.shrinks() {
		return
	}
	shortage := b.shortage()
	inTime, began, late := b.handover.underWay(), b.handover.handoverBegan(), false
	state, served, ended := b.health(b.targets), shortage == "" && b.servesElsewhere(), b.failback.releaseShrinks(&b.view, now, out)
	for i := 0; i < len(b.handover.tasks); i++ {
		k := &b.handover.tasks[i]
		o := eviction.Assess(&k.GracefulEvictionTask, now, eviction.Handover{
			Timeout: b.settings.GracefulEvictionTimeout, Scheduled: b.scheduled, Healthy: state.Healthy,
			KeepLastCopy: b.ways().KeepsLastCopy(), HealthyElsewhere: served, ScaledToZero: b.scaledToZero(),
		})
		k.recheck, late = o.Recheck, late || o.Why == eviction.Timeout || o.Why == eviction.LastCopy
		if o.Drop() {
			b.handover.end(&b.view, now, i, o.Why.String(), out)
			ended = true
			i--
			continue
		}
		if o.Why == eviction.LastCopy && !k.overdue {
			k.overdue = true
			ended = ended || len(b.starting()) > 0 // its starts count no longer
			out.Record(&messages.HandoverBlocked{Binding: b.name, Cluster: messages.ClusterName(k.FromCluster), Message: cmp.Or(shortage, state.Reason(), "no other cluster can take it")})
		}
	}
	if inTime && late && !b.handover.underWay() {
		b.handover.startsFailed(&b.view, began, out)
	}
	if b.release(state.Replicas, out) || ended {
		b.mention(now, out)
		b.syncCopies(out)
	}
}

// release takes replicas off the copies that are evicted gradually, as many as serve in their place, and
// reports whether any went. Before the scheduler has looked it is not known what will serve.
func (b *Binding) release(serving int64, out *actors.Outbox) bool {
	if !b.scheduled {
		return false
	}
	var old []eviction.Holding
	for i := range b.handover.tasks {
		k := &b.handover.tasks[i]
		if eviction.Gradual(&k.GracefulEvictionTask) && b.targets.of(messages.ClusterName(k.FromCluster)) == nil && !b.spec.Suspension.Dispatch(k.FromCluster) {
			old = append(old, eviction.Holding{Cluster: k.FromCluster, Since: k.CreationTimestamp.Time, Replicas: *k.Replicas})
		}
	}
	if len(old) == 0 {
		return false
	}
	wanted := b.wantedReplicas()
	less := eviction.Release(old, wanted-serving)
	for _, h := range less {
		b.shrink(h, fmt.Sprintf("%d of %d replicas are available in the new placement", serving, wanted), out)
	}
	return len(less) > 0
}

// shrink leaves a copy with fewer replicas, and so its task.
func (b *Binding) shrink(h eviction.Holding, why string, out *actors.Outbox) {
	k := b.handover.task(messages.ClusterName(h.Cluster))
	out.Record(&messages.ReplicasReleased{
		Binding: b.name, Cluster: messages.ClusterName(h.Cluster), Before: *k.Replicas, Replicas: h.Replicas, Reason: why,
	})
	k.Replicas = &h.Replicas
	if c := b.copy(messages.ClusterName(h.Cluster)); c != nil && !c.removing {
		c.replicas = h.Replicas
		b.tellRun(c, false, out)
	}
}

// withdrawTasks takes back the tasks whose clusters came back in this instant.
func (b *Binding) withdrawTasks(now time.Time, out *actors.Outbox) {
	for i := 0; i < len(b.handover.tasks); {
		if k := &b.handover.tasks[i]; k.back && b.withdraws(k) {
			b.withdraw(now, k, "", out)
			continue
		}
		b.handover.tasks[i].back = false
		i++
	}
}

// withdraw takes an eviction back: the cluster is a target again with the replicas that it had, and
// those that took over give back what they gained. Without a why the reason tells what became of its cause.
func (b *Binding) withdraw(now time.Time, k *task, why string, out *actors.Outbox) {
	old := *k
	c := messages.ClusterName(old.FromCluster)
	b.handover.tasks = slices.DeleteFunc(b.handover.tasks, func(t task) bool { return t.FromCluster == old.FromCluster })
	if old.Reason == api.EvictionReasonFailback && old.FromAffinity == b.affinity {
		b.rememberPreferred(out)
	}
	clusters := giveBack(b.targets.shown(), b.owed(&old.GracefulEvictionTask))
	b.retarget(append(clusters, b.stillOn(&old)), out)
	b.conclude(old.trial, c, true, out)
	if old.Reason == api.EvictionReasonFailback {
		b.affinity = old.FromAffinity // is in use again
	}
	out.Record(&messages.EvictionWithdrawn{
		Binding: b.name, Cluster: c, Reason: cmp.Or(why, old.takenBack()), Clusters: b.targets.shown(),
	})
	if b.failback.returned(&b.view) {
		b.forgetPreferred(out)
	}
	b.ask(now, out)
	b.syncCopies(out)
}

// takeBack makes targets again of the clusters that are evicted from by choice although the next placement has them, with
// what they run. It reports whether there are any.
func (b *Binding) takeBack(next []api.TargetCluster, out *actors.Outbox) (took bool) {
	for i := 0; i < len(b.handover.tasks); {
		k := b.handover.tasks[i]
		if !k.byChoice() || api.FindTarget(next, k.FromCluster) < 0 {
			i++
			continue
		}
		b.handover.tasks = slices.Delete(b.handover.tasks, i, i+1)
		b.retarget(append(b.targets.shown(), b.stillOn(&k)), out)
		b.conclude(k.trial, messages.ClusterName(k.FromCluster), true, out)
		out.Record(&messages.EvictionWithdrawn{
			Binding: b.name, Cluster: messages.ClusterName(k.FromCluster), Reason: "it was scheduled to this cluster again", Clusters: b.targets.shown(),
		})
		took = true
	}
	return took
}

// takeEvictionBack withdraws an eviction that is not committed, so that no client has seen it. Its cause continues, and an admin holds the eviction.
func (b *Binding) takeEvictionBack(now time.Time, c messages.ClusterName, out *actors.Outbox) {
	k, old := b.handover.task(c), b.copy(c)
	if k == nil {
		return
	}
	purged := old != nil && old.removing
	if purged {
		old.removing, old.asking = false, false
	}
	b.withdraw(now, k, "an admin holds it, and it had not begun", out)
	if purged { // its member was told to remove it
		b.runAsTarget(b.targets.of(c), b.copy(c), out)
	}
}
