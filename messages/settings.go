package messages

import (
	_ "embed" // for SettingsSource
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// SettingsSource is this file: docs/profiles.md and the schema of scenarios are made of its comments.
//
//go:embed settings.go
var SettingsSource string

// Settings shape every decision. A profile (runtime/fleet/config) is a named set of them; each field that
// differs between profiles is shown by a scenario. Settings are a value: machines copy them.
//
// The comment and the tags of a field are all that there is to say of it, and what docs/profiles.md is made of: its meaning and its
// unit; after "Zero:", what zero means where that is not plain; the flag of Karmada, or Kubernetes, that it mirrors; the faults of
// Karmada that it can cure; its range, or the words that it may be.
type Settings struct {
	// Feature gate of ClusterTaintPolicies and of NoExecute eviction. Zero: Both are accepted and ignored.
	Failover bool `flag:"--feature-gates=Failover" cures:"K40"`
	// Feature gate of purge mode Gracefully in application failover. Zero: Such failovers do not happen.
	GracefulEviction bool `flag:"--feature-gates=GracefulEviction"`
	// Switches NoExecute eviction as a whole. Zero: No taint evicts.
	EnableTaintManager bool `flag:"--enable-taint-manager"`
	// Lets NoExecute taints evict. Setting it to true turns on the gate failover, unless that is set outright. Zero: NoExecute
	// taints only keep new copies away.
	EnableNoExecuteTaintEviction bool `flag:"--enable-no-execute-taint-eviction" cures:"K40"`
	// The purge mode for policies that set none.
	NoExecuteTaintEvictionPurgeMode api.PurgeMode `flag:"--no-execute-taint-eviction-purge-mode" words:"Gracefully|Directly"`
	// Admits ClusterTaintPolicies with NoExecute taints. Zero: They are rejected.
	AllowNoExecuteTaintPolicy bool `flag:"--allow-no-execute-taint-policy" cures:"K40"`

	// How long a cluster is not Ready before the system adds a NoExecute taint by itself. Zero: Never.
	FailoverEvictionTimeout time.Duration `flag:"--failover-eviction-timeout (up to 1.13)" in:"0 or more"`
	// Toleration of not-ready:NoExecute for policies that have none. Negative: none is given. Zero: Not tolerated: evicted
	// immediately.
	DefaultNotReadyTolerationSeconds int64 `flag:"--default-not-ready-toleration-seconds (up to 1.14)" in:"at most 9223372036"`
	// Toleration of unreachable:NoExecute for policies that have none. Negative: none is given. Zero: Not tolerated: evicted
	// immediately.
	DefaultUnreachableTolerationSeconds int64 `flag:"--default-unreachable-toleration-seconds (up to 1.14)" in:"at most 9223372036"`
	// Moves a workload off a cluster with a complete list of APIs that no longer lists its kind, as before Karmada 1.15. Zero:
	// Running copies remain; only new placements consider the list.
	TargetsNeedTheirAPI bool
	// How replicas are divided by weight: Webster's method, or shares rounded down and the rest dealt out, as before Karmada 1.16.
	DivisionMethod string `words:"webster|floor"`

	// Evictions per second of one worker. Zero: One per worker every 30 minutes.
	ResourceEvictionRate float64 `flag:"--resource-eviction-rate" cures:"K8" in:"0 or more"`
	// How many evictions may be under way at the same time, of cluster-scoped resources and of all others each. Karmada has three,
	// fixed. Zero: No pacing at all.
	EvictionWorkers int `cures:"K8" in:"0 or more"`
	// Which of the evictions that wait goes first: the one that has been due the longest (arrival), or the one of the highest
	// priority. Waiting evictions keep their positions when it changes.
	EvictionOrder string `cures:"K32" words:"arrival|priority"`
	// Evictions per second from the whole fleet, for taints. Zero: No such limit.
	FleetEvictionRate float64 `cures:"K8" in:"0 or more"`
	// Evictions per second from the clusters of one region, for taints. Clusters without a region have no such rate. Zero: No such
	// limit.
	RegionEvictionRate float64 `cures:"K8" in:"0 or more"`
	// Evictions per second from one cluster, for taints. Zero: No such limit.
	ClusterEvictionRate float64 `cures:"K8" in:"0 or more"`
	// How many evictions the rates of fleet, region and cluster each allow together after a pause. Zero: One.
	EvictionBurst int `cures:"K8" in:"0 or more"`
	// Keeps EvictionBudgets and ClusterEvictionBudgets ([budgets.md](budgets.md)): an eviction for a taint that would break one
	// waits. Without such objects it has no effect. Zero: They are accepted and ignored.
	EvictionBudgets bool `cures:"K33"`
	// The share of clusters that are not Ready from which evictions for taints slow down in the whole fleet, if they are more than
	// two: to secondaryEvictionRate in a fleet of more than largeFleetSize clusters, and to none in a smaller one. Zero: Never.
	UnhealthyClusterThreshold float64 `cures:"K6" in:"0 to 1"`
	// The same for the clusters of one region. From a region that is down as a whole, evictions go at the full rate. Zero: Never.
	UnhealthyRegionThreshold float64 `in:"0 to 1"`
	// The number of clusters up to which evictions in a fleet, or a region, stop; in a larger one they slow down. Zero: None stops.
	LargeFleetSize int `cures:"K6" in:"0 or more"`
	// Evictions per second, for taints, while they are slowed down, and for as long as stormCooldown after it. Zero: None.
	SecondaryEvictionRate float64 `cures:"K6" in:"0 or more"`
	// The share of clusters that are not Ready from which Leeward assumes that the control plane is cut off, in a fleet of two or
	// more: no evictions for taints, and NoExecute taints that the system or policies added for it are removed until the share is
	// smaller. Zero: It never assumes that.
	BlackoutThreshold float64 `cures:"K6" in:"0 to 1"`
	// How long evictions for taints continue at secondaryEvictionRate after a slow-down or stop. Zero: They go at the full rate
	// immediately.
	StormCooldown time.Duration `in:"0 or more"`
	// The share of all copies in the fleet that may be evicted for taints within breakerWindow. Then evictions stop for
	// breakerCooldown, and then breakerTrials of them start on trial until their new copies are healthy. Zero: No such breaker.
	FleetBreakerShare float64 `cures:"K6" in:"0 to 1"`
	// The same for the copies in one region. Zero: No such breaker.
	RegionBreakerShare float64 `in:"0 to 1"`
	// The same for the copies of workloads of one schedulePriority. Zero: No such breaker.
	PriorityBreakerShare float64 `in:"0 to 1"`
	// How many evictions there must be within breakerWindow before their share counts. Zero: One.
	BreakerMinimum int `cures:"K6" in:"0 or more"`
	// For how long an eviction counts for a breaker, to a tenth of it.
	BreakerWindow time.Duration `cures:"K6" in:"more than 0"`
	// How long an open breaker stops evictions, and then how long an eviction on trial may take until its new copy is healthy.
	BreakerCooldown time.Duration `cures:"K6" in:"more than 0"`
	// How many evictions a half-open breaker starts on trial. Zero: One.
	BreakerTrials int `cures:"K6" in:"0 or more"`
	// How often a tainted cluster is checked for bindings and tolerations that changed after the taint. Karmada has 10s, fixed.
	// Zero: Changes are seen immediately.
	TaintRelistPeriod time.Duration `cures:"K12" in:"0 or more"`
	// Cuts timeAdded of a taint to whole seconds, so that evictions come up to a second early. Zero: Exact.
	WholeSecondTaintTimes bool
	// Gives taints of every effect that users set a timeAdded, that of a cordon too. Zero: Those with NoExecute only.
	TaintTimesForAllEffects bool `cures:"K42"`

	// Caps a handover. Zero: No wait for the new copy.
	GracefulEvictionTimeout time.Duration `flag:"--graceful-eviction-timeout" in:"0 or more"`
	// Blocks an eviction until there is a placement that satisfies the policy without the failed cluster. Zero: Evict first, then
	// look.
	EvictionNeedsDestination bool `cures:"K1"`
	// Keeps an old copy beyond the timeout while no healthy copy runs elsewhere. Zero: The timeout ends it.
	KeepLastCopy bool `cures:"K1"`
	// Which Healthy report ends a handover: any (reported), or one for the present placement, replica count and version of the pod
	// template (placement).
	HandoverHealth string `cures:"K3" words:"reported|placement"`
	// Places a workload that is scaled to zero on no cluster, whichever clusters fit and whatever evictions are due. Zero: Clusters
	// must still fit, else the old placement may remain with its replicas.
	ZeroReplicasNeedNoCluster bool
	// Withdraws an eviction when its taint is removed before the handover ends. Zero: It runs to its end.
	WithdrawOnRecovery bool `cures:"K7"`
	// Starts no new copy on clusters that `suspension.dispatchingOnClusters` names, and keeps an old copy until its replacement has
	// been dispatched. Zero: A cluster with suspended dispatching is a target like any other.
	DestinationsMustHear bool
	// How long a substitute waits for the removal of the old copy with purge mode Directly. A cluster that is cut off may still run
	// its copy then: until then at most one copy runs, from then on at least one. Zero: Until the copy is removed or its task ends.
	DirectPurgeTimeout time.Duration `cures:"K5" in:"0 or more"`
	// Keeps the dependencies of a workload's pods (propagateDeps) on a cluster that it is evicted from as long as the old copy
	// remains. Zero: They are removed when the eviction starts.
	DependenciesStay bool `cures:"K4"`
	// Keeps the copies of policies with preserveResourcesOnDeletion when the resource is deleted, and removes them after an
	// eviction. Zero: After an eviction, too, they run on, without any control.
	PreserveOnlyDeleted bool
	// Counts application failover from the stored time of the first Unhealthy report: a restart does not reset it, and a toleration
	// of zero seconds acts immediately. Zero: Counted in memory.
	PersistentFailoverTimers bool `cures:"K15"`
	// How long a copy that has never been healthy is not judged by its health, from its first report on. A policy's
	// failover.application.decisionConditions.startupSeconds takes its place. Zero: A copy that starts counts as a failed one.
	ApplicationStartupGrace time.Duration `cures:"K35" in:"0 or more"`
	// How many application failovers of one binding may start within applicationFailoverWindow. A policy's
	// failover.application.pace takes the place of both. Zero: Any number.
	ApplicationFailoverLimit int `cures:"K35" in:"0 to 16"`
	// For how long an application failover counts against applicationFailoverLimit. Zero: It does not count.
	ApplicationFailoverWindow time.Duration `cures:"K35" in:"0 or more"`
	// How long the scheduler does not choose a cluster again after an application failover from it. Zero: Not beyond the eviction
	// task.
	ApplicationCooldown time.Duration `cures:"K35" in:"0 or more"`
	// Feature gate of statePreservation: labels carry values of the old copy's status to the new one. Zero: It is accepted and
	// ignored.
	StatefulFailoverInjection bool `flag:"--feature-gates=StatefulFailoverInjection"`
	// Blocks an application failover while the state that its policy preserves cannot be read. Zero: It fails over without the
	// state, and its task says so.
	EvictionNeedsState bool `cures:"K25"`
	// Hands preserved state to the new copy with any purge mode. Zero: Only with purge mode Directly.
	StateForAnyPurgeMode bool
	// The status of a condition that a cluster does not report, for policies without defaultStatus. Zero: Such a condition matches
	// neither In nor NotIn.
	MissingConditionStatus metav1.ConditionStatus `cures:"K17" words:"|True|False|Unknown"`
	// How long a changed condition must hold before policies act on it. Zero: Immediately.
	ConditionHold time.Duration `cures:"K17" in:"0 or more"`
	// Orders policies of the same creation second: by name, or undefined, which follows the seed.
	PolicyTieBreak string `cures:"K18" words:"name|undefined"`
	// Which taints a ClusterTaintPolicy may remove: any, or only those that some ClusterTaintPolicy added (own); taints of users
	// and of the system remain.
	PolicyRemoves string `cures:"K20" words:"any|own"`
	// When taints that a ClusterTaintPolicy added are removed because it was deleted (OnDelete), or also because it no longer has
	// the taint or no longer selects the cluster (OnChange); for policies that set no cleanup. With OnChange, one that a user
	// removes and that a policy asks for is added again immediately.
	PolicyCleanup api.CleanupMode `cures:"K19" words:"Never|OnDelete|OnChange"`

	// Which toleration counts for a taint: the first in the list that matches, or the shortest of all that match.
	TolerationMatch string `cures:"K21" words:"first|minimum"`
	// Rejects tolerations that Kubernetes would reject. Zero: They are admitted.
	ValidateTolerations bool `cures:"K22"`
	// Allows the operators Lt and Gt. Zero: They are rejected.
	NumericTolerations bool
	// Which tolerations count: those of the placement that the scheduler last applied (without one, nothing is evicted), or those
	// of the placement itself.
	TolerationSource string `cures:"K23,K24" words:"appliedPlacement|placement"`

	// How many evicted workloads may start on one cluster at the same time. Further ones go to other clusters, or wait on their old
	// one; a start lasts until its handover has ended or is overdue. Zero: Any number.
	MaxStartingPerCluster int `in:"0 or more"`
	// How many starts of evicted workloads fail on one cluster within startFailureWindow before it backs off: for startBackoff, and
	// twice as long with every further failure, at most one of them starts there at the same time. A start fails when its handover
	// is overdue, or it is given up for its health; one that succeeds ends it. Sensible: 3 to 100. Zero: No cluster backs off.
	StartFailureLimit int `cures:"K6" in:"0 or more"`
	// How long a failed start counts. Sensible: 1m to 1h.
	StartFailureWindow time.Duration `in:"more than 0"`
	// How long a cluster backs off at first; later at most sixteen times as long. Sensible: 30s to 30m.
	StartBackoff time.Duration `in:"more than 0"`
	// Counts placed replicas against a cluster's free capacity immediately, and as long as they are placed. Karmada's alpha gate
	// SchedulingOvercommitProtection, which counts those of the last five minutes until they are healthy, is not needed beside it.
	// Zero: Only what the cluster itself reports counts.
	CapacityReservation bool `cures:"K13"`
	// Keeps workloads off clusters with NoExecute taints whose toleration has already ended. Zero: They are placed and evicted
	// again.
	PlacementHonoursDeadlines bool
	// Places workloads on a cluster with a NoExecute taint that they tolerate for a limited time only when no other cluster has
	// capacity. Zero: Such taints do not matter.
	TemporaryDestinationsLast bool
	// Meets all spread constraints together, by zone, provider and label too, with capacity for the replicas; a missing maxGroups
	// sets no limit. Zero: Without maxGroups nothing is placed; zone, provider and label only filter; regions are chosen whatever
	// their capacity.
	ExactSpread bool `cures:"K26"`
	// Places as many replicas as fit, and the others when there is capacity for them; an old copy remains until all are placed.
	// Zero: All or nothing.
	PartialPlacement bool `cures:"K2"`
	// Places additional replicas, when they are divided by capacity, on no cluster that is not Ready or has an untolerated taint,
	// even if the workload runs there already. Zero: The last reported capacity of such a cluster counts.
	ScaleUpNeedsReady bool `cures:"K27"`
	// Tries again for a workload that is unschedulable, or whose eviction is blocked for that, when a cluster of any of its
	// affinity groups or their overflow changes, or a cluster is removed. Zero: Only changes of clusters of the group in use count,
	// without its overflow.
	RetryForAnyGroup bool
	// Admits PreferNoSchedule taints of clusters, and places workloads that do not tolerate them there only when no other cluster
	// has capacity. Zero: Such taints are refused, and existing ones are ignored.
	PreferNoSchedule bool `cures:"K41"`
	// Feature gate of preemption: a policy that preempts takes resources from policies of lower priority. Zero: It is accepted and
	// ignored.
	PropagationPolicyPreemption bool `flag:"--feature-gates=PropagationPolicyPreemption"`
	// Feature gate of workloadAffinity: workloads of a group run on the same clusters, or on different ones. Zero: It is accepted
	// and ignored.
	WorkloadAffinity bool `flag:"--feature-gates=WorkloadAffinity"`
	// Feature gate of FederatedResourceQuotas: no placement may request more than the quotas of its namespace have left. A
	// placement that requests no more than before is never refused. Zero: They are accepted and ignored; their status still shows
	// the usage.
	FederatedQuotaEnforcement bool `flag:"--feature-gates=FederatedQuotaEnforcement"`
	// Keeps the quota of replicas that a workload loses with a cluster until they are replaced, and reschedules its present
	// replicas although a quota refuses it more. Zero: Other workloads may take the quota that an eviction frees; the workload is
	// then refused its replacement.
	FailoverKeepsQuota bool
	// Feature gate of resource models: the capacity of a cluster that counts its nodes by grade
	// (status.resourceSummary.allocatableModelings) follows from that; one without grades has Karmada's nine. Zero: The capacity of
	// clusters follows from their totals.
	CustomizedClusterResourceModeling bool `flag:"--feature-gates=CustomizedClusterResourceModeling"`
	// Feature gate of components: workloads that have several pod templates (Volcano Job, FlinkDeployment, RayCluster, PyTorchJob,
	// TFJob, MPIJob) run as a whole on each of their clusters. Zero: They are propagated like resources without pods.
	MultiplePodTemplatesScheduling bool `flag:"--feature-gates=MultiplePodTemplatesScheduling"`
	// Places a workload with several components only on clusters where all of them fit together, and tries again whenever the fleet
	// or the components change. Zero: Capacity only orders clusters, and only if the policy asks for exactly one; nodes have none
	// of a resource that the grades of their cluster do not list; divided workloads are scheduled again when they have no cluster
	// left.
	ExactComponentSets bool
	// How many workloads may fail back at the same time, to an earlier affinity group or to clusters that they were evicted from,
	// if their policies allow it (failover.cluster.failback). Zero: Any number.
	ConcurrentReturns int `cures:"K14" in:"0 or more"`
	// Reschedules replicas that a cluster cannot start, as karmada-descheduler and its estimators do; for Deployments that are
	// divided by dynamic weight, or aggregated. Zero: They wait on their cluster.
	EnableDescheduler bool
	// How often to check for replicas that cannot start. Zero: Exactly when due.
	DeschedulingInterval time.Duration `flag:"--descheduling-interval" in:"0 or more"`
	// How long a replica may wait before it is rescheduled. Zero: Not at all.
	UnschedulableThreshold time.Duration `flag:"--unschedulable-threshold" in:"0 or more"`
	// A WorkloadRebalancer asks for fresh placements of all workloads that it names whenever it is applied, and reports each when
	// the scheduler has answered. Zero: It asks once for each workload, as of its creation, and reports success when it has asked.
	RepeatableRebalance bool `cures:"K38"`
	// Keeps the copies that a new placement drops, whatever its cause, and the replicas that it moves, until the others are
	// healthy. Zero: They are removed immediately.
	GracefulMoves bool `cures:"K38"`
	// Keeps a workload in its regions as long as those meet its spread constraints. Zero: It moves to the best regions at each
	// decision.
	StableRegions bool

	// How often a cluster of sync mode Push is probed; thresholds end with a probe. Zero: Changes are noticed immediately.
	ClusterStatusUpdateFrequency time.Duration `flag:"--cluster-status-update-frequency" in:"0 or more"`

	// How long a Ready cluster must be observed as not Ready before its condition changes; for observations, see the action
	// condition. Zero: Immediately.
	ClusterFailureThreshold time.Duration `flag:"--cluster-failure-threshold" in:"0 or more"`
	// How long another cluster must be observed as Ready before its condition changes. Zero: Immediately.
	ClusterSuccessThreshold time.Duration `flag:"--cluster-success-threshold" in:"0 or more"`
	// Continues to count thresholds and grace periods of a cluster's health after a restart. Zero: Observations below a threshold
	// count immediately, and grace periods start again.
	PersistentClusterTimers bool `cures:"K16"`
	// Gives clusters that are deleted a NoExecute taint, as Karmada up to 1.13. Zero: The scheduler alone moves their workloads,
	// and old copies stop before new ones run.
	TaintTerminatingClusters bool
	// How often silence is checked. Zero: Exactly when due.
	ClusterMonitorPeriod time.Duration `flag:"--cluster-monitor-period" in:"0 or more"`
	// How long a heartbeat may be missing before the cluster is Unknown.
	ClusterMonitorGracePeriod time.Duration `flag:"--cluster-monitor-grace-period" in:"0 or more"`
	// How long the first report may be missing.
	ClusterStartupGracePeriod time.Duration `flag:"--cluster-startup-grace-period" in:"0 or more"`
	// Times clusterLeaseRenewIntervalFraction, the time between two heartbeats.
	ClusterLeaseDuration time.Duration `flag:"--cluster-lease-duration" in:"more than 0"`
	// The part of clusterLeaseDuration after which an agent renews its lease.
	ClusterLeaseRenewIntervalFraction float64 `flag:"--cluster-lease-renew-interval-fraction" in:"more than 0, at most 1"`

	// Of the node tier. Lets pods tolerate the NoExecute taints of a node that is not ready or unreachable for some time, unless
	// they say otherwise. The admission plugin of Kubernetes, which is on by default. Zero: Such a taint evicts pods when it comes.
	DefaultTolerationSeconds bool
	// Of the node tier. Gives a new node the taint node.kubernetes.io/not-ready:NoSchedule until its conditions have been seen. The
	// admission plugin of Kubernetes, which is on by default. Zero: Pods may be placed on it immediately.
	TaintNodesByCondition bool
	// Of the node tier. Gives new pods the default tolerations of their namespace, refuses pods with tolerations that its
	// allow-list does not have, and lets pods that ask for processor or memory tolerate memory pressure. The admission plugin of
	// Kubernetes, which is off by default. Zero: The annotations of the namespace are not read.
	PodTolerationRestriction bool
	// Of the node tier. Lets pods tolerate NoSchedule taints whose key is an extended resource that they ask for. The admission
	// plugin of Kubernetes, which is off by default. Zero: They have to say so.
	ExtendedResourceToleration bool
	// Of the node tier. How long a pod tolerates that its node is not ready, by defaultTolerationSeconds. The flag
	// --default-not-ready-toleration-seconds of Kubernetes. Zero: Evicted immediately, as with less than 0.
	PodNotReadyTolerationSeconds int64 `in:"at most 9223372036"`
	// Of the node tier. Likewise where its node is unreachable. The flag --default-unreachable-toleration-seconds of Kubernetes.
	// Zero: Evicted immediately, as with less than 0.
	PodUnreachableTolerationSeconds int64 `in:"at most 9223372036"`

	// Of the node tier. How often the health of nodes is looked at. Zero: Exactly when due, and taints follow conditions
	// immediately.
	NodeMonitorPeriod time.Duration `flag:"--node-monitor-period" in:"0 or more"`
	// Of the node tier. How long the heartbeat of a node may be missing.
	NodeMonitorGracePeriod time.Duration `flag:"--node-monitor-grace-period" in:"more than 0"`
	// Of the node tier. How long the first report of a node may be missing.
	NodeStartupGracePeriod time.Duration `flag:"--node-startup-grace-period" in:"more than 0"`
	// Of the node tier. How many nodes a second of a zone get the NoExecute taint that their Ready condition asks for. Zero: One,
	// and no more after it.
	NodeEvictionRate float64 `flag:"--node-eviction-rate" in:"0 or more"`
	// Of the node tier. Likewise in a zone that is partially disrupted and has more nodes than largeClusterSizeThreshold. Zero:
	// None.
	SecondaryNodeEvictionRate float64 `flag:"--secondary-node-eviction-rate" in:"0 or more"`
	// Of the node tier. Up to how many nodes a partially disrupted zone gets no more NoExecute taints.
	LargeClusterSizeThreshold int `flag:"--large-cluster-size-threshold" in:"0 or more"`
	// Of the node tier. The share of nodes not Ready, three at least, from which a zone is partially disrupted.
	UnhealthyZoneThreshold float64 `flag:"--unhealthy-zone-threshold" in:"0 to 1"`
	// Of the node tier. Lets a zone whose rate was 0 go on at any rate. Zero: Not at a rate of exactly 1, as in Kubernetes.
	ZoneRateRecovers bool
	// Of the node tier. Keeps the taints of failed nodes when the controllers start. Zero: They are removed, and come back at the
	// rate of the zone, as in Kubernetes.
	NodeTaintsSurviveRestart bool
	// Of the node tier. How many requests a second the taint eviction makes, three for each pod. Zero: There is no limit.
	KubeAPIQPS float64 `flag:"--kube-api-qps" in:"0 or more"`
	// Of the node tier. How many of them it makes at the same time after a rest. Zero: One.
	KubeAPIBurst int `flag:"--kube-api-burst" in:"0 or more"`
	// Of the node tier. Counts tolerationSeconds from the time of the taint, across restarts and edits, and cancels an eviction
	// that is no longer due. Zero: The timers of Kubernetes: they count from when a taint is seen, start again with the
	// controllers, and are not changed by edits.
	ExactPodDeadlines bool
	// Of the node tier. Which toleration of a pod counts for a taint of its node: the first in the list that matches, as in
	// Kubernetes, or the shortest of all that match.
	PodTolerationMatch string `words:"first|minimum"`
	// Of the node tier. Tries to evict a pod until the API server does it or nothing asks for it any more, with pauses that double
	// up to 30 s. Zero: Five times, 10 ms apart, and then never again, as in Kubernetes.
	PodEvictionUntilDone bool
	// Of the node tier. Never evicts a pod that has finished, is being deleted, or mirrors a static pod. Zero: They are evicted
	// like any other pod, as in Kubernetes.
	PodEvictionSparesFinished bool
	// Of the node tier. Has the condition DisruptionTarget of an evicted pod name the taint. Zero: It only says that there was a
	// NoExecute taint, as in Kubernetes.
	PodEvictionNamesTaint bool
	// Of the node tier. Has taints evict pods through the Eviction API, as far as their PodDisruptionBudgets allow it; an eviction
	// that is refused is tried again when the budget allows it. Pods that are not ready are evicted all the same. Off by default: a
	// budget that is too strict keeps pods on a node that they must leave. Zero: Evictions for taints pass every budget, as in
	// Kubernetes.
	PodEvictionsHonourBudgets bool
	// Of the node tier. How often the pod garbage collector looks for pods of nodes that do not exist, which it removes after a
	// quarantine of 40 s, and for pods that are being deleted on nodes out of service. Zero: It acts exactly when due.
	PodGCPeriod time.Duration `in:"0 or more"`
	// Of the node tier. Binds a pod to a node whose NoExecute taint it tolerates only for a time where no other node can take it.
	// Zero: The scheduler ignores tolerationSeconds: an evicted pod may come back to the same node.
	AvoidTimedTolerations bool
	// Of the node tier. Has the scheduler name the taints that refuse nodes when it explains why a pod is pending. Zero: It only
	// counts the nodes, as kube-scheduler since 1.36.
	SchedulerNamesTaints bool
}

// Values of the settings that are words.
const (
	DivideWebster = "webster"
	DivideFloor   = "floor"

	HealthReported    = "reported"
	HealthOfPlacement = "placement"

	EvictByArrival  = "arrival"
	EvictByPriority = "priority"

	TieByName    = "name"
	TieUndefined = "undefined"

	RemovesAny = "any"
	RemovesOwn = "own"

	MatchFirst   = "first"
	MatchMinimum = "minimum"

	SourceAppliedPlacement = "appliedPlacement"
	SourcePlacement        = "placement"
)

// TimesTaints reports whether a taint of an effect that people set gets a timeAdded.
func (s *Settings) TimesTaints(effect corev1.TaintEffect) bool {
	return effect == corev1.TaintEffectNoExecute || s.TaintTimesForAllEffects
}

// Evicts reports whether NoExecute taints evict at all.
func (s *Settings) Evicts() bool { return s.EvictionOff() == "" }

// EvictionOff names the first setting that keeps NoExecute taints from evicting; empty: none does.
func (s *Settings) EvictionOff() string {
	switch {
	case !s.Failover:
		return "failover is false"
	case !s.EnableTaintManager:
		return "enableTaintManager is false"
	case !s.EnableNoExecuteTaintEviction:
		return "enableNoExecuteTaintEviction is false"
	}
	return ""
}

// LimitsEvictions reports whether anything that these settings say can keep an eviction for a taint waiting for its
// permit. A new limit must be added here: without any, bindings ask for no permits, unless people hold some
// or there are budgets.
func (s *Settings) LimitsEvictions() bool {
	return s.EvictionWorkers > 0 || s.FleetEvictionRate > 0 || s.ClusterEvictionRate > 0 ||
		s.StormCooldown > 0 || s.judgesPlaces() || s.Breaks()
}

// CountsStarts reports whether the scheduler has to know which copies start.
func (s *Settings) CountsStarts() bool { return s.MaxStartingPerCluster > 0 || s.StartFailureLimit > 0 }

// WatchesFleet reports whether the governor has to know where clusters are, and how.
func (s *Settings) WatchesFleet() bool { return s.EvictionBudgets || s.judgesPlaces() }

// judgesPlaces reports whether evictions depend on where a cluster is, or on how many fare badly.
func (s *Settings) judgesPlaces() bool {
	return s.RegionEvictionRate > 0 || s.RegionBreakerShare > 0 ||
		s.UnhealthyClusterThreshold > 0 || s.UnhealthyRegionThreshold > 0 || s.BlackoutThreshold > 0
}

// Breaks reports whether there is a breaker, so that the scheduler has to count what is placed.
func (s *Settings) Breaks() bool {
	return s.FleetBreakerShare > 0 || s.RegionBreakerShare > 0 || s.PriorityBreakerShare > 0
}
