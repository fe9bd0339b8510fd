package incident

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
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
		joining.Spec.Taints = c.peoples(n, nil, now)
		joining.Status.Conditions = slices.DeleteFunc(slices.Clone(now.Status.Conditions), c.decidedCondition(now))
		c.write(n, nil, withStatus(&joining))
	case now == nil || now.DeletionTimestamp != nil:
		if before.DeletionTimestamp == nil {
			c.write(n, before, nil)
		}
	default:
		c.edited(n, before, now)
		c.reported(before, now)
	}
}

// withStatus is a cluster as its agent and people wrote it.
func withStatus(o *api.Cluster) api.Object {
	own := written(o).(*api.Cluster)
	own.Status = api.ClusterStatus{
		KubernetesVersion: o.Status.KubernetesVersion, APIEnablements: o.Status.APIEnablements, Conditions: o.Status.Conditions,
		NodeSummary: o.Status.NodeSummary, ResourceSummary: o.Status.ResourceSummary,
	}
	return own
}

// edited tells of labels, taints, holds and drains, and of where the cluster lies.
func (c *conversion) edited(n *ObjectChange, before, now *api.Cluster) {
	was, is := before.Spec, now.Spec
	was.Taints, is.Taints = nil, nil
	if !equality.Semantic.DeepEqual(was, is) || !maps.Equal(before.Labels, now.Labels) {
		o := *now
		o.Spec.Taints = c.peoples(n, before, now)
		c.tell(now.Name, &messages.ClusterEdited{Object: &o})
	}
	var edits []messages.TaintEdit
	for _, e := range observed.TaintEdits(before, now) {
		if c.byUser(n, &e, before, now) {
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

// peoples are the taints of a cluster that people put there.
func (c *conversion) peoples(n *ObjectChange, before, now *api.Cluster) []corev1.Taint {
	var taints []corev1.Taint
	for _, t := range now.Spec.Taints {
		existing := before != nil && taint.Find(before.Spec.Taints, t.Key, t.Effect) >= 0
		if !c.decided(&t, now) && (existing || c.byUser(n, &messages.TaintEdit{Taint: t}, before, now)) {
			taints = append(taints, t)
		}
	}
	return taints
}

// byUser reports whether an edit of a taint is people's. Who wrote it says so where that is known; otherwise it is
// what the taint is for.
func (c *conversion) byUser(n *ObjectChange, e *messages.TaintEdit, before, now *api.Cluster) bool {
	if !e.Remove && before != nil {
		if i := taint.Find(before.Spec.Taints, e.Taint.Key, e.Taint.Effect); i >= 0 && before.Spec.Taints[i].Value == e.Taint.Value {
			return false // only its time is set
		}
	}
	if len(n.By) > 0 {
		return !slices.ContainsFunc(n.By, controlPlane)
	}
	if e.Remove {
		return !c.decided(&e.Taint, before)
	}
	return !c.decided(&e.Taint, now)
}

// controlPlane reports whether a manager is one of Karmada's components. Leeward writes its decisions under no name.
func controlPlane(manager string) bool { return strings.HasPrefix(manager, "karmada-") }

// system are the taints that a control plane puts on clusters by itself.
var system = []string{api.TaintNotReady, api.TaintUnreachable, api.TaintTerminating, api.TaintDraining}

// decided reports whether a taint of a cluster is the control plane's: its cause says so or, where none is kept, it is a
// taint of the system or of a policy.
func (c *conversion) decided(t *corev1.Taint, of *api.Cluster) bool {
	for _, cause := range of.Status.TaintCauses {
		if cause.Key == t.Key && cause.Effect == t.Effect {
			return cause.By != api.TaintCauseUser
		}
	}
	if slices.Contains(system, t.Key) {
		return true
	}
	for _, p := range c.policies { // order-free: any of them
		if slices.ContainsFunc(p.Spec.Taints, func(of api.PolicyTaint) bool { return of.Key == t.Key && of.Effect == t.Effect }) {
			return true
		}
	}
	return false
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
		return ofSilence(k) && c.leases[messages.ClusterName(of.Name)] != nil
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

// ofSilence reports whether a condition is what a control plane makes of a silent agent.
func ofSilence(k metav1.Condition) bool {
	silent := k.Reason == "ClusterStatusUnknown" || k.Reason == "ClusterStatusNeverUpdated"
	return k.Type == api.ConditionReady && k.Status == metav1.ConditionUnknown && silent
}
