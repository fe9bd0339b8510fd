package api

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// AnnotationAppliedPlacement holds, as JSON, the placement that the scheduler last applied.
const AnnotationAppliedPlacement = "policy.karmada.io/applied-placement"

// AnnotationPolicyNamespace names the namespace of the PropagationPolicy that claimed a binding's resource. Source: Karmada.
const AnnotationPolicyNamespace = "propagationpolicy.karmada.io/namespace"

// AnnotationRevision numbers, on a resource, the versions of its pod template, the first being 1; without
// it there was only one. Leeward's own.
const AnnotationRevision = "leeward.dev/revision"

// AnnotationState has, as JSON, what a daemon that acts beside Karmada must know of a binding after a restart. Leeward's own.
const AnnotationState = "leeward.dev/state"

// ResourceBinding is where one resource runs, and where it is leaving.
type ResourceBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              BindingSpec   `json:"spec"`
	Status            BindingStatus `json:"status,omitzero"`
}

// ClusterResourceBinding is a ResourceBinding for a cluster-scoped resource.
type ClusterResourceBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              BindingSpec   `json:"spec"`
	Status            BindingStatus `json:"status,omitzero"`
}

// BindingSpec is what is decided about one resource.
type BindingSpec struct {
	Resource                    ObjectReference         `json:"resource"`
	PropagateDeps               bool                    `json:"propagateDeps,omitempty"`
	ReplicaRequirements         *ReplicaRequirements    `json:"replicaRequirements,omitempty"`
	Replicas                    int32                   `json:"replicas,omitempty"`
	Components                  []Component             `json:"components,omitempty"`
	Clusters                    []TargetCluster         `json:"clusters,omitempty"`
	GracefulEvictionTasks       []GracefulEvictionTask  `json:"gracefulEvictionTasks,omitempty"`
	RequiredBy                  []BindingSnapshot       `json:"requiredBy,omitempty"`
	SchedulerName               string                  `json:"schedulerName,omitempty"`
	Placement                   *Placement              `json:"placement,omitempty"`
	Failover                    *FailoverBehavior       `json:"failover,omitempty"`
	ConflictResolution          string                  `json:"conflictResolution,omitempty"`
	RescheduleTriggeredAt       *metav1.Time            `json:"rescheduleTriggeredAt,omitempty"`
	Suspension                  *Suspension             `json:"suspension,omitempty"`
	PreserveResourcesOnDeletion *bool                   `json:"preserveResourcesOnDeletion,omitempty"`
	SchedulePriority            *SchedulePriority       `json:"schedulePriority,omitempty"`
	WorkloadAffinityGroups      *WorkloadAffinityGroups `json:"workloadAffinityGroups,omitempty"`
}

