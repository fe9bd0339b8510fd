// Package nodelifecycle is the machine that watches over all nodes of a cluster: the health pass and the zones of the node lifecycle
// controller of Kubernetes. It counts which nodes are Ready, says how fast the nodes of each zone get their NoExecute taint, and when every
// zone is fully disrupted.
//
// Under the rules of Kubernetes it looks from pass to pass. A pass is sent only to nodes that wait for one, and there is none where none waits
// and nothing changed: such a pass would come to nothing. What changes at the instant of a pass waits for the next. Without passes it looks at
// the end of each instant in which anything changed.
package nodelifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// Rules say when nodes are looked at, and how fast they are tainted.
type Rules struct {
	// Period is the time between two health passes, which are at Epoch and whole periods after it. --node-monitor-period. Zero: no passes.
	Period time.Duration
	Epoch  time.Time
	// Lasts is how long after a pass zones are assessed: its writes take that long. Zones go on meanwhile. Starts is the same for the first pass of
	// controllers that restarted, where it is longer.
	Lasts, Starts time.Duration
	Limits        nodelife.Limits
	// QPS and Burst limit the requests of the controller: a pass that finds many silent nodes lasts until it has written what it found. --kube-api-qps,
	// --kube-api-burst. A QPS of 0 is no limit.
	QPS   float64
	Burst int
}

// Lifecycle is the node lifecycle of one cluster.
type Lifecycle struct {
	rules Rules
	nodes map[messages.NodeName]messages.NodeObserved
	zones map[messages.ZoneName]*zone
	// waiting are the nodes that wait for passes, with the instant since which each does.
	waiting map[messages.NodeName]time.Time
	// changed is set where counts are other than at the last assessment, since the instant.
	changed bool
	since   time.Time
	// disrupted is what the nodes were told last.
	disrupted bool

	// due is the next pass; zero: none is needed. everyone: it goes to all nodes, for the controllers have restarted.
	due      time.Time
	everyone bool
	// passing is set from a pass, which was at passed, until its end, when zones are assessed. first: it is that of controllers that restarted.
	passing, first bool
	passed         time.Time
	// silent is how many nodes the last pass found to be silent. slow: that are so many that zones wait for it.
	silent int
	slow   bool
	// down: the controllers are.
	down bool
}

// zone is one zone: how many of its nodes are Ready and not, and its state when it was last assessed.
type zone struct {
	count nodelife.Count
	state nodelife.State
}

// New returns a lifecycle that knows no node.
func New(rules Rules) *Lifecycle {
	return &Lifecycle{
		rules:   rules,
		nodes:   map[messages.NodeName]messages.NodeObserved{},
		zones:   map[messages.ZoneName]*zone{},
		waiting: map[messages.NodeName]time.Time{},
	}
}

// Receive routes a message to its transition.
func (l *Lifecycle) Receive(now time.Time, m messages.ToNodeLifecycle, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.NodeObserved:
		l.observed(now, m, out)
	case *messages.ControllersStopped:
		l.down = true
	case *messages.ControllersRestarted:
		l.down = false
		l.restarted(now)
	case *messages.Woken:
		l.woken(now, out)
	default:
		panic(fmt.Sprintf("node lifecycle: unknown message %T", m))
	}
	out.WakeAt(l.next(now))
}

// observed counts the node as it is now. A node that is new while all zones are fully disrupted is told so.
func (l *Lifecycle) observed(now time.Time, m *messages.NodeObserved, out *actors.Outbox) {
	before, known := l.nodes[m.Node]
	if !known && m.Gone {
		return
	}
	if !known && l.disrupted {
		out.TellNode(m.Node, &messages.NodesDisrupted{})
	}
	if l.passing && known && m.Ready == corev1.ConditionUnknown && before.Ready != m.Ready {
		l.silent++
		if l.backlog() > 0 && !l.slow {
			l.slowed(true, out)
		}
	}
	if l.count(&before, -1); m.Gone {
		delete(l.nodes, m.Node)
	} else {
		l.nodes[m.Node] = *m
		l.count(m, +1)
	}
	if m.Gone || place(&before) != place(m) {
		l.change(now)
	}
	if _, waits := l.waiting[m.Node]; !m.Waits {
		delete(l.waiting, m.Node)
	} else if !waits {
		l.waiting[m.Node] = now
	}
}

// count adds a node to the counts of its zone, or takes it out of them.
func (l *Lifecycle) count(o *messages.NodeObserved, by int) {
	if !o.Counted {
		return
	}
	z := l.zones[o.Zone]
	if z == nil {
		z = &zone{}
		l.zones[o.Zone] = z
	}
	if o.Ready == corev1.ConditionTrue {
		z.count.Ready += by
	} else {
		z.count.NotReady += by
	}
}

