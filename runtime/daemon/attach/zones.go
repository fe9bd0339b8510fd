package attach

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// zones let evictions begin node by node in each zone, as fast as Kubernetes taints nodes that fail, and stop them where too many nodes of a
// zone are ill. A node whose evictions have begun is evicted to its end. It does no I/O and reads no clock.
type zones struct {
	limits nodelife.Limits
	hear   func(messages.Fact)
	nodes  map[messages.NodeName]zoned
	of     map[nodelife.Zone]*zone
	// changed is set where the counts of zones must be looked at again.
	changed bool
	// held are the evictions of each node that wait for its turn, queue are those nodes in the order in which they came.
	held  map[messages.NodeName][]*messages.RequestAsked
	queue []messages.NodeName
	begun map[messages.NodeName]bool
}

// zoned is a node in its zone.
type zoned struct {
	zone         nodelife.Zone
	ill, counted bool
}

type zone struct {
	state   nodelife.State
	limiter nodelife.Limiter
}

func newZones(s *messages.Settings, hear func(messages.Fact)) *zones {
	return &zones{
		limits: nodelife.Limits{
			Rate: s.NodeEvictionRate, SecondaryRate: s.SecondaryNodeEvictionRate, LargeCluster: s.LargeClusterSizeThreshold, Threshold: float32(s.UnhealthyZoneThreshold),
		},
		hear: hear, nodes: map[messages.NodeName]zoned{}, of: map[nodelife.Zone]*zone{},
		held: map[messages.NodeName][]*messages.RequestAsked{}, begun: map[messages.NodeName]bool{},
	}
}

// see takes in a node as it is; nil: it is gone. One is ill that is not Ready, or has a NoExecute taint.
func (z *zones) see(name messages.NodeName, n *corev1.Node) {
	if z == nil {
		return
	}
	was, is := z.nodes[name], zoned{}
	if n == nil {
		delete(z.nodes, name)
	} else {
		ready := nodelife.Ready(n.Status.Conditions)
		is = zoned{nodelife.ZoneOf(n.Labels), len(n.Spec.Taints) > 0 || ready != "" && ready != corev1.ConditionTrue, nodelife.Counted(n.Labels)}
		z.nodes[name] = is
	}
	z.changed = z.changed || was != is || len(z.of) == 0
}

// begins notes a node whose evictions have begun before.
func (z *zones) begins(name messages.NodeName) {
	if z != nil {
		z.begun[name] = true
	}
}

// ends notes that nothing evicts from a node any more.
func (z *zones) ends(name messages.NodeName) {
	if z == nil {
		return
	}
	delete(z.begun, name)
	delete(z.held, name)
	z.queue = slices.DeleteFunc(z.queue, func(n messages.NodeName) bool { return n == name })
}

// allows reports whether an eviction may go on now. Else it is kept until its node's turn comes.
func (z *zones) allows(name messages.NodeName, m *messages.RequestAsked) bool {
	if z == nil || z.begun[name] {
		return true
	}
	if len(z.held[name]) == 0 {
		z.queue = append(z.queue, name)
	}
	z.held[name] = append(z.held[name], m)
	return false
}

// withdraw drops the evictions of a pod up to an attempt.
func (z *zones) withdraw(name messages.NodeName, pod messages.PodName, attempt int) {
	if z == nil || len(z.held[name]) == 0 {
		return
	}
	rest := slices.DeleteFunc(z.held[name], func(m *messages.RequestAsked) bool { return m.Pod == pod && m.Attempt <= attempt })
	if z.held[name] = rest; len(rest) == 0 {
		z.ends(name)
	}
}

// due takes the evictions that may begin now.
func (z *zones) due(now time.Time) (all []*messages.RequestAsked) {
	if z == nil {
		return nil
	}
	if z.changed {
		z.changed = false
		z.assess(now)
	}
	z.queue = slices.DeleteFunc(z.queue, func(name messages.NodeName) bool {
		at := z.limiterOf(name)
		limiter, taken := at.limiter.Take(now)
		if !taken {
			return false
		}
		at.limiter, z.begun[name] = limiter, true
		all = append(all, z.held[name]...)
		delete(z.held, name)
		return true
	})
	return all
}

func (z *zones) limiterOf(name messages.NodeName) *zone {
	of := z.nodes[name].zone
	if z.of[of] == nil {
		z.of[of] = &zone{limiter: nodelife.NewLimiter(z.limits.Rate)}
	}
	return z.of[of]
}

// assess sets the rates of all zones by the counts of their nodes.
func (z *zones) assess(now time.Time) {
	counts := map[nodelife.Zone]nodelife.Count{}
	for _, n := range z.nodes { // order-free: they are counted
		c := counts[n.zone]
		switch {
		case !n.counted:
		case n.ill:
			c.NotReady++
		default:
			c.Ready++
		}
		counts[n.zone] = c
	}
	var seen []nodelife.Seen
	for _, of := range slices.SortedFunc(maps.Keys(counts), nodelife.Zone.Compare) {
		if z.of[of] == nil {
			z.of[of] = &zone{limiter: nodelife.NewLimiter(z.limits.Rate)}
		}
		if counts[of].Size() > 0 {
			seen = append(seen, nodelife.Seen{Zone: of, Before: z.of[of].state, Count: counts[of]})
		}
	}
	for _, v := range nodelife.Assess(seen, z.limits).Zones {
		at := z.of[v.Zone]
		if v.Limited {
			at.limiter = at.limiter.Swap(v.Rate, now, false)
		}
		if v.Changed && (at.state != nodelife.Initial || v.State != nodelife.Normal) {
			z.hear(&messages.ZoneStateChanged{
				Zone: messages.ZoneName(v.Zone.String()), State: v.State.String(), Ready: counts[v.Zone].Ready, NotReady: counts[v.Zone].NotReady, Rate: v.Rate,
			})
		}
		at.state = v.State
	}
}

// next is when evictions may begin by themselves.
func (z *zones) next(now time.Time) (next time.Time, found bool) {
	if z == nil {
		return time.Time{}, false
	}
	if z.changed {
		return now, true
	}
	for _, name := range z.queue {
		if at, ever := z.limiterOf(name).limiter.FreeAt(); ever && (!found || at.Before(next)) {
			next, found = at, true
		}
	}
	return next, found
}

// waiting is how many evictions wait for the turn of their nodes.
func (z *zones) waiting() (n int) {
	if z != nil {
		for _, all := range z.held { // order-free: a sum
			n += len(all)
		}
	}
	return n
}

// labelsOf are those that say in which zone a node is, and whether it counts there.
func labelsOf(n *corev1.Node) map[string]string {
	kept := map[string]string{}
	for _, key := range []string{
		corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion, nodelife.LabelExcludeDisruption,
	} {
		if value, is := n.Labels[key]; is {
			kept[key] = value
		}
	}
	return kept
}