// ObjectReference names the resource that a binding is for.
type ObjectReference struct {
	APIVersion      string    `json:"apiVersion"`
	Kind            string    `json:"kind"`
	Namespace       string    `json:"namespace,omitempty"`
	Name            string    `json:"name"`
	UID             types.UID `json:"uid,omitempty"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
}

// Key is the key of the resource that is named.
func (r *ObjectReference) Key() Key {
	return Key{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// ReplicaRequirements is what one replica needs.
type ReplicaRequirements struct {
	NodeClaim         *NodeClaim          `json:"nodeClaim,omitempty"`
	ResourceRequest   corev1.ResourceList `json:"resourceRequest,omitempty"`
	Namespace         string              `json:"namespace,omitempty"`
	PriorityClassName string              `json:"priorityClassName,omitempty"`
}

// NodeClaim is what one replica asks of its node.
type NodeClaim struct {
	HardNodeAffinity *corev1.NodeSelector `json:"hardNodeAffinity,omitempty"`
	NodeSelector     map[string]string    `json:"nodeSelector,omitempty"`
	Tolerations      []corev1.Toleration  `json:"tolerations,omitempty"`
}

// Component is one pod template of a workload that has several.
type Component struct {
	Name                string               `json:"name"`
	Replicas            int32                `json:"replicas"`
	ReplicaRequirements *ReplicaRequirements `json:"replicaRequirements,omitempty"`
}

// TargetCluster is one cluster that runs the resource, with its share of the replicas, or with all
// components of a workload that has several.
type TargetCluster struct {
	Name     string `json:"name"`
	Replicas int32  `json:"replicas,omitempty"`
	// Components is shared by the clusters of a result and must not change. It is a pointer because there
	// are many clusters without.
	Components *TargetComponents `json:"components,omitzero"`
}

// TargetComponents are the components that a cluster runs.
type TargetComponents []TargetComponent

// TargetComponent is one component, by its name in spec.components, with its replicas.
type TargetComponent struct {
	Name     string `json:"name"`
	Replicas int32  `json:"replicas"`
}

// Equal reports whether two targets say the same.
func (t TargetCluster) Equal(o TargetCluster) bool {
	return t.Name == o.Name && t.Replicas == o.Replicas && t.Components.Equal(o.Components)
}

// FindTarget returns the index of the target that is a cluster; -1: none is.
func FindTarget(targets []TargetCluster, cluster string) int {
	for i := range targets {
		if targets[i].Name == cluster {
			return i
		}
	}
	return -1
}

// ReplicasOn is how many replicas targets have on a cluster.
func ReplicasOn(targets []TargetCluster, cluster string) int32 {
	if i := FindTarget(targets, cluster); i >= 0 {
		return targets[i].Replicas
	}
	return 0
}

// Pods counts what the cluster is to run: its replicas, or those of all components.
func (t TargetCluster) Pods() int32 { return t.Replicas + t.Components.Pods() }

// list is the components as they are; nil has none.
func (c *TargetComponents) list() TargetComponents {
	if c == nil {
		return nil
	}
	return *c
}

// IsZero reports whether there are none.
func (c *TargetComponents) IsZero() bool { return len(c.list()) == 0 }

// Equal reports whether two lists say the same in the same order.
func (c *TargetComponents) Equal(o *TargetComponents) bool {
	return c == o || slices.Equal(c.list(), o.list())
}

// Replicas returns how many a component has, 0 if it is not listed.
func (c *TargetComponents) Replicas(name string) int32 {
	for _, component := range c.list() {
		if component.Name == name {
			return component.Replicas
		}
	}
	return 0
}

// Pods counts the replicas of all components, up to math.MaxInt32.
func (c *TargetComponents) Pods() int32 {
	sum := int64(0)
	for _, component := range c.list() {
		sum += int64(component.Replicas)
	}
	return int32(min(sum, math.MaxInt32))
}

// Reasons and producers of graceful eviction tasks.
const (
	EvictionReasonTaintUntolerated   = "TaintUntolerated"
	EvictionReasonApplicationFailure = "ApplicationFailure"
	// Leeward's own: the resource returns to where it was before, a WorkloadRebalancer asked for a fresh placement, or
	// the scheduler placed it again for some other cause.
	EvictionReasonFailback   = "Failback"
	EvictionReasonRebalance  = "Rebalance"
	EvictionReasonReschedule = "Reschedule"

	ProducerTaintManager               = "TaintManager"
	ProducerFailback                   = "Failback"
	ProducerWorkloadRebalancer         = "WorkloadRebalancer"
	ProducerScheduler                  = "Scheduler"
	ProducerApplicationFailover        = "resource-binding-application-failover-controller"
	ProducerClusterApplicationFailover = "cluster-resource-binding-application-failover-controller"
)

// GracefulEvictionTask is one cluster that the resource is leaving.
type GracefulEvictionTask struct {
	FromCluster            string            `json:"fromCluster"`
	PurgeMode              PurgeMode         `json:"purgeMode,omitempty"`
	Replicas               *int32            `json:"replicas,omitempty"`
	Reason                 string            `json:"reason"`
	Message                string            `json:"message,omitempty"`
	Producer               string            `json:"producer"`
	GracePeriodSeconds     *int32            `json:"gracePeriodSeconds,omitempty"`
	SuppressDeletion       *bool             `json:"suppressDeletion,omitempty"`
	PreservedLabelState    map[string]string `json:"preservedLabelState,omitempty"`
	CreationTimestamp      *metav1.Time      `json:"creationTimestamp,omitempty"`
	ClustersBeforeFailover []string          `json:"clustersBeforeFailover,omitempty"`
	// Handover gradual makes Replicas follow what the old copy still runs. Leeward's own.
	Handover Handover `json:"handover,omitempty"`
	// ReplacedBy are the clusters that took over, with the replicas that each has for it; they give them
	// back if the task is withdrawn. Leeward's own.
	ReplacedBy []TargetCluster `json:"replacedBy,omitempty"`
	// FromAffinity is the affinity group that it moves from to an earlier one; it is in use again if the task is
	// withdrawn. Leeward's own.
	FromAffinity string `json:"fromAffinity,omitempty"`
}

// BindingSnapshot is a binding that needs this resource as its dependency.
type BindingSnapshot struct {
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name"`
	Clusters  []TargetCluster `json:"clusters,omitempty"`
}

