package nodes

import (
	"slices"
	"strings"
)

// lasting is for how many seconds taints must have stayed to count: controllers write those of one cause one after another.
const lasting = 0.3

// account tells what was recorded.
func (r *recording) account() *account {
	a := &account{nodes: map[string]history{}}
	for name, n := range r.Observed.InitialNodes {
		a.nodes[name] = history{{0, inOrder(n.Taints)}}
	}
	pods, order := map[string]*life{}, []string{}
	for i := range r.Observed.InitialPods {
		s := r.Observed.InitialPods[i]
		follow(pods, &order, &s)
	}
	for i := range r.Observed.Timeline {
		switch s := &r.Observed.Timeline[i]; {
		case s.Kind == "Node" && s.Taints != nil:
			a.nodes[s.Name] = a.nodes[s.Name].settle(s.Seconds, inOrder(s.Taints))
		case s.Kind == "Pod":
			follow(pods, &order, s)
		}
	}
	for _, name := range order {
		a.pods = append(a.pods, *pods[name])
	}
	for _, refused := range r.Observed.Rejections {
		why := refused.Error
		if _, reasons, invalid := strings.Cut(why, " is invalid: "); invalid {
			why = reasons
		}
		a.refused = append(a.refused, refusal{refused.At, why})
	}
	return a
}

// settle adds taints; those that came just before and did not last are omitted.
func (h history) settle(at float64, text string) history {
	if last := len(h) - 1; last > 0 && at-h[last].at < lasting {
		return h[:last].add(h[last].at, text)
	}
	return h.add(at, text)
}

// follow takes one sighting of a pod into its life.
func follow(pods map[string]*life, order *[]string, s *sighting) {
	l := pods[s.Name]
	if l == nil {
		owner, _, _ := strings.Cut(s.Name, "/")
		l = &life{owner: owner, created: s.Seconds, bound: never, running: never, condemned: never, gone: never}
		pods[s.Name] = l
		*order = append(*order, s.Name)
	}
	first := func(at *float64, is bool) {
		if is && *at == never {
			*at = s.Seconds
		}
	}
	first(&l.bound, s.Node != "")
	first(&l.running, s.Phase == "Running")
	first(&l.condemned, s.DisruptionTarget != "")
	first(&l.gone, s.Change == "deleted")
	l.node, l.unschedulable = s.Node, l.unschedulable || s.Scheduled == "Unschedulable"
	if s.DisruptionTarget != "" {
		l.why = s.DisruptionTarget
	}
	if s.Phase != "" {
		l.phase, l.ready = s.Phase, s.Ready
	}
}

func inOrder(texts []string) string {
	return strings.Join(slices.Sorted(slices.Values(texts)), ", ")
}
