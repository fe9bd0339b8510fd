package lint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"leeward/actors/rules/placement"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/world"
)

// Bounds on the placements that are planned.
const (
	mostPlacements = 2000
	mostLosses     = 50
)

// trial plans the placement of one policy for one of the resources that it claims.
type trial struct {
	*unit
	policy *propagationPolicy
	// template is nil where the files hold no resource of the policy.
	template *template
	fleet    *placement.Fleet
	planner  *placement.Planner
	request  placement.Request
}

// trials are those of all policies. Clusters that are defined again count as they are defined first.
func (u *unit) trials() (all []trial) {
	if len(u.clusters) == 0 {
		return nil
	}
	c, ok := u.claims()
	fleet := placement.NewFleet() // of all trials: what one takes out, it puts back
	for _, c := range u.clusters {
		if !fleet.Has(messages.ClusterName(c.Name)) {
			fleet.Put(c.view)
		}
	}
	planner := placement.NewPlanner(fleet, &u.settings, 1)
	for i := range u.placed[:min(len(u.placed), mostPlacements)] {
		t := trial{unit: u, policy: &u.placed[i], fleet: fleet, planner: planner}
		t.request = placement.Request{Placement: &t.policy.spec.Placement, APIVersion: "apps/v1", Kind: "Deployment", Workload: true, Replicas: 1}
		if ok {
			for _, k := range c.selected[i] {
				if c.winner[k] == i {
					t.template = &u.templates[k]
					break
				}
			}
		}
		if t.template != nil {
			t.request.APIVersion, t.request.Kind = t.template.key.APIVersion, t.template.key.Kind
			t.request.Replicas, t.request.Requirements, t.request.Workload = propagation.Requirements(t.template.Object)
		}
		all = append(all, t)
	}
	return all
}

func (t *trial) plan() placement.Decision {
	return t.planner.Plan(world.Start, &t.request)
}

// fails plans without some clusters, and returns what the scheduler says if it cannot be done.
func (t *trial) fails(without []string) string {
	for _, name := range without {
		t.fleet.Drop(messages.ClusterName(name))
	}
	d := t.plan()
	for _, c := range t.clusters {
		if slices.Contains(without, c.Name) && !t.fleet.Has(messages.ClusterName(c.Name)) {
			t.fleet.Put(c.view)
		}
	}
	if d.Reason == "" {
		return ""
	}
	return d.Message
}

func unsatisfiable(u *unit, r *reporter) {
	if u.changes() {
		return
	}
	for _, t := range u.trials() {
		d := t.plan()
		if d.Reason != api.ReasonNoClusterFit || d.Partial() || t.missesMaxGroups() >= 0 {
			continue
		}
		var reasons []string
		for _, c := range t.planner.Explain(world.Start, &t.request).Terms[0].Clusters {
			if c.Refused != "" && len(reasons) < mostNames {
				reasons = append(reasons, string(c.Cluster)+": "+c.Refused)
			}
		}
		why := d.Message
		if len(reasons) > 0 {
			why += " (" + strings.Join(reasons, "; ") + ")"
		}
		r.add(found{
			at: t.policy.Document, field: "spec.placement", why: why,
			fix:     "widen the affinity, add tolerations, or lower minGroups",
			witness: t.witness(nil),
		})
	}
}

func boundToCluster(u *unit, r *reporter) {
	u.boundInTime(r, func(clusters []string) bool { return len(clusters) == 1 })
	if len(u.clusters) < 2 || !u.loses() {
		return
	}
	for _, t := range u.trials() {
		d := t.plan()
		if d.Reason != "" {
			continue
		}
		var lost []string
		why := ""
		for _, c := range d.Targets[:min(len(d.Targets), mostLosses)] {
			if said := t.fails([]string{c.Name}); said != "" {
				lost, why = append(lost, c.Name), said
			}
		}
		if len(lost) == 0 {
			continue
		}
		r.add(found{
			at: t.policy.Document, field: "spec.placement",
			why:     fmt.Sprintf("after the loss of %s the placement cannot be satisfied: %s", or(lost), why),
			fix:     "let the placement select one cluster more than it needs",
			witness: t.witness(lost[:1]),
		})
	}
}

// boundInTime looks at the clusters that the timeline of a scenario loses: what it loses at one instant is one loss.
func (u *unit) boundInTime(r *reporter, counts func(clusters []string) bool) {
	losses := u.losses()
	if len(losses) == 0 {
		return
	}
	for _, t := range u.trials() {
		d := t.plan()
		if d.Reason != "" {
			continue
		}
		for _, lost := range losses {
			hit := slices.ContainsFunc(d.Targets, func(c api.TargetCluster) bool { return slices.Contains(lost.clusters, c.Name) })
			if !hit || !counts(lost.clusters) || len(lost.clusters) >= len(u.clusters) { // no placement survives the loss of every cluster
				continue
			}
			if said := t.fails(lost.clusters); said != "" {
				r.add(found{
					at: t.policy.Document, field: "spec.placement", severity: Info,
					why:     fmt.Sprintf("%s loses %s at %s; then the placement cannot be satisfied: %s", u.Name, spelling.Few(lost.clusters, mostNames), span.String(lost.at), said),
					fix:     "let the placement select other clusters, too; a scenario that shows this is fine",
					witness: t.witness(lost.clusters),
				})
				break
			}
		}
	}
}

// or lists alternatives.
func or(names []string) string {
	return strings.ReplaceAll(spelling.Few(names, mostNames), ", ", " or ")
}