// counted is where a node counts, and as what.
type counted struct {
	zone         messages.ZoneName
	ready, isSet bool
}

func place(o *messages.NodeObserved) counted {
	if !o.Counted {
		return counted{}
	}
	return counted{zone: o.Zone, ready: o.Ready == corev1.ConditionTrue, isSet: true}
}

func (l *Lifecycle) change(now time.Time) {
	if !l.changed {
		l.changed, l.since = true, now
	}
}

// restarted forgets the state of every zone. In Kubernetes controllers that restart begin with a pass over all nodes, and with new limiters.
func (l *Lifecycle) restarted(now time.Time) {
	for _, z := range l.zones { // order-free: each for itself
		z.state = nodelife.Initial
	}
	l.change(now)
	if l.rules.Period > 0 {
		l.rules.Epoch, l.due, l.everyone = now, now, true
	}
}

// woken is a pass, or the end of one. Nodes have done their part in between.
func (l *Lifecycle) woken(now time.Time, out *actors.Outbox) {
	switch {
	case l.passing && now.Before(l.passed.Add(l.lasts())): // it heard of a node meanwhile
	case l.passing:
		l.passing = false
		if l.slow {
			l.slowed(false, out)
		}
		l.assess(out)
	case l.rules.Period > 0:
		l.pass(now, out)
	case l.changed:
		l.assess(out)
	}
}

// pass tells the nodes that wait since before this instant to look at themselves.
func (l *Lifecycle) pass(now time.Time, out *actors.Outbox) {
	if l.due.IsZero() || now.Before(l.due) {
		return
	}
	if l.everyone {
		for _, name := range slices.Sorted(maps.Keys(l.zones)) {
			out.TellZone(name, &messages.ControllersRestarted{})
		}
	}
	to := l.waitSince(now)
	for _, name := range to {
		out.TellNode(name, &messages.HealthPass{Period: l.rules.Period})
	}
	l.passed, l.silent = now, 0
	l.passing = len(to) > 0 || l.everyone || l.changed && l.since.Before(now)
	l.due, l.first, l.everyone = time.Time{}, l.everyone, false
}

// perSilent is how many requests the controller makes for a node that is silent, and for a pod there: the status of each and an Event about it, and a
// taint. Source: a recorded pass over 40 nodes with a pod each, of which 26 fail, takes 5 s at 20 requests a second.
const perSilent = 5

// lasts is how long the pass takes that was last.
func (l *Lifecycle) lasts() time.Duration {
	if l.first {
		return max(l.rules.Lasts, l.rules.Starts) + l.backlog()
	}
	return l.rules.Lasts + l.backlog()
}

// backlog is how long the requests of the last pass wait for the limit of the client.
func (l *Lifecycle) backlog() time.Duration {
	waiting := perSilent*l.silent - l.rules.Burst
	if l.rules.QPS <= 0 || waiting <= 0 {
		return 0
	}
	return time.Duration(float64(waiting) / l.rules.QPS * float64(time.Second))
}

// slowed tells all zones that their requests wait behind those of the pass, or no longer.
func (l *Lifecycle) slowed(slow bool, out *actors.Outbox) {
	l.slow = slow
	for _, name := range slices.Sorted(maps.Keys(l.zones)) {
		out.TellZone(name, &messages.ZoneSlowed{Over: !slow})
	}
}

// waitSince are the nodes that a pass goes to, by name.
func (l *Lifecycle) waitSince(now time.Time) (names []messages.NodeName) {
	if l.everyone {
		return l.all()
	}
	for name, since := range l.waiting { // order-free: they are sorted
		if since.Before(now) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// all are the names of all nodes, in order.
func (l *Lifecycle) all() []messages.NodeName {
	return slices.Sorted(maps.Keys(l.nodes))
}

// next is when the lifecycle must act; zero: only when it is told something.
func (l *Lifecycle) next(now time.Time) time.Time {
	switch {
	case l.down:
		return time.Time{}
	case l.passing:
		return l.passed.Add(l.lasts())
	case l.changed && l.rules.Period <= 0:
		return now
	case l.rules.Period <= 0 || !l.changed && len(l.waiting) == 0:
		l.due = time.Time{}
	case l.due.IsZero():
		l.due = l.passAfter(now)
	}
	return l.due
}

// passAfter is the first pass after an instant.
func (l *Lifecycle) passAfter(at time.Time) time.Time {
	if at.Before(l.rules.Epoch) {
		return l.rules.Epoch
	}
	return at.Add(l.rules.Period - at.Sub(l.rules.Epoch)%l.rules.Period)
}

// zoneOf is a zone by its name.
func zoneOf(name messages.ZoneName) nodelife.Zone {
	region, zone, both := strings.Cut(string(name), "/")
	if !both {
		return nodelife.Zone{Name: region}
	}
	return nodelife.Zone{Region: region, Name: zone}
}
