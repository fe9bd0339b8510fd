// Package nodeinvariant holds what must be true of the nodes and pods of one cluster whatever happens to them, and a monitor that watches over
// it: from the facts of each instant and the objects as they stand when it is over. It asks no machine, so a machine that is wrong does
// not vouch for itself. It is to nodes what package invariant is to fleets.
//
// An invariant says under which settings it holds; profile kubernetes breaks some by design. What a monitor looks at is what changed
// and what is due.
package nodeinvariant

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"leeward/messages"
	"leeward/runtime/fleet/journal"
)

// Name is an invariant: what must be true, as a sentence.
type Name string

// The invariants, with the settings that they hold under; without any: all.
const (
	// NeverEarly: no pod is evicted before its deadline; with exactPodDeadlines, neither for a taint that its node does not have or that
	// it tolerates for good, nor while the shortest toleration that covers a taint lasts.
	NeverEarly Name = "no pod is evicted before its deadline"
	// NeverLate, with exactPodDeadlines: no pod stays past its deadline longer than refused requests and the limit of requests take, and, with
	// podEvictionsHonourBudgets, than its budget cannot spare it. With both of the last two, retries make the limit too hard to follow.
	NeverLate Name = "no pod stays past its deadline and the wait for a permit"
	// DaemonsSpared: no pod of a DaemonSet is evicted for a failure taint, unless its template tolerates it only for a time.
	DaemonsSpared Name = "pods of DaemonSets stay on nodes that fail"
	// BoundTolerates: no pod is bound to a node with a NoSchedule or NoExecute taint that it does not tolerate, or that is cordoned.
	BoundTolerates Name = "pods are bound to nodes whose taints they tolerate"
	// NoneWaits: no pod is pending while a node can take it.
	NoneWaits Name = "every pod that a node can take is bound"
	// Replaced, without podTolerationRestriction: a Deployment or ReplicaSet has another pod in the instant in which it loses one.
	Replaced Name = "a pod that leaves is replaced by its owner"
	// RatesKept: the nodes of a zone get failure taints with the effect NoExecute no faster than the zone's rate; with the passes of
	// nodeMonitorPeriod, no faster than the highest rate there is.
	RatesKept Name = "nodes are tainted no faster than the rate of their zone"
	// NoneWhileDisrupted, without the passes of nodeMonitorPeriod: while every zone is fully disrupted, no node has a failure taint with the
	// effect NoExecute from the node lifecycle, and no pod is evicted for one.
	NoneWhileDisrupted Name = "nothing is evicted while every zone is fully disrupted"
	// TaintsFollow: the NoSchedule taints of a node are those that its conditions and its cordon ask for; and without the passes of
	// nodeMonitorPeriod, no node that is Ready has a failure taint.
	TaintsFollow Name = "taints of nodes follow their conditions"
	// BudgetKept: the Eviction API takes no pod that is ready from a PodDisruptionBudget that cannot spare it.
	BudgetKept Name = "no eviction takes a budget below its number"
)

// Violation is an invariant that was broken. One that stays broken in one place is one violation.
type Violation struct {
	Invariant Name
	// At is when it was seen, at the end of an instant.
	At time.Time
	Place
	// Detail says what is wrong, with the values.
	Detail string
}

// String returns the violation in one line.
func (v *Violation) String() string {
	return fmt.Sprintf("%s: %s: %s", v.Invariant, v.Where(), v.Detail)
}

// Place is where an invariant was broken: at an owner, a pod or a node.
type Place struct {
	Owner messages.OwnerName
	// Pod is, with an owner, one that it lost then, if any is known.
	Pod  messages.PodName
	Node messages.NodeName
}

// Where is the name of the owner, the pod or the node.
func (p *Place) Where() string {
	return cmp.Or(string(p.Owner), string(p.Pod), string(p.Node))
}

// In is the place as it is called in a fleet, with its cluster in front.
func (p *Place) In(cluster messages.ClusterName) Place {
	in := *p
	for _, name := range []*string{(*string)(&in.Owner), (*string)(&in.Pod), (*string)(&in.Node)} {
		if *name != "" {
			*name = string(cluster) + "/" + *name
		}
	}
	return in
}

