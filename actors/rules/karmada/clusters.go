package karmada

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

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
