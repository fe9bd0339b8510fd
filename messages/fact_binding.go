package messages

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages/api"
)

// BindingCreated says that a policy claimed a resource for the first time.
type BindingCreated struct {
	Binding BindingName `json:"binding"`
	// Policy is "PropagationPolicy default/web" or "ClusterPropagationPolicy all".
	Policy   string           `json:"policy,omitempty"`
	Replicas int32            `json:"replicas,omitempty"`
	Spec     *api.BindingSpec `json:"-"`
	// UID is the resource's; ties of division depend on it.
	UID types.UID `json:"uid,omitempty"`
}

// BindingUpdated says that the resource or its policy changed what the binding asks for.
type BindingUpdated struct {
	Binding BindingName `json:"binding"`
	Policy  string      `json:"policy,omitempty"`
	// Changed names what changed: replicas, placement, tolerations, failover, policy ...
	Changed  []string         `json:"changed"`
	Replicas int32            `json:"replicas,omitempty"`
	Spec     *api.BindingSpec `json:"-"`
}

// ActivationDeferred says that a policy with activationPreference Lazy has the resource, and that what it
// asks for counts from the resource's next change on.
type ActivationDeferred struct {
	Binding BindingName `json:"binding"`
	Policy  string      `json:"policy"`
}

// BindingDeleted says that the resource is gone.
type BindingDeleted struct {
	Binding BindingName `json:"binding"`
}

// Scheduled says that the scheduler chose clusters.
type Scheduled struct {
	Binding  BindingName         `json:"binding"`
	Clusters []api.TargetCluster `json:"clusters"`
	Before   []api.TargetCluster `json:"before,omitempty"`
	Affinity string              `json:"affinity,omitempty"`
	// Trigger says why: placement changed, replicas changed, cluster changed ...
	Trigger string         `json:"trigger,omitempty"`
	Applied *api.Placement `json:"-"`
	// Takeovers say of clusters that are evicted from who has their replicas from now on.
	Takeovers []Takeover `json:"takeovers,omitempty"`
}

// TriggerEviction is the Trigger of a placement that an eviction calls for.
const TriggerEviction = "eviction"

// Takeover says which clusters have the replicas of one that is evicted from.
type Takeover struct {
	From ClusterName         `json:"from"`
	By   []api.TargetCluster `json:"by"`
}

// PlacementConfirmed says that the scheduler has seen the binding as it is now, and changes nothing.
type PlacementConfirmed struct {
	Binding BindingName `json:"binding"`
}

// ScheduleFailed says that no placement was found, or, with Missing replicas, none for these. Cleared says
// that the old result is void.
type ScheduleFailed struct {
	Binding BindingName `json:"binding"`
	Reason  string      `json:"reason"`
	Message string      `json:"message"`
	Missing int32       `json:"missing,omitempty"`
	Cleared bool        `json:"cleared,omitempty"`
	// Rejections are the clusters that did not fit, by reason, in order.
	Rejections []Rejection         `json:"rejections,omitempty"`
	Before     []api.TargetCluster `json:"before,omitempty"`
	Trigger    string              `json:"trigger,omitempty"`
}

// Rejection says which clusters do not fit for one reason. Both reasons and clusters are in order.
type Rejection struct {
	Reason   string        `json:"reason"`
	Clusters []ClusterName `json:"clusters"`
}

// Grounds say why a binding must leave a cluster: which taint, put there by whom and why, which
// toleration covers it and until when; or since when the application is unhealthy.
type Grounds struct {
	// Reason is TaintUntolerated or ApplicationFailure.
	Reason string          `json:"reason"`
	Taint  *corev1.Taint   `json:"taint,omitempty"`
	Cause  *api.TaintCause `json:"cause,omitempty"`
	// Toleration is nil where none matches the taint.
	Toleration *corev1.Toleration `json:"toleration,omitempty"`
	Deadline   time.Time          `json:"deadline,omitzero"`
}

