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
		Meaning: "What becomes of the old copy where the policy says nothing.",
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
		Zero:    "Tolerated for no time: evicted at once.",
	},
	{
		Name: "defaultUnreachableTolerationSeconds", Flag: "--default-unreachable-toleration-seconds (up to 1.14)", in: seconds,
		Meaning: "Toleration of unreachable:NoExecute for policies that have none. Negative: none is given.",
		Zero:    "Tolerated for no time: evicted at once.",
	},
	{
		Name:    "targetsNeedTheirAPI",
		Meaning: "Takes a workload off a cluster that says that it knows all of its APIs, and no longer lists the kind, as before Karmada 1.15.",
		Zero:    "What runs there stays; only new placements go by the list.",
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
		Meaning: "How many evictions may be under way at once, of cluster-scoped resources and of all others each. Karmada has three, fixed.",
		Zero:    "No pacing at all.",
	},
	{
		Name: "evictionOrder", Cures: []string{"K32"}, Words: []string{messages.EvictByArrival, messages.EvictByPriority},
		Meaning: "Which of the evictions that wait goes first: the one that has been due the longest (arrival), or the one of the highest priority. Those that wait already keep their places when it is set.",
	},
	{
		Name: "fleetEvictionRate", Cures: []string{"K8"}, in: notNegative,
		Meaning: "Evictions per second from the whole fleet, for taints.",
		Zero:    "No such limit.",
	},
	{
		Name: "regionEvictionRate", Cures: []string{"K8"}, in: notNegative,
		Meaning: "Evictions per second from the clusters of one region, for taints. Clusters without a region share none.",
		Zero:    "No such limit.",
	},
	{
		Name: "clusterEvictionRate", Cures: []string{"K8"}, in: notNegative,
		Meaning: "Evictions per second from one cluster, for taints.",
		Zero:    "No such limit.",
	},
	{
		Name: "evictionBurst", Cures: []string{"K8"}, in: notNegative,
		Meaning: "How many evictions the rates of fleet, region and cluster each let go at once after a rest.",
		Zero:    "One.",
	},
	{
		Name: "evictionBudgets", Cures: []string{"K33"},
		Meaning: "Keeps EvictionBudgets and ClusterEvictionBudgets ([budgets.md](budgets.md)): an eviction for a taint that would break one waits. Without such objects it has no effect.",
		Zero:    "They are accepted and ignored.",
	},
	{
		Name: "unhealthyClusterThreshold", Cures: []string{"K6"}, in: share,
		Meaning: "The share of clusters that are not Ready from which on evictions for taints slow down in the whole fleet, if they are more than two: to secondaryEvictionRate where there are more than largeFleetSize clusters, and to none where there are fewer.",
		Zero:    "They never do.",
	},
	{
		Name: "unhealthyRegionThreshold", in: share,
		Meaning: "Likewise for the clusters of one region. A region that is down altogether is left at the full rate.",
		Zero:    "They never do.",
	},
	{
		Name: "largeFleetSize", Cures: []string{"K6"}, in: notNegative,
		Meaning: "The number of clusters up to which a fleet, or a region, stops where a larger one slows down.",
		Zero:    "None stops.",
	},
	{
		Name: "secondaryEvictionRate", Cures: []string{"K6"}, in: notNegative,
		Meaning: "Evictions per second, for taints, while they are slowed down, and for as long as stormCooldown after it.",
		Zero:    "None.",
	},
	{
		Name: "blackoutThreshold", Cures: []string{"K6"}, in: share,
		Meaning: "The share of clusters that are not Ready from which on that is not believed, in a fleet of two or more: no evictions for taints, and NoExecute taints that the system or policies added for it are taken back until the share is smaller.",
		Zero:    "It is always believed.",
	},
	{
		Name: "stormCooldown", in: notNegative,
		Meaning: "How long evictions for taints go on at secondaryEvictionRate once they need no longer be slowed down or stopped.",
		Zero:    "They go at the full rate at once.",
	},
	{
		Name: "fleetBreakerShare", Cures: []string{"K6"}, in: share,
		Meaning: "The share of all copies in the fleet that may go within breakerWindow for taints, until no more go: for breakerCooldown, and then breakerTrials of them until those serve elsewhere.",
		Zero:    "No such breaker.",
	},
	{
		Name: "regionBreakerShare", in: share,
		Meaning: "Likewise of the copies in one region.",
		Zero:    "No such breaker.",
	},
	{
		Name: "priorityBreakerShare", in: share,
		Meaning: "Likewise of the copies of workloads of one schedulePriority.",
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
		Meaning: "How long an open breaker lets nothing go, and then how long what goes on trial has to serve elsewhere.",
	},
	{
		Name: "breakerTrials", Cures: []string{"K6"}, in: notNegative,
		Meaning: "How many evictions a half-open breaker lets go on trial.",
		Zero:    "One.",
	},
	{
		Name: "taintRelistPeriod", Cures: []string{"K12"}, in: notNegative,
		Meaning: "How often a tainted cluster is looked at for bindings and tolerations that changed after the taint. Karmada has 10s, fixed.",
		Zero:    "Changes are seen at once.",
	},
	{
		Name:    "wholeSecondTaintTimes",
		Meaning: "Cuts timeAdded of a taint to whole seconds, so that evictions come up to a second early.",
		Zero:    "Exact.",
	},
	{
		Name: "taintTimesForAllEffects", Cures: []string{"K42"},
		Meaning: "Gives taints of every effect that people set a timeAdded, that of a cordon too.",
		Zero:    "Those with NoExecute only.",
	},
	{
		Name: "gracefulEvictionTimeout", Flag: "--graceful-eviction-timeout", in: notNegative,
		Meaning: "Caps a handover.",
		Zero:    "No wait for the new copy.",
	},
	{
		Name: "evictionNeedsDestination", Cures: []string{"K1"},
		Meaning: "Holds an eviction until there is a place that satisfies the policy without the failed cluster.",
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
		Meaning: "Places a workload that is scaled to zero nowhere, whichever clusters fit and whatever it has to leave.",
		Zero:    "Clusters must fit even so, else the old placement may stay with its replicas.",
	},
	{
		Name: "withdrawOnRecovery", Cures: []string{"K7"},
		Meaning: "Takes an eviction back when its taint goes before the handover is done.",
		Zero:    "It runs to its end.",
	},
	{
		Name:    "destinationsMustHear",
		Meaning: "Starts nothing new on clusters that `suspension.dispatchingOnClusters` names, and keeps an old copy until what takes over has been told to run.",
		Zero:    "A cluster that is told nothing is a destination as any other.",
	},
	{
		Name: "directPurgeTimeout", Cures: []string{"K5"}, in: notNegative,
		Meaning: "How long a copy that is left Directly may keep its substitute waiting. A cluster that is cut off may still run its copy then: until then at most one copy runs, from then on at least one.",
		Zero:    "Until the copy is gone or its task ends.",
	},
	{
		Name: "dependenciesStay", Cures: []string{"K4"},
		Meaning: "Keeps what a workload's pods refer to (propagateDeps) on a cluster that is being left for as long as the old copy stays.",
		Zero:    "It goes when the eviction starts.",
	},
	{
		Name:    "preserveOnlyDeleted",
		Meaning: "Keeps copies of policies with preserveResourcesOnDeletion where the resource is deleted, and empties clusters that are left.",
		Zero:    "On a cluster that is left, too, they run on, and nobody looks after them.",
	},
	{
		Name: "persistentFailoverTimers", Cures: []string{"K15"},
		Meaning: "Counts application failover from the stored time of the first Unhealthy report: a restart does not reset it and a toleration of zero seconds acts at once.",
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
		Meaning: "How long a cluster that was left for the application's sickness is not chosen again for it.",
		Zero:    "Not beyond the eviction task.",
	},
	{
		Name: "statefulFailoverInjection", Flag: "--feature-gates=StatefulFailoverInjection",
		Meaning: "Feature gate of statePreservation: labels carry values of the old copy's status to the new one.",
		Zero:    "It is accepted and ignored.",
	},
	{
		Name: "evictionNeedsState", Cures: []string{"K25"},
		Meaning: "Keeps a workload from leaving while the state that its policy preserves cannot be read.",
		Zero:    "It leaves without it, and its task says so.",
	},
	{
		Name:    "stateForAnyPurgeMode",
		Meaning: "Hands preserved state to the new copy whatever becomes of the old one.",
		Zero:    "Only with purge mode Directly.",
	},
	{
		Name: "missingConditionStatus", Cures: []string{"K17"}, Words: []string{"", "True", "False", "Unknown"},
		Meaning: "The status that policies see for a condition that a cluster does not report, where they set no defaultStatus.",
		Zero:    "Such a condition matches neither In nor NotIn.",
	},
	{
		Name: "conditionHold", Cures: []string{"K17"}, in: notNegative,
		Meaning: "How long a changed condition must hold before policies act on it.",
		Zero:    "At once.",
	},
	{
		Name: "policyTieBreak", Cures: []string{"K18"}, Words: []string{messages.TieByName, messages.TieUndefined},
		Meaning: "Orders policies of the same creation second: by name, or undefined, which follows the seed.",
	},
	{
		Name: "policyRemoves", Cures: []string{"K20"}, Words: []string{messages.RemovesAny, messages.RemovesOwn},
		Meaning: "Which taints a ClusterTaintPolicy may remove: any, or only those that a ClusterTaintPolicy added, be it another (own); what people and the system put there stays.",
	},
	{
		Name: "policyCleanup", Cures: []string{"K19"}, Words: []string{"Never", "OnDelete", "OnChange"},
		Meaning: "When taints that a ClusterTaintPolicy added are removed because it was deleted (OnDelete), or also because it no longer has the taint or no longer selects the cluster (OnChange); for policies that set no cleanup.",
	},
	{
		Name: "tolerationMatch", Cures: []string{"K21"}, Words: []string{messages.MatchFirst, messages.MatchMinimum},
		Meaning: "Which toleration counts for a taint: the first in the list that matches, or of all that match the shortest.",
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
		Meaning: "Whose tolerations count: of the placement that the scheduler last applied, where none means no eviction, or of the placement itself.",
	},
	{
		Name: "maxStartingPerCluster", in: notNegative,
		Meaning: "How many workloads that had to leave another cluster may start on one cluster at once. Further ones go elsewhere, or wait where they are; a start lasts until its handover is done or overdue.",
		Zero:    "Any number.",
	},
	{
		Name: "startFailureLimit", Cures: []string{"K6"}, in: notNegative,
		Meaning: "How many starts of workloads that had to leave another cluster fail on one cluster within startFailureWindow before it backs off: for startBackoff, and twice as long with every further failure, no more than one of them starts there at once. A start fails when its handover is overdue, or it is given up for its health; one that succeeds ends it. Sensible: 3 to 100.",
		Zero:    "No cluster backs off.",
	},
	{
		Name: "startFailureWindow", in: positive,
		Meaning: "How long a start that failed counts. Sensible: 1m to 1h.",
	},
	{
		Name: "startBackoff", in: positive,
		Meaning: "How long a cluster backs off at first; at most it is sixteen times as long. Sensible: 30s to 30m.",
	},
	{
		Name: "capacityReservation", Cures: []string{"K13"},
		Meaning: "Counts placed replicas against a cluster's free capacity at once, and for as long as they are placed. Karmada's alpha gate SchedulingOvercommitProtection, which counts those of the last five minutes until they are healthy, is not needed beside it.",
		Zero:    "Only what the cluster itself reports counts.",
	},
	{
		Name:    "placementHonoursDeadlines",
		Meaning: "Keeps workloads off clusters whose NoExecute taints they have already outstayed.",
		Zero:    "They are placed and evicted again.",
	},
	{
		Name:    "temporaryDestinationsLast",
		Meaning: "Places workloads under a NoExecute taint that they tolerate for a time, and would have to leave then, only where no other cluster has room.",
		Zero:    "Such taints do not matter.",
	},
	{
		Name: "exactSpread", Cures: []string{"K26"},
		Meaning: "Meets all spread constraints at once, by zone, provider and label too, with room for the replicas; maxGroups left out sets no limit.",
		Zero:    "Without maxGroups nothing is placed; zone, provider and label only filter; regions are chosen whatever their room.",
	},
	{
		Name: "partialPlacement", Cures: []string{"K2"},
		Meaning: "Places as many replicas as find room, and the others when there is room for them; an old copy stays until all have a place.",
		Zero:    "All or nothing.",
	},
	{
		Name: "scaleUpNeedsReady", Cures: []string{"K27"},
		Meaning: "Gives new replicas, where they go by room, to no cluster that is not ready or has a taint that is not tolerated, also where the workload runs already.",
		Zero:    "What such a cluster last said of its room counts.",
	},
	{
		Name:    "retryForAnyGroup",
		Meaning: "Tries again for what found no place, or is held for want of one, when a cluster of any of its affinity groups changes, or of what they overflow into.",
		Zero:    "Only clusters of the group in use count, without its overflow.",
	},
	{
		Name: "preferNoSchedule", Cures: []string{"K41"},
		Meaning: "Admits PreferNoSchedule taints of clusters, and places what does not tolerate them there only where no other cluster has room.",
		Zero:    "Such taints are refused, and those there are do not matter.",
	},
	{
		Name: "propagationPolicyPreemption", Flag: "--feature-gates=PropagationPolicyPreemption",
		Meaning: "Feature gate of preemption: a policy that preempts takes resources from policies of lower priority.",
		Zero:    "It is accepted and ignored.",
	},
	{
		Name: "workloadAffinity", Flag: "--feature-gates=WorkloadAffinity",
		Meaning: "Feature gate of workloadAffinity: workloads of a group go to the clusters that run others of it, or keep off them.",
		Zero:    "It is accepted and ignored.",
	},
	{
		Name: "federatedQuotaEnforcement", Flag: "--feature-gates=FederatedQuotaEnforcement",
		Meaning: "Feature gate of FederatedResourceQuotas: no placement may ask for more than those of its namespace leave. What asks for no more than it has is never refused.",
		Zero:    "They are accepted and ignored; their status still says what is used.",
	},
	{
		Name:    "failoverKeepsQuota",
		Meaning: "Keeps the quota of replicas that a workload loses with a cluster until they are replaced, and lets those that it has move though a quota refuses it more.",
		Zero:    "Others may take what an eviction sets free; the workload is then refused its replacement.",
	},
	{
		Name: "customizedClusterResourceModeling", Flag: "--feature-gates=CustomizedClusterResourceModeling",
		Meaning: "Feature gate of resource models: a cluster that counts its nodes by grade (status.resourceSummary.allocatableModelings) is judged by that; one that names no grades has Karmada's nine.",
		Zero:    "Clusters are judged by their totals.",
	},
	{
		Name: "multiplePodTemplatesScheduling", Flag: "--feature-gates=MultiplePodTemplatesScheduling",
		Meaning: "Feature gate of components: workloads that have several pod templates (Volcano Job, FlinkDeployment, RayCluster, PyTorchJob, TFJob, MPIJob) go whole to each of their clusters.",
		Zero:    "They go there as resources without pods do.",
	},
	{
		Name:    "exactComponentSets",
		Meaning: "Places a workload with several components only where all of them find room together, and looks again whenever the fleet or the components change.",
		Zero:    "Room only orders clusters, and only where the policy asks for exactly one; of a resource that the grades of a cluster do not list its nodes have none; divided workloads are looked at again when they have no cluster left.",
	},
	{
		Name: "concurrentReturns", Cures: []string{"K14"}, in: notNegative,
		Meaning: "How many workloads may be on their way back at once, to an earlier affinity group or to clusters that they were evicted from, where their policies let them return (failover.cluster.failback).",
		Zero:    "Any number.",
	},
	{
		Name:    "enableDescheduler",
		Meaning: "Takes replicas that a cluster cannot start off it and places them elsewhere, as karmada-descheduler and its estimators do; about Deployments that are divided by dynamic weight, or aggregated.",
		Zero:    "They wait where they are.",
	},
	{
		Name: "deschedulingInterval", Flag: "--descheduling-interval", in: notNegative,
		Meaning: "How often replicas that cannot start are looked for.",
		Zero:    "Exactly when due.",
	},
	{
		Name: "unschedulableThreshold", Flag: "--unschedulable-threshold", in: notNegative,
		Meaning: "How long a replica may wait before its cluster gives it up.",
		Zero:    "Not at all.",
	},
	{
		Name: "repeatableRebalance", Cures: []string{"K38"},
		Meaning: "A WorkloadRebalancer asks for fresh placements whenever it is applied, and for all that it names, and reports each workload when the scheduler has answered.",
		Zero:    "As of its creation, once for each workload, and success is reported when it has asked.",
	},
	{
		Name: "gracefulMoves", Cures: []string{"K38"},
		Meaning: "Keeps the copies that a new placement does without, whatever called for it, and the shares that it moves elsewhere, until the others serve.",
		Zero:    "They go at once.",
	},
	{
		Name:    "stableRegions",
		Meaning: "Keeps a workload in its regions as long as those meet its spread constraints.",
		Zero:    "It goes to those that are best at each decision.",
	},
	{
		Name: "clusterStatusUpdateFrequency", Flag: "--cluster-status-update-frequency", in: notNegative,
		Meaning: "How often a cluster of sync mode Push is probed; thresholds end with a probe.",
		Zero:    "Whatever changes is found at once.",
	},
	{
		Name: "clusterFailureThreshold", Flag: "--cluster-failure-threshold", in: notNegative,
		Meaning: "How long a Ready cluster must be observed not to be before it is not; for observations, see the action condition.",
		Zero:    "At once.",
	},
	{
		Name: "clusterSuccessThreshold", Flag: "--cluster-success-threshold", in: notNegative,
		Meaning: "How long any other cluster must be observed to be Ready before it is.",
		Zero:    "At once.",
	},
	{
		Name: "persistentClusterTimers", Cures: []string{"K16"},
		Meaning: "Counts thresholds and grace periods of a cluster's health on after a restart.",
		Zero:    "What was held back counts at once, and grace periods start anew.",
	},
	{
		Name:    "taintTerminatingClusters",
		Meaning: "Gives clusters that are deleted a NoExecute taint, as Karmada up to 1.13.",
		Zero:    "The scheduler alone empties them, and old copies stop before new ones run.",
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
})

func numbered(fields []Field) []Field {
	for i := range fields {
		fields[i].index = i
	}
	return fields
}
