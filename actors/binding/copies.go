package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/actors/rules/health"
	"leeward/messages"
	"leeward/messages/api"
)

// copyState is what the binding told a member, and what the member reports.
type copyState struct {
	cluster  messages.ClusterName
	replicas int32
	// revision is the version of the pod template that the member was last told to run.
	revision int32
	// placement numbers what the member was last told.
	placement int64
	// removing is set from telling the member to remove the copy until it says that it did; asking, if it is to
	// ask first where it was silent.
	removing, asking bool
	// withheld is set where the member was not told what the copy is to be, for dispatching is suspended.
	withheld bool
	// full is set where the member says that it has no room for more replicas.
	full bool

	reported       bool
	health         api.ResourceHealth
	ready          int32
	runs           int32  // the version of the pod template that the ready replicas run
	status         string // what the copy says of itself beside its replicas: a JSON object, or nothing
	forPlacement   int64
	unhealthySince time.Time
	// startingSince is when a copy that was never healthy first reported; zero once it was.
	startingSince time.Time
}

func (v *view) copy(c messages.ClusterName) *copyState {
	for i := range v.copies {
		if v.copies[i].cluster == c {
			return &v.copies[i]
		}
	}
	return nil
}

// syncCopies tells members what changed in what they are to run: targets run their share, clusters
// that are being left keep what they have, unless they are left directly; everything else goes. While a
// copy that is left directly still stands, nothing new starts, for a time. Source: Karmada's binding controller.
func (b *Binding) syncCopies(out *actors.Outbox) {
	b.dropCopies(out)
	b.runCopies(out)
}

// runCopies tells the members of copies that are wanted what to run.
func (b *Binding) runCopies(out *actors.Outbox) {
	if b.blocked() {
		return
	}
	// Room for as many as there may be, and not, as append has it, for twice as many: there may be a million bindings.
	if most := len(b.targets) + len(b.tasks); cap(b.copies) < most {
		b.copies = append(make([]copyState, 0, most), b.copies...)
	}
	for i := range b.targets {
		b.runCopy(&b.targets[i], out)
	}
	b.runRequired(out)
}

// dropCopies tells the members of copies that are not wanted to remove them.
func (b *Binding) dropCopies(out *actors.Outbox) {
	for i := range b.copies {
		c := &b.copies[i]
		if !b.wanted(c.cluster) {
			b.removeCopy(c, b.preserves() && !b.settings.PreserveOnlyDeleted, out)
		}
	}
}

// preserves reports whether copies are to run on where nobody asks for them any more.
func (v *view) preserves() bool {
	return v.spec.PreserveResourcesOnDeletion != nil && *v.spec.PreserveResourcesOnDeletion
}

// removeCopy tells a copy's member once that it is to go, or only to be looked after no more; where an old copy
// may take its place back, one that is silent is to ask when it returns. Source: Karmada's execution
// controller, which preserves with every Work that goes.
func (b *Binding) removeCopy(c *copyState, preserve bool, out *actors.Outbox) {
	ask := b.judges() && b.homeShare(c.cluster) != nil
	if c.removing && (ask || !c.asking) {
		return
	}
	c.removing, c.asking = true, ask
	out.TellMember(c.cluster, &messages.RemoveCopy{Binding: b.name, Preserve: preserve, Ask: ask})
}

// wanted reports whether a cluster is to have a copy.
func (b *Binding) wanted(c messages.ClusterName) bool {
	if b.target(c) != nil || b.required(c) {
		return true
	}
	if s := b.homeShare(c); s != nil && s.kept {
		return true
	}
	k := b.task(c)
	return k != nil && eviction.KeepsCopy(&k.GracefulEvictionTask)
}

// revision is the present version of the pod template.
func (v *view) revision() int32 {
	if v.workload == nil {
		return 0
	}
	return v.workload.Revision
}

