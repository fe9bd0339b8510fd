package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/spelling"
)

// Default is the profile of those who name none.
const Default = "leeward"

// Profiles returns the names of the profiles, oldest behaviour first.
func Profiles() []string { return []string{"karmada-legacy", "karmada", "kubernetes", "leeward"} }

// Profile returns the settings of a profile; no name is the default's. With an error, which lists the
// profiles there are, it returns those of the default.
func Profile(name string) (messages.Settings, error) {
	switch name {
	case "karmada-legacy":
		return karmadaLegacy(), nil
	case "karmada":
		return karmada(), nil
	case "leeward", "":
		return leeward(), nil
	case "kubernetes":
		return kubernetes(), nil
	default:
		return leeward(), fmt.Errorf("unknown profile %q: the profiles are %s%s", name, strings.Join(slices.Sorted(slices.Values(Profiles())), ", "), spelling.Hint(name, Profiles()))
	}
}

// karmada is Karmada as it is since 1.16, with the defaults of its flags.
func karmada() messages.Settings {
	return messages.Settings{
		GracefulEviction:                    true,
		CustomizedClusterResourceModeling:   true,
		EnableTaintManager:                  true,
		NoExecuteTaintEvictionPurgeMode:     api.PurgeGracefully,
		DefaultNotReadyTolerationSeconds:    -1,
		DefaultUnreachableTolerationSeconds: -1,
		DivisionMethod:                      messages.DivideWebster,
		ResourceEvictionRate:                0.5,
		EvictionWorkers:                     3,
		EvictionOrder:                       messages.EvictByArrival,
		BreakerMinimum:                      100,
		BreakerWindow:                       10 * time.Minute,
		BreakerCooldown:                     5 * time.Minute,
		BreakerTrials:                       5,
		StartFailureWindow:                  10 * time.Minute,
		StartBackoff:                        5 * time.Minute,
		TaintRelistPeriod:                   10 * time.Second,
		WholeSecondTaintTimes:               true,
		GracefulEvictionTimeout:             10 * time.Minute,
		HandoverHealth:                      messages.HealthReported,
		PolicyTieBreak:                      messages.TieUndefined,
		PolicyRemoves:                       messages.RemovesAny,
		PolicyCleanup:                       api.CleanupNever,
		EvictionNeedsState:                  true,
		TolerationMatch:                     messages.MatchFirst,
		PodTolerationMatch:                  messages.MatchFirst,
		TolerationSource:                    messages.SourceAppliedPlacement,
		DeschedulingInterval:                2 * time.Minute,
		UnschedulableThreshold:              5 * time.Minute,
		ClusterStatusUpdateFrequency:        10 * time.Second,
		ClusterFailureThreshold:             30 * time.Second,
		ClusterSuccessThreshold:             30 * time.Second,
		ClusterMonitorPeriod:                5 * time.Second,
		ClusterMonitorGracePeriod:           40 * time.Second,
		ClusterStartupGracePeriod:           time.Minute,
		ClusterLeaseDuration:                40 * time.Second,
		ClusterLeaseRenewIntervalFraction:   0.25,
		DefaultTolerationSeconds:            true,
		TaintNodesByCondition:               true,
		PodNotReadyTolerationSeconds:        300,
		PodUnreachableTolerationSeconds:     300,
		NodeMonitorPeriod:                   5 * time.Second,
		NodeMonitorGracePeriod:              50 * time.Second,
		NodeStartupGracePeriod:              time.Minute,
		NodeEvictionRate:                    0.1,
		SecondaryNodeEvictionRate:           0.01,
		LargeClusterSizeThreshold:           50,
		UnhealthyZoneThreshold:              0.55,
		KubeAPIQPS:                          20,
		KubeAPIBurst:                        30,
		PodGCPeriod:                         20 * time.Second,
	}
}

// karmadaLegacy is Karmada up to 1.13: a cluster that stays not Ready evicts by itself.
func karmadaLegacy() messages.Settings {
	s := karmada()
	s.Failover = true
	s.EnableNoExecuteTaintEviction = true
	s.FailoverEvictionTimeout = 5 * time.Minute
	s.DefaultNotReadyTolerationSeconds = 300
	s.DefaultUnreachableTolerationSeconds = 300
	s.TargetsNeedTheirAPI = true
	s.DivisionMethod = messages.DivideFloor
	s.EvictionWorkers = 0
	s.TaintTerminatingClusters = true
	return s
}

