package explain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/world"
)

// podFold follows what happens to pods.
type podFold struct {
	*query
	all    map[messages.PodName][]*Move
	owners map[messages.PodName]messages.OwnerName
	// replaced are the moves whose pod was deleted, and has no replacement yet, in order, by its owner.
	replaced map[messages.OwnerName][]replaced
	// tainted and conditioned are the last entries in which a node got a taint, and a condition of it changed.
	tainted, conditioned map[ofNode]int
	// taking are the moves that a pod takes the place of.
	taking map[messages.PodName]*Move
	// drained are the moves that a drain of a node began.
	drained map[messages.NodeName][]*Move
	// replaces are the pods that others take the place of.
	replaces map[messages.PodName]messages.PodName
}

type replaced struct {
	pod messages.PodName
	*Move
}

// ofNode is a taint, or the type of a condition, of a node.
type ofNode struct {
	node messages.NodeName
	what string
}

// podMoves folds what happened into the moves of each pod, in order.
func (q *query) podMoves() *podFold {
	f := &podFold{
		query: q, all: map[messages.PodName][]*Move{}, owners: map[messages.PodName]messages.OwnerName{}, taking: map[messages.PodName]*Move{}, replaces: map[messages.PodName]messages.PodName{},
		replaced: map[messages.OwnerName][]replaced{}, tainted: map[ofNode]int{}, conditioned: map[ofNode]int{}, drained: map[messages.NodeName][]*Move{},
	}
	for i := range q.entries {
		f.take(i, &q.entries[i])
	}
	return f
}

func (f *podFold) take(i int, e *journal.Entry) {
	switch x := e.Fact.(type) {
	case *messages.NodeTaintAdded:
		f.tainted[ofNode{x.Node, taint.String(&x.Taint)}] = i
	case *messages.NodeConditionChanged:
		f.conditioned[ofNode{x.Node, string(x.Type)}] = i
	case *messages.PodCreated:
		f.created(e.At, x)
	case *messages.PodBound:
		if m := f.taking[x.Pod]; m != nil {
			m.then(f.since(e.At), "bound", fmt.Sprintf("%s on %s", x.Pod, x.Node))
		}
	case *messages.PodUnschedulable:
		if m := f.taking[x.Pod]; m != nil {
			m.then(f.since(e.At), "blocked", fmt.Sprintf("%s is unschedulable: %s", x.Pod, x.Message))
		}
	case *messages.PodPhaseChanged:
		if m := f.taking[x.Pod]; m != nil && x.Ready {
			m.then(f.since(e.At), "ready", fmt.Sprintf("%s on %s", x.Pod, x.Node))
			delete(f.taking, x.Pod)
		}
	case *messages.PodEvictionScheduled:
		m := f.move(x.Pod, x.Node)
		m.State = StateScheduled
		f.why(m, &x.Taint, &x.Toleration)
		m.Deadline = new(f.since(x.Deadline))
		m.then(f.since(e.At), "scheduled", "for "+m.Deadline.String()+"; toleration "+m.Toleration)
	case *messages.PodEvictionCancelled:
		if m := f.last(x.Pod); m != nil {
			m.State, m.Reason, m.Blocked, m.Until = StateCancelled, x.Reason, "", nil
			m.then(f.since(e.At), "cancelled", x.Reason)
		}
	case *messages.PodEvicted:
		m := f.move(x.Pod, x.Node)
		m.State, m.Blocked, m.Until = StateEvicting, "", nil
		f.why(m, &x.Taint, x.Toleration)
		m.then(f.since(e.At), "eviction", joined("; ", "from "+string(x.Node), m.Taint, m.Toleration))
	default:
		f.ending(e)
	}
}

// ending takes what blocks an eviction, and what ends a pod.
func (f *podFold) ending(e *journal.Entry) {
	switch x := e.Fact.(type) {
	case *messages.PodEvictionBlocked:
		m := f.move(x.Pod, x.Node)
		m.State, m.Until = StateBlocked, nil
		m.Blocked, m.budget = joined("; ", labelled("budget", string(x.Budget)), x.Error, x.Detail), x.Budget
		if m.Taint == "" {
			m.Reason, f.drained[x.Node] = "by "+x.By, append(f.drained[x.Node], m)
		}
		m.then(f.since(e.At), "blocked", m.Blocked)
	case *messages.PodEvictionFailed:
		m := f.move(x.Pod, x.Node)
		m.Blocked = fmt.Sprintf("the API server refuses to %s the pod: %s; try %d", x.Verb, x.Error, x.Tries)
		if !x.Retry.IsZero() {
			m.State, m.Until = StateBlocked, new(f.since(x.Retry))
		} else {
			m.State, m.Until, m.Reason = StateGivenUp, nil, fmt.Sprintf("given up after %d tries: %s", x.Tries, x.Error)
		}
		m.then(f.since(e.At), "blocked", m.Blocked)
	case *messages.NodeDrainFailed:
		for _, m := range f.drained[x.Node] {
			if m.State == StateBlocked {
				m.State, m.Reason, m.Blocked, m.Until = StateCancelled, "the drain ended: "+x.Error, "", nil
				m.then(f.since(e.At), "cancelled", m.Reason)
			}
		}
		delete(f.drained, x.Node)
	case *messages.PodDeletionRequested:
		m := f.move(x.Pod, x.Node)
		if m.State != StateEvicting {
			m.State, m.Reason = StateDeleting, joined("; ", m.Reason, x.Cause)
		}
		m.Blocked, m.Until, m.deleted = "", nil, e.At
		m.then(f.since(e.At), "deleted", joined("; ", x.Cause, fmt.Sprintf("grace period %ds", x.GracePeriodSeconds)))
		if owner := f.owners[x.Pod]; owner != "" {
			f.replaced[owner] = append(f.replaced[owner], replaced{x.Pod, m})
		}
	case *messages.PodDeleted:
		if m := f.last(x.Pod); m != nil {
			m.State = cmp.Or(map[string]string{StateEvicting: StateEvicted}[m.State], StateDeleted)
			m.then(f.since(e.At), "gone", "")
		}
	}
}

