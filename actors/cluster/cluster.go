// Package cluster is the machine of one member cluster: it decides the cluster's taints, from its
// conditions, from the verdicts of the ClusterTaintPolicies, and from what people ask for.
package cluster

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// Cluster is one member cluster.
type Cluster struct {
	name     messages.ClusterName
	settings messages.Settings
	seed     uint64

	labels    map[string]string
	provider  string
	region    string
	zones     []string
	apis      []api.APIEnablement
	resources *api.ResourceSummary
	deleting  bool

	conditions []metav1.Condition
	// seen are the conditions as policies see them: a change that has not held for ConditionHold yet
	// is not in it.
	seen []metav1.Condition
	// unsettled are the condition types whose change policies do not see yet.
	unsettled []unsettled

	taints []corev1.Taint
	// causes[i] says who put taints[i] there.
	causes []api.TaintCause
	// evictingSince is when the cluster came to have NoExecute taints; zero without.
	evictingSince time.Time

	policies   []messages.PolicyListed
	generation uint64
	// verdicts[i] is the answer of policies[i] to the present generation; nil: not yet.
	verdicts []*messages.VerdictGiven

	lease lease

	// placed are the bindings to tell of NoExecute taints; at maps each to its index.
	placed []messages.BindingName
	at     map[messages.BindingName]int
}

// New returns a cluster that knows nothing yet; its first message is ClusterJoined. The seed breaks
// ties that Karmada leaves undefined.
func New(name messages.ClusterName, settings messages.Settings, seed uint64) *Cluster {
	return &Cluster{name: name, settings: settings, seed: seed, at: map[messages.BindingName]int{}}
}

// Receive routes a message to its transition.
func (c *Cluster) Receive(now time.Time, m messages.ToCluster, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.ClusterJoined:
		c.joined(now, m, out)
	case *messages.ClusterEdited:
		c.edited(now, m.Object, out)
	case *messages.ClusterDeleted:
		c.deleted(now, out)
	case *messages.ConditionReported:
		c.conditionReported(now, m, out)
	case *messages.TaintsEdited:
		c.taintsEdited(now, m.Edits, out)
	case *messages.LabelsEdited:
		c.labelsEdited(m.Labels, out)
	case *messages.ResourcesReported:
		c.resourcesReported(m.Summary, out)
	case *messages.LeaseStale:
		c.leaseStale(m.RenewedAt, out)
	case *messages.LeaseRenewed:
		c.leaseRenewed(now, out)
	case *messages.PolicyListed:
		c.policyListed(now, m, out)
	case *messages.PolicyDropped:
		c.policyDropped(now, m.Name, out)
	case *messages.VerdictGiven:
		c.verdictGiven(now, m, out)
	case *messages.BindingPlaced:
		c.bindingPlaced(m.Binding, out)
	case *messages.BindingLeft:
		c.bindingLeft(m.Binding, out)
	case *messages.SettingsChanged:
		c.settings = m.Settings
		c.judge(now, out)
	case *messages.Woken:
		c.woken(now, out)
	default:
		panic(fmt.Sprintf("cluster %s: unknown message %T", c.name, m))
	}
	out.WakeAt(c.nextDeadline())
}

func (c *Cluster) joined(now time.Time, m *messages.ClusterJoined, out *actors.Outbox) {
	o := m.Object
	c.labels, c.provider, c.region = o.Labels, o.Spec.Provider, o.Spec.Region
	c.zones, c.apis, c.resources = o.Spec.Zones, o.Status.APIEnablements, o.Status.ResourceSummary
	c.conditions = slices.Clone(o.Status.Conditions)
	c.seen = slices.Clone(c.conditions)
	c.taints = slices.Clone(o.Spec.Taints)
	c.causes = causesOf(c.taints, o.Status.TaintCauses)
	c.deleting = o.DeletionTimestamp != nil
	c.policies = slices.Clone(m.Policies)
	c.sortPolicies()
	c.lease.answer = c.status(api.ConditionReady)
	c.markEvicting(now)
	c.showScheduler(true, out)
	c.judge(now, out)
}

