package api

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PropagationPolicy propagates resources of its namespace.
type PropagationPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              PropagationSpec `json:"spec"`
}

// ClusterPropagationPolicy propagates resources of any namespace, and cluster-scoped ones.
type ClusterPropagationPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              PropagationSpec `json:"spec"`
}

// DefaultScheduler is the scheduler of whatever names none.
const DefaultScheduler = "default-scheduler"

// ConflictOverwrite is the conflictResolution that takes over objects which a cluster has already; "Abort", the default, refuses them.
const ConflictOverwrite = "Overwrite"

// PropagationSpec says what goes where, and what happens when it fails.
type PropagationSpec struct {
	ResourceSelectors           []ResourceSelector `json:"resourceSelectors"`
	Association                 bool               `json:"association,omitempty"`
	PropagateDeps               bool               `json:"propagateDeps,omitempty"`
	Placement                   Placement          `json:"placement,omitzero"`
	Priority                    *int32             `json:"priority,omitempty"`
	Preemption                  PreemptionBehavior `json:"preemption,omitempty"`
	DependentOverrides          []string           `json:"dependentOverrides,omitempty"`
	SchedulerName               string             `json:"schedulerName,omitempty"`
	Failover                    *FailoverBehavior  `json:"failover,omitempty"`
	ConflictResolution          string             `json:"conflictResolution,omitempty"`
	ActivationPreference        Activation         `json:"activationPreference,omitempty"`
	Suspension                  *Suspension        `json:"suspension,omitempty"`
	PreserveResourcesOnDeletion *bool              `json:"preserveResourcesOnDeletion,omitempty"`
	SchedulePriority            *SchedulePriority  `json:"schedulePriority,omitempty"`
}

// ResourceSelector selects templates; a name wins over a label selector.
type ResourceSelector struct {
	APIVersion    string                `json:"apiVersion"`
	Kind          string                `json:"kind"`
	Namespace     string                `json:"namespace,omitempty"`
	Name          string                `json:"name,omitempty"`
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}

// Activation says when a policy's word counts for resources that are there already.
type Activation string

// ActivateLazily defers it until the resource itself changes; empty: immediately.
const ActivateLazily Activation = "Lazy"

// PreemptionBehavior says whether a policy takes resources from policies of lower priority.
type PreemptionBehavior string

// The preemption behaviours; empty is PreemptNever.
const (
	PreemptAlways PreemptionBehavior = "Always"
	PreemptNever  PreemptionBehavior = "Never"
)

// Suspension holds back dispatching; it holds back neither scheduling nor eviction.
type Suspension struct {
	Dispatching           *bool               `json:"dispatching,omitempty"`
	DispatchingOnClusters *SuspensionClusters `json:"dispatchingOnClusters,omitempty"`
	// Scheduling is used on bindings only.
	Scheduling *bool `json:"scheduling,omitempty"`
}

// Dispatch reports whether dispatching to a cluster is suspended; nil suspends nothing.
func (s *Suspension) Dispatch(cluster string) bool {
	if s == nil {
		return false
	}
	everywhere, there := s.Dispatching, s.DispatchingOnClusters
	return everywhere != nil && *everywhere || there != nil && slices.Contains(there.ClusterNames, cluster)
}

// SuspensionClusters names clusters.
type SuspensionClusters struct {
	ClusterNames []string `json:"clusterNames,omitempty"`
}

// SchedulePriority names the PriorityClass that orders scheduling; Priority is its value on a binding.
type SchedulePriority struct {
	PriorityClassSource string `json:"priorityClassSource,omitempty"`
	PriorityClassName   string `json:"priorityClassName,omitempty"`
	Priority            int32  `json:"priority,omitempty"`
}

