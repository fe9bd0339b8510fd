package scenario

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
)

// Action is what a step does. Names are resolved: Clusters is never empty, where they have no Nodes, and in the order in which
// the scenario defines the clusters, or names them.
type Action interface{ action() }

// Target is what an action is about: clusters, or nodes.
type Target struct {
	Clusters []messages.ClusterName
	Nodes    []messages.NodeName
}

// OnNodes returns the nodes that an action is about; nil: it is about clusters.
func (t *Target) OnNodes() []messages.NodeName { return t.Nodes }

// Condition reports a condition of clusters or nodes.
type Condition struct {
	Target
	Type string
	// Status: empty removes the condition.
	Status  metav1.ConditionStatus
	Reason  string
	Message string
	// Toggle turns True into False and anything else into True; Status is then empty.
	Toggle bool
	// Observed leaves it to thresholds when Ready changes.
	Observed bool
}

// Taint edits taints of clusters or nodes by hand.
type Taint struct {
	Target
	Changes taint.Changes
}

// Cordon keeps new workloads off clusters or nodes, or ends that.
type Cordon struct {
	Target
	Off bool
}

// Drain empties clusters, within Deadline unless that is zero, or nodes, as kubectl drain does with Options. An uncordon ends it for clusters.
type Drain struct {
	Target
	Deadline time.Duration
	Options  messages.DrainOptions
}

// Label sets labels of clusters or nodes, and removes those that are nil.
type Label struct {
	Target
	Labels map[string]*string
}

// Health sets what clusters report of a binding's copy; with no binding, of every copy.
type Health struct {
	Clusters []messages.ClusterName
	Binding  messages.BindingName
	Health   api.ResourceHealth
}

// Status sets what clusters report that a binding's copy says of itself: a JSON object.
type Status struct {
	Clusters []messages.ClusterName
	Binding  messages.BindingName
	Status   string
}

// SchedulableReplicas limits how many replicas of a binding the nodes of clusters can take; further ones cannot start.
// Negative: no limit.
type SchedulableReplicas struct {
	Clusters []messages.ClusterName
	Binding  messages.BindingName
	Replicas int32
}

// Capacity sets resources of clusters; those that are not named stay as they are.
type Capacity struct {
	Clusters            []messages.ClusterName
	Capacity, Allocated corev1.ResourceList
}

// APIEnablements sets the kinds that clusters report as served; none: they do not report them.
type APIEnablements struct {
	Clusters []messages.ClusterName
	APIs     []api.APIEnablement
}

// Scale sets the replicas of a workload.
type Scale struct {
	Workload api.Key
	Replicas int32
}

// Apply applies manifests. With MayFail a rejection is recorded and the run goes on. The documents are
// the step's own in each of its firings; a world copies what it stores.
type Apply struct {
	Documents []manifest.Document
	MayFail   bool
}

// Delete deletes an object.
type Delete struct{ Object api.Key }

// Config changes settings.
type Config struct{ Settings []config.Override }

// Hold has evictions wait within each of the scopes: in all of the fleet, from clusters, of a binding.
type Hold struct {
	Scopes []messages.HoldScope
	// Reason: empty ends the hold.
	Reason string
	// Until is an offset from the start, For one from when the hold begins; without either the hold lasts.
	Until, For time.Duration
}

// Release has evictions of a binding wait for nothing, or, without a reason, for permits again.
type Release struct {
	Binding messages.BindingName
	Reason  string
}

// RecordedInput is what a recording has of the messages to one cluster, and to its member.
type RecordedInput struct {
	Cluster  messages.ClusterName
	ToIt     []messages.ToCluster
	ToMember []messages.ToMember
}

// Restart makes the engine lose its memory.
type Restart struct{}

func (*Condition) action()           {}
func (*Taint) action()               {}
func (*Cordon) action()              {}
func (*Drain) action()               {}
func (*Label) action()               {}
func (*Health) action()              {}
func (*Status) action()              {}
func (*SchedulableReplicas) action() {}
func (*Capacity) action()            {}
func (*APIEnablements) action()      {}
func (*Scale) action()               {}
func (*Apply) action()               {}
func (*Delete) action()              {}
func (*Config) action()              {}
func (*Hold) action()                {}
func (*Release) action()             {}
func (*RecordedInput) action()       {}
func (*Restart) action()             {}
