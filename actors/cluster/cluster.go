package cluster

import (
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

// showGovernor says what is new for the governor, if a setting has it look at clusters at all. A cluster that has
// never said whether it is Ready has only joined, and does not count as failed.
func (c *Cluster) showGovernor(out *actors.Outbox) {
	m := messages.ClusterObserved{Cluster: c.name, Region: c.region, Unhealthy: c.conditions.ready() != metav1.ConditionTrue}
	if c.conditions.ready() == "" && c.shown == (messages.ClusterObserved{}) {
		return
	}
	if c.settings.WatchesFleet() && m != c.shown {
		c.shown = m
		out.TellGovernor(&m)
	}
}

// relists reports whether the bindings of the cluster are looked at from time to time. Whatever changes
// of the cluster, they are looked at then, too, and again a period later. Source: Karmada's taint manager,
// which hears of every change of a cluster.
func (c *Cluster) relists() bool { return c.ways().Relists() && !c.taints.listed.IsZero() }

// look has the bindings of the cluster look at its NoExecute taints.
func (c *Cluster) look(now time.Time, out *actors.Outbox) {
	if !c.taints.listed.IsZero() {
		c.taints.listed = now
	}
	c.tellTaints(true, out)
}

// tellTaints tells the bindings of the cluster of its NoExecute taints; news says whether that is a look.
func (c *Cluster) tellTaints(news bool, out *actors.Outbox) {
	m := c.taints.told(news)
	for b := range c.subscribers.all() {
		out.TellBinding(b, m)
	}
}