// Placement says which clusters may run a resource and how its replicas are divided.
type Placement struct {
	ClusterAffinity    *ClusterAffinity           `json:"clusterAffinity,omitempty"`
	ClusterAffinities  []ClusterAffinityTerm      `json:"clusterAffinities,omitempty"`
	ClusterTolerations []corev1.Toleration        `json:"clusterTolerations,omitempty"`
	SpreadConstraints  []SpreadConstraint         `json:"spreadConstraints,omitempty"`
	ReplicaScheduling  *ReplicaSchedulingStrategy `json:"replicaScheduling,omitempty"`
	WorkloadAffinity   *WorkloadAffinity          `json:"workloadAffinity,omitempty"`
}

// ClusterAffinity selects clusters: Exclude first, then the selectors and names, all of which must hold.
type ClusterAffinity struct {
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	FieldSelector *FieldSelector        `json:"fieldSelector,omitempty"`
	ClusterNames  []string              `json:"clusterNames,omitempty"`
	// ExcludeClusters is "exclude" in JSON.
	ExcludeClusters []string `json:"exclude,omitempty"`
}

// FieldSelector selects by provider, region and zone.
type FieldSelector struct {
	MatchExpressions []corev1.NodeSelectorRequirement `json:"matchExpressions,omitempty"`
}

// ClusterAffinityTerm is one of several ordered groups of clusters.
type ClusterAffinityTerm struct {
	AffinityName       string `json:"affinityName"`
	ClusterAffinity    `json:",inline"`
	OverflowAffinities []OverflowAffinity `json:"overflowAffinities,omitempty"`
}

// OverflowAffinity takes what the group before it cannot.
type OverflowAffinity struct {
	AffinityName    string `json:"affinityName"`
	ClusterAffinity `json:",inline"`
}

// SpreadField is what replicas are spread by.
type SpreadField string

// The fields to spread by.
const (
	SpreadByCluster  SpreadField = "cluster"
	SpreadByRegion   SpreadField = "region"
	SpreadByZone     SpreadField = "zone"
	SpreadByProvider SpreadField = "provider"
)

// SpreadConstraint bounds the number of groups that a placement uses.
type SpreadConstraint struct {
	SpreadByField SpreadField `json:"spreadByField,omitempty"`
	SpreadByLabel string      `json:"spreadByLabel,omitempty"`
	MaxGroups     int         `json:"maxGroups,omitempty"`
	MinGroups     int         `json:"minGroups,omitempty"`
}

// ReplicaSchedulingType says whether each cluster runs all replicas or a share of them.
type ReplicaSchedulingType string

// The scheduling types.
const (
	Duplicated ReplicaSchedulingType = "Duplicated"
	Divided    ReplicaSchedulingType = "Divided"
)

// ReplicaDivisionPreference says how replicas are divided.
type ReplicaDivisionPreference string

// The division preferences.
const (
	Aggregated ReplicaDivisionPreference = "Aggregated"
	Weighted   ReplicaDivisionPreference = "Weighted"
)

// ReplicaSchedulingStrategy is how replicas go to clusters.
type ReplicaSchedulingStrategy struct {
	ReplicaSchedulingType     ReplicaSchedulingType     `json:"replicaSchedulingType,omitempty"`
	ReplicaDivisionPreference ReplicaDivisionPreference `json:"replicaDivisionPreference,omitempty"`
	WeightPreference          *WeightPreference         `json:"weightPreference,omitempty"`
}

// Divides reports whether replicas are divided among clusters; otherwise each cluster runs all of them.
func (s *ReplicaSchedulingStrategy) Divides() bool {
	return s != nil && s.ReplicaSchedulingType == Divided
}

// DynamicByAvailableReplicas weighs clusters by the replicas they could still take.
const DynamicByAvailableReplicas = "AvailableReplicas"

// WeightPreference weighs clusters; a dynamic weight makes the static list void.
type WeightPreference struct {
	StaticWeightList []StaticClusterWeight `json:"staticWeightList,omitempty"`
	DynamicWeight    string                `json:"dynamicWeight,omitempty"`
}

// StaticClusterWeight gives one weight, at least 1, to the clusters it selects.
type StaticClusterWeight struct {
	TargetCluster ClusterAffinity `json:"targetCluster"`
	Weight        int64           `json:"weight"`
}

