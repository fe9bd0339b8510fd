// Package cluster is the machine of one member cluster: it decides the cluster's taints, from its
// conditions, from the verdicts of the ClusterTaintPolicies, and from what people ask for.
package cluster

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	seed     uint64

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

	conditions []metav1.Condition
	removed    []api.RemovedCondition
	// held are the changes of conditions that policies do not see yet; stale is set where one changed in this
	// instant, so that the system's taints follow it at its end.
	held  []youngCondition
	stale bool
	// probed is set where the cluster has no agent: it is probed, and has no lease.
	probed bool
	probes probes
	lease  lease
	// observed is what thresholds hold back of Ready; watched is since when the cluster is watched.
	observed observation
	watched  time.Time

	taints []corev1.Taint
	// causes[i] says who put taints[i] there.
	causes []api.TaintCause
	// listed is when the bindings of the cluster were last looked at for its NoExecute taints; zero
	// without any.
	listed time.Time

	// policies in the order in which they act.
	policies []voter
	// generation counts what policies are to judge; verdicts on an older one are void.
	generation uint64
	inquiry    inquiry
	// drain is how far people's wish to empty the cluster has come, as last recorded; nil: there is none.
	// drainNews is set where more than its count is new.
	drain     *api.Drain
	drainNews bool
	// spared are the taints that stayed against the will of a policy when all had last judged.
	spared []policy.TaintChange
	// recovered is set from a restart until all have judged: what they would spare then was said before it.
	recovered bool
	// refusal is what policies asked for when all had last judged, and could not have; nil: nothing.
	refusal *messages.TaintingFailed
	// stays is why nothing evicts the cluster's workloads although it is not Ready, as last recorded; empty: something does.
	stays string
	// dropped are policies that are gone and whose taints are to go too.
	dropped []messages.PolicyName
	// previews are what policies that only report would do.
	previews []preview
	// judgeAt is when time alone changes a verdict of the present generation; zero: it does not.
	judgeAt time.Time

	// shown is what the governor last heard; blackout is set while it does not believe what it sees.
	shown    messages.ClusterObserved
	blackout bool

	subscribers subscribers
}

// New returns a cluster that knows nothing yet; its first message is ClusterJoined. The seed breaks
// ties that Karmada leaves undefined.
func New(name messages.ClusterName, settings messages.Settings, seed uint64) *Cluster {
	return &Cluster{name: name, settings: settings, seed: seed, subscribers: newSubscribers()}
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
		c.policyListed(m)
	case *messages.PolicyDropped:
		c.policyDropped(now, m.Name, out)
	case *messages.VerdictGiven:
		c.verdictGiven(now, m, out)
	case *messages.AnswerChanged:
		c.considerAll(m.Binding, out)
	case *messages.TaintsConsidered:
		c.taintsConsidered(m)
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
	c.sortPolicies()
	c.reopen()
}

// woken does what has fallen due, and what waited for the end of the instant so that the order of its
// messages does not matter: to ask the policies, and to leave.
func (c *Cluster) woken(now time.Time, out *actors.Outbox) {
	c.expireLease(now, out)
	c.probe(now, out)
	c.expireObservation(now, out)
	c.settleConditions(now)
	c.reopenDue(now)
	if c.toAsk() {
		c.ask(now, out)
	} else {
		c.retaint(now, out)
	}
	c.stale = false
	c.report(out)
	c.countDrain(out)
	c.missDrain(now, out)
	c.sayStay(out)
	if c.toLeave() {
		c.leave(out)
	}
}

// nextDeadline is the earliest instant at which the cluster must act by itself; zero: none.
func (c *Cluster) nextDeadline(now time.Time) time.Time {
	if c.toAsk() || c.stale || c.toReport() || c.toCountDrain() || c.toSayStay() || c.toLeave() {
		return now
	}
	next := c.judgeAt
	for _, at := range [...]time.Time{c.leaseDeadline(), c.probes.at, c.legacyDue(now), c.observedDue(), c.drainDeadline()} {
		next = actors.Earlier(next, at)
	}
	for i := range c.held {
		next = actors.Earlier(next, c.counts(&c.held[i]))
	}
	return next
}

// bindingPlaced takes a binding in. One that comes to a tainted cluster hears of the taints, which are
// no news.
func (c *Cluster) bindingPlaced(m *messages.BindingPlaced, out *actors.Outbox) {
	c.subscribers.add(m.Binding)
	if m.Leaving || !c.listed.IsZero() {
		out.TellBinding(m.Binding, c.evictingTaints(false))
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
		Taints: c.taints, Conditions: conditions, Removed: c.removed, Created: c.created, APIs: c.apis,
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
	out.TellScheduler(&messages.ClusterViewed{View: c.view(c.conditions), SpecChanged: specChanged})
	c.showGovernor(out)
}
