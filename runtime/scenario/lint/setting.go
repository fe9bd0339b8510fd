package lint

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
	"leeward/runtime/fleet/config"
)

func withoutEffect(u *unit, r *reporter) {
	if !u.configures() {
		u.idleSettings(r)
	}
	u.idlePolicies(r)
	u.idleBudgets(r)
	u.idleFields(r)
}

// evicts has a workload evicted from m1 by hand.
func (u *unit) evicts() *witness {
	w := u.witness().set("failover", true).set("enableNoExecuteTaintEviction", true).clusters("m1", "m2", "m3", "m4", "m5")
	w.step("1m", "taint", fields{"cluster": "m1", "taints": []string{"example.com/failed:NoExecute"}})
	return w.expects("within", fields{"after": "1m", "for": "1m"}, "event", fields{"kind": "EvictionStarted", "cluster": "m1"})
}

// lineOf is where a setting of a scenario is written.
func (u *unit) lineOf(o config.Override) *line {
	l := &line{file: u.File, object: "Scenario " + u.Name, number: u.Line}
	if i := strings.LastIndexByte(o.Source, ':'); i >= 0 {
		if n, err := strconv.Atoi(o.Source[i+1:]); err == nil {
			l.number = n
		}
	}
	return l
}

func (u *unit) idlePolicies(r *reporter) {
	if u.configures() {
		return
	}
	for i := range u.ignored {
		p := &u.ignored[i]
		on, can := find(typesOf(&p.Spec), func(s state) bool { return u.adds(p, s) })
		if !can {
			continue
		}
		r.add(found{
			at: p.Document, why: "failover is false: ClusterTaintPolicies are accepted and ignored", fix: "turn the feature gate Failover on, or delete the policy",
			witness: u.witness().in(on).policy(p.Name, &p.Spec).expects("always", true, "taint", taintOn(&p.Spec.Taints[0], false)),
		})
	}
	for i := range u.policies {
		p := &u.policies[i]
		on, can := find(typesOf(&p.Spec), func(s state) bool { return u.adds(p, s) })
		if !can {
			continue
		}
		off := u.settings.EvictionOff()
		for j := range p.Spec.Taints {
			t := &p.Spec.Taints[j]
			if off == "" || t.Effect != corev1.TaintEffectNoExecute || p.Spec.ReportOnly {
				continue
			}
			w := u.witness().in(on).policy(p.Name, &p.Spec).web(2).places(fields{})
			w.expects("at", "1m", "taint", taintOn(t, true)).expects("never", true, "event", fields{"kind": "EvictionStarted"})
			r.add(found{
				at: p.Document, field: fmt.Sprintf("spec.taints[%d].effect", j),
				why: "NoExecute evicts nothing: " + off, fix: "turn evictions on, or use NoSchedule", witness: w,
			})
			break
		}
	}
}

func (u *unit) idleBudgets(r *reporter) {
	if u.settings.EvictionBudgets || u.configures() {
		return
	}
	for i := range u.budgets {
		b := &u.budgets[i]
		w := u.evicts().web(2).propagates(fields{"placement": firstOn(nil)})
		w.objects = append(w.objects, fields{
			"apiVersion": api.KeyOf(b.Object).APIVersion, "kind": "EvictionBudget", "metadata": fields{"name": b.Object.GetName()},
			"spec": fields{"minAvailable": "100%"},
		})
		r.add(found{at: b.Document, why: "evictionBudgets is false: budgets are accepted and ignored", fix: "set evictionBudgets", witness: w})
	}
}

func (u *unit) idleFields(r *reporter) {
	for i := range u.placed {
		p := &u.placed[i]
		if f := p.written.Failover; f != nil && f.Cluster != nil && f.Cluster.StatePreservation != nil && !u.settings.StatefulFailoverInjection && !u.configures() {
			w := u.evicts().web(2).propagates(fields{"placement": firstOn(nil), "failover": fields{"cluster": fields{"statePreservation": f.Cluster.StatePreservation}}})
			r.add(found{
				at: p.Document, field: "spec.failover.cluster.statePreservation",
				why: "statefulFailoverInjection is false: no state is preserved", fix: "turn the feature gate StatefulFailoverInjection on", witness: w,
			})
		}
		s := p.written.Placement.ReplicaScheduling
		if s == nil || s.WeightPreference == nil || s.WeightPreference.DynamicWeight == "" || len(s.WeightPreference.StaticWeightList) == 0 {
			continue
		}
		w := u.witness().clusters("m1", "m2").web(2).places(fields{"replicaScheduling": fields{
			"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
			"weightPreference": fields{"dynamicWeight": "AvailableReplicas", "staticWeightList": []any{
				fields{"targetCluster": fields{"clusterNames": []string{"m1"}}, "weight": 1},
			}},
		}})
		r.add(found{
			at: p.Document, field: "spec.placement.replicaScheduling.weightPreference.staticWeightList",
			why: "dynamicWeight makes the static list void", fix: "omit one of the two",
			witness: w.expects("at", "1m", "binding", fields{"name": "web", "clusters": fields{"m1": 1, "m2": 1}}),
		})
	}
}
