package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// ConditionChanged says that a cluster reports another status, reason or message for a condition.
type ConditionChanged struct {
	Cluster ClusterName            `json:"cluster"`
	Type    string                 `json:"type"`
	Status  metav1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason,omitempty"`
	Message string                 `json:"message,omitempty"`
	// By says who reports it where that is not the cluster: "monitor" for a missing heartbeat, "probe" for
	// what probes find.
	By string `json:"by,omitempty"`
}

// ReadyObserved says that probes find another status of Ready than the cluster has, which counts at the
// deadline; or, without a deadline, that they find the same one again.
type ReadyObserved struct {
	Cluster  ClusterName            `json:"cluster"`
	Status   metav1.ConditionStatus `json:"status"`
	Reason   string                 `json:"reason,omitempty"`
	Message  string                 `json:"message,omitempty"`
	Deadline time.Time              `json:"deadline,omitzero"`
}

// ConditionRemoved says that a cluster no longer reports a condition.
type ConditionRemoved struct {
	Cluster ClusterName `json:"cluster"`
	Type    string      `json:"type"`
}

// TaintAdded says that a cluster has a new taint, or a new value for one.
type TaintAdded struct {
	Cluster ClusterName    `json:"cluster"`
	Taint   corev1.Taint   `json:"taint"`
	Cause   api.TaintCause `json:"cause"`
}

// TaintRemoved says that a cluster lost a taint. Cause says who removed it and why.
type TaintRemoved struct {
	Cluster ClusterName    `json:"cluster"`
	Taint   corev1.Taint   `json:"taint"`
	Cause   api.TaintCause `json:"cause"`
}

// TaintAdopted says that a taint is there for another reason than before: who put it there no longer
// asks for it, and another cause does.
type TaintAdopted struct {
	Cluster ClusterName    `json:"cluster"`
	Taint   corev1.Taint   `json:"taint"`
	Cause   api.TaintCause `json:"cause"`
}

// TaintSpared says that a policy asks for a taint to go that stays, because no policy added it. Cause says
// who did, Because which conditions ask.
type TaintSpared struct {
	Cluster ClusterName    `json:"cluster"`
	Taint   corev1.Taint   `json:"taint"`
	Cause   api.TaintCause `json:"cause"`
	Policy  PolicyName     `json:"policy"`
	Because string         `json:"because,omitempty"`
}

// TaintingFailed says that what policies asked of a cluster's taints was refused as a whole, because the
// cluster would not be valid with them: nothing of it was done. Add and Remove are what they asked for together,
// Policies who asked, Problems why it was refused.
type TaintingFailed struct {
	Cluster  ClusterName    `json:"cluster"`
	Add      []corev1.Taint `json:"add,omitempty"`
	Remove   []corev1.Taint `json:"remove,omitempty"`
	Policies []PolicyName   `json:"policies"`
	Problems []string       `json:"problems"`
}

// TaintsPreviewed says what a ClusterTaintPolicy that only reports would have changed of a cluster by
// now; nothing, where neither Add nor Remove has a taint. Nothing was changed.
type TaintsPreviewed struct {
	Cluster ClusterName `json:"cluster"`
	api.TaintPreview
}

// DrainProgressed says how far a drain has come: at its beginning, whenever a binding has left, and when
// the cluster is empty.
type DrainProgressed struct {
	Cluster ClusterName `json:"cluster"`
	api.Drain
}

// DrainMissed says that the deadline of a drain has passed. Waiting are the bindings that have not left.
type DrainMissed struct {
	Cluster ClusterName   `json:"cluster"`
	Waiting []BindingName `json:"waiting"`
}

// DrainEnded says that people called a drain off.
type DrainEnded struct {
	Cluster ClusterName `json:"cluster"`
}

// WorkloadsStay says that a cluster that runs workloads is not Ready, and why nothing evicts them; without a Reason,
// that this has ended.
type WorkloadsStay struct {
	Cluster ClusterName `json:"cluster"`
	Reason  string      `json:"reason,omitempty"`
}

// LabelsChanged carries all labels of a cluster after a change.
type LabelsChanged struct {
	Cluster ClusterName       `json:"cluster"`
	Labels  map[string]string `json:"labels"`
}

// ClusterSpecChanged says that provider, region or zones changed.
type ClusterSpecChanged struct {
	Cluster  ClusterName `json:"cluster"`
	Provider string      `json:"provider,omitempty"`
	Region   string      `json:"region,omitempty"`
	Zones    []string    `json:"zones,omitempty"`
}

// CapacityChanged carries a cluster's capacity after a change.
type CapacityChanged struct {
	Cluster ClusterName          `json:"cluster"`
	Summary *api.ResourceSummary `json:"summary"`
}

// EnablementsChanged carries what a cluster serves after a change; none: it does not say.
type EnablementsChanged struct {
	Cluster ClusterName         `json:"cluster"`
	APIs    []api.APIEnablement `json:"apis,omitempty"`
}

// ResourceModelsChanged carries the grades into which a cluster sorts its nodes after a change.
type ResourceModelsChanged struct {
	Cluster ClusterName         `json:"cluster"`
	Models  []api.ResourceModel `json:"models,omitempty"`
}

