package apiserver

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

// node is a stored node with the pods that are bound to it. Objects are replaced and never changed: others hold them.
type node struct {
	object *corev1.Node
	pods   *pods
	owner  messages.OwnerName
	// lost is whether it was out of service when it changed last.
	lost bool
}

// bound are the pods of a node, also of one that was deleted.
func (s *Server) bound(name messages.NodeName) *pods {
	if n := s.nodes[name]; n != nil {
		return n.pods
	}
	return s.orphans[name]
}

// edit returns a copy of a node's object that may be changed in its own fields.
func (s *Server) edit(n *node) *corev1.Node {
	o := *n.object
	n.object = &o
	s.edits.node(messages.NodeName(o.Name))
	return &o
}

// putNode creates a node, or takes over what a user says of it.
func (s *Server) putNode(now time.Time, m *messages.PutNode, out *actors.Outbox) {
	name := messages.NodeName(m.Object.Name)
	n := s.nodes[name]
	if n == nil {
		s.register(now, m.Object.DeepCopy(), m.Settled, "", out)
		return
	}
	before := n.object
	o := s.edit(n)
	o.Annotations = m.Object.Annotations
	o.Status.Allocatable, o.Status.Capacity = m.Object.Status.Allocatable, m.Object.Status.Capacity
	s.relabel(name, o, m.Object.Labels, out)
	s.cordon(name, o, m.Object.Spec.Unschedulable, out)
	s.retaint(name, o, s.stamped(now, m.Object.Spec.Taints, before.Spec.Taints), ByUser, out)
	s.changes.node(name)
}

// register makes a node.
func (s *Server) register(now time.Time, o *corev1.Node, settled bool, owner messages.OwnerName, out *actors.Outbox) {
	name := messages.NodeName(o.Name)
	if o.UID == "" {
		o.UID = identity(now, o.Name)
	}
	if o.CreationTimestamp.IsZero() {
		o.CreationTimestamp = metav1.Time{Time: now}
	}
	if !settled && s.rules.AdmitNode != nil {
		s.rules.AdmitNode(o)
	}
	o.Spec.Taints = s.stamped(now, o.Spec.Taints, nil)
	n := &node{object: o, pods: &pods{}, owner: owner}
	s.nodes[name] = n
	s.edits.node(name)
	s.changes.registered[name] = true
	if orphans := s.orphans[name]; orphans != nil {
		delete(s.orphans, name)
		n.pods = orphans
		for _, p := range n.pods.byName() {
			s.changes.bound(p)
		}
	}
	out.Record(&messages.NodeRegistered{
		Node: name, Zone: messages.ZoneName(nodelife.ZoneOf(o.Labels).String()), Taints: slices.Clone(o.Spec.Taints), Unschedulable: o.Spec.Unschedulable, Ready: nodelife.Ready(o.Status.Conditions),
	})
	s.changes.node(name)
	s.changes.noExecute(name)
}

// identity makes a UID of a name and an instant.
func identity(now time.Time, name string) types.UID {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, name, now.UnixNano())
	return types.UID(fmt.Sprintf("%016x", h.Sum64()))
}

// createNode has a machine register as a node; a name that is taken is not taken again.
func (s *Server) createNode(now time.Time, m *messages.CreateNode, out *actors.Outbox) {
	if s.nodes[m.Node] != nil {
		return
	}
	o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: string(m.Node), Labels: m.Labels}}
	o.Spec.Taints = slices.Clone(m.Taints)
	o.Status.Allocatable, o.Status.Capacity = m.Allocatable, m.Allocatable
	s.register(now, o, false, m.Owner, out)
}

// ownNode has the MachineSet of a node hear of it, or that there is none.
func (s *Server) ownNode(m *messages.OwnNode, out *actors.Outbox) {
	n := s.nodes[m.Node]
	if n == nil {
		out.TellOwner(m.Owner, &messages.NodeGone{Name: m.Node})
		return
	}
	n.owner = m.Owner
	s.changes.node(m.Node)
}

// deleteNode removes a node. Its pods stay bound to it.
func (s *Server) deleteNode(m *messages.DeleteNode, out *actors.Outbox) {
	n := s.nodes[m.Node]
	if n == nil {
		return
	}
	delete(s.nodes, m.Node)
	if !n.pods.none() {
		s.orphans[m.Node] = n.pods
	}
	out.Record(&messages.NodeDeleted{Node: m.Node, Cause: m.Cause})
	s.changes.nodeGone(m.Node, n)
}

