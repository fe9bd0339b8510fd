package nodeinvariant

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/runtime/fleet/journal"
)

// boundTolerate asks of the pods that were bound in this instant whether they tolerate what their node had all through it: the scheduler decides
// within the instant, before or after what else happens in it.
func (m *Monitor) boundTolerate(now time.Time, news []journal.Entry) {
	for i := range news {
		f, is := news[i].Fact.(*messages.PodBound)
		if !is {
			continue
		}
		n, p := m.census.nodes[f.Node], m.census.pods[f.Pod]
		if n == nil || n.object == nil || p == nil || p.object == nil {
			continue
		}
		before := n.before
		if !m.instant.nodes[f.Node] {
			before = n.object
		}
		if before == nil || p.isNew && m.instant.applied["pod/"+messages.OwnerName(f.Pod)] {
			continue
		}
		for j := range n.object.Spec.Taints {
			t := &n.object.Spec.Taints[j]
			existed := slices.ContainsFunc(before.Spec.Taints, func(b corev1.Taint) bool { return b.MatchTaint(t) && b.Value == t.Value }) &&
				!slices.ContainsFunc(m.instant.added[f.Node], func(b corev1.Taint) bool { return b.MatchTaint(t) })
			m.check(now, BoundTolerates, !existed || m.tolerates(p.object, t), ofPod(f.Pod), "it is bound to %s, and does not tolerate %s:%s", f.Node, t.Key, t.Effect)
		}
		cordoned := before.Spec.Unschedulable && n.object.Spec.Unschedulable
		m.check(now, BoundTolerates, !cordoned || m.tolerates(p.object, unschedulable), ofPod(f.Pod), "it is bound to %s, which is cordoned", f.Node)
	}
}

var unschedulable = &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

// tolerates reports whether a taint keeps a pod off no node.
func (m *Monitor) tolerates(o *corev1.Pod, t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectPreferNoSchedule || slices.ContainsFunc(o.Spec.Tolerations, func(l corev1.Toleration) bool {
		return taint.Tolerates(&l, t, m.settings.NumericTolerations)
	})
}

// noneWaits looks for a node for the pods that are pending: any, for those that are new, and those that changed, or that pods have left, for others. Pods of
// one owner are looked at together. Those that are spread, or keep to other pods, may have to wait for these.
func (m *Monitor) noneWaits(now time.Time, nodes []messages.NodeName) {
	if len(m.census.pending) == 0 {
		return
	}
	for _, name := range nodes {
		m.instant.left[name] = true
	}
	nodes = slices.Sorted(maps.Keys(m.instant.left))
	all := []messages.NodeName(nil)
	looked := map[messages.OwnerName]bool{}
	for _, p := range m.pending() {
		o := p.object
		if p.owner != "" && looked[p.owner] && !p.isNew || len(o.Spec.SchedulingGates) > 0 || keepsToOthers(&o.Spec) {
			continue
		}
		among := nodes
		if p.isNew {
			if all == nil {
				all = slices.Sorted(maps.Keys(m.census.nodes))
			}
			among = all
			if p.owner != "" && looked[p.owner+" new"] {
				continue
			}
			looked[p.owner+" new"] = true
		}
		looked[p.owner] = true
		asks, uses := nodeaffinity.GetRequiredNodeAffinity(o), usesOf(o)
		for _, name := range among {
			if n := m.census.nodes[name]; n.object != nil && m.takes(now, n, o, &asks, uses) {
				m.check(now, NoneWaits, false, ofPod(p.name), "it is pending, and %s can take it", name)
				break
			}
		}
	}
}

// pending are the pods that wait for a node, by name.
func (m *Monitor) pending() []*pod {
	names := map[messages.PodName]*pod{}
	for p := range m.census.pending { // order-free: they are sorted
		names[p.name] = p
	}
	pods := make([]*pod, 0, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		pods = append(pods, names[name])
	}
	return pods
}

// keepsToOthers reports whether where a pod may run depends on other pods.
func keepsToOthers(s *corev1.PodSpec) bool {
	if a := s.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return true
	}
	return slices.ContainsFunc(s.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable != corev1.ScheduleAnyway
	})
}

// takes reports whether a node can take a pod. With exact deadlines, one that it would have to leave immediately cannot.
func (m *Monitor) takes(now time.Time, n *node, o *corev1.Pod, asks *nodeaffinity.RequiredNodeAffinity, uses []use) bool {
	if n.object.Spec.Unschedulable && !m.tolerates(o, unschedulable) {
		return false
	}
	for i := range n.object.Spec.Taints {
		t := &n.object.Spec.Taints[i]
		if !m.tolerates(o, t) {
			return false
		}
		if until, ends := m.toleratedUntil(t, o.Spec.Tolerations); m.exact() && t.Effect == corev1.TaintEffectNoExecute && ends && !until.After(now) {
			return false
		}
	}
	if fits, err := asks.Match(n.object); err != nil || !fits {
		return false
	}
	for _, u := range uses {
		has := n.object.Status.Allocatable[u.of]
		if *n.usedOf(u.of)+u.milli > has.MilliValue() {
			return false
		}
	}
	return true
}

// replaced asks whether Deployments and ReplicaSets have as many pods as before, or as they must have. People may have changed that in this instant.
func (m *Monitor) replaced(now time.Time) {
	for _, name := range slices.Sorted(maps.Keys(m.instant.owners)) {
		o := m.census.owners[name]
		before := o.before
		o.before = o.lives
		replicas, known := m.objects.Replicas(name)
		if !known || m.instant.applied[name] || m.settings.PodTolerationRestriction {
			continue
		}
		m.check(now, Replaced, o.lives >= min(before, replicas-m.objects.Fewer(name)), Place{Owner: name, Pod: m.instant.owners[name]}, "it had %d pods, has %d and must have %d", before, o.lives, replicas)
	}
}