// Same reports whether two name the same reason, taint and policy, whatever their deadlines.
func (g *Grounds) Same(o *Grounds) bool {
	return g.Reason == o.Reason && taintText(g.Taint) == taintText(o.Taint) && g.policy() == o.policy()
}

func (g *Grounds) policy() string {
	if g.Cause == nil {
		return ""
	}
	return g.Cause.Policy
}

func taintText(t *corev1.Taint) string {
	if t == nil {
		return ""
	}
	return t.ToString()
}

// EvictionScheduled says that a binding will have to leave a cluster at a deadline to come.
type EvictionScheduled struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	Grounds Grounds     `json:"grounds"`
}

// EvictionCancelled says that a deadline no longer holds, or not yet.
type EvictionCancelled struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	Reason  string      `json:"reason"`
}

// EvictionBlocked says that a binding must leave a cluster but may not yet, and why.
type EvictionBlocked struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	Reason  string      `json:"reason"`
	Message string      `json:"message,omitempty"`
	Grounds Grounds     `json:"grounds"`
	// Rejections are the clusters that did not fit as a destination, where that is the reason.
	Rejections []Rejection `json:"rejections,omitempty"`
	// Until is when it is looked at again by itself; zero: when something changes.
	Until time.Time `json:"until,omitzero"`
}

// EvictionStarted says that a binding leaves a cluster: a graceful eviction task was written and the
// cluster taken off the targets.
type EvictionStarted struct {
	Binding BindingName              `json:"binding"`
	Cluster ClusterName              `json:"cluster"`
	Task    api.GracefulEvictionTask `json:"task"`
	Grounds Grounds                  `json:"grounds"`
}

// Reasons why an eviction ends.
const (
	EndedHealthy      = "healthy"
	EndedTimeout      = "timeout"
	EndedUnsuppressed = "unsuppressed"
	EndedDeleted      = "deleted"
	EndedScaledToZero = "scaled to zero"
)

// EvictionEnded says that a task is done, or deleted by people, and the old copy is released.
type EvictionEnded struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	Reason  string      `json:"reason"`
	// After is how long the handover took.
	After time.Duration `json:"-"`
}

// EvictionWithdrawn says that a task was taken back: the cluster is a target again.
type EvictionWithdrawn struct {
	Binding  BindingName         `json:"binding"`
	Cluster  ClusterName         `json:"cluster"`
	Reason   string              `json:"reason"`
	Clusters []api.TargetCluster `json:"clusters"`
}

// ReplicasReleased says that a cluster which is evicted from gradually runs fewer replicas, and why.
type ReplicasReleased struct {
	Binding  BindingName `json:"binding"`
	Cluster  ClusterName `json:"cluster"`
	Replicas int32       `json:"replicas"`
	Before   int32       `json:"before"`
	Reason   string      `json:"reason"`
}

// HandoverBlocked says that a handover timed out but the old copy stays, because no healthy copy runs
// elsewhere.
type HandoverBlocked struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	Message string      `json:"message"`
}

// PurgeOvertaken says that a copy which had to go immediately is still there, or its cluster does not say,
// and that its substitute no longer waits for that.
type PurgeOvertaken struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	// After is how long the substitute waited.
	After time.Duration `json:"-"`
}

// CopyStarted says that a member runs a new copy.
type CopyStarted struct {
	Binding  BindingName `json:"binding"`
	Cluster  ClusterName `json:"cluster"`
	Replicas int32       `json:"replicas,omitempty"`
	// Labels are the preserved state of the copy that it takes the place of.
	Labels map[string]string `json:"labels,omitempty"`
}

// CopyScaled says that a member runs a copy with another number of replicas.
type CopyScaled struct {
	Binding  BindingName `json:"binding"`
	Cluster  ClusterName `json:"cluster"`
	Replicas int32       `json:"replicas"`
	Before   int32       `json:"before"`
}

// CopyUpdated says that a member rolls out another version of the pod template.
type CopyUpdated struct {
	Binding  BindingName `json:"binding"`
	Cluster  ClusterName `json:"cluster"`
	Revision int32       `json:"revision"`
}

