package cluster

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// joined takes over a manifest, or the stored object after a restart.
func (c *Cluster) joined(now time.Time, m *messages.ClusterJoined, out *actors.Outbox) {
	o := m.Object
	c.labels, c.provider, c.region, c.zones = o.Labels, o.Spec.Provider, o.Spec.Region, o.Spec.Zones
	c.apis, c.resources, c.models = o.Status.APIEnablements, o.Status.ResourceSummary, o.Spec.ResourceModels
	c.deleting, c.recovered = o.DeletionTimestamp != nil, m.Recovered
	c.blackout = m.Blind
	c.created, c.probed = o.CreationTimestamp.Time, o.Spec.SyncMode != api.Pull
	c.conditions.list, c.conditions.removed = slices.Clone(o.Status.Conditions), o.Status.RemovedConditions
	c.taints.list = slices.Clone(o.Spec.Taints)
	c.taints.causes = causesOf(c.taints.list, o.Status.TaintCauses)
	c.judging.policies = make([]voter, len(m.Policies))
	for i, p := range m.Policies {
		c.judging.policies[i].PolicyListed = p
	}
	c.judging.sort()
	c.previews = previewsOf(o.Status.TaintPreviews)
	c.drain.status, c.stays = o.Status.Drain, o.Status.WorkloadsStay
	c.watched = now
	c.lease.restore(c.conditions.readiness())
	c.conditions.restoreYoung(now)
	c.taints.mark(now)
	c.changed(now, true, out)
	c.restoreObservation(now, o.Status.ReadyObservation, out)
	c.retaint(now, out)
	c.judging.reopen()
}

// causesOf lines recorded causes up with taints; a taint without one is put down to people.
func causesOf(taints []corev1.Taint, recorded []api.TaintCause) []api.TaintCause {
	causes := make([]api.TaintCause, len(taints))
	for i := range taints {
		causes[i] = api.TaintCause{Key: taints[i].Key, Effect: taints[i].Effect, By: byUser}
		for _, r := range recorded {
			if r.Key == taints[i].Key && r.Effect == taints[i].Effect {
				causes[i] = r
			}
		}
	}
	return causes
}

// edited takes over what a manifest says: labels, location, grades of nodes and taints. Its status is the cluster's
// own business.
func (c *Cluster) edited(now time.Time, o *api.Cluster, out *actors.Outbox) {
	c.relabel(now, o.Labels, out)
	if c.provider != o.Spec.Provider || c.region != o.Spec.Region || !slices.Equal(c.zones, o.Spec.Zones) {
		c.provider, c.region, c.zones = o.Spec.Provider, o.Spec.Region, o.Spec.Zones
		out.Record(&messages.ClusterSpecChanged{Cluster: c.name, Provider: c.provider, Region: c.region, Zones: c.zones})
		c.changed(now, true, out)
		c.judging.moved()
	}
	if !equality.Semantic.DeepEqual(c.models, o.Spec.ResourceModels) {
		c.models = o.Spec.ResourceModels
		out.Record(&messages.ResourceModelsChanged{Cluster: c.name, Models: c.models})
		c.changed(now, false, out)
	}
	c.taintsEdited(now, c.taints.editsTowards(o.Spec.Taints), out)
}

func (c *Cluster) labelsEdited(now time.Time, edits map[string]*string, out *actors.Outbox) {
	labels := map[string]string{}
	maps.Copy(labels, c.labels)
	for k, v := range edits { // order-free: each key once
		if v == nil {
			delete(labels, k)
		} else {
			labels[k] = *v
		}
	}
	c.relabel(now, labels, out)
}

// relabel changes the labels.
func (c *Cluster) relabel(now time.Time, labels map[string]string, out *actors.Outbox) {
	if maps.Equal(c.labels, labels) {
		return
	}
	c.labels = labels
	out.Record(&messages.LabelsChanged{Cluster: c.name, Labels: labels})
	c.changed(now, true, out)
	c.judging.moved()
}

func (c *Cluster) conditionReported(now time.Time, m *messages.ConditionReported, out *actors.Outbox) {
	if m.Type == api.ConditionReady && m.Observed {
		c.observe(now, m, out)
		return
	}
	c.conditionsReported(now, []*messages.ConditionReported{m}, out)
}

func (c *Cluster) conditionsReported(now time.Time, reports []*messages.ConditionReported, out *actors.Outbox) {
	for _, m := range reports {
		if m.Type == api.ConditionReady {
			c.lease.word, c.observed = m, observation{}
			c.probeAgain(now)
		}
	}
	c.setConditions(now, reports, "", out)
}

func (c *Cluster) resourcesReported(now time.Time, s *api.ResourceSummary, out *actors.Outbox) {
	if equality.Semantic.DeepEqual(c.resources, s) {
		return
	}
	c.resources = s
	out.Record(&messages.CapacityChanged{Cluster: c.name, Summary: s})
	c.changed(now, false, out)
}

func (c *Cluster) enablementsReported(now time.Time, apis []api.APIEnablement, out *actors.Outbox) {
	if equality.Semantic.DeepEqual(c.apis, apis) {
		return
	}
	c.apis = apis
	out.Record(&messages.EnablementsChanged{Cluster: c.name, APIs: apis})
	c.changed(now, false, out)
}

// recreated has the cluster be another of its name, which stays. What is known of its state is that of the old one until its agent reports.
func (c *Cluster) recreated(now time.Time, o *api.Cluster, out *actors.Outbox) {
	c.deleting, c.created = false, o.CreationTimestamp.Time
	c.drainCancelled(now, out)
	r := c.taints.revise()
	c.follow(now, r, taint.Terminating(false), "the cluster was made again")
	c.commit(now, r, out)
	c.edited(now, o, out)
	c.changed(now, true, out)
}

// deleted removes the cluster: immediately if it is empty, or else with its last binding.
func (c *Cluster) deleted(now time.Time, out *actors.Outbox) {
	if c.deleting {
		return
	}
	c.deleting = true
	out.Record(&messages.ClusterLeaving{Cluster: c.name})
	c.changed(now, true, out)
	c.retaint(now, out)
}

func (c *Cluster) toLeave() bool { return c.deleting && !c.gone && c.subscribers.len() == 0 }

func (c *Cluster) leave(out *actors.Outbox) {
	c.gone = true
	out.Record(&messages.ClusterRemoved{Cluster: c.name})
	out.TellScheduler(&messages.ClusterGone{Name: c.name})
	if c.shown != (messages.ClusterObserved{}) {
		out.TellGovernor(&messages.ClusterGone{Name: c.name})
	}
}