// HeartbeatStopped says that a cluster's agent fell silent, or that a cluster without one no longer answers;
// RenewedAt is its last sign of life.
type HeartbeatStopped struct {
	Cluster   ClusterName `json:"cluster"`
	RenewedAt time.Time   `json:"renewedAt"`
	// Deadline is when Ready becomes Unknown, or False where the cluster is probed, unless it is heard before.
	Deadline time.Time `json:"deadline"`
	// Probed is set where the cluster has no agent.
	Probed bool `json:"probed,omitempty"`
}

// HeartbeatReturned says that a cluster's agent is back, or that a cluster without one would answer again.
type HeartbeatReturned struct {
	Cluster ClusterName `json:"cluster"`
	Probed  bool        `json:"probed,omitempty"`
}

// ClusterLeaving says that a cluster was deleted and waits for its last binding to go.
type ClusterLeaving struct {
	Cluster ClusterName `json:"cluster"`
}

// ClusterRemoved says that a deleted cluster is gone.
type ClusterRemoved struct {
	Cluster ClusterName `json:"cluster"`
}

// PolicyIgnored says that a ClusterTaintPolicy has no effect because of a setting.
type PolicyIgnored struct {
	Policy PolicyName `json:"policy"`
	Reason string     `json:"reason"`
}

func (*ConditionChanged) Kind() string      { return "ConditionChanged" }
func (*ReadyObserved) Kind() string         { return "ReadyObserved" }
func (*ConditionRemoved) Kind() string      { return "ConditionRemoved" }
func (*TaintAdded) Kind() string            { return "TaintAdded" }
func (*TaintRemoved) Kind() string          { return "TaintRemoved" }
func (*TaintAdopted) Kind() string          { return "TaintAdopted" }
func (*TaintSpared) Kind() string           { return "TaintSpared" }
func (*TaintingFailed) Kind() string        { return "TaintingFailed" }
func (*TaintsPreviewed) Kind() string       { return "TaintsPreviewed" }
func (*DrainProgressed) Kind() string       { return "DrainProgressed" }
func (*DrainMissed) Kind() string           { return "DrainMissed" }
func (*DrainEnded) Kind() string            { return "DrainEnded" }
func (*WorkloadsStay) Kind() string         { return "WorkloadsStay" }
func (*LabelsChanged) Kind() string         { return "LabelsChanged" }
func (*ClusterSpecChanged) Kind() string    { return "ClusterSpecChanged" }
func (*CapacityChanged) Kind() string       { return "CapacityChanged" }
func (*ResourceModelsChanged) Kind() string { return "ResourceModelsChanged" }
func (*EnablementsChanged) Kind() string    { return "EnablementsChanged" }
func (*HeartbeatStopped) Kind() string      { return "HeartbeatStopped" }
func (*HeartbeatReturned) Kind() string     { return "HeartbeatReturned" }
func (*ClusterLeaving) Kind() string        { return "ClusterLeaving" }
func (*ClusterRemoved) Kind() string        { return "ClusterRemoved" }
func (*PolicyIgnored) Kind() string         { return "PolicyIgnored" }

func (f *ConditionChanged) AboutCluster() ClusterName      { return f.Cluster }
func (f *ReadyObserved) AboutCluster() ClusterName         { return f.Cluster }
func (f *ConditionRemoved) AboutCluster() ClusterName      { return f.Cluster }
func (f *TaintAdded) AboutCluster() ClusterName            { return f.Cluster }
func (f *TaintRemoved) AboutCluster() ClusterName          { return f.Cluster }
func (f *TaintAdopted) AboutCluster() ClusterName          { return f.Cluster }
func (f *TaintSpared) AboutCluster() ClusterName           { return f.Cluster }
func (f *TaintingFailed) AboutCluster() ClusterName        { return f.Cluster }
func (f *TaintsPreviewed) AboutCluster() ClusterName       { return f.Cluster }
func (f *DrainProgressed) AboutCluster() ClusterName       { return f.Cluster }
func (f *DrainMissed) AboutCluster() ClusterName           { return f.Cluster }
func (f *DrainEnded) AboutCluster() ClusterName            { return f.Cluster }
func (f *WorkloadsStay) AboutCluster() ClusterName         { return f.Cluster }
func (f *LabelsChanged) AboutCluster() ClusterName         { return f.Cluster }
func (f *ClusterSpecChanged) AboutCluster() ClusterName    { return f.Cluster }
func (f *CapacityChanged) AboutCluster() ClusterName       { return f.Cluster }
func (f *ResourceModelsChanged) AboutCluster() ClusterName { return f.Cluster }
func (f *EnablementsChanged) AboutCluster() ClusterName    { return f.Cluster }
func (f *HeartbeatStopped) AboutCluster() ClusterName      { return f.Cluster }
func (f *HeartbeatReturned) AboutCluster() ClusterName     { return f.Cluster }
func (f *ClusterLeaving) AboutCluster() ClusterName        { return f.Cluster }
func (f *ClusterRemoved) AboutCluster() ClusterName        { return f.Cluster }
