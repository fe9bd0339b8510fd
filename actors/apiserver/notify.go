package apiserver

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

// changes are what the requests of an instant changed, for those whom it concerns.
type changes struct {
	nodes map[messages.NodeName]bool
	// tainted are the nodes whose NoExecute taints changed.
	tainted map[messages.NodeName]bool
	gone    map[messages.NodeName]*node
	// registered are the nodes that are new.
	registered map[messages.NodeName]bool
	// pods are those that changed, placed those that are new on their node, or are to end there: each once, as its marks say. What has ended since has
	// lost its marks.
	pods, placed []*pod
	ended        []*pod
	// budgets are those whose pods changed, or that are new; budgetGone: one is gone.
	budgets    map[messages.PodBudgetName]*budget
	budgetGone bool
	// newcomers are owners that are to hear of all nodes.
	newcomers []messages.OwnerName
}

func newChanges() changes {
	return changes{
		nodes: map[messages.NodeName]bool{}, tainted: map[messages.NodeName]bool{}, gone: map[messages.NodeName]*node{},
		registered: map[messages.NodeName]bool{}, budgets: map[messages.PodBudgetName]*budget{},
	}
}

func (c *changes) node(name messages.NodeName)      { c.nodes[name] = true }
func (c *changes) noExecute(name messages.NodeName) { c.tainted[name] = true }

func (c *changes) budget(b *budget) {
	b.stale = true
	c.budgets[b.name] = b
}

// pod takes down that any of a pod has changed, phase that only its phase and readiness have.
func (c *changes) pod(p *pod) {
	p.edited = true
	c.phase(p)
}

func (c *changes) phase(p *pod) {
	for _, b := range p.budgets {
		c.budget(b)
	}
	if !p.changed {
		p.changed = true
		c.pods = append(c.pods, p)
	}
}

func (c *changes) bound(p *pod) {
	if !p.placed {
		p.placed = true
		c.placed = append(c.placed, p)
	}
}

func (c *changes) nodeGone(name messages.NodeName, n *node) {
	c.gone[name] = n
	delete(c.nodes, name)
	delete(c.tainted, name)
}

func (c *changes) podGone(p *pod) {
	c.ended = append(c.ended, p)
	p.changed, p.edited, p.placed = false, false, false
}

// notify tells of all that changed: what ended first, then nodes, then pods, each by name.
func (s *Server) notify(now time.Time, out *actors.Outbox) {
	c := s.changes
	s.changes = newChanges()
	s.notifyBudgets(now, &c, out)
	s.notifyEnded(c.ended, out)
	var owners []messages.OwnerName // that hear of every node
	if len(c.gone)+len(c.nodes) > 0 {
		owners = slices.Sorted(maps.Keys(s.watching))
	}
	for _, name := range slices.Sorted(maps.Keys(c.gone)) {
		s.notifyGone(name, c.gone[name], owners, out)
	}
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		s.notifyNode(name, owners, out)
	}
	for _, owner := range c.newcomers {
		s.notifyNewcomer(owner, c.nodes, out)
	}
	c.pods = byName(c.pods, func(p *pod) *bool { return &p.changed })
	for _, p := range c.pods {
		s.notifyPod(p, out)
	}
	s.notifyPlaced(&c, out)
	s.notifyStranded(&c, out)
	for _, name := range slices.Sorted(maps.Keys(c.tainted)) {
		if n := s.nodes[name]; n != nil {
			s.notifyTainted(n, out)
		}
	}
}

// byName orders pods by name, each once; those without the mark are not told of, and the others lose it.
func byName(pods []*pod, mark func(*pod) *bool) []*pod {
	pods = slices.DeleteFunc(pods, func(p *pod) bool {
		marked := *mark(p)
		*mark(p) = false
		return !marked
	})
	slices.SortFunc(pods, func(a, b *pod) int { return strings.Compare(string(a.name), string(b.name)) })
	return pods
}

// notifyEnded tells of pods that do not exist any more.
func (s *Server) notifyEnded(pods []*pod, out *actors.Outbox) {
	for _, p := range pods {
		uid := p.object.UID
		if s.pods[p.name] == nil { // no other one of that name was made since
			out.TellPodEviction(p.name, &messages.PodForgotten{})
			out.TellPodScheduler(&messages.PodViewed{Pod: p.name, Gone: true})
		}
		s.notifyStrandedGone(p, out)
		if p.drained != "" {
			out.TellDrain(p.drained, &messages.DrainedPodGone{Pod: p.name, UID: uid})
		}
		if p.owner != "" {
			out.TellOwner(p.owner, &messages.OwnedPodGone{Pod: p.name, UID: uid})
		}
		if s.nodes[p.node()] != nil && !s.rules.Follows {
			out.TellKubelet(p.node(), &messages.KubeletPodGone{Pod: p.name, UID: uid})
		}
	}
}