func ofPod(name messages.PodName) Place   { return Place{Pod: name} }
func ofNode(name messages.NodeName) Place { return Place{Node: name} }

// Objects are the nodes and pods as they stand.
type Objects interface {
	// Node and Pod return an object that must not be changed, nil if there is none.
	Node(messages.NodeName) *corev1.Node
	Pod(messages.PodName) *corev1.Pod
	// Budgets are the names of all PodDisruptionBudgets; Budget returns one.
	Budgets() []messages.PodBudgetName
	Budget(messages.PodBudgetName) *policyv1.PodDisruptionBudget
	// Replicas is how many pods an owner must have; false: it is not known, or there is no such number.
	Replicas(messages.OwnerName) (replicas int, known bool)
	// Fewer is how many pods fewer than its replicas an owner may have while it replaces those of an older template.
	Fewer(messages.OwnerName) int
}

// Monitor watches the nodes and pods of one cluster. It belongs to one goroutine.
type Monitor struct {
	settings *messages.Settings
	objects  Objects
	census   census
	zones    zones
	due      due
	// down: the controllers are, and nothing is asked of what they do.
	down bool
	// instant is what facts tell of the instant that is looked at.
	instant instant

	violations []Violation
	known      map[Violation]bool
}

// New returns a monitor of a cluster without objects.
func New(s *messages.Settings, objects Objects) *Monitor {
	return &Monitor{
		settings: s, objects: objects, census: newCensus(), zones: newZones(s), due: newDue(), known: map[Violation]bool{},
	}
}

// Violations returns what was broken so far, in the order in which it was seen.
func (m *Monitor) Violations() []Violation { return m.violations }

// exact reports whether deadlines are those of taints and tolerations; passes, whether nodes are looked at in passes only.
func (m *Monitor) exact() bool  { return m.settings.ExactPodDeadlines }
func (m *Monitor) passes() bool { return m.settings.NodeMonitorPeriod > 0 }

// Settled takes in the facts of an instant that is over, and looks at what they concern and what is due.
func (m *Monitor) Settled(now time.Time, news []journal.Entry) {
	m.instant.begin()
	for i := range news {
		m.heard(now, news[i].Fact)
		m.counted(now, news[i].Fact)
	}
	nodes, pods := m.instant.touched()
	for _, name := range nodes {
		m.countNode(name)
	}
	for _, e := range pods {
		m.countPod(e)
		e.seen()
	}
	m.zonesKept(now, nodes)
	m.evictionsKept(now, news)
	m.boundTolerate(now, news)
	m.noneWaits(now, nodes)
	if !m.down {
		for _, name := range nodes {
			m.taintsFollow(now, name)
		}
		m.noneLate(now, nodes, pods)
		m.replaced(now)
	}
	m.instantOver(nodes, pods)
}

// instantOver keeps how things are for the next instant, and forgets what is gone.
func (m *Monitor) instantOver(nodes []messages.NodeName, pods []*pod) {
	for _, name := range nodes {
		n := m.census.nodes[name]
		n.before = n.object
		if n.object == nil && len(n.pods) == 0 {
			delete(m.census.nodes, name)
		}
	}
	for _, e := range pods {
		if e.isNew, e.touched = false, false; e.object == nil {
			m.due.forget(e)
			delete(m.census.pods, e.name)
		}
	}
	m.zones.was = m.zones.full
}

// check notes that an invariant is broken where it is.
func (m *Monitor) check(now time.Time, name Name, holds bool, where Place, detail string, args ...any) {
	if holds {
		return
	}
	key := Violation{Invariant: name, Place: where}
	if key.Owner != "" {
		key.Pod = "" // whichever it loses
	}
	if m.known[key] {
		return
	}
	m.known[key] = true
	m.violations = append(m.violations, Violation{Invariant: name, At: now, Place: where, Detail: fmt.Sprintf(detail, args...)})
}

// failureTaint reports whether a taint is what the Ready condition of a node asks for, with the effect NoExecute.
func failureTaint(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoExecute && (t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable)
}

// byLifecycle reports whether the node lifecycle has asked for a taint, and not a user.
func byLifecycle(f *messages.NodeTaintAdded) bool { return strings.HasPrefix(f.Because, "Ready=") }
