package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
)

// accountOf is what a recording tells.
func accountOf(r *Recording) *account {
	o := &r.Observed
	a := &account{
		initially: standings(o.InitialBindings), finally: standings(o.FinalBindings),
		bindings: sightings(o), clusters: taintings(r), refused: refusals(o.Rejections),
		taints: map[string]string{}, copies: map[string]string{},
	}
	for cluster, taints := range o.FinalTaints {
		a.taints[cluster] = inOrder(taints)
	}
	for binding, clusters := range o.FinalWorks {
		if len(clusters) > 0 {
			a.copies[binding] = inOrder(clusters)
		}
	}
	return a
}

// standings tell how bindings stand, by their names.
func standings(bindings []Binding) map[string]string {
	all := map[string]string{}
	for _, b := range bindings {
		text := placed(b.Clusters, b.Tasks)
		if b.Affinity != "" {
			text += " as " + b.Affinity
		}
		if b.Scheduled != nil {
			text += fmt.Sprintf(" Scheduled=%s %s", b.Scheduled.Status, b.Scheduled.Reason)
		}
		all["binding "+b.Name] = text
	}
	return all
}

// placed tells where a binding is placed and what it leaves.
func placed(clusters []api.TargetCluster, tasks []api.GracefulEvictionTask) string {
	var on, leaving []string
	for _, c := range clusters {
		on = append(on, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
	}
	for _, k := range tasks {
		replicas := int32(0)
		if k.Replicas != nil {
			replicas = *k.Replicas
		}
		leaving = append(leaving, fmt.Sprintf("%s:%d %s %s %s", k.FromCluster, replicas, k.PurgeMode, k.Reason, k.Producer))
	}
	return fmt.Sprintf("on %s leaving %s", inOrder(on), inOrder(leaving))
}

func inOrder(texts []string) string { return fmt.Sprint(slices.Sorted(slices.Values(texts))) }

// sightings are the states of bindings as they were seen, from the initial ones on.
func sightings(o *Observation) map[string]history {
	all := map[string]history{}
	for name, placements := range o.Placements() {
		var past history
		for _, p := range placements {
			past = past.add(p.At, placed(p.Clusters, p.Tasks))
		}
		all["binding "+short(name)] = past
	}
	return all
}

// lasting is how long a state of taints must have lasted to count. Karmada's controllers write the
// taints of one cause one after another; here they come in one change.
const lasting = 300 * time.Millisecond

// taintings are the taints that clusters had in turn.
func taintings(r *Recording) map[string]history {
	all := map[string]history{}
	for _, c := range r.Script.Clusters {
		all["cluster "+c.Name] = history{{0, inOrder(tainted(c.Taints))}}
	}
	for _, s := range r.Observed.Timeline {
		if s.Kind != "Cluster" {
			continue
		}
		at, past, taints := seconds(s.Seconds), all["cluster "+s.Name], inOrder(s.Taints)
		if last := len(past) - 1; last > 0 && at-past[last].at < lasting {
			all["cluster "+s.Name] = past.replace(at, taints)
		} else {
			all["cluster "+s.Name] = past.add(at, taints)
		}
	}
	return all
}

// tainted tells taints as a recording does.
func tainted(taints []corev1.Taint) []string {
	var all []string
	for _, t := range taints {
		text := t.Key
		if t.Value != "" {
			text += "=" + t.Value
		}
		text += ":" + string(t.Effect)
		if t.TimeAdded != nil {
			text += "@timeAdded"
		}
		all = append(all, text)
	}
	return all
}

func refusals(all []Rejection) string {
	var texts []string
	for _, r := range all {
		var at float64
		var action string
		if _, err := fmt.Sscanf(r.Input, "t=%g %s", &at, &action); err != nil {
			panic(fmt.Sprintf("read rejection %q: %v", r.Input, err))
		}
		texts = append(texts, fmt.Sprintf("at %.1fs %s", at, r.Rejected))
	}
	return strings.Join(texts, ", ")
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// comesLate reports whether Karmada may have noticed something at its next look only: a policy was
// edited, or a placement came to a cluster that had NoExecute taints already.
func comesLate(r *Recording) bool {
	for _, e := range r.Script.Events {
		if e.Action == "updatePropagationPolicy" {
			return true
		}
	}
	evicting, on := map[string]bool{}, map[string][]api.TargetCluster{}
	for _, b := range r.Observed.InitialBindings {
		on[b.Name] = b.Clusters
	}
	for _, s := range r.Observed.Timeline {
		if s.Kind == "Cluster" {
			evicting[s.Name] = strings.Contains(fmt.Sprint(s.Taints), ":"+string(corev1.TaintEffectNoExecute))
		}
		if s.Binding == nil {
			continue
		}
		for _, c := range s.Binding.Clusters {
			came := !slices.ContainsFunc(on[s.Name], func(k api.TargetCluster) bool { return k.Name == c.Name })
			if came && evicting[c.Name] {
				return true
			}
		}
		on[s.Name] = s.Binding.Clusters
	}
	return false
}
