package lint

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"leeward/actors/rules/affinity"
	"leeward/messages/api"
	"leeward/messages/spelling"
)

func overlapping(u *unit, r *reporter) {
	for _, p := range u.policies {
		s, overlap := find(typesOf(&p.Spec), func(s state) bool {
			v := s.judge(&p.Spec, &u.settings)
			return v.Add && v.Remove
		})
		if !overlap || len(p.Spec.Taints) == 0 {
			continue
		}
		w := u.witness().in(s).policy(p.Name, &p.Spec).expects("always", true, "taint", taintOn(&p.Spec.Taints[0], false))
		r.add(found{
			at: p.Document, field: "spec.removeOnConditions",
			why:     fmt.Sprintf("with %s both addOnConditions and removeOnConditions hold: remove wins, and the cluster never has the taint", s),
			fix:     "have removeOnConditions exclude every status that addOnConditions match",
			witness: w,
		})
	}
}

// adds reports whether a policy, in a state, adds a taint and keeps it.
func (u *unit) adds(p *taintPolicy, s state) bool {
	v := s.judge(&p.Spec, &u.settings)
	return v.Add && !v.Remove && !p.Spec.ReportOnly
}

// mostPairs bounds how many pairs of policies are compared.
const mostPairs = 20_000

func fighting(u *unit, r *reporter) {
	pairs := 0
	for i := range u.policies {
		for j := range u.policies {
			a, b := &u.policies[i], &u.policies[j]
			if pairs++; a.Name == b.Name || pairs > mostPairs || !u.meet(a, b) || a.Spec.ReportOnly || b.Spec.ReportOnly {
				continue
			}
			t := common(&a.Spec, &b.Spec)
			if t == nil || slices.ContainsFunc(a.Spec.AddOnConditions, defaulted) {
				continue
			}
			s, fight := find(typesOf(&a.Spec, &b.Spec), func(s state) bool {
				v := s.judge(&b.Spec, &u.settings)
				return u.adds(a, s) && v.Remove && !v.Add
			})
			if !fight {
				continue
			}
			// The witness has both policies created in one second: the one whose name is last has the last word.
			last, removed := b, true
			if a.Name > b.Name {
				last, removed = a, false
			}
			w := u.witness().set("policyTieBreak", "name").set("policyRemoves", "any").in(s).policy(a.Name, &a.Spec).policy(b.Name, &b.Spec)
			w.expects("at", "1m", "taint", taintOn(t, !removed))
			r.add(found{
				at: b.Document, field: "spec.removeOnConditions",
				why:  fmt.Sprintf("with %s this policy removes %s:%s, which %s adds (%s:%d); the policy created last decides (of the same second: %s)", s, t.Key, t.Effect, a.Name, a.Document.Place.File, a.Document.Line(""), last.Name),
				with: a.Name, fix: "give each policy a taint key of its own, or have this one remove the taint only where the conditions of both have ended", witness: w,
			})
		}
	}
}

func defaulted(m api.MatchCondition) bool { return m.DefaultStatus != "" }

// common is the first taint of a policy that another one has, too.
func common(a, b *api.ClusterTaintPolicySpec) *api.PolicyTaint {
	for i := range a.Taints {
		if b.Has(a.Taints[i].Key, a.Taints[i].Effect) {
			return &a.Taints[i]
		}
	}
	return nil
}

// meet reports whether two policies may select the same cluster.
func (u *unit) meet(a, b *taintPolicy) bool {
	if a.Spec.TargetClusters == nil || b.Spec.TargetClusters == nil {
		return true
	}
	return slices.ContainsFunc(u.clusters, func(c cluster) bool {
		return affinity.Matches(a.Spec.TargetClusters, c.view) && affinity.Matches(b.Spec.TargetClusters, c.view)
	})
}

func neverRemoved(u *unit, r *reporter) {
	for i := range u.policies {
		p := &u.policies[i]
		added, can := find(typesOf(&p.Spec), func(s state) bool { return u.adds(p, s) })
		if !can || p.Spec.ReportOnly {
			continue
		}
		for j := range p.Spec.Taints {
			t := &p.Spec.Taints[j]
			if !possible(t) || u.removed[t.Key] || slices.ContainsFunc(u.policies, func(other taintPolicy) bool { return u.removes(&other, t) }) {
				continue
			}
			w := u.witness().in(added).policy(p.Name, &p.Spec)
			if off, can := find(added.types, func(s state) bool { return !s.judge(&p.Spec, &u.settings).Add }); can {
				w.turns("1m", off)
			}
			w.set("policyCleanup", "Never").expects("at", "5m", "taint", taintOn(t, true))
			r.add(found{
				at: p.Document, field: fmt.Sprintf("spec.taints[%d]", j),
				why:     fmt.Sprintf("no policy removes %s:%s: a cluster keeps it after its conditions have ended", t.Key, t.Effect),
				fix:     "add removeOnConditions, such as the opposite of addOnConditions",
				witness: w,
			})
			break
		}
	}
}

// possible reports whether a cluster can have a taint.
func possible(t *api.PolicyTaint) bool {
	return t.Effect != corev1.TaintEffectPreferNoSchedule && len(validation.IsQualifiedName(t.Key)) == 0
}

// removes reports whether a policy removes a taint in any state.
func (u *unit) removes(p *taintPolicy, t *api.PolicyTaint) bool {
	if p.Spec.ReportOnly || !p.Spec.Has(t.Key, t.Effect) {
		return false
	}
	if len(typesOf(&p.Spec)) > mostTypes {
		return len(p.Spec.RemoveOnConditions) > 0
	}
	_, can := find(typesOf(&p.Spec), func(s state) bool { return s.judge(&p.Spec, &u.settings).Remove })
	return can
}

func unreported(u *unit, r *reporter) {
	for i := range u.policies {
		p := &u.policies[i]
		for j, m := range p.Spec.AddOnConditions {
			switch {
			case alwaysReported(m.ConditionType) || m.DefaultStatus != "":
			case strings.EqualFold(m.ConditionType, api.ConditionReady):
				r.add(u.unreportedBy(p, j, nil, "the condition is called Ready"))
			default:
				if silent := u.silent(p, m.ConditionType); len(silent) > 0 {
					why := fmt.Sprintf("%s does not report %s", spelling.Few(silent, mostNames), m.ConditionType)
					if len(silent) > 1 {
						why = fmt.Sprintf("%s do not report %s", spelling.Few(silent, mostNames), m.ConditionType)
					}
					r.add(u.unreportedBy(p, j, silent, why))
				}
			}
		}
	}
}

// silent are the clusters of a policy that do not report a condition, and never come to; all report it: none.
func (u *unit) silent(p *taintPolicy, kind string) (names []string) {
	for _, c := range u.targets(p) {
		reported := slices.ContainsFunc(c.Status.Conditions, func(m metav1.Condition) bool { return m.Type == kind })
		for _, step := range u.conditions {
			for _, name := range step.Clusters {
				reported = reported || step.Type == kind && step.Status != "" && string(name) == c.Name
			}
		}
		if !reported {
			names = append(names, c.Name)
		}
	}
	return names
}

// unreportedBy is the finding: the policy taints the clusters all the same, or never.
func (u *unit) unreportedBy(p *taintPolicy, i int, silent []string, why string) found {
	m := &p.Spec.AddOnConditions[i]
	types := typesOf(&p.Spec)
	at := slices.Index(types, m.ConditionType)
	missing, taints := find(types, func(s state) bool { return s.statuses[at] == "" && u.adds(p, s) })
	f := found{at: p.Document, field: fmt.Sprintf("spec.addOnConditions[%d].conditionType", i)}
	if len(p.Spec.Taints) == 0 {
		p.Spec.Taints = []api.PolicyTaint{{Key: "none", Effect: corev1.TaintEffectNoSchedule}}
	}
	t := &p.Spec.Taints[0]
	if !taints {
		missing, _ = find(types, func(s state) bool { return s.statuses[at] == "" })
		f.why = why + ": there, the policy never adds its taints"
		f.fix = "install what reports the condition, or correct its type; `defaultStatus` says what a missing condition counts as"
		f.severity = Info
		if silent == nil || len(silent) == len(u.targets(p)) {
			f.severity = Warning
		}
	} else {
		f.why = fmt.Sprintf("%s: it counts as %s, and the policy adds %s:%s to clusters that may be healthy", why, countsAs(m, u), t.Key, t.Effect)
		f.fix = "set defaultStatus: \"True\" on the condition, match In [\"False\"] instead, or install what reports it"
	}
	f.witness = u.witness().in(missing).policy(p.Name, &p.Spec).expects("at", "1m", "taint", taintOn(t, taints))
	return f
}

