package live

import (
	"maps"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/world"
)

// clusterChanged tells a cluster what is new of it, one by one: what the world changed meanwhile stays.
func (f *Fleet) clusterChanged(c *engine.Change) {
	if c.Object == nil {
		if name := messages.ClusterName(c.Previous().GetName()); f.world.Store().Cluster(name) == nil {
			f.orphaned = append(f.orphaned, name)
			delete(f.leaving, name)
		}
		f.world.Delete(api.KeyOf(c.Previous()))
		return
	}
	now := c.Object.(*api.Cluster)
	before, known := c.Previous().(*api.Cluster)
	gone := f.world.Store().Cluster(messages.ClusterName(now.Name)) == nil
	if gone && letGo(now) {
		return // it was removed, and others hold its object
	}
	if !known || gone {
		o := api.Shallow(now).(*api.Cluster)
		f.refused(o, f.world.Recreate(o))
		f.joining = append(f.joining, messages.ClusterName(now.Name))
		f.reconcileDrain(now)
		return
	}
	if f.following != nil {
		before = withoutDecisions(before, now)
	}
	name := messages.ClusterName(now.Name)
	f.world.Store().Note(api.KeyOf(now)) // what the machines take back immediately is no change to them
	f.refused(now, editCluster(f.world, before, now))
	f.renewMoved(before, now)
	f.renewClaimed(before, now)
	if news := observed.Conditions(&before.Status, &now.Status); len(news) > 0 {
		f.world.TellCluster(name, &messages.ConditionsReported{Reports: news})
	}
	if !equality.Semantic.DeepEqual(before.Status.ResourceSummary, now.Status.ResourceSummary) {
		f.rooms.stale[name] = true
	}
	if !equality.Semantic.DeepEqual(before.Status.APIEnablements, now.Status.APIEnablements) {
		f.world.TellCluster(name, &messages.EnablementsReported{APIs: now.Status.APIEnablements})
	}
}

// editCluster has a world do with a cluster what people did: its labels and where it lies by its manifest, taints one
// by one.
func editCluster(w *world.World, before, now *api.Cluster) error {
	name := messages.ClusterName(now.Name)
	if now.DeletionTimestamp != nil && before.DeletionTimestamp == nil {
		w.Delete(api.KeyOf(now))
	}
	var err error
	rest, old := now.Spec, before.Spec
	rest.Taints, old.Taints = nil, nil
	if !equality.Semantic.DeepEqual(rest, old) || !maps.Equal(now.Labels, before.Labels) || !maps.Equal(now.Annotations, before.Annotations) {
		o := api.Shallow(now).(*api.Cluster)
		o.Spec.Taints = w.Store().Cluster(name).Spec.Taints
		err = w.Replace(o)
	}
	if edits := observed.TaintEdits(before, now); len(edits) > 0 {
		w.TellCluster(name, &messages.TaintsEdited{Edits: edits})
	}
	if d := observed.DrainOf(now); d != observed.DrainOf(before) {
		w.TellCluster(name, d.Message())
	}
	return err
}

// reconcileDrain begins or ends a drain that was asked for, or taken back, while no daemon ran.
func (f *Fleet) reconcileDrain(c *api.Cluster) {
	under := observed.DrainRequest{Wanted: c.Status.Drain != nil}
	if under.Wanted && c.Status.Drain.Deadline != nil {
		under.Deadline = c.Status.Drain.Deadline.UTC()
	}
	if d := observed.DrainOf(c); d != under {
		f.world.TellCluster(messages.ClusterName(c.Name), d.Message())
	}
}

// observeLeases takes over the leases that were there before. The agents renewed them while no daemon ran, so
// their own times count. Where none was renewed for long, no agent could: that time counts for no lease.
func (f *Fleet) observeLeases(objects []api.Object) {
	now := f.config.Clock.Now().UTC()
	var newest time.Time
	var leases []*coordinationv1.Lease
	for _, o := range objects {
		if l, ok := o.(*coordinationv1.Lease); ok && l.Namespace == api.LeaseNamespace && l.Spec.RenewTime != nil {
			leases = append(leases, l)
			newest = actors.Later(newest, l.Spec.RenewTime.UTC())
		}
	}
	away := now.Sub(newest)
	if away < longAway {
		away = 0
	}
	for _, l := range leases {
		at := l.Spec.RenewTime.Add(away).UTC()
		if at.After(now) {
			at = now
		}
		f.renewed(l, at)
	}
}

// longAway is how long no agent has renewed its Lease where none could: the time between two heartbeats, and that after which a request is given up.
// Source: the defaults of Karmada's agent and of ours.
const longAway = 20 * time.Second

func (f *Fleet) renewed(l *coordinationv1.Lease, at time.Time) {
	cluster := messages.ClusterName(l.Name)
	if l.Namespace != api.LeaseNamespace || l.Spec.RenewTime == nil || !l.Spec.RenewTime.After(f.leases[cluster]) {
		return
	}
	f.leases[cluster] = l.Spec.RenewTime.Time
	f.world.TellAgent(cluster, &messages.LeaseRenewed{At: at})
}