// notifyGone tells of a node that does not exist any more: of one that a MachineSet made, that one, too.
func (s *Server) notifyGone(name messages.NodeName, n *node, owners []messages.OwnerName, out *actors.Outbox) {
	gone := &messages.NodeGone{Name: name}
	out.TellNode(name, &messages.NodeForgotten{})
	out.TellPodScheduler(gone)
	for _, owner := range owners {
		out.TellOwner(owner, gone)
	}
	if n.owner != "" && !s.watching[n.owner] {
		out.TellOwner(n.owner, gone)
	}
	for _, p := range n.pods.byName() {
		out.TellPodEviction(p.name, &messages.NodeTaintsSeen{Node: name, Gone: true})
	}
}

// notifyNode tells of a node as it now is: a MachineSet of one that it made, too.
func (s *Server) notifyNode(name messages.NodeName, owners []messages.OwnerName, out *actors.Outbox) {
	n := s.nodes[name]
	out.TellNode(name, &messages.NodeStored{Object: n.object})
	viewed := &messages.NodeViewed{View: n.view()}
	out.TellPodScheduler(viewed)
	for _, owner := range owners {
		out.TellOwner(owner, viewed)
	}
	if n.owner != "" && !s.watching[n.owner] {
		out.TellOwner(n.owner, viewed)
	}
}

// notifyNewcomer tells an owner of all nodes but those that it has just heard of.
func (s *Server) notifyNewcomer(owner messages.OwnerName, told map[messages.NodeName]bool, out *actors.Outbox) {
	for _, name := range s.Nodes() {
		if !told[name] {
			out.TellOwner(owner, &messages.NodeViewed{View: s.nodes[name].view()})
		}
	}
}

// notifyPod tells of a pod: of its phase and readiness only its owner.
func (s *Server) notifyPod(p *pod, out *actors.Outbox) {
	o := p.object
	if p.edited {
		p.edited = false
		out.TellPodEviction(p.name, messages.NewPodStored(o))
		if name := o.Spec.SchedulerName; p.node() != "" || name == "" || name == corev1.DefaultSchedulerName { // else another scheduler binds it
			out.TellPodScheduler(p.view())
		}
	}
	if p.owner != "" {
		out.TellOwner(p.owner, &messages.OwnedPodViewed{
			Pod: p.name, UID: o.UID, Node: p.node(), Target: target(p.spec), Phase: o.Status.Phase, ReadySince: p.readySince(), Terminating: p.terminating(),
		})
	}
}

// view is what the scheduler of pods must know of it.
func (p *pod) view() *messages.PodViewed {
	v := &messages.PodViewed{
		Pod: p.name, Request: p.request, Since: p.object.CreationTimestamp.Time, Labels: p.object.Labels, Spec: p.spec, Peers: p.peers,
		Node: p.node(), Terminating: p.terminating(), Finished: p.finished(),
	}
	if p.object.Spec.Priority != nil {
		v.Priority = *p.object.Spec.Priority
	}
	return v
}

// target is the node that the affinity of a daemon pod requires.
func target(spec *corev1.PodSpec) messages.NodeName {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range term.MatchFields {
			if f.Key == "metadata.name" && len(f.Values) == 1 {
				return messages.NodeName(f.Values[0])
			}
		}
	}
	return ""
}

// notifyPlaced tells kubelets of their pods, and new pods of the taints of their node.
func (s *Server) notifyPlaced(c *changes, out *actors.Outbox) {
	for _, p := range byName(c.placed, func(p *pod) *bool { return &p.placed }) {
		n := s.nodes[p.node()]
		if n == nil {
			continue
		}
		s.tellKubelet(p, out)
		// also of none: an earlier pod of that name may have been here while there were some
		if taints := taint.Evicting(n.object.Spec.Taints); (len(taints) > 0 || !p.terminating()) && !c.tainted[p.node()] {
			out.TellPodEviction(p.name, &messages.NodeTaintsSeen{Node: p.node(), Taints: taints})
		}
	}
}

// tellKubelet tells the simulated kubelet of a node what it must know of a pod.
func (s *Server) tellKubelet(p *pod, out *actors.Outbox) {
	if s.rules.Follows {
		return
	}
	m := &messages.KubeletPod{
		Pod: p.name, UID: p.object.UID, Phase: p.object.Status.Phase, Once: p.spec.RestartPolicy != "" && p.spec.RestartPolicy != corev1.RestartPolicyAlways,
	}
	if p.terminating() {
		m.Terminating, m.Until = true, p.object.DeletionTimestamp.Time
	}
	out.TellKubelet(p.node(), m)
}

// notifyTainted tells the pods of a node of its NoExecute taints.
func (s *Server) notifyTainted(n *node, out *actors.Outbox) {
	seen := &messages.NodeTaintsSeen{Node: messages.NodeName(n.object.Name), Taints: taint.Evicting(n.object.Spec.Taints)}
	for _, p := range n.pods.byName() {
		out.TellPodEviction(p.name, seen)
	}
}