func countsAs(m *api.MatchCondition, u *unit) string {
	if m.DefaultStatus != "" {
		return string(m.DefaultStatus)
	}
	return string(u.settings.MissingConditionStatus)
}

// flips is how often a timeline has to change a condition of a cluster for it to flap.
const flips = 4

func flapping(u *unit, r *reporter) {
	if u.settings.ConditionHold > 0 || u.outlasts() {
		return
	}
	for i := range u.policies {
		p := &u.policies[i]
		k := slices.IndexFunc(p.Spec.Taints, func(t api.PolicyTaint) bool { return t.Effect == corev1.TaintEffectNoExecute })
		waits := slices.ContainsFunc(p.Spec.AddOnConditions, func(m api.MatchCondition) bool { return m.For != nil && m.For.Duration > 0 })
		if k < 0 || waits || p.Spec.ReportOnly || !u.manifests() && !u.flaps(p) {
			continue
		}
		types := typesOf(&p.Spec)
		on, can := find(types, func(s state) bool { return u.adds(p, s) })
		off, ends := find(types, func(s state) bool { return !s.judge(&p.Spec, &u.settings).Add })
		if !can || !ends {
			continue
		}
		t := &p.Spec.Taints[k]
		w := u.witness().in(off).policy(p.Name, &p.Spec).turns("1m", on).turns("1m1s", off)
		w.expects("at", "1m", "taint", taintOn(t, true))
		r.add(found{
			at: p.Document, field: "spec.addOnConditions",
			why:     fmt.Sprintf("one second of %s adds %s:%s, and what does not tolerate it is evicted", on, t.Key, t.Effect),
			fix:     "set `for` on the condition, or tolerationSeconds in the placements; in Karmada, tolerationSeconds",
			witness: w,
		})
	}
}

// outlasts reports whether every placement tolerates NoExecute taints for a time.
func (u *unit) outlasts() bool {
	for i := range u.placed {
		if !slices.ContainsFunc(u.placed[i].spec.Placement.ClusterTolerations, func(t corev1.Toleration) bool { return t.TolerationSeconds != nil && *t.TolerationSeconds > 0 }) {
			return false
		}
	}
	return len(u.placed) > 0
}

// flaps reports whether the timeline changes a condition that a policy asks for, of one cluster, again and again.
func (u *unit) flaps(p *taintPolicy) bool {
	n := map[string]int{}
	for _, step := range u.conditions {
		for _, m := range p.Spec.AddOnConditions {
			if m.ConditionType != step.Type {
				continue
			}
			for _, c := range step.Clusters {
				if n[step.Type+" "+string(c)]++; n[step.Type+" "+string(c)] >= flips {
					return true
				}
			}
		}
	}
	return false
}

func withoutClusters(u *unit, r *reporter) {
	if len(u.clusters) == 0 {
		return
	}
	for i := range u.policies {
		p := &u.policies[i]
		on, can := find(typesOf(&p.Spec), func(s state) bool { return u.adds(p, s) })
		if p.Spec.TargetClusters == nil || len(u.targets(p)) > 0 || !can || len(p.Spec.Taints) == 0 {
			continue
		}
		c := u.clusters[0]
		w := u.witness().in(on).policy(p.Name, &p.Spec)
		located := w.fleet[0]
		located["name"], located["region"], located["provider"] = c.Name, c.Spec.Region, c.Spec.Provider
		located["zones"], located["labels"] = c.Spec.Zones, c.Labels
		spec := w.objects[0].(fields)["spec"].(*api.ClusterTaintPolicySpec)
		spec.TargetClusters = p.Spec.TargetClusters
		never := taintOn(&p.Spec.Taints[0], false)
		never["cluster"] = c.Name
		r.add(found{
			at: p.Document, field: "spec.targetClusters",
			why:     fmt.Sprintf("selects none of the %d clusters: the policy never does anything", len(u.clusters)),
			fix:     "correct the names, labels or fields, or omit targetClusters for all clusters",
			witness: w.expects("always", true, "taint", never),
		})
	}
}