// editNode changes a node as a user asks.
func (s *Server) editNode(now time.Time, m *messages.EditNode, out *actors.Outbox) {
	n := s.nodes[m.Node]
	if n == nil {
		return
	}
	o := s.edit(n)
	if m.Label != nil || m.Unlabel != nil {
		labels := maps.Clone(o.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, m.Label)
		for _, key := range m.Unlabel {
			delete(labels, key)
		}
		s.relabel(m.Node, o, labels, out)
	}
	if m.Unschedulable != nil {
		s.cordon(m.Node, o, *m.Unschedulable, out)
	}
	changes := taint.Changes{Add: m.Taint, Remove: m.Untaint}
	taints, _ := changes.Apply(o.Spec.Taints)
	s.retaint(m.Node, o, s.stamped(now, taints, o.Spec.Taints), cmp.Or(m.By, ByUser), out)
	s.changes.node(m.Node)
}

// stamped gives NoExecute taints that were not there before, or had another value, the present instant, if that is the rule.
func (s *Server) stamped(now time.Time, taints, before []corev1.Taint) []corev1.Taint {
	if !s.rules.StampTaints {
		return taints
	}
	taints = slices.Clone(taints)
	for i := range taints {
		t := &taints[i]
		if t.Effect != corev1.TaintEffectNoExecute || t.TimeAdded != nil {
			continue
		}
		if j := taint.Find(before, t.Key, t.Effect); j >= 0 && before[j].Value == t.Value && before[j].TimeAdded != nil {
			t.TimeAdded = before[j].TimeAdded
		} else {
			t.TimeAdded = &metav1.Time{Time: now}
		}
	}
	return taints
}

// retaint gives a node these taints, with a fact for each that is new or gone.
func (s *Server) retaint(name messages.NodeName, o *corev1.Node, taints []corev1.Taint, because string, out *actors.Outbox) {
	before := o.Spec.Taints
	o.Spec.Taints = taints
	for i := range taints {
		if j := taint.Find(before, taints[i].Key, taints[i].Effect); j < 0 || before[j].Value != taints[i].Value {
			out.Record(&messages.NodeTaintAdded{Node: name, Taint: taints[i], Because: because})
		}
	}
	for i := range before {
		if taint.Find(taints, before[i].Key, before[i].Effect) < 0 {
			out.Record(&messages.NodeTaintRemoved{Node: name, Taint: before[i], Because: because})
		}
	}
	if !equality.Semantic.DeepEqual(taint.Evicting(before), taint.Evicting(taints)) {
		s.changes.noExecute(name)
	}
}

