package lint

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
)

func settingRules() []Rule {
	return []Rule{
		{ID: "LW020", Name: "without-effect", Severity: Warning, Finds: "a policy, a budget, a field or a setting does nothing with these settings", everywhere: true, check: withoutEffect},
	}
}

// idle are the settings that do nothing where another one is as it is.
var idle = []struct {
	field string
	when  func(*messages.Settings) bool
	why   string
}{
	{"regionEvictionRate", evictionOff, "nothing evicts for taints"},
	{"clusterEvictionRate", evictionOff, "nothing evicts for taints"},
	{"fleetEvictionRate", evictionOff, "nothing evicts for taints"},
	{"evictionBurst", func(s *messages.Settings) bool {
		return s.FleetEvictionRate == 0 && s.RegionEvictionRate == 0 && s.ClusterEvictionRate == 0
	}, "fleetEvictionRate, regionEvictionRate and clusterEvictionRate are 0"},
	{"resourceEvictionRate", func(s *messages.Settings) bool { return s.EvictionWorkers == 0 }, "evictionWorkers is 0"},
	{"secondaryEvictionRate", func(s *messages.Settings) bool {
		return s.UnhealthyClusterThreshold == 0 && s.UnhealthyRegionThreshold == 0
	}, "unhealthyClusterThreshold and unhealthyRegionThreshold are 0"},
	{"breakerMinimum", noBreaker, "no breaker has a share"},
	{"breakerWindow", noBreaker, "no breaker has a share"},
	{"breakerCooldown", noBreaker, "no breaker has a share"},
	{"breakerTrials", noBreaker, "no breaker has a share"},
	{"startFailureWindow", noStartLimit, "startFailureLimit is 0"},
	{"startBackoff", noStartLimit, "startFailureLimit is 0"},
	{"applicationFailoverWindow", func(s *messages.Settings) bool { return s.ApplicationFailoverLimit == 0 }, "applicationFailoverLimit is 0"},
	{"unschedulableThreshold", func(s *messages.Settings) bool { return !s.EnableDescheduler }, "enableDescheduler is false"},
	{"deschedulingInterval", func(s *messages.Settings) bool { return !s.EnableDescheduler }, "enableDescheduler is false"},
}

func evictionOff(s *messages.Settings) bool  { return !s.Evicts() }
func noBreaker(s *messages.Settings) bool    { return !s.Breaks() }
func noStartLimit(s *messages.Settings) bool { return s.StartFailureLimit == 0 }

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

func (u *unit) idleSettings(r *reporter) {
	for _, o := range u.Config {
		for _, s := range idle {
			if s.field != o.Field || !s.when(&u.settings) {
				continue
			}
			w := u.witness().clusters("m1", "m2", "m3", "m4", "m5").web(2).places(firstOn(nil))
			w.step("1m", "taint", fields{"cluster": "m1", "taints": []string{"example.com/failed:NoExecute"}})
			if u.settings.Evicts() {
				w.expects("within", fields{"after": "1m", "for": "1m"}, "event", fields{"kind": "EvictionStarted", "cluster": "m1"})
			} else {
				w.expects("never", true, "event", fields{"kind": "EvictionStarted"})
			}
			r.add(found{
				line: u.lineOf(o), field: "spec.config." + o.Field,
				why: fmt.Sprintf("%s does nothing: %s", o.Field, s.why), fix: "set what it depends on, too, or omit it", witness: w,
			})
		}
	}
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
