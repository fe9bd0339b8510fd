package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// ToCluster is what a cluster understands.
type ToCluster interface{ toCluster() }

// ClusterJoined is the first message of a cluster's life, or of its life after a restart.
// From: ingress. To: the cluster.
type ClusterJoined struct {
	Object *api.Cluster
	// Recovered is set after a restart: the object is as it was.
	Recovered bool
	// Policies are the ClusterTaintPolicies there are, in any order.
	Policies []PolicyListed
	// Blind is set during a blackout.
	Blind bool
}

// ClusterEdited carries a cluster's manifest, applied again by people. From: ingress. To: the cluster.
type ClusterEdited struct{ Object *api.Cluster }

// ClusterRecreated says that a cluster, which may be about to leave, is another of its name by now: the object of the old one is out of the store,
// and there is a new one. From: ingress. To: the cluster.
type ClusterRecreated struct{ Object *api.Cluster }

// ClusterDeleted asks a cluster to leave. It goes when no binding is placed on it any more.
// From: ingress. To: the cluster.
type ClusterDeleted struct{}

// ConditionsReported sets several conditions, each of another type, of which none is Observed. A reader of the cluster sees them
// change in one step. From: ingress. To: the cluster.
type ConditionsReported struct{ Reports []*ConditionReported }

// ConditionReported sets one condition; an empty status removes it. From: ingress. To: the cluster.
type ConditionReported struct {
	// Observed is set where Ready is what one probe found: thresholds hold back what it changes.
	Observed bool

	Type    string
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

// TaintEdit is one change of a taint by people. Remove with an empty effect removes every effect of
// the key; otherwise a taint is known by key and effect.
type TaintEdit struct {
	Taint  corev1.Taint
	Remove bool
	// Cause says who asks and when, where the API server knows it; zero: a person of whom nothing is known.
	Cause api.TaintCause
}

// TaintsEdited changes taints by hand. From: ingress. To: the cluster.
type TaintsEdited struct{ Edits []TaintEdit }

// DrainRequested asks a cluster to let all its bindings leave, by a deadline unless that is zero. It gets
// no new ones. From: ingress. To: the cluster.
type DrainRequested struct{ Deadline time.Time }

// DrainCancelled ends a drain, whether or not the cluster is empty. From: ingress. To: the cluster.
type DrainCancelled struct{}

// LabelsEdited sets labels, and removes those whose value is nil. From: ingress. To: the cluster.
type LabelsEdited struct{ Labels map[string]*string }

// ResourcesReported is a cluster's capacity as it now reports it. From: ingress. To: the cluster.
type ResourcesReported struct{ Summary *api.ResourceSummary }

// EnablementsReported lists what the cluster now says that it serves, by group and version; none: it says nothing of it.
// From: ingress. To: the cluster.
type EnablementsReported struct{ APIs []api.APIEnablement }

// ContactLost says that nothing gets through to the cluster or from it since At: probes fail, and its agent,
// if it has one, renewed its lease at RenewedAt for the last time. From: its member. To: the cluster.
type ContactLost struct{ At, RenewedAt time.Time }

// ContactRestored says that the cluster can be heard again. From: its member. To: the cluster.
type ContactRestored struct{}

// BlackoutDeclared says whether so many clusters seem to have failed that nothing of it is believed. While it
// lasts, neither the system nor policies empty the cluster. From: governor. To: every cluster.
type BlackoutDeclared struct{ Blind bool }

// PolicyListed says that a ClusterTaintPolicy exists, or was edited.
// From: ingress. To: every cluster.
type PolicyListed struct {
	Name      PolicyName
	CreatedAt time.Time
	// Targeted is set where the policy selects the cluster: all policies judge it again then. Others
	// learn of the policy and act on it when their conditions change next, as in Karmada.
	Targeted bool
	// Cleanup is the policy's own; empty: the setting's.
	Cleanup api.CleanupMode
}

// PolicyDropped says that a ClusterTaintPolicy is gone; what becomes of its taints its Cleanup says. From: ingress. To: every cluster.
type PolicyDropped struct{ Name PolicyName }

// VerdictGiven is a policy's answer to one JudgeCluster. The cluster acts when it has the answers of
// all policies to its newest generation. From: policy. To: the cluster that asked.
type VerdictGiven struct {
	Policy     PolicyName
	Generation uint64
	// ReportOnly is set where the answer is shown and not carried out.
	ReportOnly bool
	// Selects is set where the policy is about the cluster.
	Selects bool
	Add     bool
	Remove  bool
	// Evicts is set where the policy adds a NoExecute taint for what the cluster reports, now or by waiting.
	Evicts bool
	// AddCause and RemoveCause name the conditions that decided.
	AddCause    string
	RemoveCause string
	Taints      []api.PolicyTaint
	// Due is when the verdict changes if nothing else does; zero: not by waiting.
	Due time.Time
}

// BindingPlaced asks for the cluster's NoExecute taints, now and at every change.
// From: binding. To: a cluster that it is placed on, or that it is leaving.
type BindingPlaced struct {
	Binding BindingName
	// Leaving is set, after a restart, where an eviction is under way: that there are no such taints any more is
	// news to it.
	Leaving bool
}

// BindingLeft ends what BindingPlaced began. From: binding. To: the cluster it left.
type BindingLeft struct{ Binding BindingName }

// AnswerChanged says that a binding may answer ConsiderTaints otherwise than it did. Only one that was
// ever asked says so. From: binding. To: the clusters that it is placed on.
type AnswerChanged struct{ Binding BindingName }

// TaintsConsidered answers a ConsiderTaints. From: binding. To: the cluster that asked.
type TaintsConsidered struct {
	Binding BindingName
	Policy  PolicyName
	// Leaves is set where the binding stays now and would have to leave.
	Leaves bool
}

func (*ClusterJoined) toCluster()       {}
func (*ClusterEdited) toCluster()       {}
func (*ClusterRecreated) toCluster()    {}
func (*ClusterDeleted) toCluster()      {}
func (*ConditionReported) toCluster()   {}
func (*ConditionsReported) toCluster()  {}
func (*TaintsEdited) toCluster()        {}
func (*DrainRequested) toCluster()      {}
func (*DrainCancelled) toCluster()      {}
func (*LabelsEdited) toCluster()        {}
func (*ResourcesReported) toCluster()   {}
func (*EnablementsReported) toCluster() {}
func (*ContactLost) toCluster()         {}
func (*ContactRestored) toCluster()     {}
func (*PolicyListed) toCluster()        {}
func (*BlackoutDeclared) toCluster()    {}
func (*PolicyDropped) toCluster()       {}
func (*VerdictGiven) toCluster()        {}
func (*BindingPlaced) toCluster()       {}
func (*BindingLeft) toCluster()         {}
func (*AnswerChanged) toCluster()       {}
func (*TaintsConsidered) toCluster()    {}
func (*SettingsChanged) toCluster()     {}
func (*Woken) toCluster()               {}

// ClusterView is what placement and policies see of one cluster at one instant. It is a snapshot:
// a holder may keep it, and must not change it.
type ClusterView struct {
	Name     ClusterName
	Labels   map[string]string
	Provider string
	Region   string
	Zones    []string
	// Taints in the order of the Cluster's spec.
	Taints []corev1.Taint
	// Conditions in the order of the Cluster's status, one per type.
	Conditions []metav1.Condition
	// Removed are the conditions that the cluster ceased to report. One of neither list is missing since
	// the cluster was Created.
	Removed []api.RemovedCondition
	Created time.Time
	// APIs is what the cluster serves; empty means that nothing is known and everything is assumed.
	APIs []api.APIEnablement
	// Resources is nil where the cluster reports no capacity.
	Resources *api.ResourceSummary
	// Models are the grades of nodes that Resources counts, if it does; nil: none.
	Models   []api.ResourceModel
	Deleting bool
}

// Located returns as much of a cluster as an affinity looks at.
func Located(c *api.Cluster) *ClusterView {
	return &ClusterView{
		Name: ClusterName(c.Name), Labels: c.Labels,
		Provider: c.Spec.Provider, Region: c.Spec.Region, Zones: c.Spec.Zones,
	}
}

// Condition returns the condition of one type, or nil.
func (v *ClusterView) Condition(kind string) *metav1.Condition {
	for i := range v.Conditions {
		if v.Conditions[i].Type == kind {
			return &v.Conditions[i]
		}
	}
	return nil
}

// MissingSince returns since when a condition that the cluster does not report is missing.
func (v *ClusterView) MissingSince(kind string) time.Time {
	for i := range v.Removed {
		if v.Removed[i].Type == kind {
			return v.Removed[i].At.Time
		}
	}
	return v.Created
}