// leeward is Karmada's API with failover on, exact, fast, and safe for the last copy.
func leeward() messages.Settings {
	s := karmada()
	s.Failover = true
	s.EnableNoExecuteTaintEviction = true
	s.AllowNoExecuteTaintPolicy = true // who writes NoExecute means it, and the governor slows storms
	s.ResourceEvictionRate = 100
	s.EvictionWorkers = 10
	s.EvictionOrder = messages.EvictByPriority
	s.UnhealthyClusterThreshold = 0.55
	s.LargeFleetSize = 10
	s.SecondaryEvictionRate = 0.1
	s.EvictionBudgets = true
	s.BlackoutThreshold = 1
	s.StormCooldown = 5 * time.Minute
	s.FleetBreakerShare = 0.5
	s.StartFailureLimit = 5
	s.TaintRelistPeriod = 0
	s.WholeSecondTaintTimes = false
	s.TaintTimesForAllEffects = true
	s.EvictionNeedsDestination = true
	s.KeepLastCopy = true
	s.HandoverHealth = messages.HealthOfPlacement
	s.ZeroReplicasNeedNoCluster = true
	s.WithdrawOnRecovery = true
	s.DestinationsMustHear = true
	s.DirectPurgeTimeout = time.Minute // twice what a pod gets to terminate
	s.DependenciesStay = true
	s.PreserveOnlyDeleted = true
	s.PersistentFailoverTimers = true
	s.ApplicationStartupGrace = 5 * time.Minute
	s.ApplicationFailoverLimit = 3
	s.ApplicationFailoverWindow = time.Hour
	s.ApplicationCooldown = 10 * time.Minute
	s.StatefulFailoverInjection = true
	s.EvictionNeedsState = false
	s.StateForAnyPurgeMode = true
	s.PolicyTieBreak = messages.TieByName
	s.PolicyRemoves = messages.RemovesOwn
	s.PolicyCleanup = api.CleanupOnChange
	s.TolerationMatch = messages.MatchMinimum
	s.ValidateTolerations = true
	s.TolerationSource = messages.SourcePlacement
	s.CapacityReservation = true
	s.PlacementHonoursDeadlines = true
	s.TemporaryDestinationsLast = true
	s.ExactSpread = true
	s.PartialPlacement = true
	s.ScaleUpNeedsReady = true
	s.RetryForAnyGroup = true
	s.PreferNoSchedule = true
	s.PropagationPolicyPreemption = true
	s.WorkloadAffinity = true
	s.FederatedQuotaEnforcement = true // who writes a quota means it, and it stops no failover
	s.FailoverKeepsQuota = true
	s.MultiplePodTemplatesScheduling = true
	s.ExactComponentSets = true
	s.ConcurrentReturns = 10
	s.DeschedulingInterval = 0
	s.RepeatableRebalance = true
	s.GracefulMoves = true
	s.StableRegions = true
	s.PersistentClusterTimers = true
	s.TaintTerminatingClusters = true
	s.ClusterMonitorPeriod = 0
	s.NodeMonitorPeriod = 0
	s.ZoneRateRecovers = true
	s.NodeTaintsSurviveRestart = true
	s.KubeAPIQPS, s.KubeAPIBurst = 0, 0
	s.ExactPodDeadlines = true
	s.PodTolerationMatch = messages.MatchMinimum
	s.PodEvictionUntilDone = true
	s.PodEvictionSparesFinished = true
	s.PodEvictionNamesTaint = true
	s.PodGCPeriod = 0
	s.AvoidTimedTolerations = true
	s.SchedulerNamesTaints = true
	return s
}

// kubernetes is leeward for clusters, with nodes and pods treated as Kubernetes 1.37 does with the defaults of its flags.
func kubernetes() messages.Settings {
	s, k := leeward(), karmada()
	s.NodeMonitorPeriod = k.NodeMonitorPeriod
	s.ZoneRateRecovers, s.NodeTaintsSurviveRestart = k.ZoneRateRecovers, k.NodeTaintsSurviveRestart
	s.KubeAPIQPS, s.KubeAPIBurst = k.KubeAPIQPS, k.KubeAPIBurst
	s.ExactPodDeadlines, s.PodTolerationMatch = k.ExactPodDeadlines, k.PodTolerationMatch
	s.PodEvictionUntilDone, s.PodEvictionSparesFinished = k.PodEvictionUntilDone, k.PodEvictionSparesFinished
	s.PodEvictionNamesTaint, s.PodGCPeriod = k.PodEvictionNamesTaint, k.PodGCPeriod
	s.AvoidTimedTolerations, s.SchedulerNamesTaints = k.AvoidTimedTolerations, k.SchedulerNamesTaints
	return s
}