func boundToRegion(u *unit, r *reporter) {
	u.boundInTime(r, func(clusters []string) bool { return len(clusters) > 1 })
	regions := map[string][]string{}
	for _, c := range u.clusters {
		if c.Spec.Region != "" && !slices.Contains(regions[c.Spec.Region], c.Name) {
			regions[c.Spec.Region] = append(regions[c.Spec.Region], c.Name)
		}
	}
	if len(regions) < 2 || !u.loses() {
		return
	}
	for _, t := range u.trials() {
		d := t.plan()
		if d.Reason != "" {
			continue
		}
		for _, region := range sortedNames(regions) {
			names := regions[region]
			hit := slices.ContainsFunc(d.Targets, func(c api.TargetCluster) bool { return slices.Contains(names, c.Name) })
			// What one cluster of the region causes alone is the finding of LW015.
			if !hit || slices.ContainsFunc(names[:min(len(names), mostLosses)], func(name string) bool { return t.fails([]string{name}) != "" }) {
				continue
			}
			if said := t.fails(names); said != "" {
				r.add(found{
					at: t.policy.Document, field: "spec.placement",
					why:     fmt.Sprintf("after the loss of region %s (%s) the placement cannot be satisfied: %s", region, spelling.Few(names, mostNames), said),
					fix:     "let the placement select clusters of another region, too",
					witness: t.witness(names),
				})
				break
			}
		}
	}
}

// mostOfWitness is how many clusters a witness has: with fewer clusters, a placement is no easier to satisfy.
const mostOfWitness = 20

// witness shows that the placement cannot be satisfied without some clusters.
func (t *trial) witness(without []string) *witness {
	w := t.unit.witness()
	named := map[string]bool{}
	for _, c := range t.clusters {
		if named[c.Name] || slices.Contains(without, c.Name) || len(named) >= mostOfWitness {
			continue
		}
		named[c.Name] = true
		o := bare(c.Cluster)
		o["status"] = c.Cluster.Status
		w.objects = append(w.objects, o)
	}
	p := *t.policy
	name := "Deployment/default/web"
	if t.template == nil {
		w.web(1)
		w.places(p.written.Placement)
	} else {
		k := t.template.key
		name = nameOf(k)
		copied := *p.written
		copied.ResourceSelectors = []api.ResourceSelector{{APIVersion: k.APIVersion, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name}}
		p.written = &copied
		w.objects = append(w.objects, bare(t.template.Object), p.on(p.written.Placement))
	}
	return w.expects("at", "1m", "binding", fields{"name": name, "conditions": fields{"Scheduled": "False"}})
}

// bare is an object without its status, and of its metadata only what names it.
func bare(o api.Object) fields {
	text, err := json.Marshal(o)
	all := fields{}
	if err != nil || json.Unmarshal(text, &all) != nil {
		return all
	}
	delete(all, "status")
	k := api.KeyOf(o)
	meta := fields{"name": k.Name}
	if k.Namespace != "" {
		meta["namespace"] = k.Namespace
	}
	if l := o.GetLabels(); len(l) > 0 {
		meta["labels"] = l
	}
	all["metadata"] = meta
	all["apiVersion"], all["kind"] = k.APIVersion, k.Kind
	return all
}

// missesMaxGroups is the index of a spread constraint without maxGroups, where nothing is placed without it; -1: none.
func (t *trial) missesMaxGroups() int { return t.unit.missesMaxGroups(t.policy) }

func (u *unit) missesMaxGroups(p *propagationPolicy) int {
	if u.settings.ExactSpread {
		return -1
	}
	return slices.IndexFunc(p.spec.Placement.SpreadConstraints, func(s api.SpreadConstraint) bool { return s.MaxGroups == 0 && s.SpreadByLabel == "" })
}

func maxGroups(u *unit, r *reporter) {
	for i := range u.placed {
		p := &u.placed[i]
		if k := u.missesMaxGroups(p); k >= 0 {
			w := u.spreadWitness(p).expects("at", "1m", "binding", fields{"name": "web", "conditions": fields{"Scheduled": "False"}})
			r.add(found{
				at: p.Document, field: fmt.Sprintf("spec.placement.spreadConstraints[%d]", k), severity: Error,
				why: "has no maxGroups, which counts as 0 here: nothing is placed", fix: "set maxGroups, to the number of groups at most",
				witness: w,
			})
			continue
		}
		for k, s := range p.written.Placement.SpreadConstraints {
			if s.MaxGroups != 1 || s.SpreadByField != api.SpreadByCluster || !p.spec.Placement.ReplicaScheduling.Divides() {
				continue
			}
			w := u.spreadWitness(p).expects("at", "1m", "binding", fields{"name": "web", "clusterCount": 1, "replicas": 4})
			r.add(found{
				at: p.Document, field: fmt.Sprintf("spec.placement.spreadConstraints[%d].maxGroups", k),
				why: "maxGroups 1 by cluster: all replicas run on one cluster and fail together", fix: "raise maxGroups, so that replicas on other clusters go on serving",
				witness: w,
			})
		}
	}
}

// spreadWitness has clusters that differ in all that constraints may name, and a workload with those of the policy.
func (u *unit) spreadWitness(p *propagationPolicy) *witness {
	w := u.witness()
	for _, n := range []string{"1", "2", "3"} {
		w.fleet = append(w.fleet, fields{"name": "m" + n, "region": "r" + n, "zones": []string{"z" + n}, "provider": "p" + n})
	}
	written := &p.written.Placement
	placement := fields{"spreadConstraints": written.SpreadConstraints}
	if written.ReplicaScheduling.Divides() {
		placement["replicaScheduling"] = fields{"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
	}
	return w.web(4).places(placement)
}
