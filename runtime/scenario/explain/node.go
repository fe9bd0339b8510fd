package explain

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"leeward/actors/rules/disruption"
	"leeward/actors/rules/nodelife"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/runtime/fleet/world"
)

// Node is how a node is, and what that does to the pods on it.
type Node struct {
	Zone Zone `json:"zone"`
	// KubeletStopped is since when its kubelet has stopped; nil: it runs.
	KubeletStopped *Seconds    `json:"kubeletStoppedSeconds,omitempty"`
	Unschedulable  bool        `json:"unschedulable,omitempty"`
	Conditions     []Condition `json:"conditions"`
	Taints         []Taint     `json:"taints"`
	// Queued are taints that it will get when the queue of its zone comes to it.
	Queued []Queued  `json:"queued"`
	Pods   []PodOnIt `json:"pods"`
}

// Zone is the state of a node's zone: how many of its nodes get their NoExecute taint in a second.
type Zone struct {
	Name string `json:"name,omitempty"`
	// State is Normal, PartialDisruption or FullDisruption.
	State string   `json:"state"`
	Since *Seconds `json:"sinceSeconds,omitempty"`
	// Ready and NotReady count the nodes of the zone at the last change of its state; both are zero where it never changed.
	Ready    int     `json:"ready,omitempty"`
	NotReady int     `json:"notReady,omitempty"`
	Rate     float64 `json:"nodesPerSecond"`
	// AllDisrupted is set while every zone is fully disrupted: failure taints go, and none is added.
	AllDisrupted bool `json:"allZonesDisrupted,omitempty"`
}

// Queued is a taint that a node waits for.
type Queued struct {
	Taint string  `json:"taint"`
	Since Seconds `json:"sinceSeconds"`
	taint corev1.Taint
}

// PodOnIt is one pod of a node.
type PodOnIt struct {
	Pod   messages.PodName `json:"pod"`
	Phase corev1.PodPhase  `json:"phase"`
	Ready bool             `json:"ready"`
	State string           `json:"state"`
	// Due is when it is evicted, as things are; nil: it is not, or immediately.
	Due *Seconds `json:"dueSeconds,omitempty"`
	Why string   `json:"why,omitempty"`
}

func (q *query) explainNode() {
	full, err := q.meantOf(q.nodeNames())
	if err != nil {
		q.problem = err
		return
	}
	name := messages.NodeName(full)
	t, local := world.TierOf(q.world, name)
	n := t.Node(local)
	x := &Node{Unschedulable: n.Spec.Unschedulable, Conditions: []Condition{}, Taints: []Taint{}, Pods: []PodOnIt{}}
	x.Zone = q.zone(q.beside(messages.PodName(full), nodelife.ZoneOf(n.Labels).String()))
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		x.Conditions = append(x.Conditions, Condition{q.sinceStart(c.LastTransitionTime.Time), string(c.Type) + "=" + string(c.Status) + reason(c)})
	}
	for i := range n.Spec.Taints {
		x.Taints = append(x.Taints, q.nodeTaint(name, &n.Spec.Taints[i]))
	}
	x.Queued, x.KubeletStopped = q.queued(name)
	moves := q.podMoves()
	for _, pod := range t.PodsOn(local) {
		x.Pods = append(x.Pods, q.podOn(n, x.Queued, messages.PodName(q.beside(messages.PodName(full), string(pod))), t.Pod(pod), moves.all))
	}
	slices.SortStableFunc(x.Pods, func(a, b PodOnIt) int { return cmp.Or(soonest(a.Due, b.Due), cmp.Compare(a.Pod, b.Pod)) })
	q.answer.Name, q.answer.Node = full, x
}

func reason(c *corev1.NodeCondition) string {
	if why := joined(": ", c.Reason, c.Message); why != "" {
		return " (" + why + ")"
	}
	return ""
}

// soonest puts first what is due first, and last what is not.
func soonest(a, b *Seconds) int {
	return cmp.Compare(ptr.Deref(a, math.MaxInt64), ptr.Deref(b, math.MaxInt64))
}

