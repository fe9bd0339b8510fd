package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// Settings shape every decision. A profile (runtime/fleet/config) is a named set of them; each field that
// differs between profiles is shown by a scenario. Settings are a value: machines copy them.
//
// The comment of a field gives its meaning, its unit, what zero means and the flag of Karmada that
// it mirrors. K-numbers name the fault of Karmada that a field can cure (docs/profiles.md).
type Settings struct {
	// Failover is the feature gate of taint policies and of NoExecute eviction. Off: both are
	// accepted and ignored. Karmada --feature-gates=Failover.
	Failover bool
	// GracefulEviction is the feature gate of purge mode Gracefully in application failover.
	// Karmada --feature-gates=GracefulEviction.
	GracefulEviction bool
	// EnableTaintManager switches NoExecute eviction as a whole. Karmada --enable-taint-manager.
	EnableTaintManager bool
	// EnableNoExecuteTaintEviction lets NoExecute taints evict. Karmada --enable-no-execute-taint-eviction.
	EnableNoExecuteTaintEviction bool
	// NoExecuteTaintEvictionPurgeMode is for bindings that set none. Karmada --no-execute-taint-eviction-purge-mode.
	NoExecuteTaintEvictionPurgeMode api.PurgeMode
	// AllowNoExecuteTaintPolicy admits ClusterTaintPolicies with NoExecute taints. Karmada --allow-no-execute-taint-policy.
	// Cures K40.
	AllowNoExecuteTaintPolicy bool

	// FailoverEvictionTimeout is how long a cluster is not Ready before the system adds NoExecute
	// taints by itself. Zero: never. Karmada up to 1.13, --failover-eviction-timeout.
	FailoverEvictionTimeout time.Duration
	// DefaultNotReadyTolerationSeconds is given to policies that do not tolerate not-ready:NoExecute.
	// Negative: none is given. Karmada up to 1.14, --default-not-ready-toleration-seconds.
	DefaultNotReadyTolerationSeconds int64
	// DefaultUnreachableTolerationSeconds likewise for unreachable:NoExecute.
	DefaultUnreachableTolerationSeconds int64
	// TargetsNeedTheirAPI takes a workload off a cluster that says that it knows all of its APIs, and no longer lists the
	// kind. False: what runs there stays; only new placements go by the list. Karmada up to 1.14.
	TargetsNeedTheirAPI bool
	// DivisionMethod is DivideWebster, or DivideFloor as Karmada had it before 1.16.
	DivisionMethod string

	// ResourceEvictionRate is the evictions per second of one eviction worker. Zero: one per worker
	// every 30 minutes, as in Karmada. Karmada --resource-eviction-rate.
	ResourceEvictionRate float64
	// EvictionWorkers is how many evictions may be under way at the same time, of ResourceBindings and of
	// ClusterResourceBindings each. Zero: no pacing at all. Karmada has three, fixed.
	EvictionWorkers int
	// EvictionOrder is EvictByArrival (what has been due the longest goes first, whatever its priority, as in
	// Karmada's queue) or EvictByPriority (the higher priority first). Either way names decide between equals.
	// Cures K32.
	EvictionOrder string
	// FleetEvictionRate, RegionEvictionRate and ClusterEvictionRate are the evictions per second of taints
	// from the whole fleet, from the clusters of one region and from one cluster. Zero: no such limit. Cures K8.
	FleetEvictionRate, RegionEvictionRate, ClusterEvictionRate float64
	// EvictionBurst is how many evictions each of these rates permits in one step after a rest. Zero is one.
	EvictionBurst int
	// EvictionBudgets has EvictionBudgets and ClusterEvictionBudgets kept. False: they are accepted and ignored;
	// Karmada has none. Cures K33.
	EvictionBudgets bool
	// UnhealthyClusterThreshold is the share of clusters that are not Ready from which on evictions of taints slow
	// down in the whole fleet, if they are more than two: to SecondaryEvictionRate where there are more than
	// LargeFleetSize clusters, and to none where there are fewer. UnhealthyRegionThreshold is likewise about the
	// clusters of one region. Zero: they go on as they are. Source: Karmada's proposal of dynamic rate limiting,
	// and Kubernetes' --unhealthy-zone-threshold. Cures K6.
	UnhealthyClusterThreshold, UnhealthyRegionThreshold float64
	LargeFleetSize                                      int
	// SecondaryEvictionRate is in evictions per second. Zero: none.
	SecondaryEvictionRate float64
	// BlackoutThreshold is the share of clusters that are not Ready from which on that is not believed: nothing
	// is evicted for taints, and NoExecute taints that the system or policies added for it are taken back, in a
	// fleet of at least two. Zero: it is always believed. Cures K6.
	BlackoutThreshold float64
	// StormCooldown is how long evictions go on at SecondaryEvictionRate when they need no longer be slowed.
	// Zero: no longer.
	StormCooldown time.Duration
	// FleetBreakerShare, RegionBreakerShare and PriorityBreakerShare are the shares of the copies that are placed in
	// the fleet, in one region, and of workloads of one schedulePriority of which so many may be permitted to go for
	// taints within BreakerWindow, until no more go: for BreakerCooldown, and then BreakerTrials of them, until
	// those serve elsewhere. Zero: no such breaker.
	FleetBreakerShare, RegionBreakerShare, PriorityBreakerShare float64
	// BreakerMinimum is how many must have gone before their share counts. Zero is one.
	BreakerMinimum int
	// BreakerWindow is for how long an eviction counts, to a tenth of it. More than zero.
	BreakerWindow time.Duration
	// BreakerCooldown is how long nothing goes, and then how long those on trial have to serve elsewhere. More than
	// zero.
	BreakerCooldown time.Duration
	// BreakerTrials is how many evictions go on trial. Zero is one.
	BreakerTrials int
	// TaintRelistPeriod is how often a tainted cluster is looked at for bindings and tolerations that
	// changed after the taint. Zero: changes are seen immediately. Karmada has 10 s, fixed.
	TaintRelistPeriod time.Duration
	// WholeSecondTaintTimes truncates a taint's timeAdded to whole seconds, so that evictions come up
	// to a second early, as in Karmada. False: exact.
	WholeSecondTaintTimes bool
	// TaintTimesForAllEffects gives taints of every effect that people set a timeAdded, that of a cordon too. False: those
	// with NoExecute only, as in Karmada. Cures K42.
	TaintTimesForAllEffects bool

	// GracefulEvictionTimeout caps a handover. Zero: no wait. Karmada --graceful-eviction-timeout.
	GracefulEvictionTimeout time.Duration
	// EvictionNeedsDestination holds an eviction until the scheduler has a place that satisfies the
	// policy without the failed cluster. False: evict first, then look. Cures K1.
	EvictionNeedsDestination bool
	// KeepLastCopy keeps an old copy beyond the timeout while no healthy copy runs elsewhere. Cures K1.
	KeepLastCopy bool
	// HandoverHealth is HealthReported (any Healthy report counts) or HealthOfPlacement (only a report
	// for the present placement, replica count and version of the pod template does). Cures K3.
	HandoverHealth string
	// ZeroReplicasNeedNoCluster places a workload that is scaled to zero nowhere, whichever clusters fit and whatever it has
	// to leave. False: clusters must fit even so, else the old placement can remain with its replicas, as in Karmada.
	ZeroReplicasNeedNoCluster bool
	// WithdrawOnRecovery takes an eviction back when its taint goes before the handover is done. Cures K7.
	WithdrawOnRecovery bool
	// DestinationsMustHear starts nothing new, and lets nothing grow for want of another place, on clusters that
	// suspension.dispatchingOnClusters names, and, with keepLastCopy, keeps an old copy until what takes over has been told to
	// run. Where evictionNeedsDestination is false, targets may grow there all the same. False: a cluster that is told nothing
	// is a destination as any other, as in Karmada.
	DestinationsMustHear bool
	// DirectPurgeTimeout is how long a copy that is purged Directly may keep its substitute, and every other
	// change of the binding, waiting, counted from the task's creation. A cluster that answers is empty
	// long before; one that is cut off may still run the copy when the substitute starts: at least one copy
	// from then on, no longer at most one. Zero: wait until the copy is gone or its task ends, as Karmada
	// does, which ends the task after GracefulEvictionTimeout whatever runs. Cures K5.
	DirectPurgeTimeout time.Duration
	// DependenciesStay keeps what a workload's pods refer to (propagateDeps) on a cluster that is evicted from
	// for as long as the old copy stays. False: it goes when the eviction starts, as in Karmada. Cures K4.
	DependenciesStay bool
	// PreserveOnlyDeleted keeps copies of policies with preserveResourcesOnDeletion where the resource is
	// deleted, and empties clusters that are evicted from. False: on such a cluster, too, they run on, and
	// no binding manages them, as in Karmada.
	PreserveOnlyDeleted bool
	// PersistentFailoverTimers counts application failover from the stored time of the first Unhealthy
	// report, so restarts do not reset it and zero seconds act immediately. Cures K15.
	PersistentFailoverTimers bool
	// ApplicationStartupGrace is how long a copy that has never been healthy, from its first report on, is
	// not judged by its health; a policy's startupSeconds take its place. Zero: judged from the first
	// report on. Cures K35.
	ApplicationStartupGrace time.Duration
	// ApplicationFailoverLimit is how many application failovers of one binding may start within
	// ApplicationFailoverWindow; a policy's pace takes the place of both. Zero: any number. Cures K35.
	ApplicationFailoverLimit  int
	ApplicationFailoverWindow time.Duration
	// ApplicationCooldown is how long a cluster that was evicted from for the application's health is not chosen
	// again for it. Zero: not beyond the eviction task, as in Karmada. Cures K35.
	ApplicationCooldown time.Duration
	// StatefulFailoverInjection is the feature gate of state preservation. Karmada
	// --feature-gates=StatefulFailoverInjection.
	StatefulFailoverInjection bool
	// EvictionNeedsState keeps a workload from leaving while the state that its policy preserves cannot be
	// read. False: it leaves without it, and says so. Cures K25.
	EvictionNeedsState bool
	// StateForAnyPurgeMode hands preserved state to the new copy whatever becomes of the old one. False: only
	// with purge mode Directly, as in Karmada.
	StateForAnyPurgeMode bool
	// MissingConditionStatus is the status that policies see for a condition that a cluster does not report, where they
	// say nothing of it (defaultStatus). Empty, as in every profile: such a condition never matches, as in Karmada: a
	// policy with NotIn does not taint a cluster whose reporter is not installed. Cures K17.
	MissingConditionStatus metav1.ConditionStatus
	// ConditionHold is how long a changed condition must hold before policies act on it. Zero: at
	// once. Cures K17.
	ConditionHold time.Duration
	// PolicyTieBreak orders policies of the same creation second: TieByName, or TieUndefined (by seed,
	// as arbitrary as in Karmada). Cures K18.
	PolicyTieBreak string
	// PolicyRemoves is RemovesAny (a ClusterTaintPolicy removes any taint) or RemovesOwn
	// (only one that a ClusterTaintPolicy added, be it another; what people and the system put there stays).
	// Cures K20.
	PolicyRemoves string
	// PolicyCleanup is the cleanup of ClusterTaintPolicies that set none: when taints are removed that the policy added,
	// and no longer asks for because it was deleted or edited. Taints that people, the system or other policies added
	// are never removed so. Never: as in Karmada. Cures K19.
	PolicyCleanup api.CleanupMode

	// TolerationMatch is MatchFirst (the first toleration in list order that matches a taint) or
	// MatchMinimum (all that match, the shortest wins, order does not matter). Cures K21.
	TolerationMatch string
	// ValidateTolerations rejects tolerations that Kubernetes would reject. Cures K22.
	ValidateTolerations bool
	// NumericTolerations allows the operators Lt and Gt.
	NumericTolerations bool
	// TolerationSource is SourceAppliedPlacement (the binding's annotation, as in Karmada: none, no
	// eviction) or SourcePlacement (the placement itself). Cures K24.
	TolerationSource string

	// MaxStartingPerCluster is how many workloads that had to leave another cluster may start on one cluster at
	// once: further ones look for another place, or wait. A start lasts until the handover does, or is overdue.
	// Zero: any number.
	MaxStartingPerCluster int
	// StartFailureLimit is how many starts of workloads that had to leave another cluster fail on one cluster within
	// StartFailureWindow before it backs off: for StartBackoff, and twice as long with every further failure, up to
	// sixteen times, no more than one of them starts there at the same time. A start fails when its handover is overdue, or it
	// is given up for its health; one that succeeds ends it. Zero: no cluster backs off.
	StartFailureLimit  int
	StartFailureWindow time.Duration
	StartBackoff       time.Duration
	// CapacityReservation counts placed replicas against a cluster's free capacity immediately. False:
	// only what the cluster itself reports counts.
	CapacityReservation bool
	// PlacementHonoursDeadlines keeps workloads off clusters whose NoExecute taints they have already
	// outstayed. False: they are placed and evicted again.
	PlacementHonoursDeadlines bool
	// TemporaryDestinationsLast places workloads under a NoExecute taint that they tolerate for a time, and would have to leave
	// then, only where no other cluster has capacity, or where the policy wants that many. False: such taints do not matter.
	TemporaryDestinationsLast bool
	// ExactSpread meets all spread constraints together: maxGroups omitted sets no limit; zone,
	// provider and label bound their groups as region does; capacity is looked at, and every group that is
	// asked for gets a replica. Where Karmada's choice does all that, it is Karmada's. False: as in
	// Karmada. Cures K26.
	ExactSpread bool
	// PartialPlacement places as many replicas as find capacity, and the others when there is capacity for them;
	// an old copy stays until all have a place. False: all or nothing. Cures K2.
	PartialPlacement bool
	// ScaleUpNeedsReady gives new replicas, where they go by capacity, to no cluster that is not ready or has a
	// taint that the workload does not tolerate, also where the workload runs already. False: what such a
	// cluster last said of its capacity counts. Cures K27.
	ScaleUpNeedsReady bool
	// RetryForAnyGroup tries again for what found no place, or is held for want of one, when a cluster of any
	// of its affinity groups changes, or of what they overflow into, and when a cluster is gone. False: only changes
	// of those of the group in use count, without its overflow.
	RetryForAnyGroup bool
	// PreferNoSchedule admits clusters with taints of that effect, and places workloads that do not
	// tolerate them there only where no other cluster has capacity, or where the policy wants that many. False:
	// such taints are refused, and those there are do not matter. Cures K41.
	PreferNoSchedule bool
	// PropagationPolicyPreemption is the feature gate of preemption: a policy that preempts takes resources
	// from policies of lower priority. Off: it is accepted and ignored.
	// Karmada --feature-gates=PropagationPolicyPreemption.
	PropagationPolicyPreemption bool
	// WorkloadAffinity is the feature gate of workloadAffinity: workloads of a group go to the clusters
	// that run others of it, or keep off them. Off: it is accepted and ignored.
	// Karmada --feature-gates=WorkloadAffinity.
	WorkloadAffinity bool
	// FederatedQuotaEnforcement is the feature gate of FederatedResourceQuotas: no placement may ask for more
	// than those of its namespace leave. Off: they are accepted and ignored, but for their status.
	// Karmada --feature-gates=FederatedQuotaEnforcement.
	FederatedQuotaEnforcement bool
	// FailoverKeepsQuota keeps the quota of replicas that a workload loses with a cluster until they are
	// replaced, and lets those that it has move though a quota refuses it more. False: others may take what
	// an eviction sets free, and the workload is refused its replacement, as in Karmada.
	FailoverKeepsQuota bool
	// CustomizedClusterResourceModeling is the feature gate of resource models: clusters that count their nodes by
	// grade are judged by that, and those that name no grades get Karmada's nine. Karmada
	// --feature-gates=CustomizedClusterResourceModeling.
	CustomizedClusterResourceModeling bool
	// MultiplePodTemplatesScheduling is the feature gate of components: workloads that have several pod
	// templates are interpreted as such and go whole to each of their clusters. Off: they go there as
	// resources without pods do. Karmada --feature-gates=MultiplePodTemplatesScheduling.
	MultiplePodTemplatesScheduling bool
	// ExactComponentSets places a workload with several components only where all of them find capacity together,
	// in total and on the nodes, and looks again whenever the fleet or the components change; sizes are read as
	// the workload's own operator reads them. False: capacity only orders clusters, and only where one is chosen; of a
	// resource that grades do not list nodes have none; divided workloads are looked at again when they have no
	// cluster left, as in Karmada.
	ExactComponentSets bool
	// ConcurrentReturns is how many workloads of the fleet may be returning to an earlier affinity
	// group, or to clusters that they were evicted from, at the same time, where their policies let them return. Zero: any number. Cures K14.
	ConcurrentReturns int
	// EnableDescheduler has clusters give up replicas that they cannot start, and places them elsewhere; where
	// a cluster says that it has no capacity for more replicas of a workload, none are placed there. It is about
	// Deployments whose replicas go by capacity. Karmada's component karmada-descheduler, with its estimators.
	EnableDescheduler bool
	// DeschedulingInterval is how often replicas that cannot start are looked for. Zero: exactly when due.
	// Karmada --descheduling-interval.
	DeschedulingInterval time.Duration
	// UnschedulableThreshold is how long a replica may wait before its cluster gives it up. Zero: not at all.
	// Karmada --unschedulable-threshold.
	UnschedulableThreshold time.Duration
	// RepeatableRebalance has a WorkloadRebalancer ask for fresh placements whenever it is applied, and for
	// all that it names, and report each when the scheduler has answered. False: as of its creation, once for
	// each workload, and success is reported when it has asked. Cures K38.
	RepeatableRebalance bool
	// GracefulMoves keeps the copies that a new placement does without, whatever called for it, and the shares that
	// it moves elsewhere, until the others serve. False: they go immediately. Cures K38.
	GracefulMoves bool
	// StableRegions keeps a workload in its regions as long as those meet its spread constraints. False: it goes to
	// those that are best at each decision.
	StableRegions bool

	// ClusterStatusUpdateFrequency is how often a cluster without an agent is probed. Zero: whatever changes is
	// found immediately. Karmada --cluster-status-update-frequency.
	ClusterStatusUpdateFrequency time.Duration

	// ClusterFailureThreshold is how long a Ready cluster must be observed not to be before it is not.
	// Zero: immediately. Karmada --cluster-failure-threshold.
	ClusterFailureThreshold time.Duration
	// ClusterSuccessThreshold is how long any other must be observed to be Ready before it is.
	// Zero: immediately. Karmada --cluster-success-threshold.
	ClusterSuccessThreshold time.Duration
	// PersistentClusterTimers counts thresholds and grace periods of a cluster's health on after a restart.
	// False: what was held back counts immediately, and grace periods start again. Cures K16.
	PersistentClusterTimers bool
	// TaintTerminatingClusters gives clusters that are deleted a NoExecute taint. False: the scheduler alone
	// empties them, and old copies stop before new ones run. Karmada up to 1.13.
	TaintTerminatingClusters bool
	// ClusterMonitorPeriod is how often silence is checked. Zero: exactly when due. Karmada --cluster-monitor-period.
	ClusterMonitorPeriod time.Duration
	// ClusterMonitorGracePeriod is how long a heartbeat may be missing. Karmada --cluster-monitor-grace-period.
	ClusterMonitorGracePeriod time.Duration
	// ClusterStartupGracePeriod likewise before the first report. Karmada --cluster-startup-grace-period.
	ClusterStartupGracePeriod time.Duration
	// ClusterLeaseDuration times ClusterLeaseRenewIntervalFraction is the time between two heartbeats.
	// Karmada --cluster-lease-duration and --cluster-lease-renew-interval-fraction.
	ClusterLeaseDuration              time.Duration
	ClusterLeaseRenewIntervalFraction float64

	// DefaultTolerationSeconds, TaintNodesByCondition, PodTolerationRestriction and ExtendedResourceToleration are the admission plugins
	// of an API server for nodes and pods: see the package admission. Kubernetes --enable-admission-plugins, --disable-admission-plugins.
	DefaultTolerationSeconds, TaintNodesByCondition, PodTolerationRestriction, ExtendedResourceToleration bool
	// PodNotReadyTolerationSeconds and PodUnreachableTolerationSeconds are what DefaultTolerationSeconds gives a pod; 0 or less: it is
	// evicted when the taint comes. Kubernetes --default-not-ready-toleration-seconds, --default-unreachable-toleration-seconds.
	PodNotReadyTolerationSeconds, PodUnreachableTolerationSeconds int64

	// NodeMonitorPeriod is how often the health of nodes is looked at. Zero: exactly when due, and taints follow conditions immediately.
	// Kubernetes --node-monitor-period.
	NodeMonitorPeriod time.Duration
	// NodeMonitorGracePeriod is how long a node's heartbeat may be missing. Kubernetes --node-monitor-grace-period.
	NodeMonitorGracePeriod time.Duration
	// NodeStartupGracePeriod likewise before the first report. Kubernetes --node-startup-grace-period.
	NodeStartupGracePeriod time.Duration
	// NodeEvictionRate is how many nodes a second of a zone get their NoExecute taint. Kubernetes --node-eviction-rate.
	NodeEvictionRate float64
	// SecondaryNodeEvictionRate likewise in a zone that is partially disrupted and larger than LargeClusterSizeThreshold nodes; a smaller one
	// stops. Kubernetes --secondary-node-eviction-rate and --large-cluster-size-threshold.
	SecondaryNodeEvictionRate float64
	LargeClusterSizeThreshold int
	// UnhealthyZoneThreshold is the share of nodes not Ready from which a zone is partially disrupted. Kubernetes --unhealthy-zone-threshold.
	UnhealthyZoneThreshold float64
	// ZoneRateRecovers lets a zone whose limiter was switched off go on at any rate. False: not at a rate of exactly 1, as in Kubernetes.
	ZoneRateRecovers bool
	// NodeTaintsSurviveRestart keeps the taints of failed nodes when the controllers start. False: they go, and come back at the rate of the
	// zone, as in Kubernetes.
	NodeTaintsSurviveRestart bool
	// KubeAPIQPS and KubeAPIBurst limit the requests of the controller that evicts pods, three for each. Zero: there is no limit.
	// Kubernetes --kube-api-qps and --kube-api-burst.
	KubeAPIQPS   float64
	KubeAPIBurst int
	// ExactPodDeadlines counts a pod's tolerationSeconds from the time of the taint, whatever restarts or is edited meanwhile, and takes back
	// an eviction that is no longer due. False: by the timers of Kubernetes, which count from when the taint was seen and are not changed.
	ExactPodDeadlines bool
	// PodTolerationMatch is MatchFirst (of a pod's tolerations the first in list order that matches a taint) or MatchMinimum (all that match,
	// the shortest wins, order does not matter).
	PodTolerationMatch string
	// PodEvictionUntilDone tries to evict a pod until the API server does it, or nothing asks for it any more. False: five times, 10 ms
	// apart, and then never again, as in Kubernetes.
	PodEvictionUntilDone bool
	// PodEvictionSparesFinished never evicts a pod that has finished, is being deleted, or mirrors a static pod. False: it evicts them like
	// any other, as in Kubernetes.
	PodEvictionSparesFinished bool
	// PodEvictionNamesTaint has the condition DisruptionTarget of an evicted pod name the taint. False: it says that there was one.
	PodEvictionNamesTaint bool
	// PodEvictionsHonourBudgets has the evictions of pods for taints go through the Eviction API, which refuses what a PodDisruptionBudget does not
	// allow. Pods that are not ready are evicted all the same: they serve no user, and only their replacements can restore the budget. Not
	// Kubernetes, whose taint evictions never look at budgets.
	PodEvictionsHonourBudgets bool
	// PodGCPeriod is how often the pod garbage collector looks for pods of nodes that do not exist, whose quarantine is 40 s, and for pods
	// that are being deleted on nodes out of service. Zero: it acts exactly when due. Kubernetes looks each 20 s; it has no flag for it.
	PodGCPeriod time.Duration
	// AvoidTimedTolerations binds a pod to a node whose NoExecute taint it tolerates only for a time where no other node can take it. False:
	// the scheduler ignores tolerationSeconds, and an evicted pod may come back to the same node.
	AvoidTimedTolerations bool
	// SchedulerNamesTaints has the scheduler's explanation name the taints that refuse nodes. False: it only counts those nodes.
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