// WorkloadAffinityGroups are the groups that the resource belongs to.
type WorkloadAffinityGroups struct {
	AffinityGroup     string `json:"affinityGroup,omitempty"`
	AntiAffinityGroup string `json:"antiAffinityGroup,omitempty"`
}

// BindingStatus is what is observed of a binding.
type BindingStatus struct {
	SchedulerObservedGeneration   int64                  `json:"schedulerObservedGeneration,omitempty"`
	SchedulerObservedAffinityName string                 `json:"schedulerObservingAffinityName,omitempty"`
	LastScheduledTime             *metav1.Time           `json:"lastScheduledTime,omitempty"`
	Conditions                    []metav1.Condition     `json:"conditions,omitempty"`
	AggregatedStatus              []AggregatedStatusItem `json:"aggregatedStatus,omitempty"`
	// ReturnAt is when the resource returns to an earlier affinity group. Leeward's own.
	ReturnAt *metav1.MicroTime `json:"returnAt,omitempty"`
	// Home is what clusters ran before the first of them failed, in the order of their names: where the
	// resource may return to. Leeward's own.
	Home []PreferredShare `json:"home,omitempty"`
	// Shrinking are the clusters that run more than their share until the others serve. Leeward's own.
	Shrinking *Shrinking `json:"shrinking,omitempty"`
	// DispatchSuspended are the clusters that were not told what their copy must be, because dispatching to them
	// is suspended, by name. Leeward's own.
	DispatchSuspended []string `json:"dispatchSuspended,omitempty"`
	// Evictions are the clusters that the resource is evicted from, now or at a deadline, one item for each, by name.
	// Leeward's own.
	Evictions []Eviction `json:"evictions,omitempty"`
	// FailoverHistory are the latest departures, oldest first: 16 for each reason. Leeward's own.
	FailoverHistory []FailoverRecord `json:"failoverHistory,omitempty"`
	// Unschedulable are the replicas that clusters cannot start, in order of time. Leeward's own.
	Unschedulable []UnschedulableReplicas `json:"unschedulable,omitempty"`
}

// UnschedulableReplicas are replicas that a cluster cannot start, all since one instant.
type UnschedulableReplicas struct {
	ClusterName string           `json:"clusterName"`
	Replicas    int32            `json:"replicas"`
	Since       metav1.MicroTime `json:"since"`
}

// PreferredShare is what one cluster ran.
type PreferredShare struct {
	TargetCluster `json:",inline"`
	// ReturnAt is when the cluster has it back, if it stays able to take it.
	ReturnAt *metav1.MicroTime `json:"returnAt,omitempty"`
	// Kept is set while the cluster, which was cut off, runs its old copy until that is judged.
	Kept bool `json:"kept,omitempty"`
}

// Shrinking is a reduction of shares that waits for a handover.
type Shrinking struct {
	Reason string           `json:"reason"`
	Since  metav1.MicroTime `json:"since"`
	// Clusters say how many replicas each goes on running.
	Clusters []TargetCluster `json:"clusters"`
}

// EvictionState is how far an eviction is.
type EvictionState string

// The states of an eviction.
const (
	// EvictionScheduled is one whose deadline is to come.
	EvictionScheduled EvictionState = "Scheduled"
	// EvictionBlocked is one that is due and may not start yet.
	EvictionBlocked EvictionState = "Blocked"
	// EvictionEvicting is one with a graceful eviction task.
	EvictionEvicting EvictionState = "Evicting"
)