// zone is the state of a zone as it was last told.
func (q *query) zone(name string) Zone {
	z := Zone{Name: name, State: nodelife.Normal.String(), Rate: q.settings().NodeEvictionRate}
	for i := range q.entries {
		switch f := q.entries[i].Fact.(type) {
		case *messages.ZoneStateChanged:
			if string(f.Zone) == name {
				z.State, z.Since, z.Ready, z.NotReady, z.Rate = f.State, new(q.since(q.entries[i].At)), f.Ready, f.NotReady, f.Rate
			}
		case *messages.DisruptionChanged:
			z.AllDisrupted = f.Full // of a fleet each cluster tells its own, which names none
		}
	}
	if q.world.Nodes() == nil {
		z.AllDisrupted = false
	}
	return z
}

// nodeTaint is a taint of a node, and what asked for it.
func (q *query) nodeTaint(node messages.NodeName, t *corev1.Taint) Taint {
	x := Taint{Taint: taint.String(t), By: "before the start"}
	if t.TimeAdded != nil {
		x.Since = q.sinceStart(t.TimeAdded.Time)
	}
	for i := len(q.entries) - 1; i >= 0; i-- {
		f, is := q.entries[i].Fact.(*messages.NodeTaintAdded)
		if !is || f.Node != node || taint.String(&f.Taint) != x.Taint {
			continue
		}
		x.Since = q.since(q.entries[i].At)
		if by, asked := strings.CutPrefix(f.Because, "by "); asked {
			x.By = by
		} else {
			x.By, x.Condition = "node lifecycle", f.Because
		}
		break
	}
	return x
}

// queued are the taints that a node waits for in the queue of its zone, and since when its kubelet has stopped.
func (q *query) queued(node messages.NodeName) (waiting []Queued, stopped *Seconds) {
	waiting = []Queued{}
	not := func(key string, effect corev1.TaintEffect) {
		waiting = slices.DeleteFunc(waiting, func(w Queued) bool { return w.Taint == key+":"+string(effect) })
	}
	for i := range q.entries {
		at := q.since(q.entries[i].At)
		switch f := q.entries[i].Fact.(type) {
		case *messages.NodeTaintQueued:
			if f.Node == node {
				not(f.Taint.Key, f.Taint.Effect)
				waiting = append(waiting, Queued{taint.String(&f.Taint), at, f.Taint})
			}
		case *messages.NodeTaintAdded:
			if f.Node == node {
				not(f.Taint.Key, f.Taint.Effect)
			}
		case *messages.NodeConditionChanged:
			if f.Node == node && f.Type == corev1.NodeReady && f.Status == corev1.ConditionTrue {
				waiting = []Queued{}
			}
		case *messages.KubeletStopped:
			if f.Node == node {
				stopped = &at
			}
		case *messages.KubeletReturned:
			if f.Node == node {
				stopped = nil
			}
		}
	}
	return waiting, stopped
}

// podOn tells when a pod would be evicted from its node, as it is now.
func (q *query) podOn(n *corev1.Node, waiting []Queued, full messages.PodName, p *corev1.Pod, moves map[messages.PodName][]*Move) PodOnIt {
	x := PodOnIt{Pod: full, Phase: p.Status.Phase, Ready: disruption.Ready(p), State: StateStays}
	if all := moves[full]; len(all) > 0 && all[len(all)-1].open() {
		m := *all[len(all)-1]
		q.podDetail(&m)
		x.State, x.Due = m.State, m.Deadline
		x.Why = joined("; ", labelled("blocked:", m.Blocked), m.Taint, m.Toleration, m.Reason)
		return x
	}
	evicting := taint.Evicting(n.Spec.Taints)
	for i := range waiting {
		evicting = append(evicting, waiting[i].taint)
	}
	s := q.settings()
	allowed := taint.AllowanceOf(evicting, p.Spec.Tolerations, taint.Rule{Match: s.PodTolerationMatch, Numeric: s.NumericTolerations})
	switch {
	case len(evicting) == 0:
		x.Why = "the node has no NoExecute taint"
	case allowed.Outcome == taint.Forever:
		x.Why = "it tolerates every NoExecute taint without an end"
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		x.Why = "it has finished"
	case p.Annotations[corev1.MirrorPodAnnotationKey] != "":
		x.Why = "it mirrors a static pod"
	case len(waiting) > 0 && allowed.Outcome == taint.Until:
		x.Why = "once the node has the queued taint, it is tolerated " + shortToleration(&p.Spec.Tolerations[allowed.Toleration], &evicting[allowed.Taint])
	case len(waiting) > 0:
		x.Why = "evicted once the node has the queued taint"
	default:
		x.Why = "the controllers have not looked at it since"
	}
	return x
}
