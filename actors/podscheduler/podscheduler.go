// Package podscheduler is the machine that binds the pods of one cluster to nodes. It collects what changes in an instant and decides
// at the instant's end: by priority, then arrival, then name. What a decision takes is reserved for the next one, before the pod is
// seen to be bound. A pod that no node can take is tried again when a node changed that could take it; when a node joins or is deleted, its
// explanation is told again.
package podscheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/podplacement"
	"leeward/messages"
)

// PodScheduler binds the pods of one cluster.
type PodScheduler struct {
	fleet   *podplacement.Fleet
	planner *podplacement.Planner
	shapes  map[template]*kind
	// latest is the kind that was looked for last: pods of one template mostly come one after the other.
	latest *kind
	pods   map[messages.PodName]*entry
	// dirty are the pending pods to decide on at the end of this instant, waiting those that no node could take.
	dirty   []*entry
	waiting map[messages.PodName]*entry
	// freed are the nodes that may take more since the last decision; spreads is set where pods came or went, which matters to
	// pods that are spread.
	freed   []messages.NodeName
	spreads bool
	// counted is set where a node joined or was deleted: explanations count all nodes.
	counted bool
	// running is how many pods of each priority are on nodes.
	running map[int32]int
	// attended hears of each pod before it is decided on; nil: there is no listener.
	attended func(now time.Time, pod messages.PodName)
}

// template is what pods share that can share a shape.
type template struct {
	spec *corev1.PodSpec
	like string
}

// kind are the pods of one shape.
type kind struct {
	of template
	// labels and namespace are those of its pods.
	labels    map[string]string
	namespace string
	shape     *podplacement.Shape
	failed    error
	pods      int
}

// entry is what is known of one pod.
type entry struct {
	view *messages.PodViewed
	kind *kind
	// on is the node whose resources it uses, empty for none; ending: it is counted there as terminating.
	on     messages.NodeName
	ending bool
	// priority is that with which it is counted there.
	priority int32
	// dirty: it is in the list of that name. told is the explanation that it heard last, of the request of that number.
	dirty bool
	told  string
	heard uint64
}

// pending reports whether the pod waits for a node.
func (e *entry) pending() bool {
	v := e.view
	return v != nil && v.Node == "" && e.on == "" && !v.Terminating && !v.Finished && len(v.Spec.SchedulingGates) == 0
}

// New returns a scheduler of a cluster without nodes. The seed breaks ties, which kube-scheduler leaves to chance.
func New(rules podplacement.Rules, seed uint64) *PodScheduler {
	fleet := podplacement.NewFleet()
	return &PodScheduler{
		fleet: fleet, planner: podplacement.NewPlanner(fleet, rules, seed),
		shapes: map[template]*kind{}, pods: map[messages.PodName]*entry{}, waiting: map[messages.PodName]*entry{}, running: map[int32]int{},
	}
}

// Receive routes a message to its transition.
func (s *PodScheduler) Receive(now time.Time, m messages.ToPodScheduler, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.NodeViewed:
		s.nodeViewed(m.View)
	case *messages.NodeGone:
		s.nodeGone(m.Name)
	case *messages.PodViewed:
		s.podViewed(m)
	case *messages.Woken:
		s.planner.At(now)
		s.decideAll(now, out)
		return
	default:
		panic(fmt.Sprintf("pod scheduler: unknown message %T", m))
	}
	if len(s.dirty) > 0 || len(s.waiting) > 0 && (len(s.freed) > 0 || s.spreads || s.counted) {
		out.WakeAt(now)
	}
}

func (s *PodScheduler) nodeViewed(v *messages.NodeView) {
	s.counted = s.counted || !s.fleet.Has(string(v.Name))
	s.fleet.Put(&podplacement.Node{
		Name: string(v.Name), Labels: v.Labels, Taints: v.Taints, Unschedulable: v.Unschedulable, Allocatable: v.Allocatable,
	})
	s.freed, s.spreads = append(s.freed, v.Name), true
}

// nodeGone forgets a node. Fewer domains may allow a smaller skew elsewhere.
func (s *PodScheduler) nodeGone(name messages.NodeName) {
	s.fleet.Drop(string(name))
	s.spreads, s.counted = true, true
}

// podViewed takes over what a pod says. A decision that the view does not show yet is kept: it is on its way.
func (s *PodScheduler) podViewed(m *messages.PodViewed) {
	if m.Gone {
		s.podGone(m.Pod)
		return
	}
	e := s.pods[m.Pod]
	if e == nil {
		e = &entry{}
		s.pods[m.Pod] = e
	}
	on, reserved := m.Node, e.view != nil && e.view.Node == "" && e.on != "" && m.Request == e.view.Request
	if on == "" && reserved {
		on = e.on
	}
	if m.Finished || m.Node == "" && m.Terminating {
		on = ""
	}
	if e.view == nil || e.on != on || e.ending != (on != "" && m.Terminating) || !alike(e.view, m) {
		s.leave(e)
		s.know(e, m)
		s.occupy(e, on)
	}
	e.view = m
	if e.pending() {
		s.mark(e)
	} else {
		delete(s.waiting, m.Pod)
	}
}

func (s *PodScheduler) podGone(name messages.PodName) {
	e := s.pods[name]
	if e == nil {
		return
	}
	s.leave(e)
	s.disown(e)
	e.view = nil
	delete(s.pods, name)
	delete(s.waiting, name)
}

// alike reports whether two views of a pod have one shape.
func alike(a, b *messages.PodViewed) bool { return a.Spec == b.Spec && maps.Equal(a.Labels, b.Labels) }

// know keeps what a pod says, and its shape.
func (s *PodScheduler) know(e *entry, m *messages.PodViewed) {
	if e.view == nil || !alike(e.view, m) {
		s.disown(e)
		e.kind = s.kindOf(m)
		e.kind.pods++
	}
	e.view = m
}

