package config

import "leeward/messages"

// fields describe messages.Settings, field by field and in its order.
var fields = numbered([]Field{
	{
		Name: "failover", Flag: "--feature-gates=Failover", Cures: []string{"K40"},
		Meaning: "Feature gate of ClusterTaintPolicies and of NoExecute eviction.",
		Zero:    "Both are accepted and ignored.",
	},
	{
		Name: "gracefulEviction", Flag: "--feature-gates=GracefulEviction",
		Meaning: "Feature gate of purge mode Gracefully in application failover.",
		Zero:    "Such failovers do not happen.",
	},
	{
		Name: "enableTaintManager", Flag: "--enable-taint-manager",
		Meaning: "Switches NoExecute eviction as a whole.",
		Zero:    "No taint evicts.",
	},
	{
		Name: "enableNoExecuteTaintEviction", Flag: "--enable-no-execute-taint-eviction", Cures: []string{"K40"},
		Meaning: "Lets NoExecute taints evict. Setting it to true turns on the gate failover, unless that is set outright.",
		Zero:    "NoExecute taints only keep new copies away.",
	},
	{
		Name: "noExecuteTaintEvictionPurgeMode", Flag: "--no-execute-taint-eviction-purge-mode",
		Words:   []string{"Gracefully", "Directly"},
		Meaning: "The purge mode for policies that set none.",
	},
	{
		Name: "allowNoExecuteTaintPolicy", Flag: "--allow-no-execute-taint-policy", Cures: []string{"K40"},
		Meaning: "Admits ClusterTaintPolicies with NoExecute taints.",
		Zero:    "They are rejected.",
	},
	{
		Name: "failoverEvictionTimeout", Flag: "--failover-eviction-timeout (up to 1.13)", in: notNegative,
		Meaning: "How long a cluster is not Ready before the system adds a NoExecute taint by itself.",
		Zero:    "Never.",
	},
	{
		Name: "defaultNotReadyTolerationSeconds", Flag: "--default-not-ready-toleration-seconds (up to 1.14)", in: seconds,
		Meaning: "Toleration of not-ready:NoExecute for policies that have none. Negative: none is given.",
		Zero:    "Not tolerated: evicted immediately.",
	},
	{
		Name: "defaultUnreachableTolerationSeconds", Flag: "--default-unreachable-toleration-seconds (up to 1.14)", in: seconds,
		Meaning: "Toleration of unreachable:NoExecute for policies that have none. Negative: none is given.",
		Zero:    "Not tolerated: evicted immediately.",
	},
	{
		Name:    "targetsNeedTheirAPI",
		Meaning: "Moves a workload off a cluster with a complete list of APIs that no longer lists its kind, as before Karmada 1.15.",
		Zero:    "Running copies remain; only new placements consider the list.",
	},
	{
		Name: "divisionMethod", Words: []string{messages.DivideWebster, messages.DivideFloor},
		Meaning: "How replicas are divided by weight: Webster's method, or shares rounded down and the rest dealt out, as before Karmada 1.16.",
	},
	{
		Name: "resourceEvictionRate", Flag: "--resource-eviction-rate", Cures: []string{"K8"}, in: notNegative,
		Meaning: "Evictions per second of one worker.",
		Zero:    "One per worker every 30 minutes.",
	},
	{
		Name: "evictionWorkers", Cures: []string{"K8"}, in: notNegative,
		Meaning: "How many evictions may be under way at the same time, of cluster-scoped resources and of all others each. Karmada has three, fixed.",
		Zero:    "No pacing at all.",
	},
	{
		Name: "evictionOrder", Cures: []string{"K32"}, Words: []string{messages.EvictByArrival, messages.EvictByPriority},
		Meaning: "Which of the evictions that wait goes first: the one that has been due the longest (arrival), or the one of the highest priority. Waiting evictions keep their positions when it changes.",
	},
	{
		Name: "fleetEvictionRate", Cures: []string{"K8"}, in: notNegative,
		Meaning: "Evictions per second from the whole fleet, for taints.",
		Zero:    "No such limit.",
	},
	{
		Name: "regionEvictionRate", Cures: []string{"K8"}, in: notNegative,
		Meaning: "Evictions per second from the clusters of one region, for taints. Clusters without a region have no such rate.",
		Zero:    "No such limit.",
	},
	{
		Name: "clusterEvictionRate", Cures: []string{"K8"}, in: notNegative,
		Meaning: "Evictions per second from one cluster, for taints.",
		Zero:    "No such limit.",
	},
	{
		Name: "evictionBurst", Cures: []string{"K8"}, in: notNegative,
		Meaning: "How many evictions the rates of fleet, region and cluster each allow together after a pause.",
		Zero:    "One.",
	},
	{
		Name: "evictionBudgets", Cures: []string{"K33"},
		Meaning: "Keeps EvictionBudgets and ClusterEvictionBudgets ([budgets.md](budgets.md)): an eviction for a taint that would break one waits. Without such objects it has no effect.",
		Zero:    "They are accepted and ignored.",
	},
	{
		Name: "unhealthyClusterThreshold", Cures: []string{"K6"}, in: share,
		Meaning: "The share of clusters that are not Ready from which evictions for taints slow down in the whole fleet, if they are more than two: to secondaryEvictionRate in a fleet of more than largeFleetSize clusters, and to none in a smaller one.",
		Zero:    "Never.",
	},
	{
		Name: "unhealthyRegionThreshold", in: share,
		Meaning: "The same for the clusters of one region. From a region that is down as a whole, evictions go at the full rate.",
		Zero:    "Never.",
	},
	{
		Name: "largeFleetSize", Cures: []string{"K6"}, in: notNegative,
		Meaning: "The number of clusters up to which evictions in a fleet, or a region, stop; in a larger one they slow down.",
		Zero:    "None stops.",
	},
	{
		Name: "secondaryEvictionRate", Cures: []string{"K6"}, in: notNegative,
		Meaning: "Evictions per second, for taints, while they are slowed down, and for as long as stormCooldown after it.",
		Zero:    "None.",
	},
	{
		Name: "blackoutThreshold", Cures: []string{"K6"}, in: share,
		Meaning: "The share of clusters that are not Ready from which Leeward assumes that the control plane is cut off, in a fleet of two or more: no evictions for taints, and NoExecute taints that the system or policies added for it are removed until the share is smaller.",
		Zero:    "It never assumes that.",
	},
	{
		Name: "stormCooldown", in: notNegative,
		Meaning: "How long evictions for taints continue at secondaryEvictionRate after a slow-down or stop.",
		Zero:    "They go at the full rate immediately.",
	},
	{
		Name: "fleetBreakerShare", Cures: []string{"K6"}, in: share,
		Meaning: "The share of all copies in the fleet that may be evicted for taints within breakerWindow. Then evictions stop for breakerCooldown, and then breakerTrials of them start on trial until their new copies are healthy.",
		Zero:    "No such breaker.",
	},
	{
		Name: "regionBreakerShare", in: share,
		Meaning: "The same for the copies in one region.",
		Zero:    "No such breaker.",
	},
	{
		Name: "priorityBreakerShare", in: share,
		Meaning: "The same for the copies of workloads of one schedulePriority.",
		Zero:    "No such breaker.",
	},
	{
		Name: "breakerMinimum", Cures: []string{"K6"}, in: notNegative,
		Meaning: "How many evictions there must be within breakerWindow before their share counts.",
		Zero:    "One.",
	},
	{
		Name: "breakerWindow", Cures: []string{"K6"}, in: positive,
		Meaning: "For how long an eviction counts for a breaker, to a tenth of it.",
	},
	{
		Name: "breakerCooldown", Cures: []string{"K6"}, in: positive,
		Meaning: "How long an open breaker stops evictions, and then how long an eviction on trial may take until its new copy is healthy.",
	},
	{
		Name: "breakerTrials", Cures: []string{"K6"}, in: notNegative,
		Meaning: "How many evictions a half-open breaker starts on trial.",
		Zero:    "One.",
	},
	{
		Name: "taintRelistPeriod", Cures: []string{"K12"}, in: notNegative,
		Meaning: "How often a tainted cluster is checked for bindings and tolerations that changed after the taint. Karmada has 10s, fixed.",
		Zero:    "Changes are seen immediately.",
	},
	{
		Name:    "wholeSecondTaintTimes",
		Meaning: "Cuts timeAdded of a taint to whole seconds, so that evictions come up to a second early.",
		Zero:    "Exact.",
	},
	{
		Name: "taintTimesForAllEffects", Cures: []string{"K42"},
		Meaning: "Gives taints of every effect that users set a timeAdded, that of a cordon too.",
		Zero:    "Those with NoExecute only.",
	},
	{
		Name: "gracefulEvictionTimeout", Flag: "--graceful-eviction-timeout", in: notNegative,
		Meaning: "Caps a handover.",
		Zero:    "No wait for the new copy.",
	},
	{
		Name: "evictionNeedsDestination", Cures: []string{"K1"},
		Meaning: "Blocks an eviction until there is a placement that satisfies the policy without the failed cluster.",
		Zero:    "Evict first, then look.",
	},
	{
		Name: "keepLastCopy", Cures: []string{"K1"},
		Meaning: "Keeps an old copy beyond the timeout while no healthy copy runs elsewhere.",
		Zero:    "The timeout ends it.",
	},
	{
		Name: "handoverHealth", Cures: []string{"K3"}, Words: []string{messages.HealthReported, messages.HealthOfPlacement},
		Meaning: "Which Healthy report ends a handover: any (reported), or one for the present placement, replica count and version of the pod template (placement).",
	},
	{
		Name:    "zeroReplicasNeedNoCluster",
		Meaning: "Places a workload that is scaled to zero on no cluster, whichever clusters fit and whatever evictions are due.",
		Zero:    "Clusters must still fit, else the old placement may remain with its replicas.",
	},
	{
		Name: "withdrawOnRecovery", Cures: []string{"K7"},
		Meaning: "Withdraws an eviction when its taint is removed before the handover ends.",
		Zero:    "It runs to its end.",
	},
	{
		Name:    "destinationsMustHear",
		Meaning: "Starts no new copy on clusters that `suspension.dispatchingOnClusters` names, and keeps an old copy until its replacement has been dispatched.",
		Zero:    "A cluster with suspended dispatching is a target like any other.",
	},
	{
		Name: "directPurgeTimeout", Cures: []string{"K5"}, in: notNegative,
		Meaning: "How long a substitute waits for the removal of the old copy with purge mode Directly. A cluster that is cut off may still run its copy then: until then at most one copy runs, from then on at least one.",
		Zero:    "Until the copy is removed or its task ends.",
	},
	{
		Name: "dependenciesStay", Cures: []string{"K4"},
		Meaning: "Keeps the dependencies of a workload's pods (propagateDeps) on a cluster that it is evicted from as long as the old copy remains.",
		Zero:    "They are removed when the eviction starts.",
	},
	{
		Name:    "preserveOnlyDeleted",
		Meaning: "Keeps the copies of policies with preserveResourcesOnDeletion when the resource is deleted, and removes them after an eviction.",
		Zero:    "After an eviction, too, they run on, without any control.",
	},
	{
		Name: "persistentFailoverTimers", Cures: []string{"K15"},
		Meaning: "Counts application failover from the stored time of the first Unhealthy report: a restart does not reset it, and a toleration of zero seconds acts immediately.",
		Zero:    "Counted in memory.",
	},
	{
		Name: "applicationStartupGrace", Cures: []string{"K35"}, in: notNegative,
		Meaning: "How long a copy that has never been healthy is not judged by its health, from its first report on. A policy's failover.application.decisionConditions.startupSeconds takes its place.",
		Zero:    "A copy that starts counts as a failed one.",
	},
	{
		Name: "applicationFailoverLimit", Cures: []string{"K35"}, in: remembered,
		Meaning: "How many application failovers of one binding may start within applicationFailoverWindow. A policy's failover.application.pace takes the place of both.",
		Zero:    "Any number.",
	},
	{
		Name: "applicationFailoverWindow", Cures: []string{"K35"}, in: notNegative,
		Meaning: "For how long an application failover counts against applicationFailoverLimit.",
		Zero:    "It does not count.",
	},
	{
		Name: "applicationCooldown", Cures: []string{"K35"}, in: notNegative,
		Meaning: "How long the scheduler does not choose a cluster again after an application failover from it.",
		Zero:    "Not beyond the eviction task.",
	},
	{
		Name: "statefulFailoverInjection", Flag: "--feature-gates=StatefulFailoverInjection",
		Meaning: "Feature gate of statePreservation: labels carry values of the old copy's status to the new one.",
		Zero:    "It is accepted and ignored.",
	},
	{
		Name: "evictionNeedsState", Cures: []string{"K25"},
		Meaning: "Blocks an application failover while the state that its policy preserves cannot be read.",
		Zero:    "It fails over without the state, and its task says so.",
	},
	{
		Name:    "stateForAnyPurgeMode",
		Meaning: "Hands preserved state to the new copy with any purge mode.",
		Zero:    "Only with purge mode Directly.",
	},
	{
		Name: "missingConditionStatus", Cures: []string{"K17"}, Words: []string{"", "True", "False", "Unknown"},
		Meaning: "The status of a condition that a cluster does not report, for policies without defaultStatus.",
		Zero:    "Such a condition matches neither In nor NotIn.",
	},
	{
		Name: "conditionHold", Cures: []string{"K17"}, in: notNegative,
		Meaning: "How long a changed condition must hold before policies act on it.",
		Zero:    "Immediately.",
	},
	{
		Name: "policyTieBreak", Cures: []string{"K18"}, Words: []string{messages.TieByName, messages.TieUndefined},
		Meaning: "Orders policies of the same creation second: by name, or undefined, which follows the seed.",
	},
	{
		Name: "policyRemoves", Cures: []string{"K20"}, Words: []string{messages.RemovesAny, messages.RemovesOwn},
		Meaning: "Which taints a ClusterTaintPolicy may remove: any, or only those that some ClusterTaintPolicy added (own); taints of users and of the system remain.",
	},
	{
		Name: "policyCleanup", Cures: []string{"K19"}, Words: []string{"Never", "OnDelete", "OnChange"},
		Meaning: "When taints that a ClusterTaintPolicy added are removed because it was deleted (OnDelete), or also because it no longer has the taint or no longer selects the cluster (OnChange); for policies that set no cleanup. With OnChange, one that a user removes and that a policy asks for is added again immediately.",
	},
	{
		Name: "tolerationMatch", Cures: []string{"K21"}, Words: []string{messages.MatchFirst, messages.MatchMinimum},
		Meaning: "Which toleration counts for a taint: the first in the list that matches, or the shortest of all that match.",
	},
	{
		Name: "validateTolerations", Cures: []string{"K22"},
		Meaning: "Rejects tolerations that Kubernetes would reject.",
		Zero:    "They are admitted.",
	},
	{
		Name:    "numericTolerations",
		Meaning: "Allows the operators Lt and Gt.",
		Zero:    "They are rejected.",
	},
	{
		Name: "tolerationSource", Cures: []string{"K23", "K24"}, Words: []string{messages.SourceAppliedPlacement, messages.SourcePlacement},
		Meaning: "Which tolerations count: those of the placement that the scheduler last applied (without one, nothing is evicted), or those of the placement itself.",
	},
	{
		Name: "maxStartingPerCluster", in: notNegative,
		Meaning: "How many evicted workloads may start on one cluster at the same time. Further ones go to other clusters, or wait on their old one; a start lasts until its handover has ended or is overdue.",
		Zero:    "Any number.",
	},
	{
		Name: "startFailureLimit", Cures: []string{"K6"}, in: notNegative,
		Meaning: "How many starts of evicted workloads fail on one cluster within startFailureWindow before it backs off: for startBackoff, and twice as long with every further failure, at most one of them starts there at the same time. A start fails when its handover is overdue, or it is given up for its health; one that succeeds ends it. Sensible: 3 to 100.",
		Zero:    "No cluster backs off.",
	},
	{
		Name: "startFailureWindow", in: positive,
		Meaning: "How long a failed start counts. Sensible: 1m to 1h.",
	},
	{
		Name: "startBackoff", in: positive,
		Meaning: "How long a cluster backs off at first; later at most sixteen times as long. Sensible: 30s to 30m.",
	},
	{
		Name: "capacityReservation", Cures: []string{"K13"},
		Meaning: "Counts placed replicas against a cluster's free capacity immediately, and as long as they are placed. Karmada's alpha gate SchedulingOvercommitProtection, which counts those of the last five minutes until they are healthy, is not needed beside it.",
		Zero:    "Only what the cluster itself reports counts.",
	},
	{
		Name:    "placementHonoursDeadlines",
		Meaning: "Keeps workloads off clusters with NoExecute taints whose toleration has already ended.",
		Zero:    "They are placed and evicted again.",
	},
	{
		Name:    "temporaryDestinationsLast",
		Meaning: "Places workloads on a cluster with a NoExecute taint that they tolerate for a limited time only when no other cluster has capacity.",
		Zero:    "Such taints do not matter.",
	},
	{
		Name: "exactSpread", Cures: []string{"K26"},
		Meaning: "Meets all spread constraints together, by zone, provider and label too, with capacity for the replicas; a missing maxGroups sets no limit.",
		Zero:    "Without maxGroups nothing is placed; zone, provider and label only filter; regions are chosen whatever their capacity.",
	},
	{
		Name: "partialPlacement", Cures: []string{"K2"},
		Meaning: "Places as many replicas as fit, and the others when there is capacity for them; an old copy remains until all are placed.",
		Zero:    "All or nothing.",
	},
	{
		Name: "scaleUpNeedsReady", Cures: []string{"K27"},
		Meaning: "Places additional replicas, when they are divided by capacity, on no cluster that is not Ready or has an untolerated taint, even if the workload runs there already.",
		Zero:    "The last reported capacity of such a cluster counts.",
	},
	{
		Name:    "retryForAnyGroup",
		Meaning: "Tries again for a workload that is unschedulable, or whose eviction is blocked for that, when a cluster of any of its affinity groups or their overflow changes, or a cluster is removed.",
		Zero:    "Only changes of clusters of the group in use count, without its overflow.",
	},
	{
		Name: "preferNoSchedule", Cures: []string{"K41"},
		Meaning: "Admits PreferNoSchedule taints of clusters, and places workloads that do not tolerate them there only when no other cluster has capacity.",
		Zero:    "Such taints are refused, and existing ones are ignored.",
	},
	{
		Name: "propagationPolicyPreemption", Flag: "--feature-gates=PropagationPolicyPreemption",
		Meaning: "Feature gate of preemption: a policy that preempts takes resources from policies of lower priority.",
		Zero:    "It is accepted and ignored.",
	},
	{
		Name: "workloadAffinity", Flag: "--feature-gates=WorkloadAffinity",
		Meaning: "Feature gate of workloadAffinity: workloads of a group run on the same clusters, or on different ones.",
		Zero:    "It is accepted and ignored.",
	},
	{
		Name: "federatedQuotaEnforcement", Flag: "--feature-gates=FederatedQuotaEnforcement",
		Meaning: "Feature gate of FederatedResourceQuotas: no placement may request more than the quotas of its namespace have left. A placement that requests no more than before is never refused.",
		Zero:    "They are accepted and ignored; their status still shows the usage.",
	},
	{
		Name:    "failoverKeepsQuota",
		Meaning: "Keeps the quota of replicas that a workload loses with a cluster until they are replaced, and reschedules its present replicas although a quota refuses it more.",
		Zero:    "Other workloads may take the quota that an eviction frees; the workload is then refused its replacement.",
	},
	{
		Name: "customizedClusterResourceModeling", Flag: "--feature-gates=CustomizedClusterResourceModeling",
		Meaning: "Feature gate of resource models: the capacity of a cluster that counts its nodes by grade (status.resourceSummary.allocatableModelings) follows from that; one without grades has Karmada's nine.",
		Zero:    "The capacity of clusters follows from their totals.",
	},
	{
		Name: "multiplePodTemplatesScheduling", Flag: "--feature-gates=MultiplePodTemplatesScheduling",
		Meaning: "Feature gate of components: workloads that have several pod templates (Volcano Job, FlinkDeployment, RayCluster, PyTorchJob, TFJob, MPIJob) run as a whole on each of their clusters.",
		Zero:    "They are propagated like resources without pods.",
	},
	{
		Name:    "exactComponentSets",
		Meaning: "Places a workload with several components only on clusters where all of them fit together, and tries again whenever the fleet or the components change.",
		Zero:    "Capacity only orders clusters, and only if the policy asks for exactly one; nodes have none of a resource that the grades of their cluster do not list; divided workloads are scheduled again when they have no cluster left.",
	},
	{
		Name: "concurrentReturns", Cures: []string{"K14"}, in: notNegative,
		Meaning: "How many workloads may fail back at the same time, to an earlier affinity group or to clusters that they were evicted from, if their policies allow it (failover.cluster.failback).",
		Zero:    "Any number.",
	},
	{
		Name:    "enableDescheduler",
		Meaning: "Reschedules replicas that a cluster cannot start, as karmada-descheduler and its estimators do; for Deployments that are divided by dynamic weight, or aggregated.",
		Zero:    "They wait on their cluster.",
	},
	{
		Name: "deschedulingInterval", Flag: "--descheduling-interval", in: notNegative,
		Meaning: "How often to check for replicas that cannot start.",
		Zero:    "Exactly when due.",
	},
	{
		Name: "unschedulableThreshold", Flag: "--unschedulable-threshold", in: notNegative,
		Meaning: "How long a replica may wait before it is rescheduled.",
		Zero:    "Not at all.",
	},
	{
		Name: "repeatableRebalance", Cures: []string{"K38"},
		Meaning: "A WorkloadRebalancer asks for fresh placements of all workloads that it names whenever it is applied, and reports each when the scheduler has answered.",
		Zero:    "It asks once for each workload, as of its creation, and reports success when it has asked.",
	},
	{
		Name: "gracefulMoves", Cures: []string{"K38"},
		Meaning: "Keeps the copies that a new placement drops, whatever its cause, and the replicas that it moves, until the others are healthy.",
		Zero:    "They are removed immediately.",
	},
	{
		Name:    "stableRegions",
		Meaning: "Keeps a workload in its regions as long as those meet its spread constraints.",
		Zero:    "It moves to the best regions at each decision.",
	},
	{
		Name: "clusterStatusUpdateFrequency", Flag: "--cluster-status-update-frequency", in: notNegative,
		Meaning: "How often a cluster of sync mode Push is probed; thresholds end with a probe.",
		Zero:    "Changes are noticed immediately.",
	},
	{
		Name: "clusterFailureThreshold", Flag: "--cluster-failure-threshold", in: notNegative,
		Meaning: "How long a Ready cluster must be observed as not Ready before its condition changes; for observations, see the action condition.",
		Zero:    "Immediately.",
	},
	{
		Name: "clusterSuccessThreshold", Flag: "--cluster-success-threshold", in: notNegative,
		Meaning: "How long another cluster must be observed as Ready before its condition changes.",
		Zero:    "Immediately.",
	},
	{
		Name: "persistentClusterTimers", Cures: []string{"K16"},
		Meaning: "Continues to count thresholds and grace periods of a cluster's health after a restart.",
		Zero:    "Observations below a threshold count immediately, and grace periods start again.",
	},
	{
		Name:    "taintTerminatingClusters",
		Meaning: "Gives clusters that are deleted a NoExecute taint, as Karmada up to 1.13.",
		Zero:    "The scheduler alone moves their workloads, and old copies stop before new ones run.",
	},
	{
		Name: "clusterMonitorPeriod", Flag: "--cluster-monitor-period", in: notNegative,
		Meaning: "How often silence is checked.",
		Zero:    "Exactly when due.",
	},
	{
		Name: "clusterMonitorGracePeriod", Flag: "--cluster-monitor-grace-period", in: notNegative,
		Meaning: "How long a heartbeat may be missing before the cluster is Unknown.",
	},
	{
		Name: "clusterStartupGracePeriod", Flag: "--cluster-startup-grace-period", in: notNegative,
		Meaning: "How long the first report may be missing.",
	},
	{
		Name: "clusterLeaseDuration", Flag: "--cluster-lease-duration", in: positive,
		Meaning: "Times clusterLeaseRenewIntervalFraction, the time between two heartbeats.",
	},
	{
		Name: "clusterLeaseRenewIntervalFraction", Flag: "--cluster-lease-renew-interval-fraction", in: fraction,
		Meaning: "The part of clusterLeaseDuration after which an agent renews its lease.",
	},
	{
		Name:    "defaultTolerationSeconds",
		Meaning: "Of the node tier. Lets pods tolerate the NoExecute taints of a node that is not ready or unreachable for some time, unless they say otherwise. The admission plugin of Kubernetes, which is on by default.",
		Zero:    "Such a taint evicts pods when it comes.",
	},
	{
		Name:    "taintNodesByCondition",
		Meaning: "Of the node tier. Gives a new node the taint node.kubernetes.io/not-ready:NoSchedule until its conditions have been seen. The admission plugin of Kubernetes, which is on by default.",
		Zero:    "Pods may be placed on it immediately.",
	},
	{
		Name:    "podTolerationRestriction",
		Meaning: "Of the node tier. Gives new pods the default tolerations of their namespace, refuses pods with tolerations that its allow-list does not have, and lets pods that ask for processor or memory tolerate memory pressure. The admission plugin of Kubernetes, which is off by default.",
		Zero:    "The annotations of the namespace are not read.",
	},
	{
		Name:    "extendedResourceToleration",
		Meaning: "Of the node tier. Lets new pods tolerate NoSchedule taints whose key is an extended resource that they ask for. The admission plugin of Kubernetes, which is off by default.",
		Zero:    "They have to say so.",
	},
	{
		Name: "podNotReadyTolerationSeconds", in: seconds,
		Meaning: "Of the node tier. How long a pod tolerates that its node is not ready, by defaultTolerationSeconds. The flag --default-not-ready-toleration-seconds of Kubernetes.",
		Zero:    "Evicted immediately, as with less than 0.",
	},
	{
		Name: "podUnreachableTolerationSeconds", in: seconds,
		Meaning: "Of the node tier. Likewise where its node is unreachable. The flag --default-unreachable-toleration-seconds of Kubernetes.",
		Zero:    "Evicted immediately, as with less than 0.",
	},
	{
		Name: "nodeMonitorPeriod", Flag: "--node-monitor-period", in: notNegative,
		Meaning: "Of the node tier. How often the health of nodes is looked at.",
		Zero:    "Exactly when due, and taints follow conditions immediately.",
	},
	{
		Name: "nodeMonitorGracePeriod", Flag: "--node-monitor-grace-period", in: positive,
		Meaning: "Of the node tier. How long the heartbeat of a node may be missing.",
	},
	{
		Name: "nodeStartupGracePeriod", Flag: "--node-startup-grace-period", in: positive,
		Meaning: "Of the node tier. How long the first report of a node may be missing.",
	},
	{
		Name: "nodeEvictionRate", Flag: "--node-eviction-rate", in: notNegative,
		Meaning: "Of the node tier. How many nodes a second of a zone get the NoExecute taint that their Ready condition asks for.",
		Zero:    "One, and no more after it.",
	},
	{
		Name: "secondaryNodeEvictionRate", Flag: "--secondary-node-eviction-rate", in: notNegative,
		Meaning: "Of the node tier. Likewise in a zone that is partially disrupted and has more nodes than largeClusterSizeThreshold.",
		Zero:    "None.",
	},
	{
		Name: "largeClusterSizeThreshold", Flag: "--large-cluster-size-threshold", in: notNegative,
		Meaning: "Of the node tier. Up to how many nodes a partially disrupted zone gets no more NoExecute taints.",
	},
	{
		Name: "unhealthyZoneThreshold", Flag: "--unhealthy-zone-threshold", in: share,
		Meaning: "Of the node tier. The share of nodes not Ready, three at least, from which a zone is partially disrupted.",
	},
	{
		Name:    "zoneRateRecovers",
		Meaning: "Of the node tier. Lets a zone whose rate was 0 go on at any rate.",
		Zero:    "Not at a rate of exactly 1, as in Kubernetes.",
	},
	{
		Name:    "nodeTaintsSurviveRestart",
		Meaning: "Of the node tier. Keeps the taints of failed nodes when the controllers start.",
		Zero:    "They are removed, and come back at the rate of the zone, as in Kubernetes.",
	},
	{
		Name: "kubeAPIQPS", Flag: "--kube-api-qps", in: notNegative,
		Meaning: "Of the node tier. How many requests a second the taint eviction makes, three for each pod.",
		Zero:    "There is no limit.",
	},
	{
		Name: "kubeAPIBurst", Flag: "--kube-api-burst", in: notNegative,
		Meaning: "Of the node tier. How many of them it makes at the same time after a rest.",
		Zero:    "One.",
	},
	{
		Name:    "exactPodDeadlines",
		Meaning: "Of the node tier. Counts tolerationSeconds from the time of the taint, across restarts and edits, and cancels an eviction that is no longer due.",
		Zero:    "The timers of Kubernetes: they count from when a taint is seen, start again with the controllers, and are not changed by edits.",
	},
	{
		Name: "podTolerationMatch", Words: []string{messages.MatchFirst, messages.MatchMinimum},
		Meaning: "Of the node tier. Which toleration of a pod counts for a taint of its node: the first in the list that matches, as in Kubernetes, or the shortest of all that match.",
	},
	{
		Name:    "podEvictionUntilDone",
		Meaning: "Of the node tier. Tries to evict a pod until the API server does it or nothing asks for it any more, with pauses that double up to 30 s.",
		Zero:    "Five times, 10 ms apart, and then never again, as in Kubernetes.",
	},
	{
		Name:    "podEvictionSparesFinished",
		Meaning: "Of the node tier. Never evicts a pod that has finished, is being deleted, or mirrors a static pod.",
		Zero:    "They are evicted like any other pod, as in Kubernetes.",
	},
	{
		Name:    "podEvictionNamesTaint",
		Meaning: "Of the node tier. Has the condition DisruptionTarget of an evicted pod name the taint.",
		Zero:    "It only says that there was a NoExecute taint, as in Kubernetes.",
	},
	{
		Name:    "podEvictionsHonourBudgets",
		Meaning: "Of the node tier. Has taints evict pods through the Eviction API, as far as their PodDisruptionBudgets allow it; an eviction that is refused is tried again when the budget allows it. Pods that are not ready are evicted all the same. Off by default: a budget that is too strict keeps pods on a node that they must leave.",
		Zero:    "Evictions for taints pass every budget, as in Kubernetes.",
	},
	{
		Name: "podGCPeriod", in: notNegative,
		Meaning: "Of the node tier. How often the pod garbage collector looks for pods of nodes that do not exist, which it removes after a quarantine of 40 s, and for pods that are being deleted on nodes out of service.",
		Zero:    "It acts exactly when due.",
	},
	{
		Name:    "avoidTimedTolerations",
		Meaning: "Of the node tier. Binds a pod to a node whose NoExecute taint it tolerates only for a time where no other node can take it.",
		Zero:    "The scheduler ignores tolerationSeconds: an evicted pod may come back to the same node.",
	},
	{
		Name:    "schedulerNamesTaints",
		Meaning: "Of the node tier. Has the scheduler name the taints that refuse nodes when it explains why a pod is pending.",
		Zero:    "It only counts the nodes, as kube-scheduler since 1.36.",
	},
})

func numbered(fields []Field) []Field {
	for i := range fields {
		fields[i].index = i
	}
	return fields
}
