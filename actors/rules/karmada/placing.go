package karmada

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/policy"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// What the governor, the scheduler and placement ask.

// stoppedWorker is how long an eviction worker rests between evictions at rate zero. Source: Karmada's eviction worker.
const stoppedWorker = 30 * time.Minute

// WorkerRests is the time that one eviction takes an eviction worker.
func (w Ways) WorkerRests() time.Duration {
	if w.settings.ResourceEvictionRate <= 0 {
		return stoppedWorker
	}
	return time.Duration(float64(time.Second) / w.settings.ResourceEvictionRate)
}

// QueuePriority is what the priority of a workload counts in the queue of evictions: nothing in Karmada's (K32).
func (w Ways) QueuePriority(of int32) int32 {
	if w.settings.EvictionOrder == messages.EvictByArrival {
		return 0
	}
	return of
}

// ZeroReplicasNeedCluster reports whether clusters must fit a workload that is scaled to zero, as in Karmada.
func (w Ways) ZeroReplicasNeedCluster() bool { return !w.settings.ZeroReplicasNeedNoCluster }

// ClearsTargets reports whether a workload that no cluster fits loses the targets that it has, as in Karmada (K1).
func (w Ways) ClearsTargets() bool { return !w.settings.KeepLastCopy }

// RetriesForAnyGroup reports whether a change of a cluster in any affinity group of a workload has it tried again. In Karmada
// only those of the group in use do.
func (w Ways) RetriesForAnyGroup() bool { return w.settings.RetryForAnyGroup }

// RetriesForGoneCluster reports whether the end of a cluster has what waits tried again: fewer clusters are counted in the reason why
// it waits. Karmada's scheduler does not.
func (w Ways) RetriesForGoneCluster() bool { return w.settings.RetryForAnyGroup }

// FailoverKeepsQuota reports whether a workload keeps the quota of replicas that it lost until they are replaced. In Karmada
// others may take it.
func (w Ways) FailoverKeepsQuota() bool { return w.settings.FailoverKeepsQuota }

// MovesGracefully reports whether a move by choice has a handover as an eviction has. Karmada removes the old copy immediately.
func (w Ways) MovesGracefully() bool { return w.settings.GracefulMoves }

// Placing is how placement is stricter, or more obliging, than in Karmada; the zero value is Karmada's way.
type Placing struct {
	// Taints is how tolerations match taints.
	Taints taint.Rule
	// HonoursDeadlines refuses clusters whose taints were tolerated for long enough.
	HonoursDeadlines bool
	// ExactSpread meets all spread constraints (K26), StableRegions keeps the regions of a workload while they fit.
	ExactSpread, StableRegions bool
	// Partial places as many replicas as find capacity (K2), ReadyOnly gives new ones to clusters that are ready only (K27).
	Partial, ReadyOnly bool
	// NeedsAPI takes a workload off a cluster that no longer lists its kind; this one is Karmada's up to 1.14.
	NeedsAPI bool
	// EvictsDeleted leaves it to the taint to empty clusters that are being deleted.
	EvictsDeleted bool
	// AvoidsPreferred places on clusters with PreferNoSchedule last (K41), AvoidsTemporary on those with a taint that is
	// tolerated for a time.
	AvoidsPreferred, AvoidsTemporary bool
	// ExactSets places the components of a workload together, or not at all.
	ExactSets bool
}

// Placing is how placement goes by the settings.
func (w Ways) Placing() Placing {
	s := w.settings
	return Placing{
		Taints: w.Rule(), HonoursDeadlines: s.PlacementHonoursDeadlines, ExactSpread: s.ExactSpread, StableRegions: s.StableRegions,
		Partial: s.PartialPlacement, ReadyOnly: s.ScaleUpNeedsReady, NeedsAPI: s.TargetsNeedTheirAPI,
		EvictsDeleted: w.TaintsDeleted() && s.Evicts(), AvoidsPreferred: s.PreferNoSchedule, AvoidsTemporary: s.TemporaryDestinationsLast,
		ExactSets: s.ExactComponentSets,
	}
}

// What clusters and ClusterTaintPolicies ask.

// PolicyOrder is the order in which the policies of a fleet act. Karmada's is arbitrary between those of one second (K18).
func (w Ways) PolicyOrder(seed uint64) policy.Order {
	return policy.Order{Tie: w.settings.PolicyTieBreak, Seed: seed}
}

// PoliciesRemoveAny reports whether a policy may remove a taint that no policy added, as in Karmada (K20).
func (w Ways) PoliciesRemoveAny() bool { return w.settings.PolicyRemoves != messages.RemovesOwn }

// Cleanup is when a policy takes away the taints that it added and no longer asks for. One that does not say so never does in
// Karmada (K19).
func (w Ways) Cleanup(asked api.CleanupMode) api.CleanupMode {
	return cmp.Or(asked, w.settings.PolicyCleanup)
}

// MissingCondition is the status that policies see for a condition that a cluster does not report; empty: it never matches,
// as in Karmada (K17).
func (w Ways) MissingCondition() metav1.ConditionStatus { return w.settings.MissingConditionStatus }

// NotReadyEvictsAfter is how long a cluster is not Ready before the system itself adds NoExecute taints, as Karmada does up to
// 1.13; zero: it does not.
func (w Ways) NotReadyEvictsAfter() time.Duration {
	if !w.settings.Failover {
		return 0
	}
	return w.settings.FailoverEvictionTimeout
}

// TaintsDeleted reports whether a cluster that is being deleted is tainted.
func (w Ways) TaintsDeleted() bool { return w.settings.TaintTerminatingClusters }

// PersistentClusterTimers reports whether what is seen of a cluster counts from when it was first seen so. Karmada counts from
// its own start.
func (w Ways) PersistentClusterTimers() bool { return w.settings.PersistentClusterTimers }