// CopyPreserved says that a member no longer looks after its copy, which runs on.
type CopyPreserved struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
}

// CopyAdopted says that a member looks after a copy again that was preserved, with the replicas that it runs.
type CopyAdopted struct {
	Binding  BindingName `json:"binding"`
	Cluster  ClusterName `json:"cluster"`
	Replicas int32       `json:"replicas,omitempty"`
	// Health and Ready are how a copy was last reported that ran before the engine did; empty: it was preserved.
	Health api.ResourceHealth `json:"health,omitempty"`
	Ready  int32              `json:"ready,omitempty"`
}

// CopyStopped says that a member removed its copy.
type CopyStopped struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
}

// HealthChanged says that a binding learnt of a copy's health.
type HealthChanged struct {
	Binding BindingName        `json:"binding"`
	Cluster ClusterName        `json:"cluster"`
	Health  api.ResourceHealth `json:"health"`
	Ready   int32              `json:"ready,omitempty"`
	// Revision is the version of the pod template that the replicas run; zero: there was only one.
	Revision int32 `json:"revision,omitempty"`
	// Refused says why the cluster did not apply what it was told to run; empty: it did.
	Refused string `json:"refused,omitempty"`
	// Since is when the copy was first Unhealthy without a break; zero unless Unhealthy.
	Since time.Time `json:"-"`
	// Starting is when a copy that was never healthy first reported; zero once it was.
	Starting time.Time `json:"-"`
}

// StatusChanged says that a binding learnt what a copy says of itself; an empty Status says that it says
// nothing any more.
type StatusChanged struct {
	Binding BindingName     `json:"binding"`
	Cluster ClusterName     `json:"cluster"`
	Status  json.RawMessage `json:"status,omitempty"`
}

// HealthForgotten says that a binding no longer hears of a copy: it is gone.
type HealthForgotten struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
}

// RescheduleRequested says that a WorkloadRebalancer asked for a fresh placement.
type RescheduleRequested struct {
	Binding BindingName `json:"binding"`
	At      time.Time   `json:"-"`
	By      string      `json:"by"`
}

func (*BindingCreated) Kind() string      { return "BindingCreated" }
func (*BindingUpdated) Kind() string      { return "BindingUpdated" }
func (*BindingDeleted) Kind() string      { return "BindingDeleted" }
func (*Scheduled) Kind() string           { return "Scheduled" }
func (*PlacementConfirmed) Kind() string  { return "PlacementConfirmed" }
func (*ScheduleFailed) Kind() string      { return "ScheduleFailed" }
func (*EvictionScheduled) Kind() string   { return "EvictionScheduled" }
func (*EvictionCancelled) Kind() string   { return "EvictionCancelled" }
func (*EvictionBlocked) Kind() string     { return "EvictionBlocked" }
func (*EvictionStarted) Kind() string     { return "EvictionStarted" }
func (*EvictionEnded) Kind() string       { return "EvictionEnded" }
func (*EvictionWithdrawn) Kind() string   { return "EvictionWithdrawn" }
func (*HandoverBlocked) Kind() string     { return "HandoverBlocked" }
func (*CopyStarted) Kind() string         { return "CopyStarted" }
func (*CopyScaled) Kind() string          { return "CopyScaled" }
func (*CopyUpdated) Kind() string         { return "CopyUpdated" }
func (*ReplicasReleased) Kind() string    { return "ReplicasReleased" }
func (*PurgeOvertaken) Kind() string      { return "PurgeOvertaken" }
func (*CopyPreserved) Kind() string       { return "CopyPreserved" }
func (*CopyAdopted) Kind() string         { return "CopyAdopted" }
func (*CopyStopped) Kind() string         { return "CopyStopped" }
func (*HealthChanged) Kind() string       { return "HealthChanged" }
func (*StatusChanged) Kind() string       { return "StatusChanged" }
func (*HealthForgotten) Kind() string     { return "HealthForgotten" }
func (*ActivationDeferred) Kind() string  { return "ActivationDeferred" }
func (*RescheduleRequested) Kind() string { return "RescheduleRequested" }

