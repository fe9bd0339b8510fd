package attach

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/podeviction"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// decider holds the machines. It does no I/O and reads no clock: objects and answers go in, requests and facts come out. It belongs to
// one goroutine.
type decider struct {
	settings *messages.Settings
	// shadow has every request count as served, and none come out.
	shadow bool
	// hear hears every fact as it is recorded.
	hear   func(time.Time, messages.Fact)
	kernel *kernel.Kernel
	now    time.Time
	// nodes are the NoExecute taints of the nodes that have any.
	nodes map[messages.NodeName][]corev1.Taint
	// pods are those that have a machine, on is which of them are on a node.
	pods map[messages.PodName]*corev1.Pod
	on   map[messages.NodeName]map[messages.PodName]bool
	// ended are the machines to stop once the running instant is settled.
	ended map[messages.Address]bool
	// asked are the requests that machines ask for, withdrawn the last attempts that they took back, since both were last taken.
	asked     []request
	seq       uint64
	withdrawn map[messages.PodName]int
	// zones bound how fast evictions begin; nil: nothing does.
	zones *zones
	// refused are the pods whose eviction the Eviction API refused last, and when it is asked for again; zero: it is.
	refused map[messages.PodName]time.Time
}

// request is one that a machine asks for.
type request struct {
	messages.RequestAsked
	// priority is that of the pod: of two requests, the one for the higher is made first; of the same, that of the lower number.
	priority int32
	seq      uint64
	// again is set where it was refused the last time: most likely it is again, so all others are made first.
	again bool
}

// taintManager names the client of the machines, as Kubernetes does.
const taintManager messages.ClientName = "taint-eviction-controller"

func newDecider(s *messages.Settings, shadow bool, hear func(time.Time, messages.Fact)) *decider {
	d := &decider{
		settings: s, shadow: shadow, hear: hear, nodes: map[messages.NodeName][]corev1.Taint{}, pods: map[messages.PodName]*corev1.Pod{},
		on: map[messages.NodeName]map[messages.PodName]bool{}, ended: map[messages.Address]bool{}, withdrawn: map[messages.PodName]int{},
		refused: map[messages.PodName]time.Time{},
	}
	d.kernel = kernel.New(kernel.Config{
		MaxPerInstant: mostPerInstant, Record: func(at time.Time, _ messages.Address, f messages.Fact) { d.hear(at, f) },
	})
	host[messages.ToAPIClient](d, messages.Address{Kind: messages.KindAPIClient, Name: string(taintManager)}, &client{d})
	host[messages.ToAPIServer](d, messages.Address{Kind: messages.KindAPIServer}, &server{d})
	return d
}

// mostPerInstant is how many messages an instant may take: the first one tells of every pod of a tainted node.
const mostPerInstant = 50_000_000

func (d *decider) close() { d.kernel.Close() }

func host[M messages.Message](d *decider, at messages.Address, m kernel.Machine[M]) {
	if err := kernel.Host(d.kernel, at, m); err != nil {
		panic(fmt.Sprintf("attach: %v", err)) // it never uses an address twice
	}
}

func podAt(name messages.PodName) messages.Address {
	return messages.Address{Kind: messages.KindPodEviction, Name: string(name)}
}

// setNode has the machines hear of the NoExecute taints of a node, none where it has none. pods are all that are bound to it.
func (d *decider) setNode(name messages.NodeName, taints []corev1.Taint, pods []*corev1.Pod) {
	if len(taints) == 0 && d.nodes[name] == nil && len(d.on[name]) == 0 {
		return
	}
	if len(taints) == 0 {
		delete(d.nodes, name)
		d.zones.ends(name)
		d.tellPods(name, &messages.NodeTaintsSeen{Node: name})
		for pod := range d.on[name] { // order-free: each only ends
			d.ended[podAt(pod)] = true
		}
		return
	}
	d.nodes[name] = taints
	for _, p := range pods {
		if m := markOf(p); m != nil && m.ours() {
			d.zones.begins(name)
		}
		d.setPod(p)
	}
	d.tellPods(name, &messages.NodeTaintsSeen{Node: name, Taints: taints})
}

