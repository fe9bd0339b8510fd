package apiserver

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors"
	"leeward/messages"
)

// pod is a stored pod.
type pod struct {
	name   messages.PodName
	object *corev1.Pod
	// held: others hold the object, or spec is part of it, so that it is replaced and not changed.
	held  bool
	owner messages.OwnerName
	// spec is shared by the pods of a template; peers selects those that it is spread with.
	spec  *corev1.PodSpec
	peers *metav1.LabelSelector
	// request counts the versions of what it asks of the scheduler.
	request uint64
	// ended: its kubelet has ended it, and only its finalizers keep it. removed: it is not stored any more.
	ended, removed bool
	// stranded is what the pod garbage collector was told of it.
	stranded messages.GarbageCause
	// budgets are the PodDisruptionBudgets that select it. waitsUnready: its taint eviction, which waits for one, does not while it is not
	// ready.
	budgets      []*budget
	waitsUnready bool
	// drained is the node whose drain hears when the pod is gone.
	drained messages.NodeName
	// changed and placed are set where it is in those lists of what an instant changed, edited where more has changed than its phase and
	// readiness.
	changed, edited, placed bool
	// at is its place among those of its node.
	at int
}

func (p *pod) node() messages.NodeName { return messages.NodeName(p.object.Spec.NodeName) }

func (p *pod) finished() bool {
	return p.object.Status.Phase == corev1.PodSucceeded || p.object.Status.Phase == corev1.PodFailed
}

func (p *pod) terminating() bool { return p.object.DeletionTimestamp != nil }

// editPod returns a pod's object, which may be changed in its own fields: a copy of what others hold.
func (s *Server) editPod(p *pod) *corev1.Pod {
	if p.held {
		o := *p.object
		p.object, p.held = &o, false
	}
	s.edits.pod(p.name)
	return p.object
}

// hold returns a pod's object for others to keep.
func (p *pod) hold() *corev1.Pod {
	p.held = true
	return p.object
}

// readySince is since when a pod is ready, zero if it is not.
func (p *pod) readySince() time.Time {
	for _, c := range p.object.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// find returns a pod, nil if there is none of that name, or one with another UID.
func (s *Server) find(name messages.PodName, uid types.UID) *pod {
	if p := s.pods[name]; p != nil && (uid == "" || p.object.UID == uid) {
		return p
	}
	return nil
}

// createPod makes a pod of a template.
func (s *Server) createPod(now time.Time, m *messages.CreatePod, out *actors.Outbox) {
	if s.pods[m.Pod] != nil {
		return
	}
	namespace, local := m.Pod.Split()
	o := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: local, UID: m.UID, Labels: m.Labels, OwnerReferences: []metav1.OwnerReference{m.Controller},
	}}
	spec, ok := s.admit(o, m)
	if !ok {
		return // its owner counts it as missing, and creates another when something changes
	}
	s.store(now, &pod{name: m.Pod, object: o, owner: m.Owner, spec: spec, peers: m.Peers}, out)
}

// admit completes the spec of a new pod, once for all pods of a template.
func (s *Server) admit(o *corev1.Pod, m *messages.CreatePod) (spec *corev1.PodSpec, ok bool) {
	if a := s.admitted[m.Owner]; a.asked == m.Spec {
		o.Spec = *a.spec
		return a.spec, true
	}
	o.Spec = *m.Spec
	if s.rules.AdmitPod != nil && s.rules.AdmitPod(o) != nil {
		return nil, false
	}
	shared := o.Spec
	s.admitted[m.Owner] = admitted{asked: m.Spec, spec: &shared}
	return &shared, true
}

