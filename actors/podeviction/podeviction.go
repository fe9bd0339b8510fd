// Package podeviction is the machine that evicts one pod for the NoExecute taints of its node. With no rule set it is the
// taint-eviction controller of Kubernetes 1.37 with its timers: they count from when a taint is seen, and one that runs is kept whatever
// else is tolerated for how long. Each rule cures one of its faults, whether or not the others are set.
package podeviction

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

// Rules say how a pod is evicted.
type Rules struct {
	// Exact counts tolerationSeconds from the taint's timeAdded, across restarts and edits, and takes back what is no longer due. False: the
	// timers of Kubernetes, whose Events are requests of the same client.
	Exact bool
	// Match is which toleration counts for a taint: messages.MatchFirst (also where it is empty) or messages.MatchMinimum.
	Match string
	// UntilDone tries until the pod is deleted. False: five times.
	UntilDone bool
	// SparesFinished never evicts a pod that has finished, is being deleted, or mirrors a static pod.
	SparesFinished bool
	// NamesTaint has the pod's condition name the taint.
	NamesTaint bool
	// HonoursBudgets evicts through the Eviction API, which asks the PodDisruptionBudget of the pod.
	HonoursBudgets bool
	// Numeric allows the operators Lt and Gt. --feature-gates=TaintTolerationComparisonOperators.
	Numeric bool
	// Client makes the requests of the eviction.
	Client messages.ClientName
}

// RulesOf are the rules of a cluster's settings, for pods whose requests a client makes.
func RulesOf(s *messages.Settings, client messages.ClientName) Rules {
	return Rules{
		Exact: s.ExactPodDeadlines, Match: s.PodTolerationMatch, UntilDone: s.PodEvictionUntilDone, SparesFinished: s.PodEvictionSparesFinished,
		NamesTaint: s.PodEvictionNamesTaint, HonoursBudgets: s.PodEvictionsHonourBudgets, Numeric: s.NumericTolerations, Client: client,
	}
}

// Eviction is the taint eviction of one pod.
type Eviction struct {
	name  messages.PodName
	rules Rules

	// pod is as last stored; nil: it is not, or no longer, there.
	pod *messages.PodStored
	// taints are the NoExecute taints of node, the node that they were seen on.
	taints []corev1.Taint
	node   messages.NodeName
	// stale is set where the pod must be assessed at the end of this instant.
	stale bool

	timer timer
	// handled is set where an eviction of the pod has begun or ended: no timer replaces it. marked: it has its condition.
	handled, marked bool
	attempt         attempt
	// told is why it was blocked when the journal was told so last.
	told string
}

// timer is an eviction that is due at an instant; without one there is none.
type timer struct {
	at  time.Time
	why cause
}

// New returns a pod that knows nothing yet; its first message is PodStored.
func New(name messages.PodName, rules Rules) *Eviction { return &Eviction{name: name, rules: rules} }

// Receive routes a message to its transition.
func (e *Eviction) Receive(now time.Time, m messages.ToPodEviction, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.PodStored:
		e.stored(m, out)
	case *messages.PodForgotten:
		e.gone(out)
	case *messages.NodeTaintsSeen:
		e.taintsSeen(now, m)
	case *messages.RequestServed:
		e.served(now, m, out)
	case *messages.PodEvictionAnswered:
		e.answered(m, out)
	case *messages.PodBudgetAllows:
		if e.attempt.blocked != "" {
			e.try(out)
		}
	case *messages.Woken:
		e.woken(now, out)
	default:
		panic(fmt.Sprintf("eviction of pod %s: unknown message %T", e.name, m))
	}
	out.WakeAt(e.next(now))
}

// woken looks at what changed in this instant, whatever the order of its messages, and does what is due. A taint that goes at the
// deadline evicts nothing.
func (e *Eviction) woken(now time.Time, out *actors.Outbox) {
	if e.stale {
		e.stale = false
		e.assess(now, out)
	}
	if !e.timer.at.IsZero() && !e.timer.at.After(now) && !e.attempt.running() {
		e.begin(e.timer.why, out)
	}
	e.tryAgain(now, out)
}

// next is the earliest instant at which the pod must act by itself; zero: none.
func (e *Eviction) next(now time.Time) time.Time {
	if e.stale {
		return now
	}
	if e.attempt.running() {
		return e.attempt.retry
	}
	return e.timer.at
}

// stored takes over the pod. Another node and other tolerations matter, and whether it is spared.
func (e *Eviction) stored(m *messages.PodStored, out *actors.Outbox) {
	if e.pod != nil && e.pod.UID != m.UID {
		e.gone(out)
	}
	before := e.pod
	e.pod, e.marked = m, e.marked || m.Disrupted
	switch {
	case before == nil, before.Node != m.Node, !equality.Semantic.DeepEqual(before.Tolerations, m.Tolerations):
		e.stale = true
	case e.rules.SparesFinished && before.Spared != m.Spared:
		e.stale = true
	}
}

// gone forgets the pod, and what was due. Kubernetes makes the request that waits all the same, and is told that the pod is gone. The taints of its node stay for a pod of the same name, and attempts are counted on, so that
// late answers are void.
func (e *Eviction) gone(out *actors.Outbox) {
	e.cancel("the pod is gone", out)
	if e.rules.Exact {
		e.stop(out)
	}
	*e = Eviction{name: e.name, rules: e.rules, node: e.node, taints: e.taints, attempt: attempt{number: e.attempt.number}}
}

// taintsSeen takes over the taints of a node. One without timeAdded counts from now, until its value changes. Timers run on when a
// node is deleted: whatever failed there has not come back.
func (e *Eviction) taintsSeen(now time.Time, m *messages.NodeTaintsSeen) {
	if m.Gone {
		if e.node == m.Node {
			e.node, e.taints = "", nil
		}
		return
	}
	taints := slices.Clone(m.Taints)
	for i := range taints {
		if taints[i].TimeAdded == nil {
			taints[i].TimeAdded = e.seen(now, m.Node, &taints[i])
		}
	}
	if e.node == m.Node && equality.Semantic.DeepEqual(e.taints, taints) {
		return
	}
	e.node, e.taints, e.stale = m.Node, taints, true
}

// seen is since when a taint without timeAdded counts.
func (e *Eviction) seen(now time.Time, node messages.NodeName, t *corev1.Taint) *metav1.Time {
	if i := taint.Find(e.taints, t.Key, t.Effect); i >= 0 && e.node == node && e.taints[i].Value == t.Value {
		return e.taints[i].TimeAdded
	}
	return &metav1.Time{Time: now}
}
