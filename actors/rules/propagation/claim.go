// Package propagation holds the rules of PropagationPolicies: which policy claims a resource, what the
// binding of that resource is called, and how many replicas of what size the resource asks for. Pure
// functions of values.
//
// Sources: Karmada's "Resource Propagating", its detector and its default resource interpreter.
package propagation

import (
	"cmp"
	"slices"
	"strings"

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

// Selectors are those of a policy, ready for many resources.
type Selectors []selector

type selector struct {
	api.ResourceSelector
	labels labels.Selector // of LabelSelector, nil without one
}

// Compile makes selectors ready.
func Compile(list []api.ResourceSelector) Selectors {
	ready := make(Selectors, len(list))
	for i := range list {
		ready[i] = compile(&list[i])
	}
	return ready
}

func compile(s *api.ResourceSelector) selector {
	ready := selector{ResourceSelector: *s}
	if s.LabelSelector == nil {
		return ready
	}
	var err error
	if ready.labels, err = metav1.LabelSelectorAsSelector(s.LabelSelector); err != nil {
		ready.labels = labels.Nothing()
	}
	return ready
}

// matches returns how closely one selector means a resource. The policy's namespace is empty for a
// ClusterPropagationPolicy; a PropagationPolicy never reaches beyond its own. An empty namespace of the
// selector means the policy's, or for any. A selector that names the resource ignores its label
// selector; one that has neither means the whole kind. A label selector that cannot be read, which
// admission refuses, matches nothing.
func (s *selector) matches(policyNamespace string, r api.Key, l map[string]string) Rank {
	within := policyNamespace == "" || r.Namespace == policyNamespace
	if !within || s.APIVersion != r.APIVersion || s.Kind != r.Kind || s.Namespace != "" && s.Namespace != r.Namespace {
		return NoMatch
	}
	switch {
	case reserved(r.Namespace):
		return NoMatch
	case s.Name != "" && s.Name == r.Name:
		return MatchName
	case s.Name != "":
		return NoMatch
	case s.labels == nil:
		return MatchKind
	case s.labels.Matches(labels.Set(l)):
		return MatchLabel
	default:
		return NoMatch
	}
}

// reserved reports whether a namespace is the control plane's own: no policy propagates what is in it, such as the credentials of
// clusters. Source: Karmada.
func reserved(namespace string) bool {
	return namespace == api.LeaseNamespace || namespace == "karmada-system" || strings.HasPrefix(namespace, api.WorkNamespacePrefix)
}

// Closest returns the closest rank of a policy's selectors, NoMatch if it does not mean the resource.
func (s Selectors) Closest(policyNamespace string, r api.Key, l map[string]string) Rank {
	best := NoMatch
	for i := range s {
		best = max(best, s[i].matches(policyNamespace, r, l))
	}
	return best
}

// MayMean reports whether a policy's selectors mean a resource, whatever labels that comes to have.
func (s Selectors) MayMean(policyNamespace string, r api.Key) bool {
	return slices.ContainsFunc(s, func(one selector) bool {
		one.labels = nil
		return one.matches(policyNamespace, r, nil) != NoMatch
	})
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
