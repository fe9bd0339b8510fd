package apiserver

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// outOfService reports whether a node has the taint that says that it will not come back, and is not Ready.
func outOfService(o *corev1.Node) bool {
	return nodelife.Ready(o.Status.Conditions) != corev1.ConditionTrue &&
		slices.ContainsFunc(o.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })
}

// strandedBy is why no kubelet ends a pod.
func (s *Server) strandedBy(p *pod) messages.GarbageCause {
	if p.node() == "" || p.removed {
		return ""
	}
	switch n := s.nodes[p.node()]; {
	case n == nil:
		return messages.NodeMissing
	case p.terminating() && outOfService(n.object):
		return messages.NodeOutOfService
	}
	return ""
}

// notifyStranded tells the pod garbage collector of the pods that are stranded now, or no longer: those that changed, those of nodes that came or
// went, and those of nodes that are now out of service, or no longer.
func (s *Server) notifyStranded(c *changes, out *actors.Outbox) {
	var told []*pod
	look := func(p *pod) {
		if cause := s.strandedBy(p); cause != p.stranded {
			p.stranded, told = cause, append(told, p)
		}
	}
	for _, p := range c.pods {
		look(p)
	}
	for name := range c.gone { // order-free: a set
		for _, p := range s.bound(name).byName() {
			look(p)
		}
	}
	for name := range c.nodes { // order-free: a set
		n := s.nodes[name]
		lost := outOfService(n.object)
		if lost == n.lost && !c.registered[name] {
			continue
		}
		n.lost = lost
		for _, p := range n.pods.all {
			look(p)
		}
	}
	slices.SortFunc(told, func(a, b *pod) int { return strings.Compare(string(a.name), string(b.name)) })
	for _, p := range told {
		out.TellPodGC(&messages.PodStranded{Pod: p.name, UID: p.object.UID, Node: p.node(), Cause: p.stranded})
	}
}

// notifyStrandedGone tells the pod garbage collector of a pod that does not exist any more.
func (s *Server) notifyStrandedGone(p *pod, out *actors.Outbox) {
	if p.stranded != "" {
		out.TellPodGC(&messages.PodStranded{Pod: p.name, UID: p.object.UID, Node: p.node()})
	}
}

// garbage is the reason of the condition of a pod whose node does not exist any more.
const garbage = "DeletionByPodGC"

// collectPod removes a pod that no kubelet ends. Only one whose node is missing gets a condition, as in Kubernetes.
func (s *Server) collectPod(now time.Time, m *messages.CollectPod, out *actors.Outbox) {
	p := s.find(m.Pod, m.UID)
	if p == nil || s.strandedBy(p) != m.Cause {
		return
	}
	if m.Cause == messages.NodeMissing {
		s.markDisrupted(now, &messages.MarkDisrupted{Pod: m.Pod, UID: m.UID, Reason: garbage, Message: "PodGC: " + string(m.Cause)})
	}
	if !p.finished() {
		s.setPhase(now, p, corev1.PodFailed, false, "pod GC: "+string(m.Cause), out)
	}
	s.deletePod(now, &messages.DeletePod{Pod: m.Pod, UID: m.UID, GracePeriodSeconds: new(int64), Cause: "pod GC: " + string(m.Cause)}, out)
}