// forgetNode says that a node was deleted. What was due for its pods remains due.
func (d *decider) forgetNode(name messages.NodeName) {
	d.zones.see(name, nil)
	if d.nodes[name] == nil {
		return
	}
	delete(d.nodes, name)
	d.tellPods(name, &messages.NodeTaintsSeen{Node: name, Gone: true})
}

func (d *decider) tellPods(name messages.NodeName, m messages.ToPodEviction) {
	for _, pod := range slices.Sorted(maps.Keys(d.on[name])) {
		d.kernel.Post(podAt(pod), m)
	}
}

// setPod has the machine of a pod hear of it, where its node has NoExecute taints or had when it was deleted.
func (d *decider) setPod(p *corev1.Pod) {
	name, node := podName(p), messages.NodeName(p.Spec.NodeName)
	before := d.pods[name]
	if before == nil && d.nodes[node] == nil {
		return
	}
	if before != nil && before.Spec.NodeName != p.Spec.NodeName {
		d.leave(name, before)
	}
	d.pods[name] = p
	if d.on[node] == nil {
		d.on[node] = map[messages.PodName]bool{}
	}
	d.on[node][name] = true
	a := podAt(name)
	delete(d.ended, a)
	if !d.kernel.Has(a) {
		host[messages.ToPodEviction](d, a, podeviction.New(name, podeviction.RulesOf(d.settings, taintManager)))
		before = nil
	}
	d.kernel.Post(a, messages.NewPodStored(p))
	if before == nil || before.Spec.NodeName != p.Spec.NodeName {
		d.kernel.Post(a, &messages.NodeTaintsSeen{Node: node, Taints: d.nodes[node]})
	}
}

// forgetPod says that a pod does not exist any more.
func (d *decider) forgetPod(name messages.PodName) {
	if d.pods[name] == nil {
		return
	}
	d.kernel.Post(podAt(name), &messages.PodForgotten{})
	d.ended[podAt(name)] = true
}

func (d *decider) leave(name messages.PodName, p *corev1.Pod) {
	node := messages.NodeName(p.Spec.NodeName)
	delete(d.on[node], name)
	if len(d.on[node]) == 0 {
		delete(d.on, node)
	}
}

// answer tells a machine what became of its request; without an error the server has served it.
func (d *decider) answer(r *request, err error) {
	m := &messages.RequestServed{Verb: r.Verb, Attempt: r.Attempt}
	if err != nil {
		m.Error = err.Error()
	}
	d.kernel.Post(podAt(r.Pod), m)
}

const (
	// evictAgain is how long an eviction waits at least that the Eviction API refused: as long as kubectl drain does.
	evictAgain = 5 * time.Second
	// mostAgain is how many of those that were refused are asked for again in a second.
	mostAgain = 100
)

// answerEviction tells a machine what the Eviction API answered. What it refused is asked for again.
func (d *decider) answerEviction(r *request, m *messages.PodEvictionAnswered) {
	m.Pod, m.UID, m.Attempt = r.Pod, r.UID, r.Attempt
	if delete(d.refused, r.Pod); m.Error != "" && d.kernel.Has(podAt(r.Pod)) {
		pause := max(evictAgain, time.Duration(len(d.refused))*time.Second/mostAgain)
		d.refused[r.Pod] = d.now.Add(pause).Round(evictAgain / 50) // so that many are due together
	}
	d.kernel.Post(podAt(r.Pod), m)
}

