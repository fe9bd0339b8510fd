package api

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Taint keys that Karmada reserves for itself.
const (
	TaintNotReady      = "cluster.karmada.io/not-ready"
	TaintUnreachable   = "cluster.karmada.io/unreachable"
	TaintUnschedulable = "cluster.karmada.io/unschedulable"
	TaintTerminating   = "cluster.karmada.io/terminating"
	// TaintDraining is Leeward's own.
	TaintDraining = "leeward.dev/draining"
)

// AnnotationDrain asks for a cluster to be emptied, by the time of its value (RFC 3339) unless that is empty. To
// remove it ends the drain. Leeward's own.
const AnnotationDrain = "leeward.dev/drain"

// AnnotationAgent says of a cluster which agent acts for it, if that is another than Leeward's own: AgentOfKarmada, whose Works are
// written as Karmada's agent reads them. The API server notes it of a cluster that such an agent registers. Leeward's own.
const (
	AnnotationAgent = "leeward.dev/agent"
	AgentOfKarmada  = "karmada"
)

// LeaseNamespace holds the leases by which agents show that they live, one per cluster, of its name. Source:
// Karmada's agent.
const LeaseNamespace = "karmada-cluster"

// AgentUserPrefix precedes the cluster in the name of the user of its agent at leewardd.
const AgentUserPrefix = "leeward:agent:"

// Condition types that Karmada reports of a cluster.
const (
	ConditionReady                  = "Ready"
	ConditionCompleteAPIEnablements = "CompleteAPIEnablements"
)

// Cluster is one member cluster.
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              ClusterSpec   `json:"spec"`
	Status            ClusterStatus `json:"status,omitzero"`
}

// ClusterSyncMode says who moves the resources: the control plane (Push) or an agent (Pull).
type ClusterSyncMode string

// The sync modes.
const (
	Push ClusterSyncMode = "Push"
	Pull ClusterSyncMode = "Pull"
)

// ClusterSpec is what people and policies decide about a cluster.
type ClusterSpec struct {
	ID                          string                `json:"id,omitempty"`
	SyncMode                    ClusterSyncMode       `json:"syncMode,omitempty"`
	APIEndpoint                 string                `json:"apiEndpoint,omitempty"`
	SecretRef                   *LocalSecretReference `json:"secretRef,omitempty"`
	ImpersonatorSecretRef       *LocalSecretReference `json:"impersonatorSecretRef,omitempty"`
	InsecureSkipTLSVerification bool                  `json:"insecureSkipTLSVerification,omitempty"`
	ProxyURL                    string                `json:"proxyURL,omitempty"`
	ProxyHeader                 map[string]string     `json:"proxyHeader,omitempty"`
	Provider                    string                `json:"provider,omitempty"`
	Region                      string                `json:"region,omitempty"`
	// Zone is deprecated; it is moved into Zones when Zones is empty.
	Zone  string   `json:"zone,omitempty"`
	Zones []string `json:"zones,omitempty"`
	// Taints are unique by key and effect.
	Taints         []corev1.Taint  `json:"taints,omitempty"`
	ResourceModels []ResourceModel `json:"resourceModels,omitempty"`
}

// LocalSecretReference names a secret in the control plane.
type LocalSecretReference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// ResourceModel is one grade of nodes.
type ResourceModel struct {
	Grade  uint                 `json:"grade"`
	Ranges []ResourceModelRange `json:"ranges"`
}

// ResourceModelRange is a half-open range [Min, Max) of one resource.
type ResourceModelRange struct {
	Name corev1.ResourceName `json:"name"`
	Min  resource.Quantity   `json:"min"`
	Max  resource.Quantity   `json:"max"`
}

// ClusterStatus is what is observed of a cluster.
type ClusterStatus struct {
	KubernetesVersion string             `json:"kubernetesVersion,omitempty"`
	APIEnablements    []APIEnablement    `json:"apiEnablements,omitempty"`
	Conditions        []metav1.Condition `json:"conditions,omitempty"`
	NodeSummary       *NodeSummary       `json:"nodeSummary,omitempty"`
	ResourceSummary   *ResourceSummary   `json:"resourceSummary,omitempty"`
	RemedyActions     []string           `json:"remedyActions,omitempty"`
	// NodeTopology is where the nodes are by their labels; nil: nothing says. Leeward's own.
	NodeTopology *NodeTopology `json:"nodeTopology,omitempty"`
	// TaintCauses says of each taint who put it there and why. Leeward's own.
	TaintCauses []TaintCause `json:"taintCauses,omitempty"`
	// ReadyObservation is what probes find of Ready, and does not count yet. Leeward's own.
	ReadyObservation *ReadyObservation `json:"readyObservation,omitempty"`
	// Drain is how far the cluster is emptied; nil: it was not asked for. Leeward's own.
	Drain *Drain `json:"drain,omitempty"`
	// WorkloadsStay is why nothing evicts the workloads of a cluster that is not Ready; empty: it is Ready, runs none,
	// or they are evicted. Leeward's own.
	WorkloadsStay string `json:"workloadsStay,omitempty"`
	// RemovedConditions are those that the cluster ceased to report, be it for a while, one per type.
	// Leeward's own.
	RemovedConditions []RemovedCondition `json:"removedConditions,omitempty"`
	// TaintPreviews says what policies that only report would do, one item per policy. Leeward's own.
	TaintPreviews []TaintPreview `json:"taintPreviews,omitempty"`
}