// kindOf finds the kind of a pod, or makes it.
func (s *PodScheduler) kindOf(m *messages.PodViewed) *kind {
	namespace, _ := m.Pod.Split()
	if k := s.latest; k != nil && k.pods > 0 && k.of.spec == m.Spec && k.namespace == namespace && maps.Equal(k.labels, m.Labels) {
		return k
	}
	of := template{spec: m.Spec, like: podplacement.Like(namespace, m.Labels)}
	k := s.shapes[of]
	if k == nil {
		k = &kind{of: of, namespace: namespace, labels: m.Labels}
		k.shape, k.failed = s.fleet.Shape(&podplacement.Pod{Namespace: namespace, Labels: m.Labels, Spec: m.Spec, Peers: m.Peers})
		s.shapes[of] = k
	}
	s.latest = k
	return k
}

func (s *PodScheduler) disown(e *entry) {
	if k := e.kind; k != nil {
		if k.pods--; k.pods == 0 {
			delete(s.shapes, k.of)
		}
		e.kind = nil
	}
}

// occupy counts a pod on a node, leave takes it off.
func (s *PodScheduler) occupy(e *entry, on messages.NodeName) {
	if on == "" || e.kind.failed != nil {
		return
	}
	e.on, e.ending, e.priority = on, e.view.Terminating, e.view.Priority
	s.running[e.priority]++
	s.fleet.Bind(string(on), e.kind.shape)
	if e.ending {
		s.fleet.Terminate(string(on), e.kind.shape)
	}
	s.spreads = true
}

func (s *PodScheduler) leave(e *entry) {
	if e.on == "" {
		return
	}
	s.fleet.Remove(string(e.on), e.kind.shape, e.ending)
	s.freed, s.spreads = append(s.freed, e.on), true
	if s.running[e.priority]--; s.running[e.priority] == 0 {
		delete(s.running, e.priority)
	}
	e.on, e.ending = "", false
}

func (s *PodScheduler) mark(e *entry) {
	if !e.dirty {
		e.dirty = true
		s.dirty = append(s.dirty, e)
	}
}

// decideAll decides on the pods of this instant, the most urgent first, with those that a change may help.
func (s *PodScheduler) decideAll(now time.Time, out *actors.Outbox) {
	s.requeue()
	batch := s.dirty
	s.dirty = nil
	slices.SortFunc(batch, urgency)
	for _, e := range batch {
		e.dirty = false
		if e.pending() {
			if s.attended != nil {
				s.attended(now, e.view.Pod)
			}
			s.decide(e, out)
		}
	}
}

// urgency orders pods by priority, arrival and name. Those that are gone come last; they are not looked at.
func urgency(a, b *entry) int {
	if a.view == nil || b.view == nil {
		return cmp.Compare(gone(a), gone(b))
	}
	return cmp.Or(
		cmp.Compare(b.view.Priority, a.view.Priority),
		a.view.Since.Compare(b.view.Since),
		cmp.Compare(a.view.Pod, b.view.Pod),
	)
}

func gone(e *entry) int {
	if e.view == nil {
		return 1
	}
	return 0
}

// requeue marks the waiting pods that a changed node could take now, or all of them where the nodes are others. It looks once at the pods of
// one shape.
func (s *PodScheduler) requeue() {
	slices.Sort(s.freed)
	freed, spreads, counted := slices.Compact(s.freed), s.spreads, s.counted
	s.freed, s.spreads, s.counted = s.freed[:0], false, false
	if len(s.waiting) == 0 {
		return
	}
	helped := map[*kind]bool{}
	for _, e := range s.waiting { // order-free: the batch is sorted
		if e.dirty {
			continue
		}
		helps, known := helped[e.kind]
		if !known {
			helps = counted || spreads && e.kind.failed == nil && e.kind.shape.Spreads() || slices.ContainsFunc(freed, func(n messages.NodeName) bool {
				return s.planner.Takes(e.kind.shape, string(n))
			})
			helped[e.kind] = helps
		}
		if helps {
			s.mark(e)
		}
	}
}

// decide binds one pod, or says why it cannot. The same explanation is told once for each request.
func (s *PodScheduler) decide(e *entry, out *actors.Outbox) {
	v := e.view
	if e.kind.failed != nil {
		s.wait(e, e.kind.failed.Error(), out)
		return
	}
	d := s.planner.Place(e.kind.shape, string(v.Pod))
	if d.Node == "" {
		s.wait(e, d.Why, out)
		return
	}
	delete(s.waiting, v.Pod)
	e.told = ""
	s.occupy(e, messages.NodeName(d.Node))
	out.TellAPIServer(&messages.BindPod{Pod: v.Pod, Request: v.Request, Node: messages.NodeName(d.Node), Timed: d.Timed})
}

func (s *PodScheduler) wait(e *entry, why string, out *actors.Outbox) {
	s.waiting[e.view.Pod] = e
	why = s.orPreempts(e.view.Priority, why)
	if e.told == why && e.heard == e.view.Request {
		return
	}
	e.told, e.heard = why, e.view.Request
	out.TellAPIServer(&messages.MarkUnschedulable{Pod: e.view.Pod, Request: e.view.Request, Message: why})
}

// orPreempts adds to an explanation what kube-scheduler might do where no node has capacity for a pod: evict pods of lower priority.
func (s *PodScheduler) orPreempts(priority int32, why string) string {
	lower := false
	for running := range s.running { // order-free: any
		lower = lower || running < priority
	}
	if !lower || !strings.Contains(why, podplacement.NothingToEvict) {
		return why
	}
	return why + " Pods of lower priority run; that kube-scheduler may evict some of them is not modelled."
}
