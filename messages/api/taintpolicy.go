package api

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterTaintPolicy adds taints to clusters, and removes them, by the clusters' conditions.
type ClusterTaintPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              ClusterTaintPolicySpec `json:"spec"`
	// Status is Leeward's own.
	Status ClusterTaintPolicyStatus `json:"status,omitzero"`
}

// ClusterTaintPolicyStatus counts what a policy does, or would do. Leeward's own.
type ClusterTaintPolicyStatus struct {
	// MatchedClusters are those that TargetClusters selects.
	MatchedClusters int32 `json:"matchedClusters"`
	// TaintedClusters are those with a taint that the policy added.
	TaintedClusters int32 `json:"taintedClusters"`
	// WouldTaint and WouldUntaint count clusters of which a policy that only reports would change taints.
	WouldTaint   int32 `json:"wouldTaint,omitempty"`
	WouldUntaint int32 `json:"wouldUntaint,omitempty"`
	// WouldEvict counts the bindings that would leave those clusters, once for each cluster that they
	// would leave.
	WouldEvict int32 `json:"wouldEvict,omitempty"`
}

// ClusterTaintPolicySpec says which clusters, when, and which taints.
type ClusterTaintPolicySpec struct {
	// TargetClusters selects clusters; nil selects every cluster.
	TargetClusters *ClusterAffinity `json:"targetClusters,omitempty"`
	// AddOnConditions are ANDed; empty never adds.
	AddOnConditions []MatchCondition `json:"addOnConditions,omitempty"`
	// RemoveOnConditions are ANDed; empty never removes.
	RemoveOnConditions []MatchCondition `json:"removeOnConditions,omitempty"`
	// Taints has at least one item, unique by key and effect.
	Taints []PolicyTaint `json:"taints"`
	// Cleanup says when taints go that the policy added and no longer asks for; empty: as the setting policyCleanup says.
	// Leeward's own.
	Cleanup CleanupMode `json:"cleanup,omitempty"`
	// ReportOnly has the policy change nothing, and only say what it would. Leeward's own.
	ReportOnly bool `json:"reportOnly,omitempty"`
}

// CleanupMode says when a policy takes taints that it added away again, beside RemoveOnConditions.
type CleanupMode string

// The modes.
const (
	// CleanupNever leaves them, as Karmada does.
	CleanupNever CleanupMode = "Never"
	// CleanupOnDelete removes them with the policy.
	CleanupOnDelete CleanupMode = "OnDelete"
	// CleanupOnChange removes them also where the policy no longer selects the cluster, or no longer has
	// the taint.
	CleanupOnChange CleanupMode = "OnChange"
)

// Cleans reports whether taints go with their policy.
func (m CleanupMode) Cleans() bool { return m == CleanupOnDelete || m == CleanupOnChange }

// MatchOperator compares a condition's status with a list.
type MatchOperator string

// The operators that match; any other word never does.
const (
	MatchIn    MatchOperator = "In"
	MatchNotIn MatchOperator = "NotIn"
)

// MatchCondition asks for the status of one condition type.
type MatchCondition struct {
	ConditionType string                   `json:"conditionType"`
	Operator      MatchOperator            `json:"operator"`
	StatusValues  []metav1.ConditionStatus `json:"statusValues"`
	// For is how long the condition must have had its status before it counts, from its
	// lastTransitionTime; nil: no time. Leeward's own.
	For *metav1.Duration `json:"for,omitempty"`
	// DefaultStatus is the status of a condition that the cluster does not report; empty: that of the
	// setting missingConditionStatus. Leeward's own.
	DefaultStatus metav1.ConditionStatus `json:"defaultStatus,omitempty"`
}

// PolicyTaint is a taint as a policy asks for it.
type PolicyTaint struct {
	Key    string             `json:"key"`
	Effect corev1.TaintEffect `json:"effect"`
	Value  string             `json:"value,omitempty"`
}

// Has reports whether a taint of a key and an effect is one of the policy's.
func (s *ClusterTaintPolicySpec) Has(key string, effect corev1.TaintEffect) bool {
	return slices.ContainsFunc(s.Taints, func(t PolicyTaint) bool { return t.Key == key && t.Effect == effect })
}
