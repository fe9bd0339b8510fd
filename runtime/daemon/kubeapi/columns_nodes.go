package kubeapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The columns of nodes and pods. Source: kubernetes, pkg/printers/internalversion.

var nodeColumns = []column{
	shown("Status", nodeStatus),
	shown("Roles", nodeRoles),
	ageColumn,
	shown("Version", func(n *corev1.Node) any { return n.Status.NodeInfo.KubeletVersion }),
	wide(shown("Internal-IP", func(n *corev1.Node) any { return nodeAddress(n, corev1.NodeInternalIP) })),
	wide(shown("External-IP", func(n *corev1.Node) any { return nodeAddress(n, corev1.NodeExternalIP) })),
	wide(shown("OS-Image", func(n *corev1.Node) any { return cmp.Or(n.Status.NodeInfo.OSImage, "<unknown>") })),
	wide(shown("Kernel-Version", func(n *corev1.Node) any { return cmp.Or(n.Status.NodeInfo.KernelVersion, "<unknown>") })),
	wide(shown("Container-Runtime", func(n *corev1.Node) any { return cmp.Or(n.Status.NodeInfo.ContainerRuntimeVersion, "<unknown>") })),
}

var podBudgetColumns = []column{
	shown("Min Available", func(b *policyv1.PodDisruptionBudget) any { return orNA(b.Spec.MinAvailable) }),
	shown("Max Unavailable", func(b *policyv1.PodDisruptionBudget) any { return orNA(b.Spec.MaxUnavailable) }),
	shown("Allowed Disruptions", func(b *policyv1.PodDisruptionBudget) any { return b.Status.DisruptionsAllowed }),
	ageColumn,
}

func orNA(bound *intstr.IntOrString) string {
	if bound == nil {
		return "N/A"
	}
	return bound.String()
}

func nodeStatus(n *corev1.Node) any {
	word := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			word = "NotReady"
			if c.Status == corev1.ConditionTrue {
				word = "Ready"
			}
		}
	}
	if n.Spec.Unschedulable {
		word += ",SchedulingDisabled"
	}
	return word
}

// rolePrefix precedes the role of a node in the name of a label.
const rolePrefix = "node-role.kubernetes.io/"

func nodeRoles(n *corev1.Node) any {
	var roles []string
	for _, label := range slices.Sorted(maps.Keys(n.Labels)) {
		role, is := strings.CutPrefix(label, rolePrefix)
		if !is {
			role = ""
		}
		if label == "kubernetes.io/role" {
			role = n.Labels[label]
		}
		if role != "" && !slices.Contains(roles, role) {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return orNone(strings.Join(roles, ","))
}

func nodeAddress(n *corev1.Node, kind corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == kind {
			return a.Address
		}
	}
	return "<none>"
}

var podColumns = []column{
	shown("Ready", podReady),
	shown("Status", podStatus),
	shown("Restarts", func(p *corev1.Pod) any {
		restarts := int32(0)
		for i := range p.Status.ContainerStatuses {
			restarts += p.Status.ContainerStatuses[i].RestartCount
		}
		return fmt.Sprint(restarts)
	}),
	ageColumn,
	wide(shown("IP", func(p *corev1.Pod) any { return orNone(p.Status.PodIP) })),
	wide(shown("Node", func(p *corev1.Pod) any { return orNone(p.Spec.NodeName) })),
	wide(shown("Nominated Node", func(p *corev1.Pod) any { return orNone(p.Status.NominatedNodeName) })),
	wide(shown("Readiness Gates", readinessGates)),
}

func podReady(p *corev1.Pod) any {
	ready := 0
	for i := range p.Status.ContainerStatuses {
		if c := &p.Status.ContainerStatuses[i]; c.Ready && c.State.Running != nil {
			ready++
		}
	}
	return fmt.Sprintf("%d/%d", ready, len(p.Spec.Containers))
}

// podStatus is the phase of a pod, or what tells more: why it is where it is, what its containers wait for, that it ends.
func podStatus(p *corev1.Pod) any {
	word := string(p.Status.Phase)
	if p.Status.Reason != "" {
		word = p.Status.Reason
	}
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		switch state := &p.Status.ContainerStatuses[i].State; {
		case state.Waiting != nil && state.Waiting.Reason != "":
			word = state.Waiting.Reason
		case state.Terminated != nil && state.Terminated.Reason != "":
			word = state.Terminated.Reason
		}
	}
	switch finished := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed; {
	case p.DeletionTimestamp != nil && p.Status.Reason == "NodeLost":
		return "Unknown"
	case p.DeletionTimestamp != nil && !finished:
		return "Terminating"
	}
	return word
}

func readinessGates(p *corev1.Pod) any {
	met := 0
	for _, gate := range p.Spec.ReadinessGates {
		if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == gate.ConditionType && c.Status == corev1.ConditionTrue
		}) {
			met++
		}
	}
	if len(p.Spec.ReadinessGates) == 0 {
		return "<none>"
	}
	return fmt.Sprintf("%d/%d", met, len(p.Spec.ReadinessGates))
}
