package nodeinvariant

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"leeward/messages"
)

// census is what there is, as facts tell of it.
type census struct {
	nodes map[messages.NodeName]*node
	pods  map[messages.PodName]*pod
	// owners are those whose pods are counted: Deployments and ReplicaSets.
	owners map[messages.OwnerName]*owner
	// pending are the pods that wait for a node.
	pending map[*pod]bool
	// templates are, by owner, what was found last of what its pods use.
	templates map[messages.OwnerName]template
}

// template is what pods use that share their containers, as those of one owner do.
type template struct {
	containers *corev1.Container
	uses       []use
}

// node is a node, also one that is gone while pods are bound to it.
type node struct {
	name messages.NodeName
	// object is as the last instant left it, before as the one before it did; nil: there was none.
	object, before *corev1.Node
	// pods are in no order: each knows its place.
	pods []*pod
	// used is what its pods use.
	used []use
	// byHand are the keys of failure taints that people wrote.
	byHand map[string]bool
}

// pod is a pod; one of the same name that is made later is another.
type pod struct {
	name   messages.PodName
	owner  messages.OwnerName
	object *corev1.Pod
	on     *node
	// at is its place among the pods of that node.
	at   int
	uses []use
	// isNew: it was made, or edited, in this instant.
	isNew, lives bool
	// ready, terminating and gone are as the facts say, up to the one that is looked at.
	ready, terminating, gone bool
	// touched: it is in the list of those that facts name.
	touched bool
	// id is its place in the agenda of deadlines. excused is until when a refused request is not tried again.
	id      int32
	excused time.Time
}

// use is what a pod uses of a resource, in thousandths.
type use struct {
	of    corev1.ResourceName
	milli int64
}

// owner is who keeps up pods.
type owner struct {
	lives, before int
}

func newCensus() census {
	return census{
		nodes: map[messages.NodeName]*node{}, pods: map[messages.PodName]*pod{}, owners: map[messages.OwnerName]*owner{}, pending: map[*pod]bool{},
		templates: map[messages.OwnerName]template{},
	}
}

// instant is what facts tell of one instant.
type instant struct {
	nodes map[messages.NodeName]bool
	// pods are those that facts name, in the order of the facts, each once.
	pods []*pod
	// added are the taints that nodes got, tainting the failure taints among them that count for the rate of zones.
	added    map[messages.NodeName][]corev1.Taint
	tainting []*messages.NodeTaintAdded
	// applied are the objects that people applied or deleted, as owners are named. relabelled are the nodes with other labels.
	applied    map[messages.OwnerName]bool
	relabelled map[messages.NodeName]bool
	// owners are those with other pods than before, with the pod that they lost last, empty for none.
	owners map[messages.OwnerName]messages.PodName
	// left are the nodes that pods have left.
	left      map[messages.NodeName]bool
	restarted bool
}

func (i *instant) begin() {
	*i = instant{
		nodes: map[messages.NodeName]bool{}, pods: i.pods[:0], added: map[messages.NodeName][]corev1.Taint{},
		applied: map[messages.OwnerName]bool{}, relabelled: map[messages.NodeName]bool{}, owners: map[messages.OwnerName]messages.PodName{},
		left: map[messages.NodeName]bool{},
	}
}

// name has a pod looked at.
func (i *instant) name(p *pod) {
	if !p.touched {
		p.touched = true
		i.pods = append(i.pods, p)
	}
}

// touched are the nodes that facts name, in the order of names, and the pods that are still meant by their name.
func (i *instant) touched() (nodes []messages.NodeName, pods []*pod) {
	i.pods = slices.DeleteFunc(i.pods, func(p *pod) bool { return !p.touched })
	return slices.Sorted(maps.Keys(i.nodes)), i.pods
}