// created takes a pod that an owner created: in the place of one that was deleted in the same instant, or had the same name.
func (f *podFold) created(at time.Time, x *messages.PodCreated) {
	f.owners[x.Pod] = x.Owner
	waiting := f.replaced[x.Owner]
	for i, r := range waiting {
		if r.pod != x.Pod && !r.deleted.Equal(at) {
			continue
		}
		r.Replacement = x.Pod
		r.then(f.since(at), "replacement", fmt.Sprintf("%s, created by %s", x.Pod, x.Owner))
		f.taking[x.Pod] = r.Move
		if x.Pod != r.pod {
			f.replaces[x.Pod] = r.pod
		}
		f.replaced[x.Owner] = append(waiting[:i:i], waiting[i+1:]...)
		return
	}
}

// then adds a step, also one that says what the last one did.
func (m *Move) then(at Seconds, part, text string) { m.Steps = append(m.Steps, Step{at, part, text}) }

// last is the move of a pod that goes on; nil: there is none.
func (f *podFold) last(pod messages.PodName) *Move {
	moves := f.all[pod]
	if len(moves) == 0 || !moves[len(moves)-1].open() {
		return nil
	}
	return moves[len(moves)-1]
}

// move is the move of a pod that goes on, or begins.
func (f *podFold) move(pod messages.PodName, node messages.NodeName) *Move {
	if m := f.last(pod); m != nil {
		return m
	}
	m := &Move{Node: node, Steps: []Step{}}
	f.all[pod] = append(f.all[pod], m)
	return m
}

// why says for which taint of its node a pod is evicted, and what asked for that.
func (f *podFold) why(m *Move, t *corev1.Taint, by *corev1.Toleration) {
	known := m.Taint == taint.String(t)
	m.Taint, m.Toleration = taint.String(t), shortToleration(by, t)
	at, added := f.tainted[ofNode{m.Node, m.Taint}]
	if known || !added {
		return
	}
	because := f.entries[at].Fact.(*messages.NodeTaintAdded).Because
	if by, is := strings.CutPrefix(because, "by "); is {
		m.TaintedBy = by
	} else {
		m.Condition = because
	}
	kind, _, _ := strings.Cut(m.Condition, "=")
	if i, changed := f.conditioned[ofNode{m.Node, kind}]; changed {
		m.Steps = append(m.Steps, f.nodeStep("condition", &f.entries[i], m.Node))
	}
	m.Steps = append(m.Steps, f.nodeStep("taint", &f.entries[at], m.Node))
}

func (q *query) nodeStep(part string, e *journal.Entry, node messages.NodeName) Step {
	text := journal.Tell(q.start, e.Fact).Text()
	for _, known := range []string{"node " + string(node) + " ", string(node) + " ", "condition ", "tainted "} {
		text = strings.TrimPrefix(text, known)
	}
	return Step{q.since(e.At), part, text}
}

// shortToleration is a toleration of a taint, which it does not name again; nil: it is not tolerated.
func shortToleration(by *corev1.Toleration, t *corev1.Taint) string {
	if by == nil {
		return "not tolerated"
	}
	text := toleration(*by)
	if by.Key == t.Key && by.Effect == t.Effect {
		text = strings.TrimPrefix(text, by.Key+":"+string(by.Effect)+" ")
	}
	return text
}

// podDetail says of an eviction that goes on what it waits for, and what would cancel or end it.
func (q *query) podDetail(m *Move) {
	s := q.settings()
	if t, _ := world.TierOf(q.world, m.Node); t != nil && t.Down() {
		m.Blocked = joined("; ", "the controllers of nodes and pods are down", m.Blocked)
	}
	switch {
	case m.State == StateDeleting || m.State == StateEvicting && !m.deleted.IsZero():
		m.Ends = []string{"its kubelet ends it, within its grace period", "it is deleted by force, or its node is"}
		return
	case m.State == StateEvicting, m.State == StateScheduled && m.Deadline != nil && *m.Deadline <= q.answer.At:
		m.Blocked = cmp.Or(m.Blocked, fmt.Sprintf("waits for the rate limiter of the API client (kubeAPIQPS %g, kubeAPIBurst %d)", s.KubeAPIQPS, s.KubeAPIBurst))
	case m.State == StateBlocked && m.budget != "":
		m.Waits = []string{fmt.Sprintf("PodDisruptionBudget %s allows it", m.budget)}
	}
	if m.Taint == "" {
		m.Ends = []string{"the drain ends"}
		return
	}
	if m.State == StateEvicting && !s.PodEvictionUntilDone {
		return
	}
	m.Ends = []string{fmt.Sprintf("the NoExecute taints that it does not tolerate for good are removed from %s", m.Node)}
	if kind, status, is := strings.Cut(m.Condition, "="); is && status != "True" {
		m.Ends = append(m.Ends, fmt.Sprintf("%s of %s is True again, which removes the taint", kind, m.Node))
	}
	longer := ""
	if s.ExactPodDeadlines {
		longer = "for longer, or "
	}
	m.Ends = append(m.Ends, fmt.Sprintf("the pod tolerates %s %swithout tolerationSeconds", m.Taint, longer))
}
