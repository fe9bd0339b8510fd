// Package cluster is the machine of one member cluster: it decides the cluster's taints, from its
// conditions, from the verdicts of the ClusterTaintPolicies, and from what people ask for.
//
// It is made of parts, each with its own state: conditions are what the cluster reports, and what of it policies do not see
// yet; lease, probes and observation whether it answers; judging how far the policies are; taintList the taints and who put them
// there, and revision a change of them in the making; previews what policies that only report would do; drain how far it is
// emptied; subscribers the bindings that hear of all that. The Cluster decides in which order they hear of a message, and has the
// one alarm.
package cluster

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/karmada"
	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

// Cluster is one member cluster.
type Cluster struct {
	name     messages.ClusterName
	settings messages.Settings

	labels    map[string]string
	provider  string
	region    string
	zones     []string
	created   time.Time
	apis      []api.APIEnablement
	resources *api.ResourceSummary
	models    []api.ResourceModel
	// deleting is set once people deleted the cluster, gone once it left.
	deleting, gone bool

	conditions conditions
	// probed is set where the cluster has no agent: it is probed, and has no lease.
	probed bool
	probes probes
	lease  lease
	// observed is what thresholds hold back of Ready; watched is since when the cluster is watched.
	observed observation
	watched  time.Time

	taints  taintList
	judging judging
	drain   drain
	// spared are the taints that stayed against the will of a policy when all had last judged.
	spared []policy.TaintChange
	// recovered is set from a restart until all have judged: what they would spare then was said before it.
	recovered bool
	// refusal is what policies asked for when all had last judged, and could not have; nil: nothing.
	refusal *messages.TaintingFailed
	// stays is why nothing evicts the cluster's workloads although it is not Ready, as last recorded; empty: something does.
	stays    string
	previews previews

	// shown is what the governor last heard; blackout is set while it does not believe what it sees.
	shown    messages.ClusterObserved
	blackout bool

	subscribers subscribers
}

// New returns a cluster that knows nothing yet; its first message is ClusterJoined. The seed breaks
// ties that Karmada leaves undefined.
func New(name messages.ClusterName, settings messages.Settings, seed uint64) *Cluster {
	c := &Cluster{name: name, settings: settings, subscribers: newSubscribers(), taints: taintList{of: name}}
	c.conditions.settings, c.judging.settings, c.judging.seed = &c.settings, &c.settings, seed
	return c
}

// ways are Karmada's ways, as far as the settings have them.
func (c *Cluster) ways() karmada.Ways { return karmada.Of(&c.settings) }

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
	case *messages.ConditionsReported:
		c.conditionsReported(now, m.Reports, out)
	case *messages.TaintsEdited:
		c.taintsEdited(now, m.Edits, out)
	case *messages.DrainRequested:
		c.drainRequested(now, m.Deadline, out)
	case *messages.DrainCancelled:
		c.drainCancelled(now, out)
	case *messages.LabelsEdited:
		c.labelsEdited(now, m.Labels, out)
	case *messages.ResourcesReported:
		c.resourcesReported(now, m.Summary, out)
	case *messages.EnablementsReported:
		c.enablementsReported(now, m.APIs, out)
	case *messages.ContactLost:
		c.contactLost(now, m, out)
	case *messages.ContactRestored:
		c.contactRestored(now, out)
	case *messages.BlackoutDeclared:
		c.blackoutDeclared(now, m.Blind, out)
	case *messages.PolicyListed:
		c.judging.listed(m)
	case *messages.PolicyDropped:
		c.policyDropped(now, m.Name, out)
	case *messages.VerdictGiven:
		c.verdictGiven(now, m, out)
	case *messages.AnswerChanged:
		c.considerAll(m.Binding, out)
	case *messages.TaintsConsidered:
		c.previews.answered(m)
	case *messages.BindingPlaced:
		c.bindingPlaced(m, out)
	case *messages.BindingLeft:
		c.bindingLeft(m.Binding)
	case *messages.SettingsChanged:
		c.settingsChanged(m.Settings, out)
	case *messages.Woken:
		c.woken(now, out)
	default:
		panic(fmt.Sprintf("cluster %s: unknown message %T", c.name, m))
	}
	out.WakeAt(c.nextDeadline(now))
}

func (c *Cluster) settingsChanged(s messages.Settings, out *actors.Outbox) {
	gated := s.CustomizedClusterResourceModeling != c.settings.CustomizedClusterResourceModeling
	c.settings = s
	if gated {
		c.show(false, out)
	}
	c.showGovernor(out)
	c.judging.sort()
	c.judging.reopen()
}

// woken does what has fallen due, and what waited for the end of the instant so that the order of its
// messages does not matter: to ask the policies, and to leave.
func (c *Cluster) woken(now time.Time, out *actors.Outbox) {
	c.expireLease(now, out)
	c.probe(now, out)
	c.expireObservation(now, out)
	if c.conditions.settle(now) || c.judging.over(now) {
		c.judging.reopen()
	}
	if c.toAsk() {
		c.ask(now, out)
	} else {
		c.retaint(now, out)
	}
	c.conditions.stale = false
	c.previews.record(c.name, out)
	c.drain.count(c.name, c.subscribers.len(), out)
	c.drain.miss(now, c.name, &c.subscribers, out)
	c.sayStay(out)
	if c.toLeave() {
		c.leave(out)
	}
}

// nextDeadline is the earliest instant at which the cluster must act by itself; zero: none.
func (c *Cluster) nextDeadline(now time.Time) time.Time {
	if c.toAsk() || c.conditions.stale || c.previews.changed() || c.drain.news(c.subscribers.len()) || c.toSayStay() || c.toLeave() {
		return now
	}
	next := c.judging.due
	for _, at := range [...]time.Time{c.leaseDeadline(), c.probes.at, c.legacyDue(now), c.observedDue(), c.drain.due(c.subscribers.len()), c.conditions.due()} {
		next = actors.Earlier(next, at)
	}
	return next
}

// bindingPlaced takes a binding in. One that comes to a tainted cluster hears of the taints, which are
// no news.
func (c *Cluster) bindingPlaced(m *messages.BindingPlaced, out *actors.Outbox) {
	c.subscribers.add(m.Binding)
	if m.Leaving || !c.taints.listed.IsZero() {
		out.TellBinding(m.Binding, c.taints.told(false))
	}
	c.considerAll(m.Binding, out)
}

func (c *Cluster) bindingLeft(b messages.BindingName) {
	c.subscribers.remove(b)
	for i := range c.previews {
		delete(c.previews[i].leaves, b)
	}
}

// view is the cluster as others see it, with the given conditions.
func (c *Cluster) view(conditions []metav1.Condition) *messages.ClusterView {
	models := c.models
	if !c.settings.CustomizedClusterResourceModeling {
		models = nil
	}
	return &messages.ClusterView{
		Name: c.name, Labels: c.labels, Provider: c.provider, Region: c.region, Zones: c.zones,
		Taints: c.taints.list, Conditions: conditions, Removed: c.conditions.removed, Created: c.created, APIs: c.apis,
		Resources: c.resources, Models: models, Deleting: c.deleting,
	}
}

// changed shows the cluster as it is now, and looks at its bindings where that is done from time to time.
func (c *Cluster) changed(now time.Time, specChanged bool, out *actors.Outbox) {
	c.show(specChanged, out)
	if c.relists() {
		c.look(now, out)
	}
}

func (c *Cluster) show(specChanged bool, out *actors.Outbox) {
	out.TellScheduler(&messages.ClusterViewed{View: c.view(c.conditions.list), SpecChanged: specChanged})
	c.showGovernor(out)
}
