package nodeinvariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
)

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
