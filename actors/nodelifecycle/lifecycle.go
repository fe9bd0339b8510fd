// Package nodelifecycle is the machine that looks after all nodes of one cluster together: it holds the health passes of Kubernetes, and
// finds out how disrupted each zone is, which says how fast its nodes are tainted. Each node looks after itself.
package nodelifecycle

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// Rules say how nodes are looked after.
type Rules struct {
	// Period is the time between two health passes, which are at Epoch and whole periods after it. Zero: there are none, and zones are
	// looked at whenever something changed.
	Period time.Duration
	Epoch  time.Time
	Limits nodelife.Limits
}

// Lifecycle looks after the nodes of one cluster.
type Lifecycle struct {
	rules Rules
	nodes map[messages.NodeName]messages.NodeObserved
	zones map[messages.ZoneName]*zone
	// waiting are the nodes that want health passes.
	waiting map[messages.NodeName]bool
	// changed: the zones must be assessed, at the next pass or, without passes, now. passing is the instant of the running pass.
	changed bool
	passing time.Time
}

// zone is how a zone was found, and who is in it.
type zone struct {
	state nodelife.State
	nodelife.Count
	nodes int
}

// New returns a lifecycle that knows no node.
func New(rules Rules) *Lifecycle {
	l := &Lifecycle{rules: rules}
	l.forget()
	return l
}

// forget has every zone be as it was before the first look.
func (l *Lifecycle) forget() {
	l.nodes, l.zones = map[messages.NodeName]messages.NodeObserved{}, map[messages.ZoneName]*zone{}
	l.waiting, l.changed, l.passing = map[messages.NodeName]bool{}, false, time.Time{}
}

// Receive routes a message to its transition.
func (l *Lifecycle) Receive(now time.Time, m messages.ToNodeLifecycle, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.NodeObserved:
		l.observed(m)
	case *messages.ControllersRestarted:
		l.forget()
		l.rules.Epoch = now
	case *messages.Woken:
		l.woken(now, out)
	default:
		panic(fmt.Sprintf("node lifecycle: unknown message %T", m))
	}
	out.WakeAt(l.next(now))
}

// observed takes over what a node says of itself.
func (l *Lifecycle) observed(m *messages.NodeObserved) {
	if before, known := l.nodes[m.Node]; known {
		l.count(&before, -1)
		delete(l.nodes, m.Node)
		delete(l.waiting, m.Node)
	}
	l.changed = true
	if m.Gone {
		return
	}
	l.nodes[m.Node] = *m
	l.count(m, 1)
	if m.Waits {
		l.waiting[m.Node] = true
	}
}

// count adds a node to its zone, or takes it away. A zone without nodes is forgotten.
func (l *Lifecycle) count(o *messages.NodeObserved, by int) {
	z := l.zones[o.Zone]
	if z == nil {
		z = &zone{}
		l.zones[o.Zone] = z
	}
	switch {
	case !o.Counted:
	case o.Ready == corev1.ConditionTrue:
		z.Ready += by
	default:
		z.NotReady += by
	}
	if z.nodes += by; z.nodes == 0 {
		delete(l.zones, o.Zone)
	}
}

// woken begins a pass, or looks at the zones: at the end of a pass, when its nodes have said what they found.
func (l *Lifecycle) woken(now time.Time, out *actors.Outbox) {
	if l.rules.Period > 0 && !l.passing.Equal(now) && l.onGrid(now).Equal(now) && len(l.waiting) > 0 {
		l.passing = now
		for _, name := range slices.Sorted(maps.Keys(l.waiting)) {
			out.TellNode(name, &messages.HealthPass{Period: l.rules.Period})
		}
		return
	}
	if l.changed && (l.rules.Period <= 0 || l.onGrid(now).Equal(now)) {
		l.changed = false
		l.assess(out)
	}
}

// next is when to wake: at the end of the pass of this instant, or at the next pass that has something to do.
func (l *Lifecycle) next(now time.Time) time.Time {
	switch {
	case l.rules.Period <= 0 && l.changed, l.changed && l.passing.Equal(now):
		return now
	case l.rules.Period <= 0 || !l.changed && len(l.waiting) == 0:
		return time.Time{}
	case l.passing.Equal(now):
		return l.onGrid(now.Add(time.Nanosecond))
	}
	return l.onGrid(now)
}

// onGrid is the first pass at or after an instant.
func (l *Lifecycle) onGrid(from time.Time) time.Time {
	rest := from.Sub(l.rules.Epoch) % l.rules.Period
	if rest == 0 {
		return from
	}
	return from.Add(l.rules.Period - rest)
}

// assess finds the state of each zone, sets its rate where that changed, and tells all nodes where all zones are disrupted, or no longer.
func (l *Lifecycle) assess(out *actors.Outbox) {
	seen := make([]nodelife.Seen, 0, len(l.zones))
	for _, name := range slices.Sorted(maps.Keys(l.zones)) {
		z := l.zones[name]
		if z.Size() > 0 {
			seen = append(seen, nodelife.Seen{Zone: nodelife.Zone{Name: string(name)}, Before: z.state, Count: z.Count})
		}
	}
	d := nodelife.Assess(seen, l.rules.Limits)
	for _, v := range d.Zones {
		name := messages.ZoneName(v.Zone.Name)
		z := l.zones[name]
		rate := v.Rate
		if v.Changed {
			if !v.Limited {
				rate = l.rules.Limits.RateOf(v.State, z.Size())
			}
			out.Record(&messages.ZoneStateChanged{Zone: name, State: v.State.String(), Ready: z.Ready, NotReady: z.NotReady, Rate: rate})
			z.state = v.State
		}
		if v.Limited {
			out.TellZone(name, &messages.ZoneRateSet{Rate: rate})
		}
	}
	if d.Entered || d.Left {
		out.Record(&messages.DisruptionChanged{Full: d.Entered})
		for _, name := range slices.Sorted(maps.Keys(l.nodes)) {
			out.TellNode(name, &messages.NodesDisrupted{Over: d.Left})
		}
	}
}
