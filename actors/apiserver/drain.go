package apiserver

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
)

// listPods tells the drain of a node which pods the node has, and from then on which of them are gone.
func (s *Server) listPods(m *messages.ListPods, out *actors.Outbox) {
	listed := &messages.PodsListed{}
	for _, name := range s.PodsOn(m.Node) {
		p := s.pods[name]
		p.drained = m.Node
		listed.Pods = append(listed.Pods, messages.ListedPod{Object: p.hold(), Orphan: p.orphaned()})
	}
	out.TellDrain(m.Node, listed)
}

// orphaned reports whether a pod is of a DaemonSet that does not exist.
func (p *pod) orphaned() bool {
	c := metav1.GetControllerOf(p.object)
	return c != nil && c.Kind == messages.KindNameDaemonSet && !strings.HasPrefix(string(p.owner), "daemonset/")
}