// runCopy tells a target's member what to run. A copy that is still going is waited for.
func (b *Binding) runCopy(t *target, out *actors.Outbox) {
	c := b.copy(t.cluster)
	switch {
	case c == nil:
		b.copies = append(b.copies, copyState{cluster: t.cluster})
		c = &b.copies[len(b.copies)-1]
	case c.removing:
		b.forgetReport(c, out)
		return
	case !c.withheld && c.replicas == t.runs() && c.revision >= b.revision():
		return
	}
	b.runAsTarget(t, c, out)
}

// runAsTarget tells a target's member what to run, whatever it was told before.
func (b *Binding) runAsTarget(t *target, c *copyState, out *actors.Outbox) {
	if b.withhold(c, out) {
		return
	}
	c.replicas, c.revision = t.runs(), max(c.revision, b.revision())
	b.tellRun(c, false, out)
}

// copyEdited tells a cluster again what it is to run, once it may be told: its copy serves this placement when it says so of that.
func (b *Binding) copyEdited(cluster messages.ClusterName, out *actors.Outbox) {
	c := b.copy(cluster)
	if c != nil && !c.removing && b.wanted(cluster) && !b.withhold(c, out) {
		b.tellRun(c, false, out)
	}
}

func (b *Binding) tellRun(c *copyState, adopt bool, out *actors.Outbox) {
	b.placements++
	c.placement = b.placements
	m := &messages.RunCopy{Binding: b.name, Replicas: c.replicas, Revision: c.revision, Placement: c.placement, Adopt: adopt, AsIs: adopt && b.spec.Suspension.Dispatch(string(c.cluster))}
	if adopt {
		m.Found = c.found()
	} else {
		m.Labels = b.inherited(c.cluster)
	}
	out.TellMember(c.cluster, m)
}

// found is how a copy was reported, unless all of it serves.
func (c *copyState) found() messages.CopyFound {
	if c.health == api.Healthy && (c.ready == 0 || c.ready >= c.replicas) {
		return messages.CopyFound{}
	}
	return messages.CopyFound{Health: c.health, Ready: c.ready, Starting: !c.startingSince.IsZero()}
}

func (b *Binding) copyReported(now time.Time, m *messages.CopyReported, out *actors.Outbox) {
	c := b.copy(m.Cluster)
	if c == nil && m.Kept && b.created { // told before a restart, of a copy that was not heard of
		b.copies = append(b.copies, copyState{cluster: m.Cluster, removing: true, asking: true})
		c = b.copy(m.Cluster)
	}
	if c != nil && m.Kept && c.removing && c.asking { // else it was told meanwhile to go for good
		b.originalReported(now, c, out)
		c = b.copy(m.Cluster) // others may have come, for which there was no room
	}
	if c == nil || c.removing {
		return
	}
	news := !c.reported || c.health != m.Health || c.ready != m.Ready || c.runs != m.Revision
	c.heard(now, m.Health)
	c.reported, c.health, c.ready, c.runs, c.forPlacement = true, m.Health, m.Ready, m.Revision, m.ForPlacement
	if news {
		out.Record(&messages.HealthChanged{
			Binding: b.name, Cluster: m.Cluster, Health: m.Health, Ready: m.Ready, Revision: m.Revision,
			Since: c.unhealthySince, Starting: c.startingSince,
		})
	}
	b.statusReported(c, m.Status, out)
	b.roomReported(now, c, m, out)
	b.judgeOriginal(now, c, out)
	if t := b.target(m.Cluster); t != nil {
		b.reconsider(now, t, false, out)
	}
	b.reassess()
}

func (b *Binding) copyRemoved(now time.Time, cluster messages.ClusterName, out *actors.Outbox) {
	c := b.copy(cluster)
	if c == nil || !c.removing {
		return
	}
	b.forgetReport(c, out)
	if c.withheld {
		out.Record(&messages.DispatchResumed{Binding: b.name, Cluster: cluster, Gone: true})
	}
	b.countWaiting(now, cluster, 0, out)
	b.copies = slices.DeleteFunc(b.copies, func(c copyState) bool { return c.cluster == cluster })
	b.syncCopies(out)
	b.reassess()
}