// step has the machines act at an instant, and at those that were due before. A clock that was set back does not move them back.
func (d *decider) step(now time.Time) error {
	d.now = actors.Later(now, d.now)
	for name, at := range d.refused { // order-free: each pod has a machine of its own
		if !at.IsZero() && !at.After(d.now) {
			d.refused[name] = time.Time{}
			d.kernel.Post(podAt(name), &messages.PodBudgetAllows{})
		}
	}
	if err := d.kernel.RunInstant(d.now); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	if begin := d.zones.due(d.now); len(begin) > 0 {
		for _, m := range begin {
			if d.kernel.Has(podAt(m.Pod)) {
				d.kernel.Post(podAt(m.Pod), &messages.RequestServed{Verb: m.Verb, Attempt: m.Attempt})
			}
		}
		if err := d.kernel.RunInstant(d.now); err != nil {
			return fmt.Errorf("decide: %w", err)
		}
	}
	for a := range d.ended { // order-free: each only ends
		d.kernel.Stop(a)
		name := messages.PodName(a.Name)
		delete(d.refused, name)
		if p := d.pods[name]; p != nil {
			d.leave(name, p)
			delete(d.pods, name)
		}
	}
	clear(d.ended)
	return d.kernel.Check()
}

// next is the earliest instant at which something is due.
func (d *decider) next() (next time.Time, found bool) {
	next, found = d.kernel.Next()
	if at, is := d.zones.next(d.now); is && (!found || at.Before(next)) {
		next, found = at, true
	}
	for _, at := range d.refused { // order-free: the earliest
		if !at.IsZero() && (!found || at.Before(next)) {
			next, found = at, true
		}
	}
	return next, found
}

// client takes the requests of the machines. It makes none by itself.
type client struct{ d *decider }

// Receive routes a message to its transition.
func (c *client) Receive(_ time.Time, m messages.ToAPIClient, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.RequestAsked:
		c.asked(m, out)
	case *messages.RequestWithdrawn:
		c.d.withdrawn[m.Pod] = max(c.d.withdrawn[m.Pod], m.Attempt)
		c.d.zones.withdraw(c.d.nodeOf(m.Pod), m.Pod, m.Attempt)
	default:
		panic(fmt.Sprintf("attached API client: unknown message %T", m))
	}
}

// asked hands a request on. The pod is not read again, because it is watched; VerbEvict leads to an EvictPod.
func (c *client) asked(m *messages.RequestAsked, out *actors.Outbox) {
	if m.Verb == messages.VerbGet && !c.d.zones.allows(c.d.nodeOf(m.Pod), m) {
		return
	}
	if c.d.shadow || m.Verb == messages.VerbGet || m.Verb == messages.VerbEvict {
		out.TellPodEviction(m.Pod, &messages.RequestServed{Verb: m.Verb, Attempt: m.Attempt})
		return
	}
	c.d.ask(*m)
}

// nodeOf is the node of a pod; empty: that is not known.
func (d *decider) nodeOf(name messages.PodName) messages.NodeName {
	if p := d.pods[name]; p != nil {
		return messages.NodeName(p.Spec.NodeName)
	}
	return ""
}

func (d *decider) ask(m messages.RequestAsked) {
	d.seq++
	_, again := d.refused[m.Pod]
	r := request{RequestAsked: m, seq: d.seq, again: again}
	if p := d.pods[m.Pod]; p != nil && p.Spec.Priority != nil {
		r.priority = *p.Spec.Priority
	}
	d.asked = append(d.asked, r)
}

// server is the API server to the machines: it hands evictions on. Conditions and deletions are written before it is told of them.
type server struct{ d *decider }

// Receive routes a message to its transition.
func (s *server) Receive(_ time.Time, m messages.ToAPIServer, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.EvictPod:
		s.evict(m, out)
	case *messages.MarkDisrupted, *messages.DeletePod:
	default:
		panic(fmt.Sprintf("attached API server: unknown message %T", m))
	}
}

func (s *server) evict(m *messages.EvictPod, out *actors.Outbox) {
	if s.d.shadow {
		out.TellPodEviction(m.Pod, &messages.PodEvictionAnswered{Pod: m.Pod, UID: m.UID, Attempt: m.Attempt})
		return
	}
	s.d.ask(messages.RequestAsked{Pod: m.Pod, Verb: messages.VerbEvict, Attempt: m.Attempt, UID: m.UID})
}

func podName(p *corev1.Pod) messages.PodName { return messages.NamePod(p.Namespace, p.Name) }
