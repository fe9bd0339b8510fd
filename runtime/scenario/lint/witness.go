package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
	"leeward/runtime/scenario"
)

// fields is a mapping, as YAML has it.
type fields = map[string]any

// witness is a minimal scenario that shows a fault.
type witness struct {
	profile  string
	config   fields
	duration string
	fleet    []fields
	timeline []fields
	expect   []fields
	objects  []any
}

// witness begins one with the settings of the unit.
func (u *unit) witness() *witness {
	w := &witness{profile: u.profile, config: fields{}, duration: "5m"}
	for _, o := range u.overrides {
		w.config[o.Field] = o.Value
	}
	w.config["allowNoExecuteTaintPolicy"] = true
	if u.configures() {
		w.config["failover"] = true
	}
	if slices.ContainsFunc(u.placed, func(p propagationPolicy) bool {
		return slices.ContainsFunc(p.written.Placement.ClusterTolerations, vain)
	}) {
		w.config["validateTolerations"] = false // the witness is about something else
	}
	return w
}

// set changes a setting.
func (w *witness) set(field string, value any) *witness {
	w.config[field] = value
	return w
}

// clusters adds clusters.
func (w *witness) clusters(names ...string) *witness {
	for _, name := range names {
		w.fleet = append(w.fleet, fields{"name": name})
	}
	return w
}

// in adds the cluster m1, with conditions in a state.
func (w *witness) in(s state) *witness {
	conditions := fields{}
	for i, t := range s.types {
		if s.statuses[i] != "" || alwaysReported(t) {
			conditions[t] = string(s.statuses[i])
		}
	}
	w.fleet = append(w.fleet, fields{"name": "m1", "conditions": conditions})
	return w
}

// turns has m1 take another state at an instant.
func (w *witness) turns(at string, s state) *witness {
	for i, t := range s.types {
		w.step(at, "condition", fields{"cluster": "m1", "type": t, "status": string(s.statuses[i])})
	}
	return w
}

func (w *witness) step(at, action string, what fields) *witness {
	w.timeline = append(w.timeline, fields{"at": at, action: what})
	return w
}

// expects adds an expectation: its mode with the value of that, and its subject.
func (w *witness) expects(mode string, value any, subject string, what fields) *witness {
	w.expect = append(w.expect, fields{mode: value, subject: what})
	return w
}

// policy adds a copy of a ClusterTaintPolicy that is about every cluster and waits for nothing.
func (w *witness) policy(name string, spec *api.ClusterTaintPolicySpec) *witness {
	spec = &api.Copy(&api.ClusterTaintPolicy{Spec: *spec}).(*api.ClusterTaintPolicy).Spec
	spec.TargetClusters = nil
	for _, list := range [][]api.MatchCondition{spec.AddOnConditions, spec.RemoveOnConditions} {
		for i := range list {
			list[i].For = nil
		}
	}
	for i := range spec.Taints {
		spec.Taints[i].Key = harmless(spec.Taints[i].Key, spec.Taints[i].Effect)
	}
	w.objects = append(w.objects, fields{"apiVersion": api.PolicyGroupVersion, "kind": "ClusterTaintPolicy", "metadata": fields{"name": name}, "spec": spec})
	return w
}

// harmless is another key where the system itself keeps a taint of that key and effect, which would hide what the policy does.
func harmless(key string, effect corev1.TaintEffect) string {
	if effect == corev1.TaintEffectNoSchedule && strings.HasPrefix(key, "cluster.karmada.io/") {
		return "example.com/" + strings.TrimPrefix(key, "cluster.karmada.io/")
	}
	return key
}

// taintOn is the subject of a taint on m1.
func taintOn(t *api.PolicyTaint, present bool) fields {
	f := fields{"cluster": "m1", "key": harmless(t.Key, t.Effect), "effect": string(t.Effect)}
	if !present {
		f["present"] = false
	}
	return f
}

// web adds a Deployment of so many replicas, in the namespace default.
func (w *witness) web(replicas int32) *witness {
	w.objects = append(w.objects, fields{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": fields{"name": "web"},
		"spec": fields{
			"replicas": replicas, "selector": fields{"matchLabels": fields{"app": "web"}},
			"template": fields{"metadata": fields{"labels": fields{"app": "web"}}, "spec": fields{"containers": []any{fields{"name": "web", "image": "nginx"}}}},
		},
	})
	return w
}

// places adds a policy that propagates that Deployment.
func (w *witness) places(placement any) *witness {
	return w.propagates(fields{"placement": placement})
}

func (w *witness) propagates(spec fields) *witness {
	spec["resourceSelectors"] = []any{fields{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}
	w.objects = append(w.objects, fields{"apiVersion": api.PolicyGroupVersion, "kind": "PropagationPolicy", "metadata": fields{"name": "web"}, "spec": spec})
	return w
}

// firstOn is a placement on m1, and elsewhere only when that is no longer possible.
func firstOn(tolerations []corev1.Toleration) fields {
	p := fields{"clusterAffinities": []any{
		fields{"affinityName": "first", "clusterNames": []string{"m1"}},
		fields{"affinityName": "then", "exclude": []string{"m1"}},
	}}
	if len(tolerations) > 0 {
		p["clusterTolerations"] = tolerations
	}
	return p
}

// text returns the witness as a file.
func (w *witness) text(f *Finding) (string, error) {
	spec := fields{
		"description": fmt.Sprintf("%s %s: %s", f.Rule, f.Name, f.Why), "profile": w.profile, "config": w.config,
		"duration": w.duration, "expect": w.expect,
	}
	if len(w.fleet) > 0 {
		spec["fleet"] = w.fleet
	}
	if len(w.timeline) > 0 {
		spec["timeline"] = w.timeline
	}
	documents := []any{fields{"apiVersion": scenario.APIVersion, "kind": scenario.Kind, "metadata": fields{"name": strings.ToLower(f.Rule) + "-" + f.Name}, "spec": spec}}
	var out strings.Builder
	out.WriteString("# leeward lint wrote this scenario: its expectations hold, which shows the fault.\n")
	for i, d := range append(documents, w.objects...) {
		if i > 0 {
			out.WriteString("---\n")
		}
		text, err := yaml.Marshal(d)
		if err != nil {
			return "", fmt.Errorf("write the witness of %s: %w", f.Rule, err)
		}
		out.Write(text)
	}
	return out.String(), nil
}

// sortedNames are the keys of a set, in order.
func sortedNames[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }
