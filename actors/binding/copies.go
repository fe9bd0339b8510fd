package binding

import (
	"encoding/json"
	"slices"
	"time"

	"leeward/actors"
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
	// withheld is set where the member was not told what the copy must be, for dispatching is suspended.
	withheld bool
	// full is set where the member says that it has no capacity for more replicas.
	full bool

	reported       bool
	health         api.ResourceHealth
	ready          int32
	runs           int32  // the version of the pod template that the ready replicas run
	status         string // what the copy says of itself beside its replicas: a JSON object, or nothing
	refused        string // why the cluster did not apply what it was told to run; empty: it did
	forPlacement   int64
	unhealthySince time.Time
	// startingSince is when a copy that was never healthy first reported; zero once it was.
	startingSince time.Time
}

// copies are what the binding told members, and what they report.
type copies []copyState

// staysServing reports whether something serves on a target from which no eviction is permitted.
func (v *view) staysServing() bool {
	return slices.ContainsFunc(v.targets, func(t target) bool { return !t.countdown.permitted && v.serving(t.cluster) > 0 })
}

// serving is how many replicas of a copy serve.
func (v *view) serving(c messages.ClusterName) int32 {
	k := v.copy(c)
	switch {
	case k == nil || k.removing || !k.reported:
		return 0
	case v.weight(0) == 0:
		return min(k.ready, k.replicas)
	case k.health == api.Healthy:
		return 1
	}
	return 0
}

func (cs copies) of(c messages.ClusterName) *copyState {
	for i := range cs {
		if cs[i].cluster == c {
			return &cs[i]
		}
	}
	return nil
}

func (v *view) copy(c messages.ClusterName) *copyState { return v.copies.of(c) }

// found is how a copy was reported, unless all of it serves.
func (c *copyState) found() messages.CopyFound {
	if c.health == api.Healthy && (c.ready == 0 || c.ready >= c.replicas) {
		return messages.CopyFound{}
	}
	return messages.CopyFound{Health: c.health, Ready: c.ready, Starting: !c.startingSince.IsZero()}
}

// forgetReport forgets how a copy was that goes: it says nothing of the one that follows it.
func (v *view) forgetReport(c *copyState, out *actors.Outbox) {
	if c.reported {
		c.reported, c.unhealthySince, c.startingSince = false, time.Time{}, time.Time{}
		out.Record(&messages.HealthForgotten{Binding: v.name, Cluster: c.cluster})
	}
}

// health judges targets by what their members report.
func (v *view) health(targets []target) health.Summary {
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
	return health.Of(reports, wanted, v.ways().HandoverHealth())
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

// restore takes over what members had reported. How long a copy has been unhealthy counts from
// now where timers do not outlive a restart.
func (cs *copies) restore(now time.Time, s *api.BindingStatus, exact bool) {
	for i := range s.AggregatedStatus {
		item := &s.AggregatedStatus[i]
		if cs.of(messages.ClusterName(item.ClusterName)) != nil {
			continue
		}
		c := copyState{
			cluster: messages.ClusterName(item.ClusterName), revision: item.Revision,
			reported: true, health: item.Health, ready: item.ReadyReplicas, runs: item.Revision,
		}
		if !item.Applied {
			c.refused = item.AppliedMessage
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
		if item.UnhealthySince != nil && exact {
			c.unhealthySince = item.UnhealthySince.Time
		}
		*cs = append(*cs, c)
	}
	cs.restoreDispatch(s)
}

// full are the clusters that have no capacity for more replicas, where the descheduler asks for that.
func (v *view) full() (clusters []messages.ClusterName) {
	if !v.settings.EnableDescheduler {
		return nil
	}
	for i := range v.copies {
		if v.copies[i].full {
			clusters = append(clusters, v.copies[i].cluster)
		}
	}
	return clusters
}

// withhold reports whether a cluster may not be told what its copy must be, and says when that begins and
// ends. Removals are told nevertheless. Source: Karmada's execution controller, which leaves a Work with
// suspendDispatching alone unless it is deleted.
func (v *view) withhold(c *copyState, out *actors.Outbox) bool {
	suspended := v.spec.Suspension.Dispatch(string(c.cluster))
	switch {
	case suspended && !c.withheld:
		out.Record(&messages.DispatchSuspended{Binding: v.name, Cluster: c.cluster})
	case c.withheld && !suspended:
		out.Record(&messages.DispatchResumed{Binding: v.name, Cluster: c.cluster})
	}
	c.withheld = suspended
	return suspended
}

// untold are the clusters that are no destination because they would be told nothing; nil: there are none.
func (d *declared) untold() *api.SuspensionClusters {
	if d.ways().ChoosesUntold() || d.spec.Suspension == nil {
		return nil
	}
	return d.spec.Suspension.DispatchingOnClusters
}

// restoreDispatch takes over which clusters were not told what their copy must be. What they were told
// before is not known.
func (cs *copies) restoreDispatch(s *api.BindingStatus) {
	for _, name := range s.DispatchSuspended {
		c := cs.of(messages.ClusterName(name))
		if c == nil {
			*cs = append(*cs, copyState{cluster: messages.ClusterName(name)})
			c = &(*cs)[len(*cs)-1]
		}
		c.withheld = true
	}
}

// lacking is how many replicas of a target do not serve yet.
func (v *view) lacking(cluster string) int32 {
	t := v.targets.of(messages.ClusterName(cluster))
	if t == nil {
		return 0
	}
	return t.replicas - int32(v.health([]target{*t}).Replicas)
}

// readyOn counts the replicas ready on a cluster, no more than some.
func (v *view) readyOn(cluster string, most int32) int32 {
	if c := v.copy(messages.ClusterName(cluster)); c != nil && c.health == api.Healthy {
		return min(c.ready, most)
	}
	return 0
}

// statusReported notes what a copy says of itself.
func (v *view) statusReported(c *copyState, status string, out *actors.Outbox) {
	if c.status == status {
		return
	}
	c.status = status
	v.reviseAnswer(c.cluster, out)
	out.Record(&messages.StatusChanged{Binding: v.name, Cluster: c.cluster, Status: json.RawMessage(status)})
}

// heard notes what a report says of how long a copy has been unhealthy, and whether it is still starting.
func (c *copyState) heard(now time.Time, h api.ResourceHealth) {
	if h != api.Unhealthy {
		c.unhealthySince = time.Time{}
	} else if c.unhealthySince.IsZero() {
		c.unhealthySince = now
	}
	if h == api.Healthy {
		c.startingSince = time.Time{}
	} else if !c.reported {
		c.startingSince = now
	}
}
