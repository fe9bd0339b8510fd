// Package propagation holds the rules of PropagationPolicies: which policy claims a resource, what the
// binding of that resource is called, and how many replicas of what size the resource asks for. Pure
// functions of values.
//
// Sources: Karmada's "Resource Propagating", its detector and its default resource interpreter.
package propagation

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"leeward/messages/api"
)

// Rank says how closely a selector means a resource.
type Rank uint8

// The ranks, each closer than the one before.
const (
	NoMatch Rank = iota
	MatchKind
	MatchLabel
	MatchName
)

// Matches returns how closely one selector means a resource. The policy's namespace is empty for a
// ClusterPropagationPolicy; a PropagationPolicy never reaches beyond its own. An empty namespace of the
// selector stands for the policy's, or for any. A selector that names the resource ignores its label
// selector; one that has neither means the whole kind. A label selector that cannot be read, which
// admission refuses, matches nothing.
func Matches(s *api.ResourceSelector, policyNamespace string, r api.Key, l map[string]string) Rank {
	within := policyNamespace == "" || r.Namespace == policyNamespace
	if !within || s.APIVersion != r.APIVersion || s.Kind != r.Kind || s.Namespace != "" && s.Namespace != r.Namespace {
		return NoMatch
	}
	switch {
	case s.Name != "" && s.Name == r.Name:
		return MatchName
	case s.Name != "":
		return NoMatch
	case s.LabelSelector == nil:
		return MatchKind
	case selects(s.LabelSelector, l):
		return MatchLabel
	default:
		return NoMatch
	}
}

// selects compiles a selector only where a label that it asks for does not already say no.
func selects(s *metav1.LabelSelector, l map[string]string) bool {
	for name, value := range s.MatchLabels { // order-free: any that differs says no
		if l[name] != value {
			return false
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(l))
}

// Closest returns the closest rank of a policy's selectors, NoMatch if it does not mean the resource.
func Closest(selectors []api.ResourceSelector, policyNamespace string, r api.Key, l map[string]string) Rank {
	best := NoMatch
	for i := range selectors {
		best = max(best, Matches(&selectors[i], policyNamespace, r, l))
	}
	return best
}

// Claim is one policy that means a resource.
type Claim struct {
	// ClusterScoped: a ClusterPropagationPolicy.
	ClusterScoped bool
	Priority      int32
	Rank          Rank
	Name          string
}

// Better reports whether claim a goes before claim b. A PropagationPolicy goes before any
// ClusterPropagationPolicy, whatever their priorities, since Karmada's detector looks for the second
// only where it finds none of the first; then the higher priority, the closer rank and the name that
// is first in the alphabet. The order is strict and total: policies that compete for one resource and
// are of one kind differ in name.
func Better(a, b Claim) bool {
	if a.ClusterScoped != b.ClusterScoped {
		return b.ClusterScoped
	}
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority),
		cmp.Compare(b.Rank, a.Rank),
		cmp.Compare(a.Name, b.Name),
	) < 0
}