func (f *BindingCreated) AboutBinding() BindingName      { return f.Binding }
func (f *BindingUpdated) AboutBinding() BindingName      { return f.Binding }
func (f *BindingDeleted) AboutBinding() BindingName      { return f.Binding }
func (f *Scheduled) AboutBinding() BindingName           { return f.Binding }
func (f *PlacementConfirmed) AboutBinding() BindingName  { return f.Binding }
func (f *ScheduleFailed) AboutBinding() BindingName      { return f.Binding }
func (f *EvictionScheduled) AboutBinding() BindingName   { return f.Binding }
func (f *EvictionCancelled) AboutBinding() BindingName   { return f.Binding }
func (f *EvictionBlocked) AboutBinding() BindingName     { return f.Binding }
func (f *EvictionStarted) AboutBinding() BindingName     { return f.Binding }
func (f *EvictionEnded) AboutBinding() BindingName       { return f.Binding }
func (f *EvictionWithdrawn) AboutBinding() BindingName   { return f.Binding }
func (f *HandoverBlocked) AboutBinding() BindingName     { return f.Binding }
func (f *CopyStarted) AboutBinding() BindingName         { return f.Binding }
func (f *CopyScaled) AboutBinding() BindingName          { return f.Binding }
func (f *CopyUpdated) AboutBinding() BindingName         { return f.Binding }
func (f *ReplicasReleased) AboutBinding() BindingName    { return f.Binding }
func (f *PurgeOvertaken) AboutBinding() BindingName      { return f.Binding }
func (f *CopyPreserved) AboutBinding() BindingName       { return f.Binding }
func (f *CopyAdopted) AboutBinding() BindingName         { return f.Binding }
func (f *CopyStopped) AboutBinding() BindingName         { return f.Binding }
func (f *HealthChanged) AboutBinding() BindingName       { return f.Binding }
func (f *StatusChanged) AboutBinding() BindingName       { return f.Binding }
func (f *HealthForgotten) AboutBinding() BindingName     { return f.Binding }
func (f *ActivationDeferred) AboutBinding() BindingName  { return f.Binding }
func (f *RescheduleRequested) AboutBinding() BindingName { return f.Binding }

func (f *EvictionScheduled) AboutCluster() ClusterName { return f.Cluster }
func (f *EvictionCancelled) AboutCluster() ClusterName { return f.Cluster }
func (f *EvictionBlocked) AboutCluster() ClusterName   { return f.Cluster }
func (f *EvictionStarted) AboutCluster() ClusterName   { return f.Cluster }
func (f *EvictionEnded) AboutCluster() ClusterName     { return f.Cluster }
func (f *EvictionWithdrawn) AboutCluster() ClusterName { return f.Cluster }
func (f *HandoverBlocked) AboutCluster() ClusterName   { return f.Cluster }
func (f *CopyStarted) AboutCluster() ClusterName       { return f.Cluster }
func (f *CopyScaled) AboutCluster() ClusterName        { return f.Cluster }
func (f *CopyUpdated) AboutCluster() ClusterName       { return f.Cluster }
func (f *ReplicasReleased) AboutCluster() ClusterName  { return f.Cluster }
func (f *PurgeOvertaken) AboutCluster() ClusterName    { return f.Cluster }
func (f *CopyPreserved) AboutCluster() ClusterName     { return f.Cluster }
func (f *CopyAdopted) AboutCluster() ClusterName       { return f.Cluster }
func (f *CopyStopped) AboutCluster() ClusterName       { return f.Cluster }
func (f *HealthChanged) AboutCluster() ClusterName     { return f.Cluster }
func (f *StatusChanged) AboutCluster() ClusterName     { return f.Cluster }
func (f *HealthForgotten) AboutCluster() ClusterName   { return f.Cluster }
