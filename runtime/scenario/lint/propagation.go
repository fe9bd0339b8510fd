package lint

import (
	"fmt"
	"slices"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
)

// mostClaims bounds how many policies are compared about how many resources.
const mostClaims = 5_000_000

// claims says, for each policy, which resources it selects, and which of them it claims.
type claims struct {
	selected [][]int
	// winner is the policy that claims a resource; -1: none.
	winner []int
}

func (u *unit) claims() (c claims, ok bool) {
	if len(u.placed)*len(u.templates) > mostClaims {
		return c, false
	}
	c.selected, c.winner = make([][]int, len(u.placed)), make([]int, len(u.templates))
	for i := range u.templates {
		c.winner[i] = -1
		var best propagation.Claim
		for j := range u.placed {
			claim, selects := u.placed[j].claim(&u.templates[i])
			if !selects {
				continue
			}
			c.selected[j] = append(c.selected[j], i)
			if c.winner[i] < 0 || propagation.Better(claim, best) {
				c.winner[i], best = j, claim
			}
		}
	}
	return c, true
}

func (p *propagationPolicy) is(other *propagationPolicy) bool {
	return p.kind == other.kind && p.namespace == other.namespace && p.name == other.name
}

func neverApplies(u *unit, r *reporter) {
	c, ok := u.claims()
	if !ok {
		return
	}
	for i := range u.placed {
		p := &u.placed[i]
		if len(c.selected[i]) == 0 || slices.ContainsFunc(c.selected[i], func(t int) bool { return u.placed[c.winner[t]].is(p) }) {
			continue
		}
		if u.lazy() {
			continue
		}
		t := &u.templates[c.selected[i][0]]
		winner := &u.placed[c.winner[c.selected[i][0]]]
		r.add(found{
			at: p.Document, field: "spec.resourceSelectors",
			why:     fmt.Sprintf("%s %s (%s:%d) claims %s first; this policy claims none of the %d resources that it selects", winner.kind, messages.NamePropagation(winner.namespace, winner.name), winner.Document.Place.File, winner.Document.Line(""), t.key, len(c.selected[i])),
			fix:     "raise its priority, select by name, or delete it",
			witness: u.claimed(p, winner, t),
		})
	}
}

// lazy reports whether the timeline applies or deletes policies, so that one may apply at first and not later.
func (u *unit) lazy() bool { return len(u.documents) != len(u.Objects) || u.deletes() }

// claimed shows that another policy claims a resource: its clusters run it.
func (u *unit) claimed(loser, winner *propagationPolicy, t *template) *witness {
	w := u.witness().clusters("m1", "m2")
	w.objects = append(w.objects, bare(t.Object))
	for i, p := range []*propagationPolicy{winner, loser} {
		w.objects = append(w.objects, p.on(fields{"clusterAffinity": fields{"clusterNames": []string{[]string{"m1", "m2"}[i]}}}))
	}
	return w.expects("at", "1m", "binding", fields{"name": nameOf(t.key), "clusters": []string{"m1"}})
}

// on is a copy of a policy with another placement.
func (p *propagationPolicy) on(placement any) fields {
	spec := fields{"resourceSelectors": p.written.ResourceSelectors, "placement": placement}
	if p.written.Priority != nil {
		spec["priority"] = *p.written.Priority
	}
	meta := fields{"name": p.name}
	if p.namespace != "" {
		meta["namespace"] = p.namespace
	}
	return fields{"apiVersion": api.PolicyGroupVersion, "kind": p.kind, "metadata": meta, "spec": spec}
}

// nameOf names the workload of a binding.
func nameOf(k api.Key) string {
	if k.Namespace == "" {
		return k.Kind + "/" + k.Name
	}
	return k.Kind + "/" + k.Namespace + "/" + k.Name
}

func withoutResources(u *unit, r *reporter) {
	c, ok := u.claims()
	if !ok || len(u.templates) == 0 || len(u.bound) > 0 {
		return
	}
	for i := range u.placed {
		p := &u.placed[i]
		if len(c.selected[i]) > 0 {
			continue
		}
		w := u.witness().clusters("m1")
		t := &u.templates[0]
		w.objects = append(w.objects, bare(t.Object), p.on(fields{}))
		r.add(found{
			at: p.Document, field: "spec.resourceSelectors",
			why:     fmt.Sprintf("selects none of the %d resources of these files", len(u.templates)),
			fix:     "correct apiVersion, kind, namespace, name or labels; or name the files with the resources, too",
			witness: w.expects("never", true, "event", fields{"kind": "BindingCreated"}),
		})
	}
}