// putPod makes a pod that a user, or a recording, has as it is; or edits one.
func (s *Server) putPod(now time.Time, m *messages.PutPod, out *actors.Outbox) {
	name := messages.NamePod(m.Object.Namespace, m.Object.Name)
	p := s.pods[name]
	if p == nil {
		o := m.Object.DeepCopy()
		if o.UID == "" {
			o.UID = identity(now, string(name))
		}
		s.store(now, &pod{name: name, object: o, owner: m.Owner, spec: &o.Spec}, out)
		return
	}
	o := s.editPod(p)
	o.Labels, o.Annotations, o.Finalizers = m.Object.Labels, m.Object.Annotations, m.Object.Finalizers
	o.Spec.Tolerations = m.Object.Spec.Tolerations
	p.spec, p.held = &o.Spec, true
	p.request++
	s.protect(p)
	s.changes.pod(p)
	if p.ended && len(o.Finalizers) == 0 {
		s.removePod(p, out)
	}
}

// store keeps a new pod.
func (s *Server) store(now time.Time, p *pod, out *actors.Outbox) {
	o := p.object
	o.Status.Phase = cmp.Or(o.Status.Phase, corev1.PodPending)
	if o.CreationTimestamp.IsZero() {
		o.CreationTimestamp = metav1.Time{Time: now}
	}
	s.pods[p.name] = p
	p.held = p.spec == &o.Spec
	s.edits.pod(p.name)
	if n := s.nodes[p.node()]; n != nil {
		n.pods.add(p)
		s.changes.bound(p)
	} else if p.node() != "" {
		s.orphan(p)
	}
	created := &messages.PodCreated{Pod: p.name, Owner: p.owner, Node: p.node(), Ready: !p.readySince().IsZero()}
	if o.Status.Phase != corev1.PodPending {
		created.Phase = o.Status.Phase
	}
	out.Record(created)
	s.protect(p)
	s.changes.pod(p)
}

// orphan keeps a pod for its node, which does not exist yet.
func (s *Server) orphan(p *pod) {
	of := s.orphans[p.node()]
	if of == nil {
		of = &pods{}
		s.orphans[p.node()] = of
	}
	of.add(p)
}

// bindPod binds a pending pod. Where the node is gone the pod asks again.
func (s *Server) bindPod(now time.Time, m *messages.BindPod, out *actors.Outbox) {
	p := s.pods[m.Pod]
	if p == nil || p.request != m.Request || p.node() != "" || p.terminating() {
		return
	}
	s.changes.pod(p)
	n := s.nodes[m.Node]
	if n == nil {
		p.request++
		return
	}
	o := s.editPod(p)
	o.Spec.NodeName = string(m.Node)
	setPodCondition(now, o, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	n.pods.add(p)
	s.changes.bound(p)
	out.Record(&messages.PodBound{Pod: m.Pod, Node: m.Node, Timed: m.Timed})
}

// markUnschedulable has a pending pod say why no node can take it.
func (s *Server) markUnschedulable(now time.Time, m *messages.MarkUnschedulable, out *actors.Outbox) {
	p := s.pods[m.Pod]
	if p == nil || p.request != m.Request || p.node() != "" || p.terminating() {
		return
	}
	setPodCondition(now, s.editPod(p), corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: m.Message,
	})
	out.Record(&messages.PodUnschedulable{Pod: m.Pod, Message: m.Message})
}

// podReported takes over the status that a kubelet reports.
func (s *Server) podReported(now time.Time, m *messages.PodReported, out *actors.Outbox) {
	p := s.find(m.Pod, m.UID)
	if p == nil || p.finished() {
		return
	}
	s.setPhase(now, p, m.Phase, m.Ready, "", out)
}

func (s *Server) setPhase(now time.Time, p *pod, phase corev1.PodPhase, ready bool, reason string, out *actors.Outbox) {
	if p.object.Status.Phase == phase && p.readySince().IsZero() != ready {
		return
	}
	o := s.editPod(p)
	o.Status.Phase = phase
	c := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: reason}
	if ready {
		c.Status = corev1.ConditionTrue
	}
	setPodCondition(now, o, c)
	out.Record(&messages.PodPhaseChanged{Pod: p.name, Node: p.node(), Phase: phase, Ready: ready, Reason: reason})
	if p.finished() {
		s.changes.pod(p)
	} else {
		s.changes.phase(p)
	}
}

