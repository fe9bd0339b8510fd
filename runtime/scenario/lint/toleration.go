package lint

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
)

// tolerationsOf are those of a placement, defaults included.
func (u *unit) tolerationsOf(p *propagationPolicy) []corev1.Toleration {
	return p.spec.Placement.ClusterTolerations
}

// eachNoExecute visits each NoExecute taint of a policy that evicts.
func (u *unit) eachNoExecute(visit func(p *taintPolicy, i int, t corev1.Taint)) {
	if len(u.placed) == 0 || !u.settings.Evicts() {
		return
	}
	for i := range u.policies {
		p := &u.policies[i]
		for j, t := range p.Spec.Taints {
			if t.Effect == corev1.TaintEffectNoExecute && !p.Spec.ReportOnly {
				visit(p, j, corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
			}
		}
	}
}

// stays reports whether the answer of all placements about a taint is the same.
func (u *unit) stays(t corev1.Taint, all taint.Stay) bool {
	rule := taint.Rule{Match: u.settings.TolerationMatch, Numeric: u.settings.NumericTolerations}
	return !slices.ContainsFunc(u.placed, func(p propagationPolicy) bool {
		return taint.AllowanceOf([]corev1.Taint{t}, u.tolerationsOf(&p), rule).Outcome != all
	})
}

func toleratedByAll(u *unit, r *reporter) {
	u.eachNoExecute(func(p *taintPolicy, i int, t corev1.Taint) {
		on, can := find(typesOf(&p.Spec), func(s state) bool { return u.adds(p, s) })
		if !can || !u.stays(t, taint.Forever) {
			return
		}
		w := u.witness().in(on).policy(p.Name, one(&p.Spec, i)).clusters("m2", "m3", "m4", "m5")
		w.web(2).places(firstOn(u.tolerationsOf(&u.placed[0])))
		w.fleet[0]["conditions"] = nil
		w.turns("1m", on).expects("at", "2m", "taint", taintOn(&p.Spec.Taints[i], true)).expects("never", true, "event", fields{"kind": "EvictionStarted"})
		r.add(found{
			at: p.Document, field: fmt.Sprintf("spec.taints[%d]", i),
			why:     fmt.Sprintf("all %d placements tolerate %s without an end: it evicts nothing", len(u.placed), taint.String(&t)),
			fix:     "give the tolerations tolerationSeconds, or use NoSchedule",
			witness: w,
		})
	})
}

// one is a policy with one of its taints.
func one(spec *api.ClusterTaintPolicySpec, i int) *api.ClusterTaintPolicySpec {
	short := *spec
	short.Taints = spec.Taints[i : i+1]
	return &short
}

func toleratedByNone(u *unit, r *reporter) {
	u.eachNoExecute(func(p *taintPolicy, i int, t corev1.Taint) {
		on, can := find(typesOf(&p.Spec), func(s state) bool { return u.adds(p, s) })
		off, ends := find(typesOf(&p.Spec), func(s state) bool { return !s.judge(&p.Spec, &u.settings).Add })
		if !can || !ends || !u.stays(t, taint.Untolerated) {
			return
		}
		w := u.witness().set("failover", true).set("enableNoExecuteTaintEviction", true).in(off).policy(p.Name, one(&p.Spec, i)).clusters("m2", "m3", "m4", "m5")
		for _, c := range w.fleet[1:] {
			c["conditions"] = w.fleet[0]["conditions"]
		}
		w.web(2).places(firstOn(u.tolerationsOf(&u.placed[0]))).turns("1m", on)
		w.expects("within", fields{"after": "1m", "for": "1m"}, "event", fields{"kind": "EvictionStarted", "cluster": "m1"})
		r.add(found{
			at: p.Document, field: fmt.Sprintf("spec.taints[%d]", i),
			why:     fmt.Sprintf("no placement of %d tolerates %s: it evicts all their workloads immediately", len(u.placed), taint.String(&t)),
			fix:     "that may be the intention; else give placements a toleration with tolerationSeconds for the time that a short failure takes",
			witness: w,
		})
	})
}

// known are the taints that clusters of the unit may have.
func (u *unit) known() (all []corev1.Taint) {
	for _, p := range u.policies {
		for _, t := range p.Spec.Taints {
			all = append(all, corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
		}
	}
	for _, c := range u.clusters {
		all = append(all, c.Spec.Taints...)
	}
	return append(all, u.added...)
}

// ofSystem are the keys of taints that the system adds by itself, with any effect, or that an admin's command does.
var ofSystem = []string{api.TaintNotReady, api.TaintUnreachable, api.TaintUnschedulable, api.TaintTerminating, api.TaintDraining}

func withoutTaint(u *unit, r *reporter) {
	if len(u.policies) == 0 {
		return
	}
	known := u.known()
	for i := range u.placed {
		p := &u.placed[i]
		for j := range p.written.Placement.ClusterTolerations {
			t := &p.written.Placement.ClusterTolerations[j]
			if t.Key == "" || slices.Contains(ofSystem, t.Key) || slices.ContainsFunc(known, func(k corev1.Taint) bool { return taint.Tolerates(t, &k, true) }) {
				continue
			}
			f := found{
				at: p.Document, field: fmt.Sprintf("spec.placement.clusterTolerations[%d]", j),
				why: fmt.Sprintf("no policy and no Cluster has a taint %s that it tolerates", t.Key),
				fix: "correct the key, or drop the toleration; one for taints that an admin sets by hand is fine",
			}
			near := u.near(t.Key)
			if near != nil {
				have := corev1.Taint{Key: near.Key, Value: near.Value, Effect: near.Effect}
				f.severity = Warning
				f.why = fmt.Sprintf("does not cover %s, the taint that a policy adds: its effect or value is another one", taint.String(&have))
				f.fix = "give the toleration the effect and the value of the taint, or operator: Exists"
			}
			f.witness = u.uncovered(t, near)
			r.add(f)
		}
	}
}

// near is the taint of a policy that has a key.
func (u *unit) near(key string) *api.PolicyTaint {
	for _, p := range u.policies {
		for i := range p.Spec.Taints {
			if p.Spec.Taints[i].Key == key {
				return &p.Spec.Taints[i]
			}
		}
	}
	return nil
}

// uncovered shows that a toleration does not help: the taint of its key evicts, or its policies never add one.
func (u *unit) uncovered(t *corev1.Toleration, near *api.PolicyTaint) *witness {
	w := u.witness().set("failover", true).set("enableNoExecuteTaintEviction", true).set("validateTolerations", false).clusters("m1", "m2", "m3", "m4", "m5")
	w.web(2).places(firstOn([]corev1.Toleration{*t}))
	if near != nil && near.Effect == corev1.TaintEffectNoExecute {
		have := corev1.Taint{Key: near.Key, Value: near.Value, Effect: near.Effect}
		w.step("1m", "taint", fields{"cluster": "m1", "taints": []string{taint.String(&have)}})
		return w.expects("within", fields{"after": "1m", "for": "1m"}, "event", fields{"kind": "EvictionStarted", "cluster": "m1"})
	}
	if near != nil {
		w.fleet[0]["taints"] = []any{fields{"key": near.Key, "effect": string(near.Effect), "value": near.Value}}
		w.expects("never", true, "event", fields{"kind": "CopyStarted", "cluster": "m1"})
		return w
	}
	for i := range u.policies[:min(1, len(u.policies))] {
		p := &u.policies[i]
		w.policy(p.Name, &p.Spec)
		if on, can := find(typesOf(&p.Spec), func(s state) bool { return u.adds(p, s) }); can {
			w.turns("1m", on)
		}
	}
	return w.expects("always", true, "taint", fields{"cluster": "m1", "key": t.Key, "present": false})
}

// vain reports whether a toleration has seconds, and an effect that evicts nothing.
func vain(t corev1.Toleration) bool {
	return t.TolerationSeconds != nil && t.Effect != "" && t.Effect != corev1.TaintEffectNoExecute
}

func secondsWithoutNoExecute(u *unit, r *reporter) {
	for i := range u.placed {
		p := &u.placed[i]
		for j := range p.written.Placement.ClusterTolerations {
			t := &p.written.Placement.ClusterTolerations[j]
			if !vain(*t) {
				continue
			}
			key := cmp.Or(t.Key, "example.com/any")
			w := u.witness().set("failover", true).set("enableNoExecuteTaintEviction", true).set("validateTolerations", false).clusters("m1", "m2", "m3", "m4", "m5")
			w.web(2).places(firstOn([]corev1.Toleration{*t}))
			w.step("1m", "taint", fields{"cluster": "m1", "taints": []string{key + ":NoExecute"}})
			w.expects("within", fields{"after": "1m", "for": "1m"}, "event", fields{"kind": "EvictionStarted", "cluster": "m1"})
			field := fmt.Sprintf("spec.placement.clusterTolerations[%d].tolerationSeconds", j)
			r.add(found{
				at: p.Document, field: field,
				why:     fmt.Sprintf("effect %s evicts nothing: the seconds do nothing, and Kubernetes refuses them", t.Effect),
				fix:     "remove tolerationSeconds, or set effect: NoExecute if an eviction must wait for so long",
				edit:    &Edit{Remove: "tolerationSeconds"},
				witness: w,
			})
		}
	}
}
