// Package override changes a manifest into what one cluster is to have, by OverridePolicies and
// ClusterOverridePolicies. Pure functions of values.
//
// Sources: Karmada's "Override Policy", its API reference and its override manager.
package override

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"leeward/actors/rules/affinity"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
)

// Policy is an OverridePolicy or, where it has no namespace, a ClusterOverridePolicy, made ready. It is not changed.
type Policy struct {
	Namespace, Name string
	selectors       propagation.Selectors
	rules           []rule
}

// rule is one rule of a policy.
type rule struct {
	field      string // where it is written, for errors
	target     *affinity.Matcher
	overriders *api.Overriders
}

// Compile makes a policy ready; the spec is not changed any more. It fails where a rule cannot say which clusters it
// means, which admission refuses.
func Compile(namespace, name string, spec *api.OverrideSpec) (*Policy, error) {
	p := &Policy{Namespace: namespace, Name: name, selectors: propagation.Compile(spec.ResourceSelectors)}
	rules := spec.Rules()
	for i := range rules {
		field := "spec"
		if len(spec.OverrideRules) > 0 {
			field = fmt.Sprintf("spec.overrideRules[%d]", i)
		}
		target, err := affinity.Compile(rules[i].TargetCluster)
		if err != nil {
			return nil, fmt.Errorf("%s: %s.targetCluster: %w", p, field, err)
		}
		p.rules = append(p.rules, rule{field + ".overriders", target, &rules[i].Overriders})
	}
	return p, nil
}

// String names the policy as kubectl does.
func (p *Policy) String() string {
	kind := "OverridePolicy"
	if p.Namespace == "" {
		kind = "ClusterOverridePolicy"
	}
	return api.Key{Kind: kind, Namespace: p.Namespace, Name: p.Name}.String()
}

// MayReach reports whether the policy reaches a resource, whatever labels that comes to have.
func (p *Policy) MayReach(r api.Key) bool {
	if p.Namespace != "" && p.Namespace != r.Namespace {
		return false
	}
	return len(p.selectors) == 0 || p.selectors.MayMean(p.Namespace, r)
}

// rank is how closely the policy means a resource. One without selectors means all, as one that names a kind does.
func (p *Policy) rank(r api.Key, labels map[string]string) propagation.Rank {
	if len(p.selectors) == 0 && p.MayReach(r) {
		return propagation.MatchKind
	}
	return p.selectors.Closest(p.Namespace, r, labels)
}

// Tells reports whether any rule of the policy selects just one of two clusters: whether one that becomes the other
// is overridden otherwise.
func (p *Policy) Tells(a, b *messages.ClusterView) bool {
	return slices.ContainsFunc(p.rules, func(r rule) bool { return r.target.Matches(a) != r.target.Matches(b) })
}

// Result is a manifest for one cluster.
type Result struct {
	// Manifest is in JSON; the very bytes that were given where nothing overrides them.
	Manifest []byte
	// Cluster and Local are what ClusterOverridePolicies and OverridePolicies did, by the names of the policies.
	Cluster, Local []api.AppliedOverride
}

// Apply returns a manifest as a cluster is to have it: overridden by the ClusterOverridePolicies first, and then by the
// OverridePolicies of its namespace. Of each kind those come last, and so win, that mean the resource most closely: by
// its name, before by labels, before as one of all; then by the names of policies. The rules of a policy apply in
// order. OverridePolicies may not make another object of it, which may be one of another namespace. The error names the
// policy, the field and what does not fit; then nothing is overridden.
func Apply(manifest []byte, policies []*Policy, c *messages.ClusterView) (r Result, err error) {
	d, err := read(manifest)
	if err != nil {
		return r, err
	}
	if r.Cluster, err = d.applyAll(policies, true, c); err != nil {
		return r, err
	}
	is := d.key()
	if r.Local, err = d.applyAll(policies, false, c); err != nil {
		return r, err
	}
	if now := d.key(); now != is {
		return r, fmt.Errorf("OverridePolicies would make %v of %v: an OverridePolicy may not change which object it overrides", now, is)
	}
	if len(r.Cluster)+len(r.Local) == 0 {
		return Result{Manifest: manifest}, nil
	}
	if r.Manifest, err = json.Marshal(d.fields); err != nil {
		return r, fmt.Errorf("write manifest: %w", err)
	}
	return r, nil
}

// applyAll applies the policies of one kind that mean the document as it is now.
func (d *document) applyAll(policies []*Policy, cluster bool, c *messages.ClusterView) (applied []api.AppliedOverride, err error) {
	for _, p := range d.meaning(policies, cluster) {
		for i := range p.rules {
			rule := &p.rules[i]
			if !rule.target.Matches(c) {
				continue
			}
			switch err := d.override(rule.overriders); {
			case err != nil && d.key().Kind == "Secret":
				return nil, fmt.Errorf("%s: %s do not fit (why is not told, for it may quote the Secret)", p, rule.field)
			case err != nil:
				return nil, fmt.Errorf("%s: %s.%w", p, rule.field, err)
			}
			applied = append(applied, api.AppliedOverride{PolicyName: p.Name, Overriders: *rule.overriders})
		}
	}
	slices.SortStableFunc(applied, func(a, b api.AppliedOverride) int { return cmp.Compare(a.PolicyName, b.PolicyName) })
	return applied, nil
}

// meaning are the policies of one kind that mean the document, in the order in which they apply.
func (d *document) meaning(policies []*Policy, cluster bool) []*Policy {
	type claim struct {
		*Policy
		rank propagation.Rank
	}
	key, labels := d.key(), d.labels()
	var claims []claim
	for _, p := range policies {
		if rank := p.rank(key, labels); rank != propagation.NoMatch && (p.Namespace == "") == cluster {
			claims = append(claims, claim{p, rank})
		}
	}
	slices.SortFunc(claims, func(a, b claim) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Name, b.Name)) })
	return lists.Of(claims, func(c claim) *Policy { return c.Policy })
}
