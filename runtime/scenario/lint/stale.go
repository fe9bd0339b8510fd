package lint

import (
	"fmt"

	"leeward/messages/api"
	"leeward/messages/manifest"
)

// renamed are the purge modes as Karmada called them up to 1.14.
var renamed = map[api.PurgeMode]api.PurgeMode{"Immediately": api.PurgeDirectly, "Graciously": api.PurgeGracefully}

func stale(u *unit, r *reporter) {
	for i := range u.placed {
		p := &u.placed[i]
		u.association(r, p)
		f := p.written.Failover
		if f == nil {
			continue
		}
		if f.Application != nil {
			u.stalePurge(r, p, "application", f.Application.PurgeMode)
		}
		if f.Cluster != nil {
			u.stalePurge(r, p, "cluster", f.Cluster.PurgeMode)
		}
	}
	for _, d := range u.documents {
		if c, is := d.Object.(*api.Cluster); is {
			u.zone(r, d, c)
		}
	}
	for _, d := range u.overrideD {
		var spec *api.OverrideSpec
		switch o := d.Object.(type) {
		case *api.OverridePolicy:
			spec = &o.Spec
		case *api.ClusterOverridePolicy:
			spec = &o.Spec
		}
		u.staleOverride(r, found{at: d}, spec)
	}
}

// association looks for the field that propagateDeps has replaced. Nothing reads it.
func (u *unit) association(r *reporter, p *propagationPolicy) {
	if !p.written.Association {
		return
	}
	w := u.witness().clusters("m1").web(1)
	pods := w.objects[0].(fields)["spec"].(fields)["template"].(fields)["spec"].(fields)
	pods["volumes"] = []any{fields{"name": "settings", "configMap": fields{"name": "settings"}}}
	w.objects = append(w.objects, fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": "settings"}})
	w.propagates(fields{"placement": fields{}, "association": true})
	fix := "write propagateDeps: true in its place"
	if p.written.PropagateDeps {
		fix = "omit it: propagateDeps is set, too"
	}
	r.add(found{
		at: p.Document, field: "spec.association", why: "association is deprecated in favour of propagateDeps, and nothing reads it: it propagates no dependency",
		fix: fix, witness: w.expects("never", true, "event", fields{"kind": "RequirementChanged"}),
	})
}

// zone looks for the field that zones has replaced, which a write moves there.
func (u *unit) zone(r *reporter, d manifest.Document, c *api.Cluster) {
	if c.Spec.Zone == "" || len(c.Spec.Zones) > 0 {
		return
	}
	key := api.KeyOf(c)
	w := u.witness()
	w.objects = append(w.objects, fields{"apiVersion": key.APIVersion, "kind": key.Kind, "metadata": fields{"name": "m1"}, "spec": fields{"zone": c.Spec.Zone}})
	r.add(found{
		at: d, field: "spec.zone", severity: Info, why: "zone is deprecated in favour of zones: the API server moves it there, so what is stored differs from this file",
		fix: fmt.Sprintf("write zones: [%s]", c.Spec.Zone),
		witness: w.expects("at", "1m", "object", fields{
			"apiVersion": key.APIVersion, "kind": key.Kind, "metadata": fields{"name": "m1"}, "spec": fields{"zone": nil, "zones": []string{c.Spec.Zone}},
		}),
	})
}

func (u *unit) stalePurge(r *reporter, p *propagationPolicy, part string, mode api.PurgeMode) {
	now, is := renamed[mode]
	if !is {
		return
	}
	failover := fields{"purgeMode": string(mode)}
	if part == "application" {
		failover["decisionConditions"] = fields{"tolerationSeconds": 60}
	}
	w := u.witness().clusters("m1").web(1)
	refused := w.propagates(fields{"placement": fields{}, "failover": fields{part: failover}}).objects
	w.timeline = append(w.timeline, fields{"at": "1m", "mayFail": true, "apply": refused[len(refused)-1]})
	w.objects = refused[:len(refused)-1]
	r.add(found{
		at: p.Document, field: "spec.failover." + part + ".purgeMode",
		why: fmt.Sprintf("purge mode %s is refused: Karmada calls it %s now", mode, now), fix: "write " + string(now),
		edit:    &Edit{Replace: string(mode), By: string(now)},
		witness: w.expects("at", "1m", "event", fields{"kind": "ObjectRejected"}),
	})
}

func (u *unit) staleOverride(r *reporter, f found, spec *api.OverrideSpec) {
	switch {
	case spec.TargetCluster != nil:
		f.field = "spec.targetCluster"
	case u.writes(f, "spec.overriders"):
		f.field = "spec.overriders"
	default:
		return
	}
	f.fix = "move targetCluster and overriders into an item of overrideRules"
	f.why = "targetCluster and overriders are deprecated in favour of overrideRules, and refused beside them: no rule can be added to this policy"
	written := func(more fields) fields {
		more["overriders"] = spec.Overriders
		if spec.TargetCluster != nil {
			more["targetCluster"] = spec.TargetCluster
		}
		return fields{"apiVersion": api.PolicyGroupVersion, "kind": "OverridePolicy", "metadata": fields{"name": "old"}, "spec": more}
	}
	w := u.witness().clusters("m1").web(1).places(fields{})
	w.objects = append(w.objects, written(fields{}))
	rule := fields{"overriders": fields{"labelsOverrider": []any{fields{"operator": "add", "value": fields{"rule": "new"}}}}}
	w.timeline = append(w.timeline, fields{"at": "1m", "mayFail": true, "apply": written(fields{"overrideRules": []any{rule}})})
	f.witness = w.expects("at", "1m", "event", fields{"kind": "ObjectRejected"})
	r.add(f)
}

// writes reports whether a document has a field.
func (u *unit) writes(f found, path string) bool { return f.at.Line(path) != f.at.Line("spec") }
