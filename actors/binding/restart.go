package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// bindingApplied takes over a manifest, or the stored object after a restart: the targets, the tasks
// with their times, the reports. Clusters and members are asked to tell the rest. What a binding that
// runs already knows of its copies, it keeps.
func (b *Binding) bindingApplied(now time.Time, m *messages.BindingApplied, out *actors.Outbox) {
	b.restoring = !b.created && m.Status != nil && m.Status.LastScheduledTime != nil
	edited := b.created
	b.created, b.managed, b.claims.owner = true, m.Managed, m.Owner
	b.spec = *m.Spec
	b.spec.Clusters, b.spec.GracefulEvictionTasks, b.spec.RequiredBy = nil, nil, nil // they are in targets, tasks and requiredBy
	if by := m.Spec.RequiredBy; b.dependencies != nil || len(by) > 0 {
		owned(&b.dependencies).restore(by)
	}
	b.applied = m.Applied
	b.restoreStatus(m.Status)
	if m.Spec.RescheduleTriggeredAt != nil {
		b.request.rescheduleAt = m.Spec.RescheduleTriggeredAt.Time
	}
	before := b.handover.tasks
	b.handover.restore(&b.view, now, m.Spec.GracefulEvictionTasks, out)
	b.retarget(m.Spec.Clusters, out)
	b.restoreBlocked(m.Status)
	b.handover.drop(&b.view, now, before, out)
	if s := m.Status; s != nil && s.Shrinking != nil {
		owned(&b.failback).restoreShrinks(&b.view, s.Shrinking)
	}
	if !b.restoring {
		b.forgetPreferred(out) // people say where it is to run
	}
	if m.Status != nil {
		b.copies.restore(now, m.Status, b.ways().PersistentTimers())
		b.restoreUnheard()
	}
	b.adoptCopies(m.Recovered, out)
	b.reconsiderAll(now, out)
	b.ask(now, out)
	if edited {
		b.keepWorkload(now, out)
	}
	b.syncCopies(out)
	b.reassess()
}

// keepWorkload has a binding that was edited as many replicas as its workload: that may have been scaled just before, when
// the edit was made of the binding as it was.
func (b *Binding) keepWorkload(now time.Time, out *actors.Outbox) {
	if b.workload == nil || !b.managed || b.claims.owner == "" {
		return
	}
	next := b.spec
	b.fromWorkload(&next)
	if next.Replicas != b.spec.Replicas {
		b.update(now, next, "", out)
	}
}

func (b *Binding) restoreStatus(s *api.BindingStatus) {
	if s == nil {
		return
	}
	b.affinity = s.SchedulerObservedAffinityName
	b.failback = restoreFailback(s)
	b.past = pastOf(s.FailoverHistory)
	if b.unschedulable != nil || len(s.Unschedulable) > 0 {
		owned(&b.unschedulable).waiting = s.Unschedulable
	}
	if s.LastScheduledTime != nil {
		b.request.lastScheduled = s.LastScheduledTime.Time
	}
}

// restoreUnheard knows old copies again of which nothing was heard before a restart: a cluster that is cut off starts
// what it was told to when it returns, and must hear when that is to go.
func (b *Binding) restoreUnheard() {
	for i := range b.handover.tasks {
		c := messages.ClusterName(b.handover.tasks[i].FromCluster)
		if b.restoring && b.copy(c) == nil && b.wanted(c) {
			b.copies = append(b.copies, copyState{cluster: c})
		}
	}
}

// adoptCopies tells the members of restored copies what they run, so that they report how it is. Members that
// outlived the engine know what they run: what is gone there since starts again.
func (b *Binding) adoptCopies(recovered bool, out *actors.Outbox) {
	for i := range b.copies {
		c := &b.copies[i]
		if t := b.targets.of(c.cluster); t != nil {
			c.replicas = t.runs()
		} else if k := b.handover.task(c.cluster); k != nil && k.Replicas != nil {
			c.replicas = *k.Replicas
		} else if s := b.set(); k != nil && s != nil {
			c.replicas = s.Targets.Pods()
		} else if s := b.failback.share(c.cluster); s != nil {
			c.replicas = s.Replicas
		}
		if b.wanted(c.cluster) && !c.removing && (c.reported || !c.withheld) {
			b.tellRun(c, c.withheld || c.reported && !recovered, out)
		}
	}
}

// restoreBlocked takes over what was said of evictions that are blocked. What blocks one for the pace follows from the
// history.
func (v *view) restoreBlocked(s *api.BindingStatus) {
	if !v.restoring {
		return
	}
	if len(s.Evictions) > 0 {
		owned(&v.past).shown = s.Evictions
	}
	for i := range s.Evictions {
		h := &s.Evictions[i]
		t := v.targets.of(messages.ClusterName(h.Cluster))
		if t == nil || h.State != api.EvictionBlocked || h.Reason == hopLimit {
			continue
		}
		t.countdown.blocked = blocked{reason: h.Reason, message: h.Message}
		if h.Until != nil {
			t.countdown.blocked.until = h.Until.Time
		}
	}
}

// restored ends the instant of a restart: countdowns that began, moved or ended while no engine ran are said, and new reasons of
// evictions that are still blocked.
func (v *view) restored(now time.Time, out *actors.Outbox) {
	v.restoring = false
	var shown []api.Eviction
	if v.past != nil {
		shown, v.past.shown = v.past.shown, nil
	}
	for i := range v.targets {
		t := &v.targets[i]
		state := api.EvictionScheduled
		if t.countdown.blocked != (blocked{}) && !t.countdown.at.IsZero() {
			state = api.EvictionBlocked
		}
		s := slices.IndexFunc(shown, func(e api.Eviction) bool { return e.Cluster == string(t.cluster) && e.State == state })
		switch at := t.countdown.at; {
		case state == api.EvictionBlocked:
			if s >= 0 && t.countdown.blocked.reason != hopLimit && !shows(&shown[s], &t.countdown.grounds) {
				v.tellBlocked(t, nil, out)
			}
		case at.IsZero() && s >= 0:
			out.Record(&messages.EvictionCancelled{Binding: v.name, Cluster: t.cluster, Reason: whyStay(t, &messages.Grounds{Reason: shown[s].Reason})})
		case at.After(now) && t.countdown.blocked == blocked{} && (s < 0 || !sameInstant(shown[s].Deadline.Time, at)):
			v.announce(t, out)
		}
	}
}

// shows reports whether a status names the taint, the policy and the deadline of some reason.
func shows(e *api.Eviction, g *messages.Grounds) bool {
	taint, policy := "", ""
	if g.Taint != nil {
		taint = g.Taint.ToString()
	}
	if g.Cause != nil {
		policy = g.Cause.Policy
	}
	return e.Taint == taint && e.Policy == policy && (g.Deadline.IsZero() || sameInstant(e.Deadline.Time, g.Deadline))
}

// sameInstant compares times as a status keeps them.
func sameInstant(a, b time.Time) bool {
	return a.Truncate(time.Microsecond).Equal(b.Truncate(time.Microsecond))
}