// TaintPreview is what a policy that only reports would have changed of a cluster. Leeward's own.
type TaintPreview struct {
	Policy string `json:"policy"`
	// Add are the taints that the cluster would have, since their timeAdded; Remove those that it would
	// no longer have. Spared are those that the policy asks to go and that would stay, because no policy added them.
	Add    []corev1.Taint `json:"add,omitempty"`
	Remove []corev1.Taint `json:"remove,omitempty"`
	Spared []corev1.Taint `json:"spared,omitempty"`
	// Because is the condition that asked for it, as in a TaintCause.
	Because string `json:"because,omitempty"`
	// WouldEvict counts the bindings that stay and would have to leave, now or in time.
	WouldEvict int32 `json:"wouldEvict,omitempty"`
}

// ReadyObservation is another status of Ready than the condition has. Leeward's own.
type ReadyObservation struct {
	Status  metav1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason,omitempty"`
	Message string                 `json:"message,omitempty"`
	// Since is when probes first found it.
	Since metav1.Time `json:"since"`
}

// Drain is how far people's wish to empty a cluster has come. Leeward's own.
type Drain struct {
	Since metav1.Time `json:"since"`
	// Deadline is when the cluster ought to be empty; nil: at some time.
	Deadline *metav1.Time `json:"deadline,omitempty"`
	// Bindings counts those that had to leave, and Left those that have not left yet: a handover counts
	// until its end.
	Bindings int32 `json:"bindings"`
	Left     int32 `json:"left"`
	// Missed is set once the deadline has passed with bindings left.
	Missed bool `json:"missed,omitempty"`
}

// RemovedCondition says when a cluster last ceased to report a condition. Leeward's own.
type RemovedCondition struct {
	Type string      `json:"type"`
	At   metav1.Time `json:"at"`
}

// mostRemoved is how many conditions that a cluster ceased to report are remembered. A policy that asks since when an older one
// is missing takes it for one that never was reported.
const mostRemoved = 100

// WithRemoved returns the list with the latest removal of a condition, without the oldest where it would be longer than
// mostRemoved. It does not write to the list.
func WithRemoved(list []RemovedCondition, kind string, at time.Time) []RemovedCondition {
	others := slices.DeleteFunc(slices.Clone(list), func(r RemovedCondition) bool { return r.Type == kind })
	others = others[max(0, len(others)-mostRemoved+1):]
	return append(others, RemovedCondition{Type: kind, At: metav1.Time{Time: at}})
}

// TaintCause is the provenance of one taint. Leeward's own.
type TaintCause struct {
	Key    string             `json:"key"`
	Effect corev1.TaintEffect `json:"effect"`
	// Policy is the ClusterTaintPolicy that added the taint; empty for people and for the system.
	Policy string `json:"policy,omitempty"`
	// By is "policy", "system" or "user".
	By string `json:"by"`
	// User is the name of the person, as the API server knows it, and At is when the taint was set. The
	// API server notes both of taints that people set; clients cannot write them.
	User string      `json:"user,omitempty"`
	At   metav1.Time `json:"at,omitzero"`
	// Because is the condition that asked for it, as "Ready=False (NetworkDown: link lost)".
	Because string `json:"because,omitempty"`
}

// TaintCauseUser is By of a taint that a person set.
const TaintCauseUser = "user"

// APIEnablement lists the resources of one group and version that a cluster serves.
type APIEnablement struct {
	GroupVersion string        `json:"groupVersion"`
	Resources    []APIResource `json:"resources,omitempty"`
}

// APIResource is one kind that a cluster serves.
type APIResource struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// NodeSummary counts nodes.
type NodeSummary struct {
	TotalNum int32 `json:"totalNum,omitempty"`
	ReadyNum int32 `json:"readyNum,omitempty"`
}

// NodeTopology is where nodes are. Leeward's own.
type NodeTopology struct {
	// Region is that of all nodes with a region; empty: there is none, or there are several.
	Region string `json:"region,omitempty"`
	// Zones are in order, each once.
	Zones []string `json:"zones,omitempty"`
}

// Locate has a cluster be where its nodes are, in what people do not say: the spec says nothing of it, or what the nodes said before;
// before is nil where they said nothing.
func (c *Cluster) Locate(before *NodeTopology) {
	nodes, spec := c.Status.NodeTopology, &c.Spec
	if nodes == nil {
		return
	}
	if spec.Region == "" || before != nil && spec.Region == before.Region {
		spec.Region = nodes.Region
	}
	if spec.Zone == "" && len(spec.Zones) == 0 || before != nil && slices.Equal(spec.Zones, before.Zones) {
		spec.Zones = nodes.Zones
	}
}

// ResourceSummary is a cluster's capacity: Allocatable less Allocating less Allocated is free.
type ResourceSummary struct {
	Allocatable          corev1.ResourceList   `json:"allocatable,omitempty"`
	Allocating           corev1.ResourceList   `json:"allocating,omitempty"`
	Allocated            corev1.ResourceList   `json:"allocated,omitempty"`
	AllocatableModelings []AllocatableModeling `json:"allocatableModelings,omitempty"`
}

// Units counts a quantity of a resource: cpu in thousandths, all else in whole units, rounded up. Source: Karmada's
// estimator.
func Units(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// AllocatableModeling counts the nodes of one grade.
type AllocatableModeling struct {
	Grade uint `json:"grade"`
	Count int  `json:"count"`
}

// CauseOf is why a cluster has a taint, which is known by key and effect; nil: that is not kept.
func (s *ClusterStatus) CauseOf(t *corev1.Taint) *TaintCause {
	for i := range s.TaintCauses {
		if c := &s.TaintCauses[i]; c.Key == t.Key && c.Effect == t.Effect {
			return c
		}
	}
	return nil
}
