package kubelet

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/messages"
)

// ByKubelet is who reports the conditions that a kubelet observes.
const ByKubelet = "kubelet"

// healthy is what a kubelet reports that was told nothing else, in the order of reports. The words are those of a real one.
var healthy = []corev1.NodeCondition{
	{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"},
	{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
	{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
	{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
}

// observed takes over conditions; of each type the last holds.
func (k *Kubelet) observed(conditions []corev1.NodeCondition) {
	k.stale = true
	for _, c := range conditions {
		k.words[c.Type], k.unsaid[c.Type] = c, true
	}
}

// report reports the conditions that it was told of. A kubelet that has returned reports all, for the controllers may have made them Unknown.
// When its node becomes Ready, its running pods are ready again, of which the controllers have said that they are not.
func (k *Kubelet) report(returned bool, out *actors.Outbox) {
	if returned {
		for _, c := range healthy {
			if _, told := k.words[c.Type]; !told {
				k.words[c.Type] = c
			}
		}
		for of := range k.words { // order-free: a set
			k.unsaid[of] = true
		}
	}
	if len(k.unsaid) == 0 {
		return
	}
	conditions := make([]corev1.NodeCondition, 0, len(k.unsaid))
	for of := range k.unsaid { // order-free: they are sorted
		conditions = append(conditions, k.words[of])
	}
	slices.SortFunc(conditions, func(a, b corev1.NodeCondition) int {
		return cmp.Or(cmp.Compare(rank(a.Type), rank(b.Type)), cmp.Compare(a.Type, b.Type))
	})
	out.TellAPIServer(&messages.ReportNode{Node: k.name, Conditions: conditions, By: ByKubelet})
	if k.unsaid[corev1.NodeReady] {
		before := k.notReady || returned
		k.notReady = k.words[corev1.NodeReady].Status != corev1.ConditionTrue
		if before && !k.notReady {
			k.reportPods(out)
		}
	}
	clear(k.unsaid)
}

// rank is the place of a condition in a report; those that are not the kubelet's own come last.
func rank(of corev1.NodeConditionType) int {
	i := slices.IndexFunc(healthy, func(c corev1.NodeCondition) bool { return c.Type == of })
	if i < 0 {
		return len(healthy)
	}
	return i
}