// Eviction is that from one cluster.
type Eviction struct {
	Cluster string        `json:"cluster"`
	State   EvictionState `json:"state"`
	// Taint is the one that is not tolerated, or not for longer, as kubectl writes it; Policy is the ClusterTaintPolicy that
	// added it.
	Taint  string `json:"taint,omitempty"`
	Policy string `json:"policy,omitempty"`
	// Deadline is when the eviction is due, or was.
	Deadline metav1.MicroTime `json:"deadline,omitzero"`
	// Reason is why the resource is evicted or, while that is blocked, why it is; Message says it in a sentence.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Until is when a blocked eviction is looked at again by itself; nil: when something changes.
	Until *metav1.MicroTime `json:"until,omitempty"`
}

// FailoverRecord is one eviction from a cluster.
type FailoverRecord struct {
	FromCluster string `json:"fromCluster"`
	// ToClusters took over, with the replicas that each has for it.
	ToClusters []TargetCluster  `json:"toClusters,omitempty"`
	Reason     string           `json:"reason"`
	Producer   string           `json:"producer"`
	StartTime  metav1.MicroTime `json:"startTime"`
	// CompletionTime and Outcome (healthy, timeout, unsuppressed, deleted, withdrawn) are of the handover; nil and
	// empty while it is under way.
	CompletionTime *metav1.MicroTime `json:"completionTime,omitempty"`
	Outcome        string            `json:"outcome,omitempty"`
}

// Condition types and reasons of a binding.
const (
	ConditionScheduled    = "Scheduled"
	ConditionFullyApplied = "FullyApplied"

	ReasonSuccess        = "Success"
	ReasonSchedulerError = "SchedulerError"
	ReasonNoClusterFit   = "NoClusterFit"
	ReasonUnschedulable  = "Unschedulable"
	ReasonQuotaExceeded  = "QuotaExceeded"
	// ReasonBudgetSpent is why an eviction waits for an EvictionBudget. Not Karmada's.
	ReasonBudgetSpent = "BudgetSpent"
)

// IsUnschedulable reports whether a reason says that no cluster can take replicas.
func IsUnschedulable(reason string) bool {
	switch reason {
	case ReasonNoClusterFit, ReasonUnschedulable, ReasonQuotaExceeded, ReasonSchedulerError:
		return true
	}
	return false
}

// ResourceHealth is what a cluster reports of a copy.
type ResourceHealth string

// The states of health.
const (
	Healthy   ResourceHealth = "Healthy"
	Unhealthy ResourceHealth = "Unhealthy"
	Unknown   ResourceHealth = "Unknown"
)

// AggregatedStatusItem is what one cluster reports of its copy.
type AggregatedStatusItem struct {
	ClusterName    string                `json:"clusterName"`
	Status         *runtime.RawExtension `json:"status,omitempty"`
	Applied        bool                  `json:"applied,omitempty"`
	AppliedMessage string                `json:"appliedMessage,omitempty"`
	Health         ResourceHealth        `json:"health,omitempty"`
	// ReadyReplicas counts the replicas that serve. Leeward's own.
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// Revision is the version of the pod template that the replicas run; zero: there was only one.
	// Leeward's own.
	Revision int32 `json:"revision,omitempty"`
	// UnhealthySince is when the copy was first seen Unhealthy without a break. Leeward's own.
	UnhealthySince *metav1.MicroTime `json:"unhealthySince,omitempty"`
	// StartingSince is when a copy that was never healthy first reported. Leeward's own.
	StartingSince *metav1.MicroTime `json:"startingSince,omitempty"`
}

// TaskFrom is the task that evicts from a cluster; nil: there is none.
func (s *BindingSpec) TaskFrom(cluster string) *GracefulEvictionTask {
	for i := range s.GracefulEvictionTasks {
		if s.GracefulEvictionTasks[i].FromCluster == cluster {
			return &s.GracefulEvictionTasks[i]
		}
	}
	return nil
}

// Of is what was reported of the copy on a cluster; nil: nothing.
func (s *BindingStatus) Of(cluster string) *AggregatedStatusItem {
	for i := range s.AggregatedStatus {
		if s.AggregatedStatus[i].ClusterName == cluster {
			return &s.AggregatedStatus[i]
		}
	}
	return nil
}