// heard takes in one fact.
func (m *Monitor) heard(now time.Time, f messages.Fact) {
	switch f := f.(type) {
	case *messages.NodeTaintAdded:
		m.tainted(f)
	case *messages.NodeLabelsChanged:
		m.instant.relabelled[f.Node] = true
	case *messages.PodEvictionFailed:
		if p := m.census.pods[f.Pod]; p != nil {
			p.excused = f.Retry
			m.asked(now, 1)
		}
	case *messages.PodEvictionCancelled:
		if !f.Deadline.After(now) { // it had begun, and what was asked for is served all the same
			m.asked(now, 1)
		}
	case *messages.PodDeletionRequested:
		if f.Cause != "" { // by another, and an eviction of it may have begun
			m.asked(now, 1)
		}
	case *messages.PodCreated:
		m.created(f)
		return
	case *messages.ObjectApplied:
		m.applied(f.Object)
	case *messages.ObjectDeleted:
		m.applied(f.Object)
	case *messages.Scaled:
		m.applied(f.Object)
	case *messages.Crashed:
		m.down = true
	case *messages.Restarted:
		m.instant.restarted = true
		if m.down { // what was not looked at meanwhile
			m.down = false
			for _, name := range slices.Sorted(maps.Keys(m.census.nodes)) {
				m.touch(name)
			}
		}
	}
	if f, ok := f.(messages.AboutNode); ok {
		m.touch(f.AboutNode())
	}
	if f, ok := f.(messages.AboutPod); ok {
		if p := m.census.pods[f.AboutPod()]; p != nil {
			m.instant.name(p)
		}
	}
}

// touch has a node looked at.
func (m *Monitor) touch(name messages.NodeName) *node {
	m.instant.nodes[name] = true
	n := m.census.nodes[name]
	if n == nil {
		n = &node{name: name, byHand: map[string]bool{}}
		m.census.nodes[name] = n
	}
	return n
}

func (m *Monitor) tainted(f *messages.NodeTaintAdded) {
	n := m.touch(f.Node)
	m.instant.added[f.Node] = append(m.instant.added[f.Node], f.Taint)
	if !failureTaint(&f.Taint) {
		return
	}
	if n.byHand[f.Taint.Key] = !byLifecycle(f); byLifecycle(f) {
		m.instant.tainting = append(m.instant.tainting, f)
	}
}

// created takes in a pod. One of the same name that was there is gone.
func (m *Monitor) created(f *messages.PodCreated) {
	if p := m.census.pods[f.Pod]; p != nil {
		m.letGo(p)
		m.due.forget(p)
		p.touched = false
	}
	p := &pod{name: f.Pod, owner: f.Owner, isNew: true, id: -1}
	m.census.pods[f.Pod] = p
	m.instant.name(p)
}

// letGo takes a pod out of all counts.
func (m *Monitor) letGo(p *pod) {
	m.move(p, nil)
	m.live(p, false)
	delete(m.census.pending, p)
}

// applied takes in that people applied or deleted an object, such as "Deployment shop/web".
func (m *Monitor) applied(object string) {
	kind, name, _ := strings.Cut(object, " ")
	m.instant.applied[messages.OwnerName(strings.ToLower(kind)+"/"+name)] = true
	switch kind {
	case "Node":
		m.touch(messages.NodeName(name))
	case "Pod":
		if p := m.census.pods[messages.PodName(name)]; p != nil {
			p.isNew = true
			m.instant.name(p)
		}
	}
}

// countNode takes over a node as it is now.
func (m *Monitor) countNode(name messages.NodeName) {
	n := m.census.nodes[name]
	n.object = m.objects.Node(name)
	m.zones.count(n.before, -1)
	m.zones.count(n.object, +1)
	if n.object == nil {
		clear(n.byHand)
		return
	}
	if n.before == nil { // what it came with, its machine or people gave it
		for i := range n.object.Spec.Taints {
			if t := &n.object.Spec.Taints[i]; failureTaint(t) && !slices.ContainsFunc(m.instant.tainting, func(f *messages.NodeTaintAdded) bool {
				return f.Node == name && f.Taint.Key == t.Key
			}) {
				n.byHand[t.Key] = true
			}
		}
	}
}

// countPod takes over a pod as it is now.
func (m *Monitor) countPod(p *pod) {
	p.object = m.objects.Pod(p.name)
	if p.object == nil {
		m.letGo(p)
		return
	}
	o := p.object
	var on *node
	if o.Spec.NodeName != "" {
		if on = p.on; on == nil || string(on.name) != o.Spec.NodeName {
			on = m.nodeOf(messages.NodeName(o.Spec.NodeName))
		}
	}
	m.move(p, on)
	m.live(p, !finished(o) && o.DeletionTimestamp == nil)
	if p.lives && on == nil {
		m.census.pending[p] = true
	} else {
		delete(m.census.pending, p)
	}
}

