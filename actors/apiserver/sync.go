package apiserver

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/actors"
	"leeward/actors/rules/disruption"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// Edits are the objects that were changed or created here, and those that were removed, as they were last. What was only synced may be
// among them.
type Edits struct {
	Nodes       map[messages.NodeName]bool
	Pods        map[messages.PodName]bool
	Budgets     map[messages.PodBudgetName]bool
	RemovedPods map[messages.PodName]*corev1.Pod
}

// NewEdits returns none.
func NewEdits() *Edits {
	return &Edits{
		Nodes: map[messages.NodeName]bool{}, Pods: map[messages.PodName]bool{}, Budgets: map[messages.PodBudgetName]bool{},
		RemovedPods: map[messages.PodName]*corev1.Pod{},
	}
}

func (e *Edits) node(name messages.NodeName) {
	if e != nil {
		e.Nodes[name] = true
	}
}

func (e *Edits) pod(name messages.PodName) {
	if e != nil {
		e.Pods[name] = true
	}
}

func (e *Edits) removed(name messages.PodName, last *corev1.Pod) {
	if e != nil {
		delete(e.Pods, name)
		e.RemovedPods[name] = last
	}
}

func (e *Edits) budget(name messages.PodBudgetName) {
	if e != nil {
		e.Budgets[name] = true
	}
}

// TakeEdits returns what was edited since the last call; nil where no other API server is followed.
func (s *Server) TakeEdits() *Edits {
	e := s.edits
	if e != nil {
		s.edits = NewEdits()
	}
	return e
}

// syncNode takes over a node as the other server stores it. One with another UID is another node.
func (s *Server) syncNode(now time.Time, m *messages.NodeSynced, out *actors.Outbox) {
	n := s.nodes[m.Node]
	if n != nil && (m.Object == nil || n.object.UID != m.Object.UID) {
		s.deleteNode(&messages.DeleteNode{Node: m.Node, Cause: ByUser}, out)
		n = nil
	}
	switch {
	case m.Object == nil:
		return
	case n == nil:
		o := *m.Object
		s.register(now, &o, true, "", out)
		return
	}
	before := n.object
	o := s.edit(n)
	*o = *m.Object
	o.Labels, o.Spec.Unschedulable, o.Spec.Taints = before.Labels, before.Spec.Unschedulable, before.Spec.Taints
	s.relabel(m.Node, o, m.Object.Labels, out)
	s.cordon(m.Node, o, m.Object.Spec.Unschedulable, out)
	s.retaint(m.Node, o, s.stamped(now, m.Object.Spec.Taints, before.Spec.Taints), ByUser, out)
	recordConditions(m.Node, before.Status.Conditions, o.Status.Conditions, out)
	if nodelife.Ready(before.Status.Conditions) == corev1.ConditionTrue && nodelife.Ready(o.Status.Conditions) != corev1.ConditionTrue {
		s.unready(now, n, out)
	}
	s.changes.node(m.Node)
}

// recordConditions tells which conditions a kubelet has changed.
func recordConditions(name messages.NodeName, before, conditions []corev1.NodeCondition, out *actors.Outbox) {
	had := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	for i := range before {
		had[before[i].Type] = before[i].Status
	}
	for i := range conditions {
		if c := &conditions[i]; had[c.Type] != c.Status {
			out.Record(&messages.NodeConditionChanged{
				Node: name, Type: c.Type, Status: c.Status, Before: had[c.Type], Reason: c.Reason, Message: c.Message, By: "kubelet",
			})
		}
	}
}

// syncPod takes over a pod as the other server stores it. One with another UID is another pod.
func (s *Server) syncPod(now time.Time, m *messages.PodSynced, out *actors.Outbox) {
	p := s.pods[m.Pod]
	if p != nil && (m.Object == nil || p.object.UID != m.Object.UID) {
		s.removePod(p, out)
		if s.edits != nil {
			delete(s.edits.RemovedPods, m.Pod) // the other server has removed it
		}
		p = nil
	}
	switch {
	case m.Object == nil:
	case p == nil:
		o := *m.Object
		s.store(now, &pod{name: m.Pod, object: &o, spec: &o.Spec}, out)
	default:
		s.resyncPod(p, m.Object, out)
	}
}

// resyncPod takes over a newer version of a pod.
func (s *Server) resyncPod(p *pod, object *corev1.Pod, out *actors.Outbox) {
	before, wasReady := p.hold(), !p.readySince().IsZero()
	o := s.editPod(p)
	*o = *object
	p.spec, p.held = &o.Spec, true
	if !equality.Semantic.DeepEqual(before.Labels, o.Labels) || !equality.Semantic.DeepEqual(&before.Spec, &o.Spec) {
		p.request++ // what the scheduler answers to an older version is void
	}
	if before.Spec.NodeName == "" && p.node() != "" {
		if n := s.nodes[p.node()]; n != nil {
			n.pods.add(p)
			s.changes.bound(p)
		} else {
			s.orphan(p)
		}
		out.Record(&messages.PodBound{Pod: p.name, Node: p.node()})
	}
	if ready := !p.readySince().IsZero(); before.Status.Phase != o.Status.Phase || wasReady != ready {
		out.Record(&messages.PodPhaseChanged{Pod: p.name, Node: p.node(), Phase: o.Status.Phase, Ready: ready, Reason: o.Status.Reason})
	}
	if before.DeletionTimestamp == nil && p.terminating() {
		f := &messages.PodDeletionRequested{Pod: p.name, Node: p.node(), Cause: ByUser}
		if o.DeletionGracePeriodSeconds != nil {
			f.GracePeriodSeconds = *o.DeletionGracePeriodSeconds
		}
		out.Record(f)
	}
	s.protect(p)
	s.changes.pod(p)
}

// syncBudget takes over a PodDisruptionBudget as the other server stores it.
func (s *Server) syncBudget(m *messages.PodBudgetSynced) {
	before := s.budgets[m.Budget]
	if before != nil {
		s.dropBudget(before)
	}
	if m.Object == nil {
		s.changes.budgetGone = s.changes.budgetGone || before != nil
		return
	}
	selector, err := disruption.Selector(&m.Object.Spec)
	if err != nil {
		return // it was not admitted
	}
	o := *m.Object
	s.storeBudget(&budget{name: m.Budget, object: &o, selector: selector, told: true, problem: disruption.Stored(&o).Counts.Problem})
}
