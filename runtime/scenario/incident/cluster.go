package incident

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

// cluster tells of a cluster what people did with it and what its agent said of it, each by itself: what the control
// plane made of that stays out.
func (c *conversion) cluster(n *ObjectChange) {
	now, _ := n.Now.(*api.Cluster)
	before, known := n.Before.(*api.Cluster)
	switch {
	case !known:
		c.reports[messages.ClusterName(now.Name)] = now.Status.ResourceSummary
		joining := *now
		joining.Spec.Taints = c.authors.Users(n.By, nil, now)
		joining.Status.Conditions = slices.DeleteFunc(slices.Clone(now.Status.Conditions), c.decidedCondition(now))
		c.write(n, nil, observed.WrittenCluster(&joining))
	case now == nil || now.DeletionTimestamp != nil:
		if before.DeletionTimestamp == nil {
			c.write(n, before, nil)
		}
	default:
		c.edited(n, before, now)
		c.reported(before, now)
	}
}

// edited tells of labels, taints, holds and drains, and of where the cluster lies.
func (c *conversion) edited(n *ObjectChange, before, now *api.Cluster) {
	was, is := before.Spec, now.Spec
	was.Taints, is.Taints = nil, nil
	if !equality.Semantic.DeepEqual(was, is) || !maps.Equal(before.Labels, now.Labels) {
		o := *now
		o.Spec.Taints = c.authors.Users(n.By, before, now)
		c.tell(now.Name, &messages.ClusterEdited{Object: &o})
	}
	var edits []messages.TaintEdit
	for _, e := range observed.TaintEdits(before, now) {
		if c.authors.ByUser(n.By, &e, before, now) {
			edits = append(edits, e)
		}
	}
	if len(edits) > 0 {
		c.tell(now.Name, &messages.TaintsEdited{Edits: edits})
	}
	if d := observed.DrainOf(now); d != observed.DrainOf(before) {
		c.tell(now.Name, d.Message())
	}
	c.holds(messages.HoldScope{Cluster: messages.ClusterName(now.Name)}, before.Annotations, now.Annotations)
}

// reported tells of conditions and resources.
func (c *conversion) reported(before, now *api.Cluster) {
	var said []messages.ToCluster
	decided := c.decidedCondition(now)
	for _, m := range observed.Conditions(&before.Status, &now.Status) {
		if !decided(metav1.Condition{Type: m.Type, Status: m.Status, Reason: m.Reason}) {
			said = append(said, m)
		}
	}
	if !equality.Semantic.DeepEqual(before.Status.ResourceSummary, now.Status.ResourceSummary) {
		c.reports[messages.ClusterName(now.Name)] = now.Status.ResourceSummary
		said = append(said, c.resources(messages.ClusterName(now.Name)))
	}
	c.tell(now.Name, said...)
}

// decidedCondition tells what the control plane made of silence: where the lease is recorded, it will make that again.
func (c *conversion) decidedCondition(of *api.Cluster) func(metav1.Condition) bool {
	return func(k metav1.Condition) bool {
		return observed.OfSilence(k) && c.leases[messages.ClusterName(of.Name)] != nil
	}
}

// resources tells what is taken of a cluster: what its agent reports, without the copies that the replay reserves capacity for.
func (c *conversion) resources(name messages.ClusterName) *messages.ResourcesReported {
	if !c.reserves {
		return &messages.ResourcesReported{Summary: c.reports[name]}
	}
	return &messages.ResourcesReported{Summary: c.own.Others(name, c.reports[name])}
}

// taken follows what the copies of a binding take.
func (c *conversion) taken(before, now *store.Binding) {
	c.own.Count(before, -1)
	c.own.Count(now, 1)
	if !c.reserves {
		return
	}
	names := store.TakenOn(now, before)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if c.reports[name] != nil {
			c.tell(string(name), c.resources(name))
		}
	}
}