// WorkloadAffinity keeps workloads of a group together or apart.
type WorkloadAffinity struct {
	Affinity     *WorkloadAffinityTerm `json:"affinity,omitempty"`
	AntiAffinity *WorkloadAffinityTerm `json:"antiAffinity,omitempty"`
}

// WorkloadAffinityTerm names the label whose value is the group.
type WorkloadAffinityTerm struct {
	GroupByLabelKey string `json:"groupByLabelKey"`
}

// FailoverBehavior says what happens when the application, or its cluster, fails.
type FailoverBehavior struct {
	Application *ApplicationFailover `json:"application,omitempty"`
	Cluster     *ClusterFailover     `json:"cluster,omitempty"`
}

// PurgeMode says what becomes of the old copy.
type PurgeMode string

// The purge modes.
const (
	PurgeDirectly   PurgeMode = "Directly"
	PurgeGracefully PurgeMode = "Gracefully"
	PurgeNever      PurgeMode = "Never"
)

// ApplicationFailover moves a workload away from a cluster where it stays unhealthy.
type ApplicationFailover struct {
	DecisionConditions DecisionConditions `json:"decisionConditions"`
	PurgeMode          PurgeMode          `json:"purgeMode,omitempty"`
	// GracePeriodSeconds is only for PurgeGracefully.
	GracePeriodSeconds *int32 `json:"gracePeriodSeconds,omitempty"`
	// Handover is Leeward's own.
	Handover          Handover           `json:"handover,omitempty"`
	StatePreservation *StatePreservation `json:"statePreservation,omitempty"`
	// Pace bounds how often the workload moves for its health. Leeward's own.
	Pace *FailoverPace `json:"pace,omitempty"`
}

// FailoverPace bounds application failovers; what is nil is as the settings say.
type FailoverPace struct {
	// MaxFailovers may start within WindowSeconds; at most 16. Zero: any number. Settings
	// applicationFailoverLimit and applicationFailoverWindow.
	MaxFailovers  *int32 `json:"maxFailovers,omitempty"`
	WindowSeconds *int32 `json:"windowSeconds,omitempty"`
	// CooldownSeconds are how long a cluster that it was evicted from is not chosen again. Setting applicationCooldown.
	CooldownSeconds *int32 `json:"cooldownSeconds,omitempty"`
}

// DecisionConditions say how long an application may be unhealthy. Default 300 s.
type DecisionConditions struct {
	TolerationSeconds *int32 `json:"tolerationSeconds,omitempty"`
	// StartupSeconds, from its first report on, are how long a copy that was never healthy is not judged;
	// nil: the setting applicationStartupGrace. Leeward's own.
	StartupSeconds *int32 `json:"startupSeconds,omitempty"`
}

// ClusterFailover says how a workload leaves a failed cluster.
type ClusterFailover struct {
	PurgeMode PurgeMode `json:"purgeMode,omitempty"`
	// GracePeriodSeconds caps the handover in place of the setting gracefulEvictionTimeout; only for
	// PurgeGracefully. Leeward's own.
	GracePeriodSeconds *int32 `json:"gracePeriodSeconds,omitempty"`
	// Handover is Leeward's own.
	Handover          Handover           `json:"handover,omitempty"`
	StatePreservation *StatePreservation `json:"statePreservation,omitempty"`
	// Failback and Reconnect are Leeward's own.
	Failback  *Failback         `json:"failback,omitempty"`
	Reconnect ReconnectStrategy `json:"reconnect,omitempty"`
}

// StatePreservation carries status fields of the old copy to the new one, as labels.
type StatePreservation struct {
	Rules []StatePreservationRule `json:"rules"`
}

// StatePreservationRule names one label and where its value is found.
type StatePreservationRule struct {
	AliasLabelName string `json:"aliasLabelName"`
	JSONPath       string `json:"jsonPath"`
}