// nodeOf is the node of a pod. One that no fact named yet is looked at.
func (m *Monitor) nodeOf(name messages.NodeName) *node {
	if n := m.census.nodes[name]; n != nil {
		return n
	}
	return m.touch(name)
}

// move has a pod use a node, or none.
func (m *Monitor) move(p *pod, on *node) {
	uses := []use(nil)
	if on != nil && p.object != nil && !finished(p.object) {
		if uses = p.uses; p.on != on || uses == nil {
			uses = m.census.usesOf(p)
		}
	}
	if p.on == on && len(p.uses) == len(uses) {
		return
	}
	if p.on != nil {
		p.on.take(p.uses, -1)
		p.on.lose(p)
		m.instant.left[p.on.name] = true
	}
	if on != nil {
		on.take(uses, +1)
		p.at, on.pods = len(on.pods), append(on.pods, p)
	}
	p.on, p.uses = on, uses
}

func (n *node) take(uses []use, by int64) {
	for _, u := range uses {
		*n.usedOf(u.of) += by * u.milli
	}
}

// usedOf is what the pods of a node use of a resource, in thousandths.
func (n *node) usedOf(of corev1.ResourceName) *int64 {
	for i := range n.used {
		if n.used[i].of == of {
			return &n.used[i].milli
		}
	}
	n.used = append(n.used, use{of: of})
	return &n.used[len(n.used)-1].milli
}

// lose takes a pod out of those of the node.
func (n *node) lose(p *pod) {
	last := len(n.pods) - 1
	n.pods[p.at] = n.pods[last]
	n.pods[p.at].at = p.at
	n.pods[last], n.pods = nil, n.pods[:last]
}

// onePod is what a pod uses that asks for nothing.
var onePod = []use{{corev1.ResourcePods, 1000}}

// usesOf is what a pod uses of its node, found once for the pods of an owner that share their containers.
func (c *census) usesOf(p *pod) []use {
	s := &p.object.Spec
	if p.owner == "" || len(s.Containers) == 0 || len(s.InitContainers) > 0 || len(s.Overhead) > 0 || s.Resources != nil {
		return usesOf(p.object)
	}
	t := c.templates[p.owner]
	if t.containers != &s.Containers[0] {
		t = template{containers: &s.Containers[0], uses: usesOf(p.object)}
		c.templates[p.owner] = t
	}
	return t.uses
}

func usesOf(o *corev1.Pod) []use {
	if asksForNothing(&o.Spec) {
		return onePod
	}
	uses := slices.Clone(onePod)
	for of, q := range resource.PodRequests(o, resource.PodResourcesOptions{}) { // order-free: each counts for itself
		uses = append(uses, use{of, q.MilliValue()})
	}
	return uses
}

func asksForNothing(s *corev1.PodSpec) bool {
	return len(s.InitContainers) == 0 && len(s.Overhead) == 0 && s.Resources == nil &&
		!slices.ContainsFunc(s.Containers, func(c corev1.Container) bool { return len(c.Resources.Requests) > 0 })
}

// live counts a pod of an owner, or does not any more.
func (m *Monitor) live(p *pod, lives bool) {
	if p.lives == lives {
		return
	}
	p.lives = lives
	if !counts(p.owner) {
		return
	}
	o := m.census.owners[p.owner]
	if o == nil {
		o = &owner{}
		m.census.owners[p.owner] = o
	}
	lost := p.name
	if lives {
		o.lives++
		lost = m.instant.owners[p.owner]
	} else {
		o.lives--
	}
	m.instant.owners[p.owner] = lost
}

// counts reports whether an owner replaces pods that are being deleted.
func counts(o messages.OwnerName) bool {
	return strings.HasPrefix(string(o), "deployment/") || strings.HasPrefix(string(o), "replicaset/")
}

func finished(o *corev1.Pod) bool {
	return o.Status.Phase == corev1.PodSucceeded || o.Status.Phase == corev1.PodFailed
}
