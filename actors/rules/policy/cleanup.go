package policy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
)

// Forsaken returns why a policy no longer asks for a taint that it added; empty where it does, or
// does not care: only a policy with CleanupOnChange takes such taints away. Selects says whether the
// policy selects the cluster.
func Forsaken(mode api.CleanupMode, selects bool, taints []api.PolicyTaint, t *corev1.Taint) string {
	has := func(p api.PolicyTaint) bool { return p.Key == t.Key && p.Effect == t.Effect }
	switch {
	case mode != api.CleanupOnChange:
		return ""
	case !selects:
		return "it no longer selects the cluster"
	case !slices.ContainsFunc(taints, has):
		return "it no longer has the taint"
	default:
		return ""
	}
}