// forgetReport forgets how a copy was that goes: it says nothing of the one that follows it.
func (b *Binding) forgetReport(c *copyState, out *actors.Outbox) {
	if c.reported {
		c.reported, c.unhealthySince, c.startingSince = false, time.Time{}, time.Time{}
		out.Record(&messages.HealthForgotten{Binding: b.name, Cluster: c.cluster})
	}
}

// health judges targets by what their members report.
func (v *view) health(targets []target) health.Verdict {
	var (
		few     [4]health.Target // most workloads run on few clusters: the lists of those stay off the heap
		fewer   [4]health.Report
		wanted  = few[:0]
		reports = fewer[:0]
	)
	for i := range targets {
		t := health.Target{Cluster: targets[i].cluster, Replicas: targets[i].pods()}
		if c := v.copy(t.Cluster); c != nil {
			t.Placement, t.Revision = c.placement, c.revision
		}
		wanted = append(wanted, t)
	}
	for i := range v.copies {
		if c := &v.copies[i]; c.reported && !c.removing {
			reports = append(reports, health.Report{
				Cluster: c.cluster, Health: c.health, ReadyReplicas: c.ready, Revision: c.runs, ForPlacement: c.forPlacement,
			})
		}
	}
	return health.Of(reports, wanted, v.settings.HandoverHealth)
}

// servesElsewhere reports whether some target is healthy by itself.
func (v *view) servesElsewhere() bool {
	for i := range v.targets {
		if v.health(v.targets[i : i+1]).Healthy {
			return true
		}
	}
	return false
}

// restoreCopies takes over what members had reported. How long a copy has been unhealthy counts from
// now where timers do not outlive a restart.
func (b *Binding) restoreCopies(now time.Time, s *api.BindingStatus) {
	if s == nil {
		return
	}
	for i := range s.AggregatedStatus {
		item := &s.AggregatedStatus[i]
		if b.copy(messages.ClusterName(item.ClusterName)) != nil {
			continue
		}
		c := copyState{
			cluster: messages.ClusterName(item.ClusterName), revision: item.Revision,
			reported: true, health: item.Health, ready: item.ReadyReplicas, runs: item.Revision,
		}
		if c.health == api.Unhealthy {
			c.unhealthySince = now
		}
		if item.Status != nil {
			c.status = string(item.Status.Raw)
		}
		if item.StartingSince != nil {
			c.startingSince = item.StartingSince.Time
		}
		if item.UnhealthySince != nil && b.settings.PersistentFailoverTimers {
			c.unhealthySince = item.UnhealthySince.Time
		}
		b.copies = append(b.copies, c)
	}
	b.restoreDispatch(s)
	b.restoreUnheard()
}

// restoreUnheard knows old copies again of which nothing was heard before a restart: a cluster that is cut off starts
// what it was told to when it returns, and must hear when that is to go.
func (b *Binding) restoreUnheard() {
	for i := range b.tasks {
		c := messages.ClusterName(b.tasks[i].FromCluster)
		if b.restoring && b.copy(c) == nil && b.wanted(c) {
			b.copies = append(b.copies, copyState{cluster: c})
		}
	}
}

// adoptCopies tells the members of restored copies what they run, so that they report how it is. Members that
// outlived the engine know what they run: what is gone there since starts anew.
func (b *Binding) adoptCopies(recovered bool, out *actors.Outbox) {
	for i := range b.copies {
		c := &b.copies[i]
		if t := b.target(c.cluster); t != nil {
			c.replicas = t.runs()
		} else if k := b.task(c.cluster); k != nil && k.Replicas != nil {
			c.replicas = *k.Replicas
		} else if s := b.set(); k != nil && s != nil {
			c.replicas = s.Targets.Pods()
		} else if s := b.homeShare(c.cluster); s != nil {
			c.replicas = s.Replicas
		}
		if b.wanted(c.cluster) && !c.removing && (c.reported || !c.withheld) {
			b.tellRun(c, c.withheld || c.reported && !recovered, out)
		}
	}
}