// relabel gives a node these labels.
func (s *Server) relabel(name messages.NodeName, o *corev1.Node, labels map[string]string, out *actors.Outbox) {
	f := &messages.NodeLabelsChanged{Node: name, Set: map[string]string{}}
	for key, value := range labels { // order-free: a map
		if had, ok := o.Labels[key]; !ok || had != value {
			f.Set[key] = value
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
		if _, ok := labels[key]; !ok {
			f.Removed = append(f.Removed, key)
		}
	}
	o.Labels = labels
	if len(f.Set)+len(f.Removed) > 0 {
		out.Record(f)
	}
}

// cordon makes a node unschedulable, or schedulable again.
func (s *Server) cordon(name messages.NodeName, o *corev1.Node, unschedulable bool, out *actors.Outbox) {
	switch {
	case o.Spec.Unschedulable == unschedulable:
	case unschedulable:
		out.Record(&messages.NodeCordoned{Node: name})
	default:
		out.Record(&messages.NodeUncordoned{Node: name})
	}
	o.Spec.Unschedulable = unschedulable
}

// byKubelet is who reports conditions as a kubelet.
const byKubelet = "kubelet"

// reportNode takes over conditions of a node. When the lifecycle finds that it is no longer Ready, its pods are not; its kubelet reports them when it
// is. Of a node that its kubelet reports as not Ready the pods stay as they are.
func (s *Server) reportNode(now time.Time, m *messages.ReportNode, out *actors.Outbox) {
	n := s.nodes[m.Node]
	if n == nil {
		return
	}
	was := nodelife.Ready(n.object.Status.Conditions)
	o := s.edit(n)
	o.Status.Conditions = slices.Clone(o.Status.Conditions)
	for _, c := range m.Conditions {
		s.setCondition(now, o, c, m, out)
	}
	if m.By != byKubelet && was == corev1.ConditionTrue && nodelife.Ready(o.Status.Conditions) != corev1.ConditionTrue {
		s.unready(now, n, out)
	}
	s.changes.node(m.Node)
}

// setCondition gives a node one condition. A kubelet's report is a heartbeat, too.
func (s *Server) setCondition(now time.Time, o *corev1.Node, c corev1.NodeCondition, m *messages.ReportNode, out *actors.Outbox) {
	i := slices.IndexFunc(o.Status.Conditions, func(other corev1.NodeCondition) bool { return other.Type == c.Type })
	if i < 0 {
		i = len(o.Status.Conditions)
		o.Status.Conditions = append(o.Status.Conditions, corev1.NodeCondition{Type: c.Type})
	}
	had := &o.Status.Conditions[i]
	c.LastTransitionTime, c.LastHeartbeatTime = had.LastTransitionTime, had.LastHeartbeatTime
	if m.By == byKubelet {
		c.LastHeartbeatTime = metav1.Time{Time: now}
	}
	if had.Status != c.Status {
		c.LastTransitionTime = metav1.Time{Time: now}
		out.Record(&messages.NodeConditionChanged{Node: m.Node, Type: c.Type, Status: c.Status, Before: had.Status, Reason: c.Reason, Message: c.Message, By: m.By})
	}
	*had = c
}

// changeTaints adds and removes taints as the controller of the node asks.
func (s *Server) changeTaints(now time.Time, m *messages.ChangeTaints, out *actors.Outbox) {
	n := s.nodes[m.Node]
	if n == nil {
		return
	}
	o := s.edit(n)
	for i, t := range m.Add {
		if taint.Find(o.Spec.Taints, t.Key, t.Effect) < 0 {
			s.addTaint(now, m.Node, o, t, m.Because[i], out)
		}
	}
	for i, t := range m.Remove {
		if j := taint.Find(o.Spec.Taints, t.Key, t.Effect); j >= 0 {
			had := o.Spec.Taints[j]
			o.Spec.Taints, _ = taint.Remove(o.Spec.Taints, t.Key, t.Effect)
			out.Record(&messages.NodeTaintRemoved{Node: m.Node, Taint: had, Because: m.Because[len(m.Add)+i]})
			s.evictsOtherwise(m.Node, &had)
		}
	}
	s.changes.node(m.Node)
}

// addTaint gives a node a taint of its controller, with the time.
func (s *Server) addTaint(now time.Time, name messages.NodeName, o *corev1.Node, t corev1.Taint, because string, out *actors.Outbox) {
	t.TimeAdded = &metav1.Time{Time: now}
	o.Spec.Taints, _ = taint.Add(o.Spec.Taints, t)
	out.Record(&messages.NodeTaintAdded{Node: name, Taint: t, Because: because})
	s.evictsOtherwise(name, &t)
}

func (s *Server) evictsOtherwise(name messages.NodeName, t *corev1.Taint) {
	if t.Effect == corev1.TaintEffectNoExecute {
		s.changes.noExecute(name)
	}
}

// taintNode gives a node the NoExecute taint that its Ready condition asks for now.
func (s *Server) taintNode(now time.Time, m *messages.TaintNode, out *actors.Outbox) {
	n := s.nodes[m.Node]
	if n == nil {
		return
	}
	ready := nodelife.Ready(n.object.Status.Conditions)
	swap := nodelife.NoExecute(ready)
	if swap.Add == "" || taint.Find(n.object.Spec.Taints, swap.Add, swap.Effect) >= 0 {
		return
	}
	s.addTaint(now, m.Node, s.edit(n), corev1.Taint{Key: swap.Add, Effect: swap.Effect}, "Ready="+string(ready), out)
	s.changes.node(m.Node)
}

// view is a node as schedulers and owners see it.
func (n *node) view() *messages.NodeView {
	o := n.object
	return &messages.NodeView{
		Name: messages.NodeName(o.Name), Labels: o.Labels, Taints: o.Spec.Taints, Unschedulable: o.Spec.Unschedulable, Allocatable: o.Status.Allocatable,
	}
}

// pods are those of one node, in no order: each knows its place. Nil is of none.
type pods struct{ all []*pod }

func (s *pods) none() bool { return s == nil || len(s.all) == 0 }

func (s *pods) add(p *pod) {
	p.at = len(s.all)
	s.all = append(s.all, p)
}

// remove takes out a pod, if it is there.
func (s *pods) remove(p *pod) {
	if s == nil || p.at >= len(s.all) || s.all[p.at] != p {
		return
	}
	last := len(s.all) - 1
	s.all[p.at] = s.all[last]
	s.all[p.at].at = p.at
	s.all[last], s.all = nil, s.all[:last]
}

// byName are the pods in the order of their names.
func (s *pods) byName() []*pod {
	if s == nil {
		return nil
	}
	return slices.SortedFunc(slices.Values(s.all), func(a, b *pod) int { return strings.Compare(string(a.name), string(b.name)) })
}
