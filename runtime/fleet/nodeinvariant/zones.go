package nodeinvariant

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// zones counts the nodes of each zone, and what its rate permits.
type zones struct {
	of     map[messages.ZoneName]*zone
	limits nodelife.Limits
	// passes: zones are assessed in passes, and the rate at an instant is not known.
	passes bool
	// full is set while every zone is fully disrupted, was as it was in the instant before.
	full, was bool
}

// zone is how many of its nodes are Ready and not, and how many may be tainted now: at most one.
type zone struct {
	count  nodelife.Count
	tokens float64
	since  time.Time
	// rate is what holds since then, before what held before that.
	rate, before float64
}

func newZones(s *messages.Settings) zones {
	return zones{of: map[messages.ZoneName]*zone{}, passes: s.NodeMonitorPeriod > 0, limits: nodelife.Limits{
		Rate: s.NodeEvictionRate, SecondaryRate: s.SecondaryNodeEvictionRate, LargeCluster: s.LargeClusterSizeThreshold, Threshold: float32(s.UnhealthyZoneThreshold),
	}}
}

func (z *zones) named(o *corev1.Node) *zone {
	name := messages.ZoneName(nodelife.ZoneOf(o.Labels).String())
	if z.of[name] == nil {
		z.of[name] = &zone{tokens: 1}
	}
	return z.of[name]
}

// count adds a node to the counts of its zone, or takes it out of them. A zone may have no node that counts.
func (z *zones) count(o *corev1.Node, by int) {
	if o == nil {
		return
	}
	c := &z.named(o).count
	switch {
	case !nodelife.Counted(o.Labels):
	case nodelife.Ready(o.Status.Conditions) == corev1.ConditionTrue:
		c.Ready += by
	default:
		c.NotReady += by
	}
}

// assess finds out whether every zone is fully disrupted.
func (z *zones) assess() {
	some := false
	z.full = true
	for _, at := range z.of { // order-free: all
		if at.count.Size() > 0 {
			some, z.full = true, z.full && at.count.Ready == 0
		}
	}
	z.full = z.full && some
}

// rateOf is how many nodes of a zone may be tainted in a second.
func (z *zones) rateOf(at *zone) float64 {
	switch {
	case z.passes:
		return max(z.limits.Rate, z.limits.SecondaryRate)
	case z.full && at.count.Size() > 0: // the limiter of a zone without a node that counts is not set
		return 0
	}
	return z.limits.RateOf(nodelife.StateOf(at.count, z.limits.Threshold), at.count.Size())
}

// rounding is what sums of floating-point numbers may be off.
const rounding = 1e-6

// zonesKept asks whether nodes were tainted as fast as may be, and not while every zone is disrupted.
func (m *Monitor) zonesKept(now time.Time, nodes []messages.NodeName) {
	m.zones.assess()
	for _, z := range m.zones.of { // order-free: each for itself
		if z.tokens = min(1, z.tokens+z.rate*now.Sub(z.since).Seconds()); m.instant.restarted && m.passes() {
			z.tokens = 1
		}
		z.since = now
		z.before, z.rate = z.rate, m.zones.rateOf(z)
	}
	for _, f := range m.instant.tainting {
		m.ratesKept(now, f)
	}
	if !m.passes() && m.zones.full && !m.down {
		m.noneTainted(now, nodes)
	}
}

// ratesKept takes a token for a failure taint. One that takes the place of the other one needs none.
func (m *Monitor) ratesKept(now time.Time, f *messages.NodeTaintAdded) {
	n := m.census.nodes[f.Node]
	if n.object == nil || m.instant.relabelled[f.Node] || failed(n.before) || len(m.instant.added[f.Node]) > 1 && m.bothAdded(f.Node) {
		return
	}
	z := m.zones.named(n.object)
	stopped := z.before == 0 && z.rate == 0 && m.settings.NodeEvictionRate > 0
	m.check(now, RatesKept, !stopped && z.tokens >= 1-rounding, ofNode(f.Node), "its zone %s permits %g nodes a second, and %s comes too early",
		nodelife.ZoneOf(n.object.Labels), z.rate, f.Taint.Key)
	z.tokens--
}

// bothAdded reports whether a node got more than one failure taint in this instant.
func (m *Monitor) bothAdded(name messages.NodeName) bool {
	found := 0
	for i := range m.instant.added[name] {
		if failureTaint(&m.instant.added[name][i]) {
			found++
		}
	}
	return found > 1
}

// failed reports whether a node has a failure taint.
func failed(o *corev1.Node) bool {
	return o != nil && slices.ContainsFunc(o.Spec.Taints, func(t corev1.Taint) bool { return failureTaint(&t) })
}

// noneTainted asks, when disruption begins, all nodes, and then those that changed, for failure taints that people did not write.
func (m *Monitor) noneTainted(now time.Time, nodes []messages.NodeName) {
	if !m.zones.was {
		nodes = slices.Sorted(maps.Keys(m.census.nodes))
	}
	for _, name := range nodes {
		n := m.census.nodes[name]
		if n.object == nil {
			continue
		}
		for i := range n.object.Spec.Taints {
			t := &n.object.Spec.Taints[i]
			m.check(now, NoneWhileDisrupted, !failureTaint(t) || n.byHand[t.Key], ofNode(name), "it has the taint %s", t.Key)
		}
	}
}

// asks are the keys of NoSchedule taints by the condition and the status that ask for each.
var asks = []struct {
	of     corev1.NodeConditionType
	status corev1.ConditionStatus
	key    string
}{
	{corev1.NodeReady, corev1.ConditionFalse, corev1.TaintNodeNotReady},
	{corev1.NodeReady, corev1.ConditionUnknown, corev1.TaintNodeUnreachable},
	{corev1.NodeMemoryPressure, corev1.ConditionTrue, corev1.TaintNodeMemoryPressure},
	{corev1.NodeDiskPressure, corev1.ConditionTrue, corev1.TaintNodeDiskPressure},
	{corev1.NodePIDPressure, corev1.ConditionTrue, corev1.TaintNodePIDPressure},
	{corev1.NodeNetworkUnavailable, corev1.ConditionTrue, corev1.TaintNodeNetworkUnavailable},
}

// taintsFollow compares the taints of a node with its conditions.
func (m *Monitor) taintsFollow(now time.Time, name messages.NodeName) {
	o := m.census.nodes[name].object
	if o == nil {
		return
	}
	for _, a := range asks {
		asked := slices.ContainsFunc(o.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == a.of && c.Status == a.status })
		m.check(now, TaintsFollow, has(o, a.key) == asked, ofNode(name), "%s=%s is %t, and the taint %s:NoSchedule is not", a.of, a.status, asked, a.key)
	}
	cordoned := o.Spec.Unschedulable
	m.check(now, TaintsFollow, has(o, corev1.TaintNodeUnschedulable) == cordoned, ofNode(name), "unschedulable is %t, and its taint is not", cordoned)
	ready := slices.ContainsFunc(o.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	m.check(now, TaintsFollow, m.passes() || !ready || !failed(o), ofNode(name), "it is Ready and has a failure taint")
}

// has reports whether a node has a NoSchedule taint.
func has(o *corev1.Node, key string) bool {
	return slices.ContainsFunc(o.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key && t.Effect == corev1.TaintEffectNoSchedule })
}