// unready has no pod that runs on a node be ready.
func (s *Server) unready(now time.Time, n *node, out *actors.Outbox) {
	for _, p := range n.pods.byName() {
		if p.object.Status.Phase == corev1.PodRunning {
			s.setPhase(now, p, corev1.PodRunning, false, "NodeNotReady", out)
		}
	}
}

// markDisrupted gives a pod the condition of those that are evicted.
func (s *Server) markDisrupted(now time.Time, m *messages.MarkDisrupted) {
	if p := s.find(m.Pod, m.UID); p != nil {
		setPodCondition(now, s.editPod(p), corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: m.Reason, Message: m.Message,
		})
		s.changes.pod(p)
	}
}

// setPodCondition sets a condition in a list of its own.
func setPodCondition(now time.Time, o *corev1.Pod, c corev1.PodCondition) {
	before := o.Status.Conditions
	i := slices.IndexFunc(before, func(other corev1.PodCondition) bool { return other.Type == c.Type })
	if i < 0 {
		i = len(before)
	}
	conditions := make([]corev1.PodCondition, max(len(before), i+1))
	copy(conditions, before)
	c.LastTransitionTime = conditions[i].LastTransitionTime
	if conditions[i].Status != c.Status {
		c.LastTransitionTime = metav1.Time{Time: now}
	}
	conditions[i] = c
	o.Status.Conditions = conditions
}

// deletePod deletes a pod, at the end of its grace period. One without a node, or that has finished, needs none. A second deletion may only
// shorten the period; without one the pod ends, however long it has been due.
func (s *Server) deletePod(now time.Time, m *messages.DeletePod, out *actors.Outbox) {
	p := s.find(m.Pod, m.UID)
	if p == nil {
		return
	}
	grace := gracePeriod(p, m)
	until := metav1.Time{Time: now.Add(actors.Seconds(grace))}
	if p.terminating() && (p.ended || grace > 0 && !until.Before(p.object.DeletionTimestamp)) {
		return
	}
	first := !p.terminating()
	o := s.editPod(p)
	o.DeletionTimestamp, o.DeletionGracePeriodSeconds = &until, &grace
	if first && (m.Cause != "" || m.Eviction) {
		out.Record(&messages.PodDeletionRequested{Pod: p.name, Node: p.node(), GracePeriodSeconds: grace, Cause: m.Cause, Eviction: m.Eviction})
	}
	if p.drained != "" {
		out.TellDrain(p.drained, &messages.DrainedPodDeleted{Pod: p.name, UID: o.UID, At: until.Time})
	}
	s.changes.pod(p)
	if grace == 0 {
		s.end(p, out)
	} else {
		s.changes.bound(p)
	}
}

// gracePeriod is how many seconds a pod has to end once it is deleted; a negative period is one second.
func gracePeriod(p *pod, m *messages.DeletePod) int64 {
	period := int64(corev1.DefaultTerminationGracePeriodSeconds)
	switch own := p.object.Spec.TerminationGracePeriodSeconds; {
	case p.node() == "", p.finished():
		return 0
	case m.GracePeriodSeconds != nil:
		period = *m.GracePeriodSeconds
	case own != nil:
		period = *own
	}
	if period < 0 {
		return 1
	}
	return period
}

// podEnded removes a pod that its kubelet has ended.
func (s *Server) podEnded(m *messages.PodEnded, out *actors.Outbox) {
	if p := s.find(m.Pod, m.UID); p != nil && p.terminating() {
		s.end(p, out)
	}
}

// end removes a pod, unless finalizers keep it.
func (s *Server) end(p *pod, out *actors.Outbox) {
	if len(p.object.Finalizers) > 0 {
		p.ended = true
		return
	}
	s.removePod(p, out)
}

func (s *Server) removePod(p *pod, out *actors.Outbox) {
	delete(s.pods, p.name)
	p.removed = true
	s.edits.removed(p.name, p.hold())
	s.unprotect(p)
	if s.bound(p.node()).remove(p); s.orphans[p.node()].none() {
		delete(s.orphans, p.node())
	}
	out.Record(&messages.PodDeleted{Pod: p.name, Node: p.node()})
	s.changes.podGone(p)
}
