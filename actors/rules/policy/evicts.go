package policy

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// Evicts reports whether a policy adds a NoExecute taint to a cluster in this state: now or, where a condition must
// last, by waiting. It does not where the policy only reports, or removes the taint no later than it adds it. Whether
// the policy targets the cluster at all is the caller's question.
func Evicts(spec *api.ClusterTaintPolicySpec, v *messages.ClusterView, missing metav1.ConditionStatus, now time.Time) bool {
	added, adds := holdsFrom(spec.AddOnConditions, v, missing)
	if !adds || spec.ReportOnly || !slices.ContainsFunc(spec.Taints, noExecute) {
		return false
	}
	removed, removes := holdsFrom(spec.RemoveOnConditions, v, missing)
	return !removes || removed.After(now) && removed.After(added)
}

func noExecute(t api.PolicyTaint) bool { return t.Effect == corev1.TaintEffectNoExecute }