// edited takes over what a manifest says: labels, location and taints. Its status is the cluster's
// own business.
func (c *Cluster) edited(now time.Time, o *api.Cluster, out *actors.Outbox) {
	if !equalLabels(c.labels, o.Labels) {
		c.labels = o.Labels
		out.Record(&messages.LabelsChanged{Cluster: c.name, Labels: o.Labels})
	}
	if c.provider != o.Spec.Provider || c.region != o.Spec.Region || !slices.Equal(c.zones, o.Spec.Zones) {
		c.provider, c.region, c.zones = o.Spec.Provider, o.Spec.Region, o.Spec.Zones
		out.Record(&messages.ClusterSpecChanged{Cluster: c.name, Provider: c.provider, Region: c.region, Zones: c.zones})
	}
	c.taintsEdited(now, editsTowards(c.taints, o.Spec.Taints), out)
	c.showScheduler(true, out)
}

func (c *Cluster) deleted(now time.Time, out *actors.Outbox) {
	if c.deleting {
		return
	}
	c.deleting = true
	out.Record(&messages.ClusterLeaving{Cluster: c.name})
	c.showScheduler(true, out)
	c.leaveIfEmpty(out)
}

// leaveIfEmpty ends a deleted cluster once no binding is placed on it.
func (c *Cluster) leaveIfEmpty(out *actors.Outbox) {
	if c.deleting && len(c.placed) == 0 {
		out.Record(&messages.ClusterRemoved{Cluster: c.name})
		out.TellScheduler(&messages.ClusterGone{Name: c.name})
	}
}

func (c *Cluster) labelsEdited(edits map[string]*string, out *actors.Outbox) {
	labels := make(map[string]string, len(c.labels)+len(edits))
	for k, v := range c.labels {
		labels[k] = v
	}
	for k, v := range edits {
		if v == nil {
			delete(labels, k)
		} else {
			labels[k] = *v
		}
	}
	if equalLabels(c.labels, labels) {
		return
	}
	c.labels = labels
	out.Record(&messages.LabelsChanged{Cluster: c.name, Labels: labels})
	c.showScheduler(true, out)
}

func (c *Cluster) resourcesReported(s *api.ResourceSummary, out *actors.Outbox) {
	c.resources = s
	out.Record(&messages.CapacityChanged{Cluster: c.name, Summary: s})
	c.showScheduler(false, out)
}

func (c *Cluster) bindingPlaced(b messages.BindingName, out *actors.Outbox) {
	if _, known := c.at[b]; !known {
		c.at[b] = len(c.placed)
		c.placed = append(c.placed, b)
	}
	if !c.evictingSince.IsZero() {
		out.TellBinding(b, c.evictingTaints(false))
	}
}

func (c *Cluster) bindingLeft(b messages.BindingName, out *actors.Outbox) {
	i, known := c.at[b]
	if !known {
		return
	}
	last := len(c.placed) - 1
	c.placed[i] = c.placed[last]
	c.at[c.placed[i]] = i
	c.placed = c.placed[:last]
	delete(c.at, b)
	c.leaveIfEmpty(out)
}

func (c *Cluster) woken(now time.Time, out *actors.Outbox) {
	c.lease.expire(now, c, out)
	held := c.settleConditions(now)
	if held {
		c.judge(now, out)
		return
	}
	if len(c.policies) == 0 || c.complete() {
		c.retaint(now, nil, out)
	}
}

// nextDeadline is the earliest instant at which the cluster must act by itself; zero: none.
func (c *Cluster) nextDeadline() time.Time {
	next := c.lease.deadline
	for _, u := range c.unsettled {
		next = earlier(next, u.counts)
	}
	return earlier(next, c.legacyDue())
}

// view is the cluster as others see it, with the given conditions.
func (c *Cluster) view(conditions []metav1.Condition) *messages.ClusterView {
	return &messages.ClusterView{
		Name: c.name, Labels: c.labels, Provider: c.provider, Region: c.region, Zones: c.zones,
		Taints: c.taints, Conditions: slices.Clone(conditions), APIs: c.apis, Resources: c.resources,
		Deleting: c.deleting,
	}
}

func (c *Cluster) showScheduler(specChanged bool, out *actors.Outbox) {
	out.TellScheduler(&messages.ClusterViewed{View: c.view(c.conditions), SpecChanged: specChanged})
}

// earlier returns the earlier of two instants, where zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func equalLabels(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}
